// SPDX-License-Identifier: MIT
// Exact means, variances and norms of parts of arrays, on any target. Complex numbers come as two arrays, of their real and of
// their imaginary parts.
#pragma once

#include <cstdint>
#include <type_traits>

#include "python/src/array.hpp"
#include "python/src/calls.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/exact_moments.hpp"
#include "warpfold/host/core/block_input.hpp"

namespace warpfold::python {

// A complex number, as cuComplex.
template <class T>
struct complex_pair {
    T x, y;
};

// Of two arrays with the same number of elements.
template <class In>
struct two_parts {
    WARPFOLD_HD auto operator[](std::uint64_t k) const {
        return complex_pair<std::remove_cvref_t<decltype(real[k])>>{real[k], imag[k]};
    }

    In real, imag;
};

// The complex numbers that two arrays are the parts of, if they lie in memory without gaps; else null.
template <class T>
const complex_pair<T>* neighbours(const array& real, const array& imag) {
    const auto has_pairs = [](const array& of) { return of.size() > 1 && of.at.is_contiguous(2 * sizeof(T)); };
    const bool fits = has_pairs(real) && has_pairs(imag) && imag.data == real.data + sizeof(T) &&
                      reinterpret_cast<std::uintptr_t>(real.data) % alignof(complex_pair<T>) == 0;
    return fits ? reinterpret_cast<const complex_pair<T>*>(real.data) : nullptr;
}

// in[first], in[first + 1], ...
template <class In>
struct elements_from {
    WARPFOLD_HD auto operator[](std::uint64_t k) const { return in[first + k]; }
    template <class T>
    void read(std::uint64_t k, std::uint64_t count, T* to) const requires detail::reads_blocks<In> {
        in.read(first + k, count, to);
    }

    In in;
    std::uint64_t first;
};
template <class In>
auto from(const In& in, std::uint64_t first) {
    if constexpr (std::is_pointer_v<In>) {
        return in + first;
    } else {
        return elements_from<In>{in, first};
    }
}

// Of n elements. Returned, or written to an output.
template <class T, class On, class In, class... Out>
auto moment_of(moment which, const On& on, const In& in, std::uint64_t n, std::uint64_t less, const Out&... out) {
    if constexpr (!detail::complex_summable<In>) {
        if (which == moment::mean) {
            return exact_mean(on, in, n, out...);
        }
    }
    return which == moment::norm ? exact_norm(on, in, n, out...) : exact_variance(on, in, n, out..., ddof{less});
}

} // namespace warpfold::python
