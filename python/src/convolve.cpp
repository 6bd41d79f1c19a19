// SPDX-License-Identifier: MIT
#include "warpfold/convolve.hpp"

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::python {

namespace {

template <class T>
void correlate_as(element type, const array& in, const array& mask, int which, const array& out) {
    warpfold::correlate(host{}, in.required<const T>(type), in.size(), mask.required<const T>(type), mask.size(),
                        out.required<T>(type), {border::zero, static_cast<outputs>(which)});
}

// Segment i holds the products of result i.
template <class A>
struct products {
    A operator[](std::uint64_t k) const {
        const std::uint64_t i = k / width, j = k - i * width;
        const std::int64_t at = static_cast<std::int64_t>(i + j) - lead;
        return at >= 0 && static_cast<std::uint64_t>(at) < size ? from[static_cast<std::uint64_t>(at)] * mask[j] : A{0};
    }

    elements<A> from, mask;
    std::uint64_t size, width;
    std::int64_t lead;
};

template <class A>
void sum_products(const array& in, const array& mask, std::int64_t lead, const array& out) {
    segmented_reduce(host{}, products<A>{elements<A>(in), elements<A>(mask), in.size(), mask.size(), lead},
                     equal_segments{mask.size()}, out.size(), results<A>(out));
}

} // namespace

void correlate(const array& in, const array& mask, int which, const array& out) {
    switch (in.type) {
    case element::float16: return correlate_as<half>(in.type, in, mask, which, out);
    case element::float32: return correlate_as<float>(in.type, in, mask, which, out);
    default: return correlate_as<double>(element::float64, in, mask, which, out);
    }
}

void correlate_products(element fold, const array& in, const array& mask, std::int64_t lead, const array& out) {
    if (fold == element::uint64) {
        sum_products<std::uint64_t>(in, mask, lead, out);
    } else {
        sum_products<double>(in, mask, lead, out);
    }
}

} // namespace warpfold::python
