// SPDX-License-Identifier: MIT
// Compactions and runs. Elements are moved, and compared, as unsigned integers of their size.
#include "warpfold/select.cuh"

#include <cstdint>
#include <cstring>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"
#include "warpfold/by_key.cuh"
#include "warpfold/float16.hpp"

namespace warpfold::python::on_gpu {

namespace {

struct is_flag {
    WARPFOLD_HD bool operator()(std::uint8_t flag) const { return (flag != 0) == wanted; }

    bool wanted;
};

// The floating-point number with these bits.
template <class F, class Bits>
WARPFOLD_HD F number_with(Bits bits) {
    F x;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
}

struct equal_numbers {
    template <class Bits>
    WARPFOLD_HD bool operator()(const Bits& a, const Bits& b) const {
        if constexpr (sizeof(Bits) == 2) {
            if (is_floating) {
                return static_cast<float>(number_with<half>(a)) == static_cast<float>(number_with<half>(b));
            }
        } else if constexpr (sizeof(Bits) == 4) {
            if (is_floating) {
                return number_with<float>(a) == number_with<float>(b);
            }
        } else if constexpr (sizeof(Bits) == 8) {
            if (is_floating) {
                return number_with<double>(a) == number_with<double>(b);
            }
        }
        return a == b || (is_bool && a != 0 && b != 0);
    }

    bool is_floating, is_bool;
};

equal_numbers equal_numbers_of(element type) { return {type >= element::float16, type == element::boolean}; }

} // namespace

void select(const gpu& on, const array& in, const array& flags, const array& out, const array* rejected) {
    const temporary number(on, element::uint64, {});
    const auto* const chosen = flags.required<const std::uint8_t>(element::boolean);
    with_bits(in.type, [&](auto zero) {
        using T = decltype(zero);
        const auto move = [&](const array& to, bool wanted) {
            if (to.size() != 0) {
                warpfold::select(on, in.required<const T>(in.type), in.size(), to.required<T>(in.type),
                                 number.as<std::uint64_t>(), where(chosen, is_flag{wanted}));
            }
        };
        move(out, true);
        if (rejected != nullptr) {
            move(*rejected, false);
        }
    });
}

void select_and_count(const gpu& on, const array& in, const array& flags, const array& out, std::uint64_t* number) {
    const auto* const chosen = flags.required<const std::uint8_t>(element::boolean);
    with_bits(in.type, [&](auto zero) {
        using T = decltype(zero);
        warpfold::select(on, in.required<const T>(in.type), in.size(), out.required<T>(in.type), number,
                         where(chosen, is_flag{true}));
    });
}

void run_length_encode(const gpu& on, const array& in, const array& values, const array& lengths,
                       std::uint64_t* number) {
    auto* const to = reinterpret_cast<std::uint64_t*>(lengths.required<std::int64_t>(element::int64));
    with_bits(in.type, [&](auto zero) {
        using T = decltype(zero);
        warpfold::run_length_encode(on, in.required<const T>(in.type), in.size(), values.required<T>(in.type), to,
                                    number, equal_numbers_of(in.type));
    });
}

void unique(const gpu& on, const array& in, const array& values, std::uint64_t* number) {
    with_bits(in.type, [&](auto zero) {
        using T = decltype(zero);
        warpfold::unique(on, in.required<const T>(in.type), in.size(), values.required<T>(in.type), number,
                         equal_numbers_of(in.type));
    });
}

} // namespace warpfold::python::on_gpu
