// SPDX-License-Identifier: MIT
// Arrays as the extension modules get them: (address, type, shape, strides in bytes).
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "python/src/array.hpp"
#include "python/src/calls.hpp"

namespace warpfold::python {

using numbers = std::vector<std::int64_t>;
using description = std::tuple<std::uintptr_t, int, numbers, numbers>;

inline array array_of(const description& of) {
    const auto& [address, type, shape, strides] = of;
    return {reinterpret_cast<char*>(address), // NOLINT(performance-no-int-to-ptr)
            static_cast<element>(type), shape, strides};
}

// An array that may be missing.
class optional_array {
public:
    explicit optional_array(const std::optional<description>& of) {
        if (of) {
            array_.emplace(array_of(*of));
        }
    }
    [[nodiscard]] const array* get() const { return array_ ? &*array_ : nullptr; }

private:
    std::optional<array> array_;
};

inline element element_of(int type) { return static_cast<element>(type); }
inline operation operation_of(int op) { return static_cast<operation>(op); }

} // namespace warpfold::python
