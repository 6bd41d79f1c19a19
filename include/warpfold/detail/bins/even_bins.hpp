// SPDX-License-Identifier: MIT
// The arithmetic of bins: equal bins of integers by one multiplication instead of a division; equal bins of
// floating-point numbers; comparisons of numbers of different types.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "warpfold/detail/portable.hpp"

namespace warpfold::detail {

// "No bin": above the number of every bin.
inline constexpr std::uint32_t outside = 0xffffffffu;

// The upper half of a product. nvcc generates more instructions for the host's expression than for the intrinsic.
WARPFOLD_HD constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
    return __umul64hi(a, b);
#else
    return static_cast<std::uint64_t>(static_cast<uint128>(a) * b >> 64);
#endif
}
WARPFOLD_HD constexpr std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
    return __umulhi(a, b);
#else
    return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
#endif
}

// floor(d * bins / width) for 0 <= d < width <= 2^64, as d * whole + floor(d * fraction / 2^K). whole + fraction / 2^K
// is bins / width, with the fraction rounded up. The error of the product, below d / 2^K, has to be below 1 / width, so
// that it never reaches the next integer: K = 64 for widths up to 2^32, K = 128 for all.
template <class S, bool MayBeWide>
class even_integers {
    using plain = std::conditional_t<std::is_same_v<S, bool>, unsigned char, S>;
    using bits_type = std::make_unsigned_t<plain>;

public:
    // Bins over the integers [lower, last].
    even_integers(int128 lower, int128 last, std::uint32_t bins) {
        const int128 first_here = std::max<int128>(lower, std::numeric_limits<S>::min());
        const int128 last_here = std::min<int128>(last, std::numeric_limits<S>::max());
        if (first_here > last_here) { // no sample of this type has a bin
            offset_ = 1;
            whole_ = outside;
            return;
        }
        first_ = static_cast<bits_type>(first_here);
        span_ = static_cast<bits_type>(last_here - first_here);
        offset_ = static_cast<std::uint64_t>(first_here - lower);
        const uint128 width = static_cast<uint128>(last - lower) + 1;
        whole_ = static_cast<std::uint32_t>(bins / width);
        const uint128 rest = bins % width;
        wide_ = width > (uint128{1} << 32);
        if (!wide_) {
            fraction_ = static_cast<std::uint64_t>(((rest << 64) + width - 1) / width);
            find_product(rest, width);
        } else {
            fraction_ = static_cast<std::uint64_t>((rest << 64) / width);
            const uint128 left = (rest << 64) % width;
            fraction_low_ = static_cast<std::uint64_t>(((left << 64) + width - 1) / width);
        }
    }

    WARPFOLD_HD constexpr std::uint32_t operator()(const S& x) const {
        const bits_type from_first = static_cast<bits_type>(static_cast<bits_type>(static_cast<plain>(x)) - first_);
        std::uint32_t bin = 0;
        if (MayBeWide && wide_) {
            bin = wide_bin(from_first + offset_);
        } else {
            bin = narrow_bin(static_cast<std::uint32_t>(from_first) + static_cast<std::uint32_t>(offset_));
        }
        return from_first > span_ ? outside : bin; // without a branch; unused for samples outside
    }

    // The same bins by one multiplication of 32 bits instead of two.
    class one_product {
    public:
        WARPFOLD_HD constexpr std::uint32_t operator()(const S& x) const {
            const bits_type from_first = static_cast<bits_type>(static_cast<bits_type>(static_cast<plain>(x)) - first_);
            const auto d = static_cast<std::uint32_t>(from_first);
            return from_first > span_ ? outside : d * whole_ + (multiply_high(d, factor_) >> shift_);
        }

    private:
        friend even_integers;
        WARPFOLD_HD constexpr one_product(bits_type first, bits_type span, std::uint32_t whole, std::uint32_t factor,
                                          std::uint32_t shift)
            : first_(first), span_(span), whole_(whole), factor_(factor), shift_(shift) {}

        bits_type first_, span_;
        std::uint32_t whole_, factor_, shift_;
    };
    [[nodiscard]] WARPFOLD_HD constexpr one_product by_one_product() const requires(!MayBeWide) {
        return one_product(first_, span_, whole_, factor_, shift_);
    }
    [[nodiscard]] WARPFOLD_HD constexpr bool has_one_product() const { return shift_ != none; }

    // The same bins by one multiplication of doubles, which processors vectorise.
    class quotients {
    public:
        std::uint32_t operator()(const S& x) const {
            const bits_type from_first = static_cast<bits_type>(static_cast<bits_type>(static_cast<plain>(x)) - first_);
            const std::uint32_t beyond = from_first > span_ ? outside : 0; // all bits set, to avoid a branch
            const auto d = static_cast<std::int32_t>(static_cast<std::uint32_t>(from_first) & ~beyond) + offset_;
            return static_cast<std::uint32_t>(static_cast<std::int32_t>(d * factor_)) | beyond;
        }

    private:
        friend even_integers;
        quotients(bits_type first, bits_type span, std::int32_t offset, double factor)
            : first_(first), span_(span), offset_(offset), factor_(factor) {}

