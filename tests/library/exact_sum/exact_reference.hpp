// SPDX-License-Identifier: MIT
// What exact sums have to be, found another way than the library finds it: an integer of 5,120 bits that carries at
// once, numbers taken apart by frexp, and the nearest number found by comparing distances. And data to try it on.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace warpfold::tests {

// Two's complement, in units of 2^unit.
class int128 {
public:
    static constexpr int unit = -2200;

    // Adds (or takes away) m * 2^exponent.
    void add(std::uint64_t m, int exponent, bool negative) {
        const auto place = static_cast<unsigned>(exponent - unit);
        std::array<std::uint32_t, words> what{};
        for (unsigned bit = 0; bit < 64; ++bit) {
            if ((m >> bit & 1) != 0) {
                what[(place + bit) / 32] |= std::uint32_t{1} << ((place + bit) % 32);
            }
        }
        negative ? take_away(what) : put_to(what);
    }
    // Adds the finite x, or takes it away.
    template <class T>
    void add(T x, bool taken_away = false) {
        int exponent = 0;
        const T fraction = std::frexp(std::fabs(x), &exponent);
        add(static_cast<std::uint64_t>(std::ldexp(fraction, 60)), exponent - 60, std::signbit(x) != taken_away);
    }
    // Adds the product of finite numbers.
    template <class T>
    void add_product(T x, T y) {
        int of_x = 0, of_y = 0;
        const auto a = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(x), &of_x), 53));
        const auto b = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(y), &of_y), 53));
        const bool negative = std::signbit(x) != std::signbit(y);
        const int exponent = of_x + of_y - 106;
        for (unsigned part = 0; part < 53; part += 10) { // ten bits of b at a time
            add(a * (b >> part & 1023), exponent + static_cast<int>(part), negative);
        }
    }

    [[nodiscard]] bool negative() const { return (word_[words - 1] >> 31) != 0; }
    [[nodiscard]] bool zero() const {
        return std::all_of(word_.begin(), word_.end(), [](std::uint32_t w) { return w == 0; });
    }
    [[nodiscard]] int128 magnitude() const {
        if (!negative()) {
            return *this;
        }
        int128 other;
        other.take_away(word_);
        return other;
    }
    // Of a magnitude: the exponent of the leading bit.
    [[nodiscard]] int leading() const {
        for (int bit = static_cast<int>(words) * 32 - 1; bit >= 0; --bit) {
            if ((word_[static_cast<unsigned>(bit) / 32] >> (static_cast<unsigned>(bit) % 32) & 1) != 0) {
                return bit + unit;
            }
        }
        return unit - 1;
    }
    // Of a magnitude: the bits from that of `exponent` up, 64 of them.
    [[nodiscard]] std::uint64_t bits_from(int exponent) const {
        std::uint64_t bits = 0;
        for (unsigned k = 0; k < 64; ++k) {
            const int bit = exponent - unit + static_cast<int>(k);
            if (bit >= 0 && bit < static_cast<int>(words) * 32 &&
                (word_[static_cast<unsigned>(bit) / 32] >> (static_cast<unsigned>(bit) % 32) & 1) != 0) {
                bits |= std::uint64_t{1} << k;
            }
        }
        return bits;
    }
    void add(const int128& other) { put_to(other.word_); }
    void subtract(const int128& other) { take_away(other.word_); }

