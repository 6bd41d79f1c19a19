// SPDX-License-Identifier: MIT
// The operations that the ladder reduces by: functors with an identity, the same on the host and on the device.
// Integers wrap modulo 2^32 or 2^64. minimum, maximum and largest_magnitude ignore NaN as fmin and fmax do; an array of
// NaN alone gives the identity. So no result depends on the order, except for the rounding of float sums and
// products.
#pragma once

#include <limits>
#include <type_traits>

#ifdef __CUDACC__
#define WARPFOLD_HOST_DEVICE __host__ __device__
#else
#define WARPFOLD_HOST_DEVICE
#endif

namespace warpfold::ladder::reduce {

template <class T>
struct sum {
    WARPFOLD_HOST_DEVICE static constexpr T identity() { return T{0}; }

    WARPFOLD_HOST_DEVICE constexpr T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            using bits = std::make_unsigned_t<T>;
            return static_cast<T>(static_cast<bits>(a) + static_cast<bits>(b));
        } else {
            return a + b;
        }
    }
};

template <class T>
struct product {
    WARPFOLD_HOST_DEVICE static constexpr T identity() { return T{1}; }

    WARPFOLD_HOST_DEVICE constexpr T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            using bits = std::make_unsigned_t<T>;
            return static_cast<T>(static_cast<bits>(a) * static_cast<bits>(b));
        } else {
            return a * b;
        }
    }
};

template <class T>
struct minimum {
    static constexpr T greatest =
        std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();

    WARPFOLD_HOST_DEVICE static constexpr T identity() { return greatest; }

    WARPFOLD_HOST_DEVICE constexpr T operator()(T a, T b) const {
        const bool take_b = (b < a) | (a != a);
        return take_b ? b : a;
    }
};

template <class T>
struct maximum {
    static constexpr T least =
        std::is_integral_v<T> ? std::numeric_limits<T>::lowest() : -std::numeric_limits<T>::infinity();

    WARPFOLD_HOST_DEVICE static constexpr T identity() { return least; }

    WARPFOLD_HOST_DEVICE constexpr T operator()(T a, T b) const {
        const bool take_b = (b > a) | (a != a);
        return take_b ? b : a;
    }
};

// A user's own operation: the element of largest magnitude with its sign, the positive one of two that tie. The
// magnitude of the most negative integer is exact, since it is taken unsigned.
template <class T>
struct largest_magnitude {
    WARPFOLD_HOST_DEVICE static constexpr T identity() { return T{0}; }

    WARPFOLD_HOST_DEVICE static constexpr auto magnitude(T a) {
        if constexpr (std::is_integral_v<T>) {
            using bits = std::make_unsigned_t<T>;
            return a < 0 ? static_cast<bits>(bits{0} - static_cast<bits>(a)) : static_cast<bits>(a);
        } else {
            return a < T{0} ? -a : a;
        }
    }

    WARPFOLD_HOST_DEVICE constexpr T operator()(T a, T b) const {
        const auto size_a = magnitude(a);
        const auto size_b = magnitude(b);
        const bool take_b = (size_b > size_a) | ((size_b == size_a) & (b > a)) | (a != a);
        return take_b ? b : a;
    }
};

} // namespace warpfold::ladder::reduce
