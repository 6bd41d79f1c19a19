// SPDX-License-Identifier: MIT
// What the programs that call CUB share: arrays of the device, CUB's two calls, and lengths that are awkward for tiles.
#pragma once

#include <cstdlib>
#include <vector>

#include "tests/runtime/programs/check.hpp"

// Elements on the device; nothing writes them where only a length is given.
template <class T>
class device_array {
public:
    explicit device_array(std::size_t n) : n_(n) {
        if (n > 0) {
            CUDA(cudaMalloc(&data_, n * sizeof(T)));
        }
    }
    explicit device_array(const std::vector<T>& host) : device_array(host.size()) {
        if (n_ > 0) {
            CUDA(cudaMemcpy(data_, host.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
        }
    }
    device_array(const device_array&) = delete;
    device_array& operator=(const device_array&) = delete;
    ~device_array() { CUDA(cudaFree(data_)); }

    T* data() { return data_; }

    // The first `n` elements.
    std::vector<T> first(std::size_t n) const {
        std::vector<T> host(n);
        if (n > 0) {
            CUDA(cudaMemcpy(host.data(), data_, n * sizeof(T), cudaMemcpyDeviceToHost));
        }
        return host;
    }
    std::vector<T> host() const { return first(n_); }

private:
    T* data_ = nullptr;
    std::size_t n_;
};

// Calls `algorithm(scratch, bytes)` twice, as CUB wants it: for the size of its scratch memory, and to run.
template <class Algorithm>
void with_scratch(Algorithm algorithm) {
    std::size_t bytes = 0;
    CUDA(algorithm(nullptr, bytes));
    CHECK(bytes > 0);
    device_array<unsigned char> scratch(bytes);
    CUDA(algorithm(scratch.data(), bytes));
}

// Lengths up to the one that the program's argument names, 2^20 without one.
inline std::vector<int> lengths(int argc, char** argv) {
    const int most = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
    std::vector<int> all;
    for (const int n : {1, 33, 1000, 3457, 20011, 300007, 1 << 20}) {
        if (n <= most) {
            all.push_back(n);
        }
    }
    CHECK(!all.empty());
    return all;
}

// A number that looks random, the same in every run.
inline unsigned long long scrambled(unsigned long long k) {
    k = (k + 1) * 0x9E3779B97F4A7C15ull;
    k = (k ^ (k >> 30)) * 0xBF58476D1CE4E5B9ull;
    return k ^ (k >> 29);
}
