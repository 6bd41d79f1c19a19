// SPDX-License-Identifier: MIT
// From a type that is known at run time to a type of C++.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "tool/arrays/calls.hpp"
#include "warpfold/detail/chunked/plan.hpp"
#include "warpfold/detail/portable.hpp"

namespace warpfold::calls {

// Integers of any width, read as int64 (A signed) or uint64.
template <class A>
struct integers {
    WARPFOLD_HD A operator[](std::uint64_t k) const {
        using one = std::conditional_t<std::is_signed_v<A>, std::int8_t, std::uint8_t>;
        using two = std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>;
        using four = std::conditional_t<std::is_signed_v<A>, std::int32_t, std::uint32_t>;
        switch (size) {
        case 1: return static_cast<const one*>(data)[k];
        case 2: return static_cast<const two*>(data)[k];
        case 4: return static_cast<const four*>(data)[k];
        default: return static_cast<const A*>(data)[k];
        }
    }

    const void* data;
    unsigned size; // bytes of an element
};

// work(x), x an array of the elements at `data`, wherever they lie: of int64, uint64, float or double.
template <class Work>
auto with_elements(array_type type, const void* data, const Work& work) {
    const auto size = static_cast<unsigned>(report::size_of(type));
    switch (family_of(type)) {
    case family::int64: return work(integers<std::int64_t>{data, size});
    case family::uint64: return work(integers<std::uint64_t>{data, size});
    case family::float32: return work(static_cast<const float*>(data));
    case family::float64: return work(static_cast<const double*>(data));
    }
    throw std::logic_error("an element type without a family");
}

// An array_source as a source of the library: View is what with_elements hands on.
template <class View>
struct source_of {
    using element = std::remove_cvref_t<decltype(std::declval<const View&>()[std::uint64_t{}])>;

    [[nodiscard]] std::uint64_t size() const { return in.size(); }
    [[nodiscard]] std::uint64_t stored_bytes() const { return bytes; }
    [[nodiscard]] View view(const void* chunk) const {
        if constexpr (std::is_pointer_v<View>) {
            return static_cast<View>(chunk);
        } else {
            return {chunk, bytes};
        }
    }
    void read(std::uint64_t first, void* to, std::uint64_t count) const { in.read(first, to, count); }

    const array_source& in;
    unsigned bytes; // of an element
};

// work(source) of the elements, as int64, uint64, float or double.
template <class Work>
auto with_source(const array_source& in, const Work& work) {
    return with_elements(in.type(), nullptr, [&](const auto& view) {
        return work(
            source_of<std::remove_cvref_t<decltype(view)>>{in, static_cast<unsigned>(report::size_of(in.type()))});
    });
}

// work(first, count, x), x as of with_elements, of the elements from `first` on; in order, chunk by chunk, up to all.
template <class Work>
void each_chunk(const array_source& in, const Work& work) {
    constexpr std::uint64_t most = std::uint64_t{1} << 18;
    const std::uint64_t n = in.size();
    std::vector<std::uint64_t> memory(std::min(most, n) * report::size_of(in.type()) / 8 + 1);
    for (std::uint64_t first = 0; first < n; first += most) {
        const std::uint64_t count = std::min(most, n - first);
        in.read(first, memory.data(), count);
        with_elements(in.type(), memory.data(), [&](const auto& x) { work(first, count, x); });
    }
}

template <class A>
struct sink_of {
    using element = A;

    void write(std::uint64_t first, const A* from, std::uint64_t count) const {
        out.write(first * sizeof(A), from, count * sizeof(A));
    }

    result_sink& out;
};

inline chunked_options options_of(const passage& how) {
    chunked_options options;
    options.chunk_bytes = how.chunk_bytes;
    options.progress = how.progress;
    return options;
}

template <class A, class Number>
auto& member_of(Number& x) {
    if constexpr (std::is_same_v<A, std::int64_t>) {
        return x.int64;
    } else if constexpr (std::is_same_v<A, std::uint64_t>) {
        return x.uint64;
    } else if constexpr (std::is_same_v<A, float>) {
        return x.float32;
    } else {
        return x.float64;
    }
}
template <class A>
A value_of(const number& x) {
    return member_of<A>(x);
}

} // namespace warpfold::calls
