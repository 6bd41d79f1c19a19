// SPDX-License-Identifier: MIT
// Elements that are not zero: their number, and whether there is one, or nothing else.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "python/src/last_axes.hpp"
#include "python/src/memory_order.hpp"
#include "python/src/segments.hpp"
#include "python/src/sums_of_rows.hpp"
#include "warpfold/along_axis.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::python {

namespace {

// Whether a number is not zero, from its bits: an unsigned integer. 1 or 0 as R, or the reverse if `flip` is 1.
template <class R>
struct is_nonzero {
    explicit is_nonzero(element type, R flip_ = 0)
        : mask(type < element::float16 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size_of(type) - 1)) - 1),
          flip(flip_) {}

    template <class T>
    R operator()(T bits) const {
        return static_cast<R>(((bits & static_cast<T>(mask)) != 0 ? 1 : 0) ^ flip);
    }

    std::uint64_t mask; // all but the sign of floating-point numbers: -0 is zero
    R flip;
};

// The number of elements that are not zero. Lanes count in numbers as wide as elements, as far as the narrowest hold it.
template <class T>
std::uint64_t count_in_lanes(const T* in, std::uint64_t count, const is_nonzero<flag<T>>& test) {
    constexpr std::uint64_t most = 255 * lanes<T>;
    std::uint64_t total = 0;
    while (count >= lanes<T>) {
        const T* const end = in + std::min(most, count / lanes<T> * lanes<T>);
        count -= static_cast<std::uint64_t>(end - in);
        flag<T> number[lanes<T>] = {};
        for (; in != end; in += lanes<T>) {
            for (std::uint64_t j = 0; j < lanes<T>; ++j) {
                number[j] = static_cast<flag<T>>(number[j] + test(in[j]));
            }
        }
        total = std::accumulate(number, number + lanes<T>, total);
    }
    return total + static_cast<std::uint64_t>(std::count_if(in, in + count, test));
}

template <class T>
std::uint64_t count_in_blocks(const array& in, std::uint64_t first, std::uint64_t count) {
    constexpr std::uint64_t most = 4096 / sizeof(T);
    T room[most];
    std::uint64_t total = 0;
    for (std::uint64_t k = 0; k < count; k += most) {
        const std::uint64_t number = std::min(most, count - k);
        read_elements<T>(in, first + k, number, room);
        total += count_in_lanes(room, number, is_nonzero<flag<T>>(in.type));
    }
    return total;
}

void count_fast(const array& in, std::uint64_t length, const array& out) {
    const auto rows = [&](auto zero) {
        const auto row = rows_of<decltype(zero)>(in, length);
        if (row) {
            sum_parts_of_rows(length, results<std::uint64_t>(out), out.size(),
                              [&](std::uint64_t s, std::uint64_t begin, std::uint64_t end) {
                                  return count_in_lanes((*row)(s) + begin, end - begin,
                                                        is_nonzero<flag<decltype(zero)>>(in.type));
                              });
        }
        return row.has_value();
    };
    const auto view = [&](auto zero) {
        const auto from = in.view<const decltype(zero)>(in.type);
        const auto to = out.view<std::uint64_t>(element::int64);
        if (from && to) {
            transform_reduce_along(host{}, *from, last_axes(in, out), *to, is_nonzero<std::uint64_t>(in.type));
        }
        return from && to;
    };
    const auto blocks = [&](auto zero) {
        sum_parts_of_rows(length, results<std::uint64_t>(out), out.size(),
                          [&](std::uint64_t s, std::uint64_t begin, std::uint64_t end) {
                              return count_in_blocks<decltype(zero)>(in, s * length + begin, end - begin);
                          });
        return true;
    };
    (void)(with_bits(in.type, rows) || with_bits(in.type, view) || with_bits(in.type, blocks));
}

// Whether one or all elements of each result are not zero. False if the arrays are no views.
bool test_fast(bool is_all, const array& in, const array& out) {
    const auto to = out.view<std::uint8_t>(element::boolean);
    const std::uint8_t flip = is_all ? 1 : 0; // all are not zero, if not one is zero
    const bool done = to && with_bits(in.type, [&](auto zero) {
                          const auto from = in.view<const decltype(zero)>(in.type);
                          if (from) {
                              transform_reduce_along(host{}, *from, last_axes(in, out), *to,
                                                     is_nonzero<std::uint8_t>(in.type, flip), std::bit_or<>{});
                          }
                          return from.has_value();
                      });
    for (std::uint64_t s = 0; done && is_all && s < out.size(); ++s) {
        out.data[out.at.offset(s)] ^= 1;
    }
    return done;
}