private:
    static constexpr unsigned words = 160;

    void put_to(const std::array<std::uint32_t, words>& what) {
        std::uint64_t carry = 0;
        for (unsigned k = 0; k < words; ++k) {
            carry += std::uint64_t{word_[k]} + what[k];
            word_[k] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
    }
    void take_away(const std::array<std::uint32_t, words>& what) {
        std::uint64_t carry = 1;
        for (unsigned k = 0; k < words; ++k) {
            carry += std::uint64_t{word_[k]} + static_cast<std::uint32_t>(~what[k]);
            word_[k] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
    }

    std::array<std::uint32_t, words> word_{};
};

// The number nearest to it, of two equally near ones the even one.
template <class T>
T nearest(const int128& sum) {
    using limits = std::numeric_limits<T>;
    if (sum.zero()) {
        return T(0);
    }
    const T sign = sum.negative() ? T(-1) : T(1);
    const int128 size = sum.magnitude();
    const int last = std::max(size.leading() - (limits::digits - 1), limits::min_exponent - limits::digits);
    if (size.leading() > limits::max_exponent) {
        return sign * limits::infinity();
    }
    const std::uint64_t kept = size.bits_from(last) & ((std::uint64_t{1} << limits::digits) - 1);
    // The candidates are kept and kept + 1, times 2^last.
    int128 below = size, above;
    int128 low, high;
    low.add(kept, last, false);
    high.add(kept + 1, last, false);
    below.subtract(low);
    above = high;
    above.subtract(size);
    int128 difference = below;
    difference.subtract(above);
    const bool up = difference.zero() ? kept % 2 == 1 : !difference.negative();
    return sign * std::ldexp(static_cast<T>(kept + (up ? 1 : 0)), last);
}

template <class T>
bool any_special(const std::vector<T>& data) {
    return std::any_of(data.begin(), data.end(), [](T x) { return !std::isfinite(x); });
}

template <class T>
T one_nan() {
    const std::uint64_t bits = sizeof(T) == 4 ? 0x7fc00000u : 0x7ff8000000000000u;
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

// By way of what IEEE 754 says of infinities and NaN where there are any.
template <class T>
T expected_sum(const std::vector<T>& data) {
    if (any_special(data)) {
        T folded = 0;
        for (const T x : data) {
            folded += std::isfinite(x) ? T(0) : x;
        }
        return std::isnan(folded) ? one_nan<T>() : folded;
    }
    int128 sum;
    for (const T x : data) {
        sum.add(x);
    }
    return nearest<T>(sum);
}
template <class T>
T expected_dot(const std::vector<T>& a, const std::vector<T>& b) {
    if (any_special(a) || any_special(b)) {
        T folded = 0;
        for (std::size_t k = 0; k < a.size(); ++k) {
            const T sign = std::copysign(T(1), a[k]) * std::copysign(T(1), b[k]);
            const bool plain = std::isfinite(a[k]) && std::isfinite(b[k]);
            const bool infinite = !plain && a[k] != 0 && b[k] != 0 && a[k] == a[k] && b[k] == b[k];
            folded +=
                plain ? T(0)
                      : (infinite ? sign * std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN());
        }
        return std::isnan(folded) ? one_nan<T>() : folded;
    }
    int128 sum;
    for (std::size_t k = 0; k < a.size(); ++k) {
        sum.add_product(a[k], b[k]);
    }
    // A sum of products may lie below the format's last place.
    const T value = nearest<T>(sum);
    return value == 0 && sum.negative() ? -T(0) : value;
}

// n numbers whose exponents are spread evenly over [least, most].
template <class T>
std::vector<T> spread(std::uint64_t n, int least, int most, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<T> data(n);
    for (T& x : data) {
        const T fraction = T(1) + static_cast<T>(random() >> (65 - std::numeric_limits<T>::digits)) *
                                      std::numeric_limits<T>::epsilon();
        const int exponent = least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
        x = std::ldexp(random() % 2 == 0 ? fraction : -fraction, exponent);
    }
    return data;
}

// Numbers over the whole range that cancel but for a small rest.
template <class T>
std::vector<T> cancelling(std::uint64_t n, unsigned seed) {
    using limits = std::numeric_limits<T>;
    std::vector<T> data = spread<T>(n / 2, limits::min_exponent, limits::max_exponent - 1, seed);
    for (std::uint64_t k = 0; k < n / 2; ++k) {
        data.push_back(-data[k]);
    }
    data.resize(n, limits::denorm_min());
    std::shuffle(data.begin(), data.end(), std::mt19937(seed));
    data.push_back(3 * limits::denorm_min());
    return data;
}

// Sums near the borders of the format and half-way between its numbers, infinities, NaN and zeros.
template <class T>
std::vector<std::vector<T>> special_sums() {
    using limits = std::numeric_limits<T>;
    const T largest = limits::max(), tiny = limits::denorm_min(), infinity = limits::infinity(), one = 1;
    const T step = limits::epsilon(), half = step / 2; // of one: the next number, and half-way to it
    const T half_of_largest = std::ldexp(one, limits::max_exponent - limits::digits - 1);
    const T nan = limits::quiet_NaN();
    std::vector<std::vector<T>> all{{},
                                    {T(0)},
                                    {-T(0)},
                                    {-T(0), -T(0)},
                                    {-T(0), T(0)},
                                    {one},
                                    {-one},
                                    {one, -one},
                                    {one, half},
                                    {one, half, tiny},
                                    {one, half, -tiny},
                                    {one + step, half},
                                    {one + step, half, -tiny},
                                    {one, -half / 2},
                                    {one, -half / 2, tiny},
                                    {one, -half / 2, -tiny},
                                    {2 - step, half},
                                    {2 - step, half, -tiny},
                                    {largest},
                                    {largest, half_of_largest},
                                    {largest, half_of_largest, -tiny},
                                    {largest, half_of_largest, tiny},
                                    {largest, half_of_largest / 2},
                                    {largest, largest},
                                    {largest, largest, -largest},
                                    {-largest, -largest, largest},
                                    {largest, largest, largest, -largest, -largest},
                                    {largest, -largest, tiny},
                                    {-largest, -half_of_largest},
                                    {tiny},
                                    {-tiny, -tiny},
                                    {limits::min(), -tiny},
                                    {limits::min(), limits::min(), -tiny},
                                    {largest, tiny, -largest},
                                    {std::ldexp(one, limits::digits), one},
                                    {std::ldexp(one, limits::digits), one, tiny},
                                    {std::ldexp(one, limits::digits), 3},
                                    {std::ldexp(one, limits::digits), 3, -tiny},
                                    {infinity},
                                    {-infinity},
                                    {infinity, one},
                                    {infinity, infinity},
                                    {infinity, -infinity},
                                    {nan},
                                    {-nan, one},
                                    {infinity, nan},
                                    {largest, largest, -infinity},
                                    {one, -infinity, -infinity, largest}};
    const std::size_t count = all.size();
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<T> other = all[k]; // the mirror image
        for (T& x : other) {
            x = -x;
        }
        all.push_back(other);
    }
    return all;
}

} // namespace warpfold::tests
