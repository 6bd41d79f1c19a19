// SPDX-License-Identifier: MIT
// Edges of bins of equal width, as NumPy computes them. To be compiled with -ffp-contract=off.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "python/src/array.hpp"

namespace warpfold::python {

// The edges of numpy.linspace(first, last, bins + 1), operation by operation, in E: float or double.
template <class E>
class equal_edges {
public:
    equal_edges(E first, E last, std::uint64_t bins) : edges_(bins + 1) {
        if (first == last) {
            first -= E(0.5);
            last += E(0.5);
        }
        const E width = last - first, number = static_cast<E>(bins), step = width / number;
        are_usual_ = std::isfinite(first) && std::isfinite(last);
        for (std::uint64_t k = 0; k <= bins; ++k) {
            const E at = step != 0 ? static_cast<E>(k) * step : static_cast<E>(k) / number * width;
            edges_[k] = k == bins ? last : at + first;
            are_usual_ = are_usual_ && (k == 0 || edges_[k - 1] < edges_[k]);
        }
        compared_.assign(edges_.begin(), edges_.end());
    }

    // Whether they are finite, and no two are equal.
    [[nodiscard]] bool are_usual() const { return are_usual_; }
    [[nodiscard]] array edges() const {
        return described(edges_, sizeof(E) == 4 ? element::float32 : element::float64);
    }
    // As they are compared with samples.
    [[nodiscard]] array compared() const { return described(compared_, element::float64); }

private:
    template <class T>
    static array described(const std::vector<T>& of, element type) {
        // Arrays do not say that their elements are only read.
        return {reinterpret_cast<char*>(const_cast<T*>(of.data())),
                type,
                {static_cast<std::int64_t>(of.size())},
                {sizeof(T)}};
    }

    std::vector<E> edges_;
    std::vector<double> compared_;
    bool are_usual_ = true;
};

} // namespace warpfold::python