struct either {
    template <class A>
    static constexpr A identity() {
        return A{0};
    }
    template <class A>
    constexpr A operator()(A a, A b) const {
        return static_cast<A>(a | b);
    }
};

// The same of rows whose elements are neighbours. A row is read until an element decides it.
bool test_rows(bool is_all, const array& in, std::uint64_t length, const array& out) {
    return with_bits(in.type, [&](auto zero) {
        using T = decltype(zero);
        constexpr std::uint64_t most = 16384 / sizeof(T);
        const auto row = rows_of<T>(in, length);
        if (!row) {
            return false;
        }
        const is_nonzero<flag<T>> decides(in.type, is_all ? 1 : 0);
        for_groups(out.size(), length, [&](std::uint64_t s) {
            flag<T> is_decided = 0;
            for (std::uint64_t k = 0, block = lanes<T>, end = 0; k < length && is_decided == 0;
                 k = end, block = std::min(8 * block, most)) {
                end = std::min(length, k + block);
                is_decided = detail::fold_in_lanes_apart<flag<T>>((*row)(s), k, end, decides, either{});
            }
            out.data[out.at.offset(s)] = (is_decided != 0) != is_all ? 1 : 0;
        });
        return true;
    });
}

// Elements of an array that one stride describes.
array part_of_line(const array& line, std::uint64_t first, std::uint64_t count) {
    const std::int64_t stride = line.at.axes()[0].stride;
    return {
        line.data + static_cast<std::int64_t>(first) * stride, line.type, {static_cast<std::int64_t>(count)}, {stride}};
}

// Elements that are not zero.
struct nonzeros {
    std::uint64_t operator[](std::uint64_t k) const { return from[k] != 0 ? 1 : 0; }
    void read(std::uint64_t first, std::uint64_t count, std::uint64_t* to) const {
        constexpr std::uint64_t most = 1024;
        double values[most];
        for (std::uint64_t k = 0; k < count; k += most) {
            const std::uint64_t number = std::min(most, count - k);
            from.read(first + k, number, values);
            std::transform(values, values + number, to + k, [](double x) -> std::uint64_t { return x != 0 ? 1 : 0; });
        }
    }

    elements<double> from; // no integer becomes 0 by rounding to double
};

} // namespace

void count_nonzero(const array& in, std::uint64_t length, const array* mask, const array& out) {
    if (out.size() == 0) {
        return;
    }
    if (mask == nullptr && length != 0) {
        const auto same =
            out.size() == 1 && !in.at.is_contiguous(size_of(in.type)) ? in_memory_order(in) : std::nullopt;
        if (same) {
            count_fast(*same, length, array(out.data, out.type, {}, {}));
        } else {
            count_fast(in, length, out);
        }
    } else {
        segmented_reduce(host{}, nonzeros{elements<double>(in, mask)}, equal_segments{length}, out.size(),
                         results<std::uint64_t>(out));
    }
}

bool is_nonzero_any_or_all(bool is_all, const array& in) {
    if (const auto same = in.at.is_contiguous(size_of(in.type)) ? std::nullopt : in_memory_order(in)) {
        return is_nonzero_any_or_all(is_all, *same);
    }
    const bool is_line = in.at.axes().size() == 1;
    for (std::uint64_t first = 0, most = is_line ? 4096 : in.size(); first != in.size(); most *= 16) {
        const std::uint64_t count = std::min(most, in.size() - first);
        std::int64_t number = 0;
        const array numbers(reinterpret_cast<char*>(&number), element::int64, {}, {});
        count_nonzero(is_line ? part_of_line(in, first, count) : in, count, nullptr, numbers);
        if (is_all ? static_cast<std::uint64_t>(number) != count : number != 0) {
            return !is_all;
        }
        first += count;
    }
    return is_all;
}

void test_nonzero(bool is_all, const array& in, std::uint64_t length, const array& out) {
    if (out.size() == 1 && length != 0) {
        *out.data = is_nonzero_any_or_all(is_all, in) ? 1 : 0;
        return;
    }
    if (out.size() == 0 || (length != 0 && (test_rows(is_all, in, length, out) || test_fast(is_all, in, out)))) {
        return;
    }
    std::vector<std::int64_t> counts(out.size());
    count_nonzero(in, length, nullptr,
                  array(reinterpret_cast<char*>(counts.data()), element::int64, out.shape, row_major(out.shape, 8)));
    const results<std::uint64_t> to(out);
    for (std::uint64_t s = 0; s < out.size(); ++s) {
        const auto count = static_cast<std::uint64_t>(counts[s]);
        to[s] = is_all ? count == length : count != 0;
    }
}

} // namespace warpfold::python
