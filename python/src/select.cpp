// SPDX-License-Identifier: MIT
// Compactions and runs. Elements that are only moved are taken as unsigned integers of their size.
#include "warpfold/select.hpp"

#include "python/src/calls.hpp"
#include "python/src/plain_bools.hpp"
#include "warpfold/by_key.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::python {

namespace {

struct equal_numbers {
    template <class T>
    bool operator()(const T& a, const T& b) const {
        if constexpr (std::is_same_v<T, half>) {
            return static_cast<float>(a) == static_cast<float>(b);
        } else {
            return a == b;
        }
    }
};

// work(T{}) with a type by which elements compare as numbers.
template <class Work>
std::uint64_t with_comparable(element type, const Work& work) {
    switch (type) {
    case element::float16: return work(half{});
    case element::float32: return work(float{});
    case element::float64: return work(double{});
    default: return with_bits(type, work);
    }
}

} // namespace

void select(const array& in, const array& flags, const array& out, const array* rejected) {
    with_bits(in.type, [&](auto zero) {
        using T = decltype(zero);
        const T* const from = in.required<const T>(in.type);
        const auto chosen = where(flags.required<const std::uint8_t>(element::boolean));
        if (rejected == nullptr) {
            return warpfold::select(host{}, from, in.size(), out.required<T>(in.type), chosen);
        }
        return warpfold::partition(host{}, from, in.size(), out.required<T>(in.type), rejected->required<T>(in.type),
                                   chosen);
    });
}

std::uint64_t count_runs(const array& in) {
    if (in.size() == 0) {
        return 0;
    }
    return with_plain_bools(in, [&](const array& plain) {
        return with_comparable(in.type, [&](auto zero) {
            using T = decltype(zero);
            const T* const from = plain.required<const T>(in.type);
            return 1 + transform_reduce(host{}, from + 1, in.size() - 1,
                                        [from](const T& x, std::uint64_t k) -> std::uint64_t {
                                            return equal_numbers{}(from[k], x) ? 0 : 1;
                                        });
        });
    });
}

std::uint64_t run_length_encode(const array& in, const array& values, const array& lengths) {
    auto* const to = reinterpret_cast<std::uint64_t*>(lengths.required<std::int64_t>(element::int64));
    return with_plain_bools(in, [&](const array& plain) {
        return with_comparable(in.type, [&](auto zero) {
            using T = decltype(zero);
            return warpfold::run_length_encode(host{}, plain.required<const T>(in.type), in.size(),
                                               values.required<T>(in.type), to, equal_numbers{});
        });
    });
}

std::uint64_t unique(const array& in, const array& values) {
    return with_plain_bools(in, [&](const array& plain) {
        return with_comparable(in.type, [&](auto zero) {
            using T = decltype(zero);
            return warpfold::unique(host{}, plain.required<const T>(in.type), in.size(), values.required<T>(in.type),
                                    equal_numbers{});
        });
    });
}

} // namespace warpfold::python
