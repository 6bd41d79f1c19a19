// SPDX-License-Identifier: MIT
// Indices of extremes, and both extremes.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/operations.hpp"
#include "python/src/plain_bools.hpp"
#include "python/src/segments.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::python {

namespace {

// Elements whose extreme is computed at a time: a place is searched for in a block. Small ones suit short segments.
template <class T>
constexpr std::uint64_t block_of(std::uint64_t length) {
    return (length < part_size ? 4096 : 16384) / sizeof(T);
}
template <class T>
inline constexpr std::uint64_t most_room = block_of<T>(part_size);
// In segments of so many elements the place is found with the extreme.
inline constexpr std::uint64_t few = 16;
template <class T>
inline constexpr flag<T> all_ones = static_cast<flag<T>>(-1);

template <class T>
struct candidate {
    T value;
    std::uint64_t index; // in its segment
};

// The order of results: zeros of both signs are equal; a NaN is before all numbers.
template <bool Smallest, class T>
bool is_better(T x, T y) {
    const bool beyond = Smallest ? x < y : y < x;
    return beyond | ((x != x) & (y == y));
}

// The extreme of `count` elements, and its place.
template <bool Smallest, class T>
candidate<T> first_extreme(const T* in, std::uint64_t count) {
    candidate<T> best{in[0], 0};
    for (std::uint64_t k = 1; k < count; ++k) {
        const bool better = is_better<Smallest>(in[k], best.value);
        best.value = better ? in[k] : best.value;
        best.index = better ? k : best.index;
    }
    return best;
}

// The extreme of `count` elements.
template <bool Smallest, class T>
T extreme_of(const T* in, std::uint64_t count) {
    const std::conditional_t<Smallest, minimum, maximum_of_any_zero> closer;
    return detail::fold_in_lanes_apart<T>(in, 0, count, detail::identity_map{}, closer);
}

// The first of `count` elements for which `is_it` is true. There is one.
template <class T, class Test>
std::uint64_t first_of(const T* in, std::uint64_t count, const Test& is_it) {
    std::uint64_t k = 0;
    for (flag<T> is_here = 0; k + lanes<T> <= count; k += lanes<T>) {
        for (std::uint64_t j = 0; j < lanes<T>; ++j) {
            is_here |= is_it(in[k + j]) ? all_ones<T> : flag<T>{0};
        }
        if (is_here != 0) {
            break;
        }
    }
    while (!is_it(in[k])) {
        ++k;
    }
    return k;
}

// The first of `count` elements that equals `wanted`, or is NaN if it is NaN. There is one.
template <class T>
[[gnu::noinline]] std::uint64_t place_of(T wanted, const T* in, std::uint64_t count) {
    return detail::with_widest_vectors([&] {
        return wanted != wanted ? first_of(in, count, [](T x) { return x != x; })
                                : first_of(in, count, [wanted](T x) { return x == wanted; });
    });
}

// The best of elements [begin, end) of a segment, and its block. read(k, count, room): elements from k on, which may be
// in `room`.
template <bool Smallest, class T, class Read>
candidate<T> best_of(const Read& read, std::uint64_t begin, std::uint64_t end, std::uint64_t block) {
    T room[most_room<T>];
    candidate<T> best{};
    for (std::uint64_t k = begin; k < end; k += block) {
        const std::uint64_t count = std::min(block, end - k);
        const T extreme = extreme_of<Smallest>(read(k, count, room), count);
        if (k == begin || is_better<Smallest>(extreme, best.value)) {
            best = {extreme, k};
        }
    }
    return best;
}

// row(s): the function `read` of segment s.
template <bool Smallest, class T, class Row>
void arg_of_rows(const Row& row, std::uint64_t length, const array& out) {
    const std::uint64_t parts = (length + part_size - 1) / part_size, block = block_of<T>(length);
    std::vector<candidate<T>> best(out.size() * parts);
    const auto find = [&](candidate<T>& of, const auto& read) {
        T room[most_room<T>];
        const std::uint64_t count = std::min(block, length - of.index);
        of.index += place_of(of.value, read(of.index, count, room), count);
    };
    for_groups(best.size(), std::min(length, part_size), [&](std::uint64_t unit) {
        const std::uint64_t begin = unit % parts * part_size, end = std::min(length, begin + part_size);
        const auto read = row(unit / parts);
        detail::with_widest_vectors([&] {
            if (length <= few) {
                T room[few] = {};
                best[unit] = first_extreme<Smallest>(read(0, length, room), length);
                return 0;
            }
            best[unit] = best_of<Smallest, T>(read, begin, end, block);
            if (parts == 1) {
                find(best[unit], read);
            }
            return 0;
        });
    });
    const results<std::uint64_t> to(out);
    for (std::uint64_t s = 0; s < out.size(); ++s) {
        candidate<T> first = best[s * parts];
        for (std::uint64_t p = 1; p < parts; ++p) {
            const candidate<T>& next = best[s * parts + p];
            first = is_better<Smallest>(next.value, first.value) ? next : first;
        }
        if (parts > 1) {
            find(first, row(s));
        }
        to[s] = first.index;
    }
}

// `width` neighbouring segments.
template <bool Smallest, class T, bool IsDense, class Index>
void arg_of_columns(const columns<T, IsDense>& in, std::uint64_t width, std::uint64_t length, Index* index) {
    T best[most_columns], room[most_columns];
    std::copy_n(in(0, room), width, best);
    std::fill_n(index, width, Index{0});
    for (std::uint64_t k = 1; k < length; ++k) {
        const T* const from = in(k, room);
        for (std::uint64_t c = 0; c < width; ++c) {
            const bool better = is_better<Smallest>(from[c], best[c]);
            best[c] = better ? from[c] : best[c];
            index[c] = better ? static_cast<Index>(k) : index[c];
        }
    }
}

// Elements that are read in blocks: read(first, count, room).
template <bool Smallest, class T, class Read>
void arg_of_blocks(const Read& read, std::uint64_t length, const array& out) {
    arg_of_rows<Smallest, T>(
        [&](std::uint64_t s) {
            return [&read, first = s * length](std::uint64_t k, std::uint64_t count, T* room) {
                read(first + k, count, room);
                return room;
            };
        },
        length, out);
}

template <bool Smallest, class T>
void arg_extreme_as(const array& in, std::uint64_t length, const array& out) {
    using index = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    if (const auto all = rows_of<T>(in, length)) {
        arg_of_rows<Smallest, T>(
            [&](std::uint64_t s) {
                return [from = (*all)(s)](std::uint64_t k, std::uint64_t, T*) { return from + k; };
            },
            length, out);
        return;
    }
    const results<std::uint64_t> to(out);
    const bool done = length <= std::numeric_limits<std::int32_t>::max() &&
                      for_columns<T>(in, length, [&](const auto& from, std::uint64_t first, std::uint64_t width) {
                          index place[most_columns];
                          arg_of_columns<Smallest>(from, width, length, place);
                          for (std::uint64_t c = 0; c < width; ++c) {
                              to[first + c] = static_cast<std::uint64_t>(place[c]);
                          }
                      });
    if (!done) {
        arg_of_blocks<Smallest, T>(
            [&](std::uint64_t first, std::uint64_t count, T* room) { read_elements<T>(in, first, count, room); },
            length, out);
    }
}

// The first element that is `wanted` in segments of bool without gaps, else the first one. False for other arrays.
bool find_truth(bool wanted, const array& in, std::uint64_t length, const array& out) {
    const auto row = rows_of<std::uint8_t>(in, length);
    if (in.type != element::boolean || !row) {
        return false;
    }
    const results<std::uint64_t> to(out);
    for_groups(out.size(), length, [&](std::uint64_t s) {
        to[s] = detail::with_widest_vectors([&, from = (*row)(s)]() -> std::uint64_t {
            const auto is_it = [wanted](std::uint8_t x) { return (x != 0) == wanted; };
            // The first block is short: often it decides.
            for (std::uint64_t k = 0, block = 32; k < length; k += block, block = block_of<std::uint8_t>(0)) {
                const std::uint64_t count = std::min(block, length - k);
                std::uint8_t is_here = 0; // no bool: GCC makes no vectors of it
                for (std::uint64_t j = 0; j < count; ++j) {
                    is_here = static_cast<std::uint8_t>(is_here | (is_it(from[k + j]) ? 1 : 0));
                }
                if (is_here != 0) {
                    return k + first_of(from + k, count, is_it);
                }
            }
            return 0;
        });
    });
    return true;
}

template <bool Smallest>
void arg_extreme_of(const array& in, std::uint64_t length, const array& out) {
    if (find_truth(!Smallest, in, length, out)) {
        return;
    }
    with_plain_bools(in, [&](const array& plain) {
        const bool done = with_plain_type(plain.type, [&](auto zero) {
            arg_extreme_as<Smallest, decltype(zero)>(plain, length, out);
            return true;
        });
        if (!done) {
            arg_of_blocks<Smallest, float>([&](std::uint64_t first, std::uint64_t count,
                                               float* room) { read_elements<half>(plain, first, count, room); },
                                           length, out);
        }
    });
}

} // namespace

