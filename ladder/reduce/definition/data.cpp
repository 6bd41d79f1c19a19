// SPDX-License-Identifier: MIT
// Data from a seed, references and tolerances.
#include "ladder/reduce/definition/data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "ladder/reduce/definition/with_operation.hpp"

namespace warpfold::ladder::reduce {

namespace {

// SplitMix64 (Steele, Lea and Flood, 2014) as a function of the place.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t place) {
    std::uint64_t z = seed * 0xd1342543de82ef95u + (place + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct chunk {
    std::uint64_t begin = 0, end = 0;
};

std::vector<chunk> chunks_of(std::uint64_t n) {
    const std::uint64_t most = std::clamp<std::uint64_t>(std::thread::hardware_concurrency(), 1, 64);
    const std::uint64_t count = std::clamp<std::uint64_t>(n >> 18, 1, most);
    std::vector<chunk> all;
    for (std::uint64_t k = 0; k < count; ++k) {
        all.push_back({n / count * k, k + 1 == count ? n : n / count * (k + 1)});
    }
    return all;
}

// work(k, chunk) for every chunk, each on a thread of its own.
template <class Work>
void for_chunks(const std::vector<chunk>& all, const Work& work) {
    std::vector<std::thread> threads;
    for (std::size_t k = 1; k < all.size(); ++k) {
        threads.emplace_back([&, k] { work(k, all[k]); });
    }
    work(0, all[0]);
    for (auto& thread : threads) {
        thread.join();
    }
}

template <class T>
T element(operation op, std::uint64_t bits) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(op == operation::product ? bits | 1 : bits);
    } else {
        if (op == operation::product) {
            return (bits & 1) != 0 ? T{1} : T{-1};
        }
        if (op == operation::sum) {
            // An odd number of sixteenths.
            return static_cast<T>(static_cast<double>(2 * static_cast<int>(bits >> 60) - 15) / 16);
        }
        constexpr int kept = std::numeric_limits<T>::digits;
        return static_cast<T>(std::ldexp(static_cast<double>(bits >> (64 - kept)), 1 - kept) - 1.0);
    }
}

template <class T>
void fill(T* to, operation op, std::uint64_t n, std::uint64_t seed) {
    for_chunks(chunks_of(n), [&](std::size_t, chunk c) {
        for (std::uint64_t i = c.begin; i < c.end; ++i) {
            to[i] = element<T>(op, random_bits(seed, i));
        }
    });
    if constexpr (std::is_floating_point_v<T>) {
        if (op != operation::product || n == 0) {
            return;
        }
        for (std::uint64_t k = 0; k < 24; ++k) {
            T& chosen = to[random_bits(~seed, k) % n];
            chosen = std::copysign(k % 2 == 0 ? T{2} : T{0.5}, chosen);
        }
    }
}

// A sum with the rounding errors carried along (Neumaier, 1974).
struct compensated_sum {
    long double total = 0, lost = 0, magnitude = 0;

    void add(long double x) {
        const long double next = total + x;
        lost += std::fabs(total) >= std::fabs(x) ? (total - next) + x : (x - next) + total;
        total = next;
        magnitude += std::fabs(x);
    }
    void add(const compensated_sum& other) {
        const long double all = magnitude + other.magnitude;
        add(other.total);
        lost += other.lost;
        magnitude = all;
    }
    // Where an element or the sum is not finite, nothing is lost but the infinity or NaN itself.
    [[nodiscard]] long double value() const { return std::isfinite(total) ? total + lost : total; }
};

template <class T, class Op>
reference exact_reference(const T* data, std::uint64_t n) {
    const auto chunks = chunks_of(n);
    std::vector<T> partial(chunks.size(), Op::identity());
    for_chunks(chunks, [&](std::size_t k, chunk c) {
        T all = Op::identity();
        for (std::uint64_t i = c.begin; i < c.end; ++i) {
            all = Op{}(all, data[i]);
        }
        partial[k] = all;
    });
    T all = Op::identity();
    for (const T one : partial) {
        all = Op{}(all, one);
    }
    reference right;
    right.expected =
        read_scalar(std::is_integral_v<T> ? (sizeof(T) == 4 ? element_type::int32 : element_type::int64)
                                          : (sizeof(T) == 4 ? element_type::float32 : element_type::float64),
                    &all);
    return right;
}

template <class T>
reference rounded_reference(double expected, long double magnitude) {
    reference right;
    right.expected.type = sizeof(T) == 4 ? element_type::float32 : element_type::float64;
    right.expected.real = expected;
    right.exact = false;
    right.magnitude = magnitude > static_cast<long double>(std::numeric_limits<T>::max())
                          ? std::numeric_limits<double>::infinity()
                          : static_cast<double>(magnitude);
    return right;
}

template <class T>
reference sum_reference(const T* data, std::uint64_t n) {
    const auto chunks = chunks_of(n);
    std::vector<compensated_sum> partial(chunks.size());
    for_chunks(chunks, [&](std::size_t k, chunk c) {
        compensated_sum all;
        for (std::uint64_t i = c.begin; i < c.end; ++i) {
            all.add(static_cast<long double>(data[i]));
        }
        partial[k] = all;
    });
    compensated_sum all;
    for (const auto& one : partial) {
        all.add(one);
    }
    reference right = rounded_reference<T>(static_cast<double>(all.value()), all.magnitude);
    // Infinities and NaN among the elements: every order gives the same.
    if (!std::isfinite(all.magnitude)) {
        right.exact = true;
    }
    return right;
}

// A product as a fraction and an exponent, so that nothing overflows on the way.
struct scaled_product {
    long double fraction = 1, exponent = 0;
    long double spread = 0; // sum of |log2 |x|| of the factors: no partial product is farther from 1

