// SPDX-License-Identifier: MIT
#include "warpfold/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "python/src/last_axes.hpp"
#include "python/src/operations.hpp"
#include "python/src/plain_bools.hpp"
#include "python/src/segments.hpp"
#include "warpfold/along_axis.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::python {

namespace {

// Folds elements of type T along axes, if both arrays are views of their types.
template <class T, class Op>
bool fold_as(element type, const array& in, element result, const array& out, const Op& op) {
    using R = accumulator_t<Op, T>;
    const auto from = in.view<const T>(type);
    const auto to = out.view<R>(result);
    if (from && to) {
        reduce_along(host{}, *from, last_axes(in, out), *to, op);
    }
    return from && to;
}

// Integers are multiplied by product_fast().
template <class Op>
bool fold_fast(const array& in, const array& out, const Op& op) {
    constexpr bool widens = std::is_same_v<Op, sum>;
    return with_plain_type(in.type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_same_v<Op, product> && std::is_integral_v<T>) {
            return false;
        } else {
            constexpr element wide = std::is_signed_v<T> ? element::int64 : element::uint64;
            return fold_as<T>(in.type, in, std::is_floating_point_v<T> || !widens ? in.type : wide, out, op);
        }
    });
}

template <class To>
struct converted_to {
    template <class T>
    To operator()(T x) const {
        return static_cast<To>(x);
    }
};

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

// Sums of any numbers in float64.
bool sum_fast(const array& in, const array& out) {
    const auto to = out.view<double>(element::float64);
    return to && with_plain_type(in.type, [&](auto zero) {
               const auto from = in.view<const decltype(zero)>(in.type);
               if (from) {
                   transform_reduce_along(host{}, *from, last_axes(in, out), *to, converted_to<double>{});
               }
               return from.has_value();
           });
}

// Products of integers in 64 bits. They wrap, so that the bits of both signs are the same.
bool product_fast(const array& in, const array& out) {
    const auto to = out.view<std::uint64_t>(out.type);
    return size_of(out.type) == sizeof(std::uint64_t) && out.type != element::float64 && to &&
           with_plain_type(in.type, [&](auto zero) {
               if constexpr (std::is_integral_v<decltype(zero)>) {
                   using T = std::conditional_t<sizeof(zero) == 8, std::uint64_t, decltype(zero)>;
                   if (const auto from = in.view<const T>(in.type)) {
                       transform_reduce_along(host{}, *from, last_axes(in, out), *to, converted_to<std::uint64_t>{},
                                              product{});
                       return true;
                   }
               }
               return false;
           });
}

// value(s, begin, end) is the value of elements [begin, end) of row s; values of a row are added.
template <class A, class Value>
void sum_parts_of_rows(std::uint64_t length, const results<A>& to, std::uint64_t rows, const Value& value) {
    const std::uint64_t parts = (length + part_size - 1) / part_size;
    std::vector<A> sums(rows * parts);
    for_groups(sums.size(), std::min(length, part_size), [&](std::uint64_t unit) {
        const std::uint64_t s = unit / parts, begin = unit % parts * part_size;
        sums[unit] = detail::with_widest_vectors([&] { return value(s, begin, std::min(length, begin + part_size)); });
    });
    const sum add;
    for (std::uint64_t s = 0; s < rows; ++s) {
        detail::joined_parts<A, sum> all(add);
        std::for_each_n(&sums[s * parts], parts, [&](A part) { all.add(part); });
        to[s] = all.total();
    }
}

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

struct magnitude {
    template <class T>
    T operator()(T x) const {
        return std::abs(x);
    }
};

template <class T>
bool magnitudes_as(element type, const array& in, const array& out) {
    const auto from = in.view<const T>(type);
    const auto to = out.view<T>(type);
    if (from && to) {
        transform_reduce_along(host{}, *from, last_axes(in, out), *to, magnitude{});
    }
    return from && to;
}

// Elements of an array that one stride describes.
array part_of_line(const array& line, std::uint64_t first, std::uint64_t count) {
    const std::int64_t stride = line.at.axes()[0].stride;
    return {
        line.data + static_cast<std::int64_t>(first) * stride, line.type, {static_cast<std::int64_t>(count)}, {stride}};
}

