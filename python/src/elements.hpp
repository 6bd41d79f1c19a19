// SPDX-License-Identifier: MIT
// Elements of any type and any strides as inputs and outputs of the library's calls. A is the type that they are folded
// in: int64, uint64, float or double.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "python/src/array.hpp"
#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/host/core/vectors.hpp"

namespace warpfold::python {

// Reads at any address, aligned or not.
template <class T>
WARPFOLD_HD T loaded(const char* from) {
#if defined(__CUDA_ARCH__) // one load where it can be one
    if (reinterpret_cast<std::uintptr_t>(from) % sizeof(T) == 0) {
        return *reinterpret_cast<const T*>(from);
    }
#endif
    T x;
    std::memcpy(&x, from, sizeof(T));
    return x;
}

// work(T{}) with the type of the elements.
WARPFOLD_CALLS_ANY
template <class Work>
WARPFOLD_HD auto with_type(element type, const Work& work) {
    switch (type) {
    case element::boolean: return work(bool{});
    case element::int8: return work(std::int8_t{});
    case element::int16: return work(std::int16_t{});
    case element::int32: return work(std::int32_t{});
    case element::int64: return work(std::int64_t{});
    case element::uint8: return work(std::uint8_t{});
    case element::uint16: return work(std::uint16_t{});
    case element::uint32: return work(std::uint32_t{});
    case element::uint64: return work(std::uint64_t{});
    case element::float16: return work(half{});
    case element::float32: return work(float{});
    default: return work(double{});
    }
}

// An element of type T, as A.
template <class T, class A>
WARPFOLD_HD A converted(const char* from) {
    if constexpr (std::is_same_v<T, bool>) {
        return static_cast<A>(loaded<std::uint8_t>(from) != 0);
    } else if constexpr (std::is_same_v<T, half>) {
        return static_cast<A>(static_cast<float>(loaded<half>(from)));
    } else {
        return static_cast<A>(loaded<T>(from));
    }
}

template <class A>
WARPFOLD_HD A load_as(element type, const char* from) {
    return with_type(type, [from](auto zero) { return converted<decltype(zero), A>(from); });
}

// The bits of an integer of 64 bits. Floating-point numbers are truncated; without this, a GPU would turn negative ones to 0.
template <class A>
WARPFOLD_HD std::uint64_t integer_bits(A x) {
    if constexpr (std::is_floating_point_v<A>) {
        return x < A{0} ? static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) : static_cast<std::uint64_t>(x);
    } else {
        return static_cast<std::uint64_t>(x);
    }
}

// A float that rounds to the same half as x: x itself, or the neighbour whose last bit is 1.
WARPFOLD_HD inline float rounded_to_odd(double x) {
    const auto nearest = static_cast<float>(x);
    const auto bits = __builtin_bit_cast(std::uint32_t, nearest);
    const double back = nearest;
    if (back == x || back != back) {
        return nearest;
    }
    const bool is_beyond = x < 0 ? back < x : back > x;
    return __builtin_bit_cast(float, (is_beyond ? bits - 1 : bits) | 1u);
}

// Integers are taken modulo the size of their type, floating-point numbers are rounded to nearest.
template <class A>
WARPFOLD_HD void store_as(element type, char* to, A x) {
    const auto put = [to](auto value) {
#if defined(__CUDA_ARCH__)
        if (reinterpret_cast<std::uintptr_t>(to) % sizeof(value) == 0) {
            *reinterpret_cast<decltype(value)*>(to) = value;
            return;
        }
#endif
        std::memcpy(to, &value, sizeof(value));
    };
    switch (type) {
    case element::boolean: return put(static_cast<std::uint8_t>(x != A{0}));
    case element::int8:
    case element::uint8: return put(static_cast<std::uint8_t>(integer_bits(x)));
    case element::int16:
    case element::uint16: return put(static_cast<std::uint16_t>(integer_bits(x)));
    case element::int32:
    case element::uint32: return put(static_cast<std::uint32_t>(integer_bits(x)));
    case element::int64:
    case element::uint64: return put(integer_bits(x));
    case element::float16: return put(half(rounded_to_odd(static_cast<double>(x))));
    case element::float32: return put(static_cast<float>(x));
    default: return put(static_cast<double>(x));
    }
}

// Elements [first, first + count) of an array, which are of type T, as A.
template <class T, class A>
void read_elements(const array& of, std::uint64_t first, std::uint64_t count, A* to) {
    constexpr auto next = static_cast<std::int64_t>(sizeof(T));
    of.at.for_runs(first, count, [&](std::int64_t offset, std::uint64_t number, std::int64_t stride) {
        const char* const from = of.data + offset;
        const auto copy = [&](std::int64_t step) {
            for (std::uint64_t j = 0; j < number; ++j) {
                to[j] = converted<T, A>(from + static_cast<std::int64_t>(j) * step);
            }
        };
        stride == next       ? copy(next)
        : stride == -next    ? copy(-next)
        : stride == 2 * next ? copy(2 * next)
                             : copy(stride);
        to += number;
    });
}

