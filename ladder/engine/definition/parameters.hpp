// SPDX-License-Identifier: MIT
// What the steps of a ladder can be run with besides n: block size, element type, operation, and where partial results are
// finished. Plain C++20, no CUDA header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warpfold::ladder {

enum class element_type { int32, int64, float32, float64 };
enum class operation { sum, minimum, maximum, product, largest_magnitude }; // the last is the user-defined one
enum class finish { device, host };

struct step_parameters {
    unsigned block = 256; // threads
    element_type type = element_type::int32;
    operation op = operation::sum;
    finish finish_on = finish::device; // where the values of the blocks become one
};

// The parameters that a ladder's steps take.
struct parameter_set {
    bool block = false;
    bool type = false;
    bool op = false;
    bool finish = false;
};

// Names on the command line and in JSON.
template <class Value>
struct named {
    std::string_view name;
    Value value;
};
inline constexpr std::array<named<element_type>, 4> element_types{{{"int32", element_type::int32},
                                                                   {"int64", element_type::int64},
                                                                   {"float", element_type::float32},
                                                                   {"double", element_type::float64}}};
inline constexpr std::array<named<operation>, 5> operations{{{"sum", operation::sum},
                                                             {"min", operation::minimum},
                                                             {"max", operation::maximum},
                                                             {"product", operation::product},
                                                             {"largest-magnitude", operation::largest_magnitude}}};
inline constexpr std::array<named<finish>, 2> finishes{{{"device", finish::device}, {"host", finish::host}}};

template <class Value, std::size_t count>
[[nodiscard]] constexpr std::string_view name_in(const std::array<named<Value>, count>& names, Value value) {
    for (const named<Value>& one : names) {
        if (one.value == value) {
            return one.name;
        }
    }
    return "?";
}
[[nodiscard]] constexpr std::string_view name_of(element_type type) { return name_in(element_types, type); }
[[nodiscard]] constexpr std::string_view name_of(operation op) { return name_in(operations, op); }
[[nodiscard]] constexpr std::string_view name_of(finish where) { return name_in(finishes, where); }

[[nodiscard]] constexpr std::size_t bytes_of(element_type type) {
    return type == element_type::int32 || type == element_type::float32 ? 4 : 8;
}

// Calls f.template operator()<T>() with the C++ type of `type`.
template <class F>
decltype(auto) with_type(element_type type, F&& f) {
    switch (type) {
    case element_type::int64: return f.template operator()<std::int64_t>();
    case element_type::float32: return f.template operator()<float>();
    case element_type::float64: return f.template operator()<double>();
    default: return f.template operator()<std::int32_t>();
    }
}

} // namespace warpfold::ladder
