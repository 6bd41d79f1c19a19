// SPDX-License-Identifier: MIT
#include "warpfold/scan.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/operations.hpp"
#include "python/src/plain_bools.hpp"
#include "python/src/segments.hpp"
#include "warpfold/along_axis.hpp"

namespace warpfold::python {

namespace {

struct segment_heads {
    bool operator[](std::uint64_t k) const {
        const std::uint64_t place = k % length;
        return place == 0 || (parts != nullptr && parts[place]);
    }

    std::uint64_t length;
    const bool* parts;
};

// T into R along the last axis, if both arrays are views of them. R has the size of the results' type.
template <class T, class R, class Op>
bool scan_as(const array& in, std::uint64_t length, const array& out, const Op& op) {
    const T* const line = in.contiguous<const T>(in.type);
    R* const to_line = out.contiguous<R>(out.type);
    if (length == in.size() && line != nullptr && to_line != nullptr) {
        inclusive_scan(host{}, line, length, to_line, op);
        return true;
    }
    // A line with gaps is copied, since a scan along an axis takes two passes. Not where the copy would round in another order.
    constexpr bool is_extreme = std::is_same_v<Op, minimum> || std::is_same_v<Op, maximum>;
    if (length == in.size() && to_line != nullptr && std::is_same_v<T, R> && (std::is_integral_v<T> || is_extreme)) {
        return false;
    }
    const auto from = in.view<const T>(in.type);
    const auto to = out.view<R>(out.type);
    if (from && to) {
        inclusive_scan_along(host{}, *from, -1, *to, op);
    }
    return from && to;
}

// Extremes of float16 are those of integers of the same order, in which NaN is the best. They are computed in the results.
template <class Op>
bool scan_halves(const array& in, std::uint64_t length, const array& out, const Op& op) {
    auto* const key = out.contiguous<std::int16_t>(element::float16);
    if (key == nullptr || !out.view<half>(element::float16)) {
        return scan_as<half, half>(in, length, out, op);
    }
    constexpr std::int16_t magnitude = 0x7fff, infinity = 0x7c00;
    constexpr std::int16_t nan = std::is_same_v<Op, maximum> ? magnitude : -magnitude - 1;
    const auto reordered = [](std::int16_t x) { return static_cast<std::int16_t>(x ^ ((x >> 15) & magnitude)); };
    for_parts(in.size(), [&](std::uint64_t first, std::uint64_t count) {
        read_elements<std::int16_t>(in, first, count, key + first);
        for (std::uint64_t k = first; k < first + count; ++k) {
            key[k] = (key[k] & magnitude) > infinity ? nan : reordered(key[k]);
        }
    });
    array keys = out;
    keys.type = element::int16;
    (void)scan_as<std::int16_t, std::int16_t>(keys, length, keys, op); // true: the results are a view
    for_parts(in.size(), [&](std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t k = first; k < first + count; ++k) {
            key[k] = reordered(key[k]);
        }
    });
    return true;
}

// Integers are added and multiplied modulo 2^64 or the size of both types, with the same bits for both signs.
template <class Op>
bool scan_fast(const array& in, std::uint64_t length, const array& out, const Op& op) {
    constexpr bool widens = std::is_same_v<Op, sum> || std::is_same_v<Op, product>;
    if (in.type == element::float16) {
        if constexpr (widens) {
            return out.type == in.type && scan_as<half, half>(in, length, out, op);
        } else {
            return out.type == in.type && scan_halves(in, length, out, op);
        }
    }
    const bool are_integers = in.type != element::boolean && in.type <= element::uint64 &&
                              out.type != element::boolean && out.type <= element::uint64;
    if (widens && are_integers && size_of(in.type) == size_of(out.type)) {
        return with_bits(in.type,
                         [&](auto zero) { return scan_as<decltype(zero), decltype(zero)>(in, length, out, op); });
    }
    return with_plain_type(in.type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (widens && std::is_integral_v<T>) {
            if constexpr (sizeof(T) < 8) {
                return (out.type == element::int64 || out.type == element::uint64) &&
                       scan_as<T, std::uint64_t>(in, length, out, op);
            } else {
                return false;
            }
        } else {
            return in.type == out.type && scan_as<T, T>(in, length, out, op);
        }
    });
}