    void multiply(long double x) {
        if (std::isfinite(x) && x != 0) {
            spread += std::fabs(std::log2(std::fabs(x)));
        }
        scale(x, 0);
    }
    void multiply(const scaled_product& other) {
        spread += other.spread;
        scale(other.fraction, other.exponent);
    }

private:
    void scale(long double x, long double by) {
        int shift = 0;
        int renormalised = 0;
        fraction = std::frexp(fraction * std::frexp(x, &shift), &renormalised);
        exponent += by + shift + renormalised;
    }
};

template <class T>
reference product_reference(const T* data, std::uint64_t n) {
    const auto chunks = chunks_of(n);
    std::vector<scaled_product> partial(chunks.size());
    for_chunks(chunks, [&](std::size_t k, chunk c) {
        scaled_product all;
        for (std::uint64_t i = c.begin; i < c.end; ++i) {
            all.multiply(static_cast<long double>(data[i]));
        }
        partial[k] = all;
    });
    scaled_product all;
    for (const auto& one : partial) {
        all.multiply(one);
    }
    const auto shift = static_cast<int>(std::clamp(all.exponent, -100000.0L, 100000.0L));
    const long double value = std::ldexp(all.fraction, shift);
    reference right = rounded_reference<T>(static_cast<double>(value), std::fabs(value));
    if (all.spread > std::numeric_limits<T>::max_exponent - 2) {
        right.magnitude = std::numeric_limits<double>::infinity(); // some order overflows, or underflows
    } else if (!std::isfinite(value) || value == 0) {
        right.exact = true;
    }
    return right;
}

double unit_roundoff(element_type type) { return type == element_type::float32 ? 0x1p-24 : 0x1p-53; }

} // namespace

void fill_data(std::byte* to, element_type type, operation op, std::uint64_t n, std::uint64_t seed) {
    with_type(type, [&]<class T>() { fill(reinterpret_cast<T*>(to), op, n, seed); });
}

bool sums_exactly(element_type type, operation op, std::uint64_t n) {
    return op == operation::sum && (type == element_type::float64 || n <= std::uint64_t{1} << 30);
}

reference reference_of(element_type type, operation op, const void* data, std::uint64_t n) {
    return with_type(type, [&]<class T>() {
        const auto* const elements = static_cast<const T*>(data);
        if constexpr (std::is_floating_point_v<T>) {
            if (op == operation::sum) {
                return sum_reference(elements, n);
            }
            if (op == operation::product) {
                return product_reference(elements, n);
            }
        }
        return with_operation<T>(op, [&]<class Op>() { return exact_reference<T, Op>(elements, n); });
    });
}

double tolerance_of(const reference& right, std::uint64_t height, bool in_double) {
    if (right.exact) {
        return 0;
    }
    const double type_unit = unit_roundoff(right.expected.type);
    const double unit = in_double ? 0x1p-53 : type_unit;
    const double through = static_cast<double>(height) * unit;
    if (through >= 1) {
        return std::numeric_limits<double>::infinity();
    }
    // One more rounding to the type covers that of the expected value and of a last conversion; 1e-12 our own
    // arithmetic.
    return (through / (1 - through) + type_unit) * right.magnitude * (1 + 1e-12);
}

bool agrees(const reference& right, const scalar& result, double tolerance) {
    if (right.expected.type == element_type::int32 || right.expected.type == element_type::int64) {
        return result.integer == right.expected.integer;
    }
    if (std::isnan(right.expected.real)) {
        return std::isnan(result.real);
    }
    if (std::isinf(tolerance)) {
        return true; // no order can be held to a value: some of them overflow
    }
    if (result.real == right.expected.real) {
        return true;
    }
    return std::fabs(result.real - right.expected.real) <= tolerance;
}

scalar read_scalar(element_type type, const void* value) {
    scalar result;
    result.type = type;
    with_type(type, [&]<class T>() {
        T held{};
        std::memcpy(&held, value, sizeof held);
        if constexpr (std::is_integral_v<T>) {
            result.integer = held;
        } else {
            result.real = static_cast<double>(held);
        }
    });
    return result;
}

scalar fold_on_host(element_type type, operation op, const void* values, std::uint64_t count) {
    return with_type(type, [&]<class T>() {
        const auto* const elements = static_cast<const T*>(values);
        return with_operation<T>(op, [&]<class Op>() {
            constexpr bool rounds = std::is_same_v<Op, sum<T>> || std::is_same_v<Op, product<T>>;
            using wide = std::conditional_t<std::is_floating_point_v<T> && rounds, long double, T>;
            using wide_operation = std::conditional_t<
                std::is_same_v<wide, T>, Op,
                std::conditional_t<std::is_same_v<Op, sum<T>>, sum<long double>, product<long double>>>;
            auto all = wide_operation::identity();
            for (std::uint64_t i = 0; i < count; ++i) {
                all = wide_operation{}(all, static_cast<decltype(all)>(elements[i]));
            }
            const T result = static_cast<T>(all);
            return read_scalar(type, &result);
        });
    });
}

} // namespace warpfold::ladder::reduce
