// SPDX-License-Identifier: MIT
// Arrays in the host's memory, for tests that are written for any target (device_array.hpp has those of a GPU).
#pragma once

#include <cstddef>
#include <vector>

namespace warpfold::tests {

template <class T>
struct in_memory {
    explicit in_memory(const std::vector<T>& data, std::size_t skipped = 0) : all(data), skip(skipped) {
        all.insert(all.begin(), skip, T{});
    }
    [[nodiscard]] T* data() const { return const_cast<T*>(all.data()) + skip; }
    [[nodiscard]] std::vector<T> read() const { return {all.begin() + static_cast<std::ptrdiff_t>(skip), all.end()}; }

    std::vector<T> all;
    std::size_t skip;
};

} // namespace warpfold::tests