void arg_extreme(bool smallest, element /*fold*/, const array& in, std::uint64_t length, const array& out) {
    if (out.size() == 0 || length == 0) {
        return;
    }
    if (smallest) {
        arg_extreme_of<true>(in, length, out);
    } else {
        arg_extreme_of<false>(in, length, out);
    }
}

void min_max(element fold, const array& in, std::uint64_t length, const array& smallest, const array& largest) {
    if (smallest.size() == 0 || length == 0) {
        return;
    }
    const bool done = smallest.size() == 1 && with_plain_type(in.type, [&](auto zero) {
                          using T = decltype(zero);
                          const T* const from = in.contiguous<const T>(in.type);
                          if (from != nullptr) {
                              extremes<T> both = warpfold::min_max(host{}, from, length);
                              if (in.type == element::boolean) { // bytes that are true need not be 1
                                  both = {static_cast<T>(both.smallest != T{0}), static_cast<T>(both.largest != T{0})};
                              }
                              store_as(smallest.type, smallest.data, both.smallest);
                              store_as(largest.type, largest.data, both.largest);
                          }
                          return from != nullptr;
                      });
    if (!done) {
        reduce(operation::minimum, fold, in, length, nullptr, smallest);
        reduce(operation::maximum, fold, in, length, nullptr, largest);
    }
}

} // namespace warpfold::python