// read(first, count, to) copies elements as those of a type that is scanned fast. Lines are copied, scanned and written several at
// a time, or, if `is_split`, in blocks: a block goes on from the last result of the one before.
template <class Op, class Read>
void scan_in_blocks(const Read& read, element type, bool is_split, std::uint64_t length, const array& out,
                    const Op& op) {
    constexpr std::uint64_t block = std::uint64_t{1} << 17;
    const auto bytes = static_cast<std::uint64_t>(size_of(type));
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(out.data) % bytes == 0;
    if (type == out.type && out.at.is_contiguous(size_of(type)) && is_aligned) { // the results are room for the copies
        for_parts(out.size(), [&](std::uint64_t k, std::uint64_t number) { read(k, number, out.data + k * bytes); });
        if (scan_fast(out, length, out, op)) { // else they have many axes
            return;
        }
    }
    const std::uint64_t most = length < block ? block / length * length : (is_split ? block : length);
    const std::unique_ptr<char[]> room(
        new char[(std::min(most, out.size()) + 1) * bytes]); // the first: a result before
    char* const to = room.get() + bytes;
    for (std::uint64_t first = 0, count = 0; first != out.size(); first += count) {
        const std::uint64_t place = first % length, before = place == 0 ? 0 : 1;
        count = std::min(most, length < block ? out.size() - first : length - place);
        const std::uint64_t line = std::min(length, count);
        for_parts(count, [&](std::uint64_t k, std::uint64_t number) { read(first + k, number, to + k * bytes); });
        const std::vector<std::int64_t> shape{static_cast<std::int64_t>(count / line),
                                              static_cast<std::int64_t>(line + before)};
        const array lines(to - before * bytes, type, shape, row_major(shape, size_of(type)));
        (void)scan_fast(lines, line + before, lines, op); // true: it is a view
        for_parts(count, [&](std::uint64_t k, std::uint64_t number) {
            write_bits(out, first + k, number, type, to + k * bytes);
        });
        std::copy_n(to + (count - 1) * bytes, bytes, room.get());
    }
}

// By copies: elements that are not aligned, and types that differ. Integers are added and multiplied in 64 bits. False for what is
// rounded at the end only.
template <class Op>
bool scan_copies(element fold, const array& in, std::uint64_t length, const array& out, const Op& op) {
    constexpr bool widens = std::is_same_v<Op, sum> || std::is_same_v<Op, product>;
    const bool are_integers = in.type <= element::uint64;
    if (widens && are_integers && out.type <= element::uint64 && in.type != out.type) {
        const auto read = [&](std::uint64_t first, std::uint64_t count, char* to) {
            elements<std::uint64_t>(in).read(first, count, reinterpret_cast<std::uint64_t*>(to));
        };
        scan_in_blocks(read, fold, true, length, out, op);
    } else if (in.type == out.type) {
        with_bits(in.type, [&](auto zero) {
            const auto read = [&](std::uint64_t first, std::uint64_t count, char* to) {
                read_elements<decltype(zero)>(in, first, count, reinterpret_cast<decltype(zero)*>(to));
            };
            scan_in_blocks(read, in.type, are_integers, length, out, op);
        });
    } else if (out.type == fold) {
        with_fold_type(fold, [&](auto zero) {
            const auto read = [&](std::uint64_t first, std::uint64_t count, char* to) {
                elements<decltype(zero)>(in).read(first, count, reinterpret_cast<decltype(zero)*>(to));
            };
            scan_in_blocks(read, fold, false, length, out, op);
        });
    } else {
        return false;
    }
    return true;
}

template <class Op>
void scan_by(const Op& op, element fold, const array& in, std::uint64_t length, const array* parts, const array& out) {
    if (parts == nullptr && (scan_fast(in, length, out, op) || scan_copies(fold, in, length, out, op))) {
        return;
    }
    const segment_heads begins{length, parts == nullptr ? nullptr : parts->required<const bool>(element::boolean)};
    with_fold_type(fold, [&](auto zero) {
        using A = decltype(zero);
        inclusive_scan(host{}, elements<A>(in), in.size(), results<A>(out), op, heads(begins));
    });
}

} // namespace

void scan(operation op, element fold, const array& in, std::uint64_t length, const array* heads, const array& out) {
    if (in.size() == 0) {
        return;
    }
    with_plain_bools(in, [&](const array& plain) {
        with_operation(op, [&](const auto& by) { scan_by(by, fold, plain, length, heads, out); });
    });
}

} // namespace warpfold::python