// Segments of one length, or between offsets.
struct bounds {
    std::uint64_t operator[](std::uint64_t s) const {
        return offsets == nullptr ? s * length : static_cast<std::uint64_t>(offsets[s]);
    }

    std::uint64_t length = 0;
    const std::int64_t* offsets = nullptr;
};

void reduce_segments(operation op, element fold, const array& in, const bounds& segments, const array* mask,
                     const array& out) {
    with_fold_type(fold, [&](auto zero) {
        using A = decltype(zero);
        const A none = neutral<A>(op, in.type);
        const A* const plain = mask == nullptr ? in.contiguous<const A>(fold) : nullptr;
        with_operation(op, [&](const auto& by) {
            if (plain != nullptr) {
                segmented_reduce(host{}, plain, segments, out.size(), results<A>(out), by, none);
            } else {
                segmented_reduce(host{}, elements<A>(in, mask, none), segments, out.size(), results<A>(out), by, none);
            }
        });
    });
}

// Extremes of segments without gaps, in the type of the elements. False for other arrays.
template <class Op>
bool segment_extremes(const array& in, const bounds& segments, const array& out, operation which, const Op& op) {
    return with_plain_type(in.type, [&](auto zero) {
        using T = decltype(zero);
        const T* const from = in.contiguous<const T>(in.type);
        T* const to = out.contiguous<T>(in.type);
        if (from != nullptr && to != nullptr) {
            segmented_reduce(host{}, from, segments, out.size(), to, op, neutral<T>(which, in.type));
        }
        return from != nullptr && to != nullptr;
    });
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

template <class A>
struct squared_deviation {
    template <class T>
    A operator()(T x) const {
        const A deviation = static_cast<A>(x) - mean;
        return deviation * deviation;
    }

    A mean;
};

template <class A>
struct squares {
    A operator[](std::uint64_t k) const {
        const A deviation = from[k] - means[k / length];
        return from.is_chosen(k) ? deviation * deviation : A{0};
    }
    void read(std::uint64_t first, std::uint64_t count, A* to) const {
        from.read_all(first, count, to);
        for (std::uint64_t k = 0; k < count;) {
            const std::uint64_t s = (first + k) / length, end = std::min(count, (s + 1) * length - first);
            std::transform(to + k, to + end, to + k, squared_deviation<A>{means[s]});
            k = end;
        }
        from.leave_out(first, count, to, A{0});
    }

    elements<A> from;
    const A* means;
    std::uint64_t length;
};

// Without conversions of single elements, if the segments allow it.
template <class T, class A>
bool deviations_fast(const array& in, std::uint64_t length, const A* means, const array& out) {
    const results<A> to(out);
    if (const auto row = rows_of<T>(in, length)) {
        sum_parts_of_rows(length, to, out.size(), [&](std::uint64_t s, std::uint64_t begin, std::uint64_t end) {
            return detail::fold_in_lanes<A>((*row)(s), begin, end, squared_deviation<A>{means[s]}, sum{});
        });
        return true;
    }
    return for_columns<T>(in, length, [&](const auto& from, std::uint64_t first, std::uint64_t width) {
        A mean[most_columns], total[most_columns];
        T room[most_columns];
        std::copy_n(means + first, width, mean);
        detail::joined_rows<A, sum, most_columns, 32> sums(total, width);
        sums.add(length, [&](std::uint64_t begin, std::uint64_t count, A* __restrict added) {
            for (std::uint64_t k = begin; k < begin + count; ++k) {
                const T* const x = from(k, room);
                for (std::uint64_t c = 0; c < width; ++c) {
                    added[c] += squared_deviation<A>{mean[c]}(x[c]);
                }
            }
        });
        sums.finish();
        for (std::uint64_t c = 0; c < width; ++c) {
            to[first + c] = total[c];
        }
    });
}

template <class A>
void deviations(const array& in, std::uint64_t length, const array* mask, const A* means, const array& out) {
    const auto fast = [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_same_v<A, double> || std::is_same_v<A, T>) {
            return deviations_fast<T>(in, length, means, out);
        } else {
            return false; // rare
        }
    };
    if (mask != nullptr || !with_plain_type(in.type, fast)) {
        segmented_reduce(host{}, squares<A>{elements<A>(in, mask), means, length}, equal_segments{length}, out.size(),
                         results<A>(out));
    }
}

