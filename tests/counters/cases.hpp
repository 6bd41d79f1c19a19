// SPDX-License-Identifier: MIT
// The cases of the counter program: each is one launch that stresses one counter, and a check of what it computed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace counter_cases {

inline void require(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        std::exit(1);
    }
}

constexpr std::size_t buffer_bytes = 1 << 20;

// The byte at place i of the input: no two sectors hold the same.
inline std::uint8_t made_byte(std::size_t i) {
    std::uint64_t x = (i / 4 + 1) * 0x9E3779B97F4A7C15ull;
    x ^= x >> 29;
    return static_cast<std::uint8_t>(x >> (8 * (i % 4) + 16));
}

// One input and one output on the device, and what is expected of the output, all of buffer_bytes. The output is all
// zeros before each case.
struct buffers {
    std::byte* in = nullptr;
    std::byte* out = nullptr;
    std::vector<std::byte> host_in;
    std::vector<std::byte> expected;

    template <class T>
    const T* input() const {
        return reinterpret_cast<const T*>(in);
    }
    template <class T>
    T* output() const {
        return reinterpret_cast<T*>(out);
    }
    template <class T>
    const T* given() const {
        return reinterpret_cast<const T*>(host_in.data());
    }
    template <class T>
    T* wanted() {
        return reinterpret_cast<T*>(expected.data());
    }
};

// Puts place(lane) for 32 lanes into the last bytes of the input, and says where on the device.
template <class Place>
const unsigned* put_places(buffers& b, Place place) {
    unsigned places[32];
    for (unsigned lane = 0; lane < 32; ++lane) {
        places[lane] = place(lane);
    }
    std::byte* const at = b.in + buffer_bytes - sizeof(places);
    require(cudaMemcpy(at, places, sizeof(places), cudaMemcpyHostToDevice), "cudaMemcpy");
    return reinterpret_cast<const unsigned*>(at);
}

struct test_case {
    std::string name;
    std::function<void(buffers&)> launch; // exactly one launch
    std::function<void(buffers&)> expect; // fills what is expected
};

using case_list = std::vector<test_case>;

void add_global_cases(case_list& cases);
void add_shared_cases(case_list& cases);
void add_other_cases(case_list& cases);

} // namespace counter_cases