        bits_type first_, span_;
        std::int32_t offset_;
        double factor_;
    };
    [[nodiscard]] quotients by_quotients() const {
        return quotients(first_, span_, static_cast<std::int32_t>(offset_), factor());
    }
    // True if quotients gives the same bins. The factor is between the exact one and the exact one times 1 + 2^-50 plus
    // 2^-64, whichever way it was rounded. So a product, rounded once, is never below an integer that it should reach,
    // and too large by less than bins * 5 / 2^52 + 2^-33, which has to be below 1 / width.
    [[nodiscard]] bool has_quotients(std::uint32_t bins) const {
        constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
        return !wide_ && whole_ != outside && offset_ <= most && span_ <= most - offset_ &&
               (bins / factor() + 1) * bins < 0x1p49 && bins / factor() < 0x1p31;
    }

private:
    static constexpr std::uint32_t none = 0xffffffffu;

    // rest / width as factor / 2^(32 + shift), rounded up, with the most bits that 32 hold. The error of a product, at
    // most span * excess / (width * 2^(32 + shift)), has to be below 1 / width.
    void find_product(uint128 rest, uint128 width) {
        std::uint32_t shift = 0;
        while (shift < 31 && rest << (shift + 1) < width && rest != 0) {
            ++shift;
        }
        const uint128 scaled = rest << (32 + shift), factor = (scaled + width - 1) / width;
        const uint128 excess = factor * width - scaled;
        if (offset_ == 0 && factor >> 32 == 0 && span_ * excess >> (32 + shift) == 0) {
            factor_ = static_cast<std::uint32_t>(factor);
            shift_ = shift;
        }
    }
    [[nodiscard]] double factor() const {
        double rounded = static_cast<double>(whole_) + static_cast<double>(fraction_) * 0x1p-64;
        for (unsigned k = 0; k < 3; ++k) {
            rounded = std::nextafter(rounded, std::numeric_limits<double>::infinity());
        }
        return rounded;
    }
    WARPFOLD_HD constexpr std::uint32_t wide_bin(std::uint64_t d) const {
        const uint128 product = static_cast<uint128>(d) * fraction_ + multiply_high(d, fraction_low_);
        return static_cast<std::uint32_t>(d * whole_ + static_cast<std::uint64_t>(product >> 64));
    }
    WARPFOLD_HD constexpr std::uint32_t narrow_bin(std::uint32_t d) const {
        const auto high = static_cast<std::uint32_t>(fraction_ >> 32), low = static_cast<std::uint32_t>(fraction_);
        const std::uint64_t carried = multiply_high(d, low);
        return d * whole_ + static_cast<std::uint32_t>((std::uint64_t{d} * high + carried) >> 32);
    }

    bits_type first_ = 0; // the first sample that has a bin
    bits_type span_ = 0;  // from there to the last sample that has one
    bool wide_ = false;
    std::uint32_t whole_ = 0;
    std::uint64_t offset_ = 0;   // from the lower bound to the first sample
    std::uint64_t fraction_ = 0; // the upper 64 bits
    std::uint64_t fraction_low_ = 0;
    std::uint32_t factor_ = 0, shift_ = none; // of one_product, if there is one
};

// The type in which equal bins are computed if samples or bounds are floating-point.
template <class S, class T>
struct even_type {
    using floating = std::conditional_t<std::is_floating_point_v<S>, S, T>;
    static constexpr bool too_many_digits =
        std::is_floating_point_v<T> && std::numeric_limits<S>::digits > std::numeric_limits<T>::digits;
    using type = std::conditional_t<std::is_floating_point_v<S> && std::is_floating_point_v<T>,
                                    std::common_type_t<S, T>, std::conditional_t<too_many_digits, double, floating>>;
    static_assert(sizeof(type) <= 8, "warpfold: even_bins take float and double, and no long double");
};

template <class C>
struct even_floats {
    template <class S>
    WARPFOLD_HD constexpr std::uint32_t operator()(const S& sample) const {
        const C x = static_cast<C>(sample);
        const C at = (x - lower) * scale;
#if defined(__CUDA_ARCH__) // conversion saturates, and NaN gives 0
        const std::int32_t bin = min(static_cast<std::int32_t>(at), static_cast<std::int32_t>(last));
#else
        const C from_zero = at > C{0} ? at : C{0}; // also for NaN
        const auto bin = static_cast<std::int32_t>(from_zero < last ? from_zero : last);
#endif
        return x >= lower && x < upper ? static_cast<std::uint32_t>(bin) : outside;
    }

    C lower, upper, scale;
    C last; // the last bin, or the largest number of the type below it
};

// a < b; integers are compared by value.
template <class A, class B>
WARPFOLD_HD constexpr bool below(const A& a, const B& b) {
    if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && std::is_signed_v<A> != std::is_signed_v<B>) {
        if constexpr (std::is_signed_v<A>) {
            return a < 0 || static_cast<std::make_unsigned_t<A>>(a) < b;
        } else {
            return b >= 0 && a < static_cast<std::make_unsigned_t<B>>(b);
        }
    } else {
        using C = std::common_type_t<A, B>;
        return static_cast<C>(a) < static_cast<C>(b);
    }
}
// a >= b; false for NaN.
template <class A, class B>
WARPFOLD_HD constexpr bool at_least(const A& a, const B& b) {
    if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
        return !below(a, b);
    } else {
        using C = std::common_type_t<A, B>;
        return static_cast<C>(a) >= static_cast<C>(b);
    }
}

} // namespace warpfold::detail
