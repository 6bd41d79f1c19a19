// SPDX-License-Identifier: MIT
// The frame of the tests of streams on a GPU, the software one or a real one.
#pragma once

#include <vector>

#include "tests/library/chunked/chunked_cases.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/chunked.cuh"

namespace warpfold::tests {

// A copy in pinned memory, `skip` elements behind its beginning.
template <class T>
class pinned_copy {
public:
    explicit pinned_copy(const std::vector<T>& data, std::size_t skip = 0) : skip_(skip), size_(data.size()) {
        CUDA(cudaMallocHost(&base_, (size_ + skip + 1) * sizeof(T)));
        std::copy(data.begin(), data.end(), base_ + skip);
    }
    pinned_copy(const pinned_copy&) = delete;
    pinned_copy& operator=(const pinned_copy&) = delete;
    ~pinned_copy() { (void)cudaFreeHost(base_); }
    [[nodiscard]] T* data() const { return base_ + skip_; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    T* base_ = nullptr;
    std::size_t skip_, size_;
};

} // namespace warpfold::tests
