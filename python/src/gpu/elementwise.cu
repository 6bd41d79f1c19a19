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
        if (is_chosen || !keeps_others) {
            out.store(k, is_chosen ? in.load<A>(k) : none);
        }
    }

    device_elements in, mask, out;
    A none;
    bool keeps_others = false;
};

struct marking {
    __device__ void operator()(std::uint64_t k) const {
        if (at[k] >= 0 && at[k] < size) {
            out[at[k]] = 1;
        }
    }

    const std::int64_t* at;
    std::int64_t size;
    std::uint8_t* out;
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

// Correlation of an image; a line is one of height 1.
template <class A>
struct multiplying {
    __device__ void operator()(std::uint64_t i) const {
        const std::int64_t y = static_cast<std::int64_t>(i / out_width) - lead.first;
        const std::int64_t x = static_cast<std::int64_t>(i % out_width) - lead.second; // of the elements under the mask
        const std::int64_t begin = x < 0 ? -x : 0, end = columns - x < width ? columns - x : width;
        A total{0};
        for (std::int64_t v = y < 0 ? -y : 0; v < height && y + v < rows; ++v) {
            for (std::int64_t u = begin; u < end; ++u) {
                total += in[(y + v) * columns + x + u] * mask[v * width + u];
            }
        }
        out.store(i, total);
    }

    const A* in;
    const A* mask;
    std::int64_t rows, columns, height, width;
    std::uint64_t out_width;
    extent2 lead;
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

namespace {

// work(A{}) with a type that holds all numbers of `type`.
template <class Work>
void with_wide_type(element type, const Work& work) {
    if (type >= element::float16) {
        work(double{});
    } else if (type == element::uint64) {
        work(std::uint64_t{});
    } else {
        work(std::int64_t{});
    }
}

} // namespace

void copy(const gpu& on, const array& in, const array& out) {
    const auto bytes = static_cast<std::size_t>(size_of(in.type));
    if (in.type == out.type && in.at.is_contiguous(size_of(in.type)) && out.at.is_contiguous(size_of(in.type))) {
        if (in.size() != 0) {
            WARPFOLD_CHECK_CUDA(
                cudaMemcpyAsync(out.data, in.data, in.size() * bytes, cudaMemcpyDeviceToDevice, on.stream));
        }
    } else {
        with_wide_type(in.type, [&](auto none) { convert(on, in, nullptr, none, out); });
    }
}

void copy_where(const gpu& on, const array& in, const array& mask, const array& out) {
    with_wide_type(in.type, [&](auto none) {
        for_each(
            on, out.size(),
            converting<decltype(none)>{device_elements(in), device_elements(mask), device_elements(out), none, true});
    });
}

void mark(const gpu& on, const array& at, const array& out) {
    for_each(on, at.size(),
             marking{at.required<const std::int64_t>(element::int64), static_cast<std::int64_t>(out.size()),
                     out.required<std::uint8_t>(element::boolean)});
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

void correlate_image_products(const gpu& on, element fold, const array& in, const array& mask, extent2 lead,
                              const array& out) {
    const auto extents = [](const array& of) {
        return extent2{of.shape.size() == 2 ? of.shape[0] : 1, of.shape.back()};
    };
    const auto [rows, columns] = extents(in);
    const auto [height, width] = extents(mask);
    const auto run = [&, rows = rows, columns = columns, height = height, width = width](auto zero) {
        using A = decltype(zero);
        const contiguous_input<A> values(on, in), by(on, mask);
        for_each(on, out.size(),
                 multiplying<A>{values.data(), by.data(), rows, columns, height, width,
                                static_cast<std::uint64_t>(extents(out).second), lead, device_elements(out)});
    };
    if (fold == element::float64) {
        run(double{});
    } else {
        run(std::uint64_t{});
    }
}

void correlate_products(const gpu& on, element fold, const array& in, const array& mask, std::int64_t lead,
                        const array& out) {
    correlate_image_products(on, fold, in, mask, {0, lead}, out);
}

} // namespace warpfold::python::on_gpu
