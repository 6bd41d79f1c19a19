// SPDX-License-Identifier: MIT
// The host as the target of a rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "warpfold/detail/exact/long_accumulator.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/exact_sum/exact_sum.hpp"
#include "warpfold/ranks/target.hpp"

namespace warpfold::detail {

template <>
struct rank_target<host> {
    static constexpr bool is_device = false;

    template <class T>
    using array = std::vector<T>;

    template <class T, class From>
    static void read(const host& /*on*/, T* to, const From& from, std::uint64_t n) {
        for (std::uint64_t k = 0; k < n; ++k) {
            to[k] = from[k];
        }
    }
    template <class T>
    static void write(const host& /*on*/, T* to, const T* from, std::uint64_t n) {
        std::copy_n(from, n, to);
    }
    template <class Out, class R>
    static void put(const host& /*on*/, const Out& out, const R& value) {
        *out = value;
    }
    template <class T>
    static array<T> allocate(const host& /*on*/, std::uint64_t n) {
        return array<T>(n);
    }
    template <class T, class... Ins>
    static void add_exact(const host& on, long_accumulator<T, sizeof...(Ins)>& to, std::uint64_t n, const char* call,
                          const Ins&... ins) {
        (detail::check_array(ins, n, call), ...);
        detail::add_on_host<T>(on, n, to, ins...);
    }
};

} // namespace warpfold::detail