// Whether sums or products are those in 64 bits, converted: narrow integers, and numbers of bools.
bool is_rounded_last(operation op, element in, element out) {
    const bool is_narrow = out <= element::uint64 && size_of(out) < 8;
    return op <= operation::product &&
           (is_narrow || (op == operation::sum && in == element::boolean && out > element::uint64));
}

} // namespace

void reduce(operation op, element fold, const array& in, std::uint64_t length, const array* mask, const array& out) {
    if (out.size() == 0) {
        return;
    }
    if (op > operation::product && in.type == element::boolean && out.type == in.type && mask == nullptr) {
        test_nonzero(op == operation::minimum, in, length, out);
        return;
    }
    if (mask == nullptr && is_rounded_last(op, in.type, out.type)) {
        const element type = in.type <= element::int64 ? element::int64 : element::uint64;
        std::vector<std::int64_t> sums(out.size());
        reduce(op, type, in, length, nullptr,
               array(reinterpret_cast<char*>(sums.data()), type, out.shape, row_major(out.shape, size_of(type))));
        const results<std::int64_t> to(out);
        for (std::uint64_t s = 0; s < sums.size(); ++s) {
            to[s] = sums[s];
        }
        return;
    }
    if (op == operation::sum && in.type == element::boolean) {
        count_nonzero(in, length, mask, out);
        return;
    }
    const auto is_fast = [&](const array& plain) {
        switch (op) {
        case operation::sum: return fold_fast(plain, out, sum{}) || sum_fast(plain, out);
        case operation::product: return fold_fast(plain, out, product{}) || product_fast(plain, out);
        case operation::minimum: return fold_fast(plain, out, minimum{});
        default: return fold_fast(plain, out, maximum{});
        }
    };
    with_plain_bools(in, [&](const array& plain) {
        if (mask != nullptr || !is_fast(plain)) {
            reduce_segments(op, fold, plain, {length, nullptr}, mask, out);
        }
    });
}

void count_nonzero(const array& in, std::uint64_t length, const array* mask, const array& out) {
    if (out.size() == 0) {
        return;
    }
    if (mask == nullptr && length != 0) {
        count_fast(in, length, out);
    } else {
        segmented_reduce(host{}, nonzeros{elements<double>(in, mask)}, equal_segments{length}, out.size(),
                         results<std::uint64_t>(out));
    }
}

bool is_nonzero_any_or_all(bool is_all, const array& in) {
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
    if (out.size() == 0 || (length != 0 && test_fast(is_all, in, out))) {
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

void squared_deviations(element fold, const array& in, std::uint64_t length, const array* mask, const array& means,
                        const array& out) {
    if (out.size() == 0 || length == 0) {
        return;
    }
    with_plain_bools(in, [&](const array& plain) {
        if (fold == element::float32) {
            deviations(plain, length, mask, means.required<const float>(fold), out);
        } else {
            deviations(plain, length, mask, means.required<const double>(fold), out);
        }
    });
}

bool sum_magnitudes(const array& in, const array& out) {
    return magnitudes_as<float>(element::float32, in, out) || magnitudes_as<double>(element::float64, in, out);
}

void segment_reduce(operation op, element fold, const array& in, const array& offsets, const array& out) {
    if (out.size() == 0) {
        return;
    }
    const bounds segments{0, offsets.required<const std::int64_t>(element::int64)};
    const auto fold_plain = [&](const array& plain) {
        return op == operation::minimum ? segment_extremes(plain, segments, out, op, minimum{})
                                        : segment_extremes(plain, segments, out, op, maximum{});
    };
    const bool may_be_plain = op > operation::product && in.at.is_contiguous(size_of(in.type));
    if (!may_be_plain || !with_plain_bools(in, fold_plain)) {
        reduce_segments(op, fold, in, segments, nullptr, out);
    }
}

} // namespace warpfold::python
