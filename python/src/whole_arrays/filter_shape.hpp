// SPDX-License-Identifier: MIT
// Convolutions and correlations of lines and images of floating-point numbers with a mask, in one call.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "python/src/calls.hpp"
#include "python/src/descriptions.hpp"
#include "python/src/elements.hpp"
#include "warpfold/convolve.hpp"

namespace warpfold::python {

struct filter_shape {
    numbers results;
    extent2 lead; // of the mask before a result: rows and columns; a line has columns only

    // None for masks of another type or number of axes, that are empty, or that change places with the samples.
    static std::optional<filter_shape> of(const array& in, const array& mask, int axes, int which, bool correlates) {
        const auto rank = static_cast<std::size_t>(axes);
        if (in.shape.size() != rank || mask.shape.size() != rank || mask.type != in.type || mask.size() == 0) {
            return std::nullopt;
        }
        numbers shape = in.shape, lead(2);
        for (std::size_t d = 0; d < rank; ++d) {
            const std::int64_t k = mask.shape[d];
            if (k > shape[d] && (axes == 1 || static_cast<outputs>(which) == outputs::valid)) {
                return std::nullopt;
            }
            shape[d] = static_cast<std::int64_t>(convolve_outputs(
                static_cast<std::uint64_t>(shape[d]), static_cast<std::uint64_t>(k), static_cast<outputs>(which)));
            // The middle of an even mask of correlate2d() is one element earlier, as in SciPy.
            const bool is_earlier = axes == 2 && correlates && static_cast<outputs>(which) == outputs::same;
            lead[2 - rank + d] =
                is_earlier ? (k - 1) / 2 : detail::lead_of(static_cast<std::uint64_t>(k), static_cast<outputs>(which));
        }
        return filter_shape{std::move(shape), {lead[0], lead[1]}};
    }
};

inline bool has_finite_elements(const array& of) {
    for (std::uint64_t k = 0; k < of.size(); ++k) {
        if (!std::isfinite(load_as<double>(of.type, of.data + of.at.offset(k)))) {
            return false;
        }
    }
    return true;
}

} // namespace warpfold::python
