// SPDX-License-Identifier: MIT
// Copies with conversion, and arithmetic on elements of any type and layout: what stands before and behind the library's
// calls. Types are switched over at run time, once per element.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"
#include "python/src/gpu/for_each.cuh"
#include "warpfold/operation.hpp"

namespace warpfold::python::on_gpu {

namespace {

template <class A>
struct converting {
    __device__ void operator()(std::uint64_t k) const {
        const bool is_chosen = mask.data == nullptr || mask.load<std::int64_t>(k) != 0;
        out.store(k, is_chosen ? in.load<A>(k) : none);
    }

    device_elements in, mask, out;
    A none;
};

template <class A>
struct applying {
    __device__ void operator()(std::uint64_t k) const {
        const A x = in.load<A>(k);
        const A y = other.data == nullptr ? scalar : other.load<A>(k);
        out.store(k, value(x, y));
    }
    __device__ A value(A x, A y) const {
        switch (op) {
        case arithmetic::sum: return sum{}(x, y);
        case arithmetic::product: return product{}(x, y);
        case arithmetic::minimum: return minimum{}(x, y);
        case arithmetic::maximum: return maximum{}(x, y);
        case arithmetic::subtract: return x - y;
        case arithmetic::equal: return x == y ? A{1} : A{0};
        case arithmetic::not_equal: return x != y ? A{1} : A{0};
        default:
            if constexpr (std::is_floating_point_v<A>) {
                return x / y;
            } else {
                return x;
            }
        }
    }

    device_elements in, other, out;
    A scalar;
    arithmetic op;
};

template <class A>
struct multiplying {
    __device__ void operator()(std::uint64_t i) const {
        const std::int64_t first = static_cast<std::int64_t>(i) - lead; // of the elements under the mask
        const std::int64_t begin = first < 0 ? -first : 0, end = n - first < k ? n - first : k;
        A total{0};
        for (std::int64_t j = begin; j < end; ++j) {
            total += in[first + j] * mask[j];
        }
        out.store(i, total);
    }

    const A* in;
    const A* mask;
    std::int64_t n, k, lead;
    device_elements out;
};

template <class A>
A number_of(std::uint64_t bits) {
    if constexpr (std::is_floating_point_v<A>) {
        double x = 0;
        std::memcpy(&x, &bits, sizeof(x));
        return static_cast<A>(x);
    } else {
        return static_cast<A>(bits);
    }
}

} // namespace

template <class A>
void convert(const gpu& on, const array& in, const array* mask, A none, const array& out) {
    for_each(on, out.size(), converting<A>{device_elements(in), device_elements(mask), device_elements(out), none});
}
template void convert(const gpu&, const array&, const array*, std::int64_t, const array&);
template void convert(const gpu&, const array&, const array*, std::uint64_t, const array&);
template void convert(const gpu&, const array&, const array*, float, const array&);
template void convert(const gpu&, const array&, const array*, double, const array&);

void copy(const gpu& on, const array& in, const array& out) {
    const auto bytes = static_cast<std::size_t>(size_of(in.type));
    if (in.type == out.type && in.at.is_contiguous(size_of(in.type)) && out.at.is_contiguous(size_of(in.type))) {
        if (in.size() != 0) {
            WARPFOLD_CHECK_CUDA(
                cudaMemcpyAsync(out.data, in.data, in.size() * bytes, cudaMemcpyDeviceToDevice, on.stream));
        }
    } else if (in.type >= element::float16) {
        convert<double>(on, in, nullptr, 0, out);
    } else if (in.type == element::uint64) {
        convert<std::uint64_t>(on, in, nullptr, 0, out);
    } else {
        convert<std::int64_t>(on, in, nullptr, 0, out);
    }
}

void apply(const gpu& on, arithmetic op, element fold, const array& in, const array* other, std::uint64_t scalar,
           const array& out) {
    with_fold_type(fold, [&](auto zero) {
        using A = decltype(zero);
        for_each(
            on, out.size(),
            applying<A>{device_elements(in), device_elements(other), device_elements(out), number_of<A>(scalar), op});
    });
}

void correlate_products(const gpu& on, element fold, const array& in, const array& mask, std::int64_t lead,
                        const array& out) {
    const auto run = [&](auto zero) {
        using A = decltype(zero);
        for_each(on, out.size(),
                 multiplying<A>{in.required<const A>(fold), mask.required<const A>(fold),
                                static_cast<std::int64_t>(in.size()), static_cast<std::int64_t>(mask.size()), lead,
                                device_elements(out)});
    };
    if (fold == element::float64) {
        run(double{});
    } else {
        run(std::uint64_t{});
    }
}

} // namespace warpfold::python::on_gpu