// Elements [first, first + count) of an array become the last bits of those of `from`, which are of a type of the same size or of
// 64 bits.
inline void write_bits(const array& to, std::uint64_t first, std::uint64_t count, element type, const char* from) {
    with_bits(to.type, [&](auto zero) {
        using T = decltype(zero);
        to.at.for_runs(first, count, [&](std::int64_t offset, std::uint64_t number, std::int64_t stride) {
            const auto write = [&](auto source) {
                for (std::uint64_t j = 0; j < number; ++j, from += sizeof(source)) {
                    const T bits = static_cast<T>(loaded<decltype(source)>(from));
                    std::memcpy(to.data + offset + static_cast<std::int64_t>(j) * stride, &bits, sizeof(T));
                }
            };
            size_of(type) == sizeof(T) ? write(T{}) : write(std::uint64_t{});
        });
    });
}

// in[k] of an array, as A; `other` where the mask, of the same shape, is false.
template <class A>
class elements {
public:
    explicit elements(const array& of, const array* mask = nullptr, A other = {})
        : of_(&of), other_(other), mask_(mask) {}

    [[nodiscard]] bool is_chosen(std::uint64_t k) const {
        return mask_ == nullptr || mask_->data[mask_->at.offset(k)] != 0;
    }
    A operator[](std::uint64_t k) const {
        return is_chosen(k) ? load_as<A>(of_->type, of_->data + of_->at.offset(k)) : other_;
    }
    // to[j] = in[first + j], for `count` elements.
    void read(std::uint64_t first, std::uint64_t count, A* to) const {
        const std::uint64_t each = mask_ == nullptr ? count : most_masked; // while they are in the L1 cache
        for (std::uint64_t k = 0; k < count; k += each) {
            const std::uint64_t number = std::min(each, count - k);
            read_all(first + k, number, to + k);
            leave_out(first + k, number, to + k, other_);
        }
    }

    // The same without the mask.
    void read_all(std::uint64_t first, std::uint64_t count, A* to) const {
        detail::with_widest_vectors([&] {
            with_type(of_->type, [&](auto zero) { read_elements<decltype(zero)>(*of_, first, count, to); });
            return 0;
        });
    }
    // to[j] = other where the mask of element first + j is false.
    void leave_out(std::uint64_t first, std::uint64_t count, A* to, A other) const {
        if (mask_ == nullptr) {
            return;
        }
        detail::with_widest_vectors([&] {
            std::uint8_t chosen[most_masked];
            for (std::uint64_t k = 0; k < count; k += most_masked) {
                const std::uint64_t number = std::min(most_masked, count - k);
                read_elements<std::uint8_t>(*mask_, first + k, number, chosen);
                for (std::uint64_t j = 0; j < number; ++j) {
                    to[k + j] = chosen[j] != 0 ? to[k + j] : other;
                }
            }
            return 0;
        });
    }

private:
    static constexpr std::uint64_t most_masked = 1024;

    const array* of_;
    A other_;
    const array* mask_;
};

// out[k] = value, converted to the array's type.
template <class A>
class results {
public:
    explicit results(const array& of) : of_(&of) {}

    class place {
    public:
        place(element type, char* to) : type_(type), to_(to) {}
        // Const, as for every reference that a call gets.
        const place& operator=(A x) const { // NOLINT(cppcoreguidelines-c-copy-assignment-signature)
            store_as(type_, to_, x);
            return *this;
        }

    private:
        element type_;
        char* to_;
    };
    place operator[](std::uint64_t k) const { return {of_->type, of_->data + of_->at.offset(k)}; }

private:
    const array* of_;
};

// work(A{}) with the type that `as` names.
template <class Work>
void with_fold_type(element as, const Work& work) {
    switch (as) {
    case element::int64: return work(std::int64_t{});
    case element::uint64: return work(std::uint64_t{});
    case element::float32: return work(float{});
    case element::float64: return work(double{});
    default: throw std::invalid_argument("warpfold: elements are folded in int64, uint64, float32 or float64");
    }
}

// work(T{}) if elements of the type, a frequent one, are read as T on the fast paths; bool as bytes. False for other types.
template <class Work>
bool with_common_type(element type, const Work& work) {
    switch (type) {
    case element::boolean:
    case element::uint8: return work(std::uint8_t{});
    case element::int32: return work(std::int32_t{});
    case element::int64: return work(std::int64_t{});
    case element::float32: return work(float{});
    case element::float64: return work(double{});
    default: return false;
    }
}

// The same for all types but float16. Each costs time to compile and bytes.
template <class Work>
bool with_plain_type(element type, const Work& work) {
    switch (type) {
    case element::int8: return work(std::int8_t{});
    case element::int16: return work(std::int16_t{});
    case element::uint16: return work(std::uint16_t{});
    case element::uint32: return work(std::uint32_t{});
    case element::uint64: return work(std::uint64_t{});
    default: return with_common_type(type, work);
    }
}

} // namespace warpfold::python
