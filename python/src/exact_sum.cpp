// SPDX-License-Identifier: MIT
#include "warpfold/exact_sum.hpp"

#include <cstdint>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "python/src/last_axes.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/exact_sum_along.hpp"

namespace warpfold::python {

namespace {

template <class T>
void sum_as(element type, const array& in, const array& out) {
    const T* const from = in.contiguous<const T>(type);
    const results<T> to(out);
    to[0] = from != nullptr ? warpfold::exact_sum(host{}, from, in.size())
                            : warpfold::exact_sum(host{}, elements<T>(in), in.size());
}

template <class T>
void sums_as(element type, const array& in, const array& out) {
    const auto from = in.view<const T>(type);
    const auto to = out.view<T>(type);
    if (from && to) {
        exact_sum_along(host{}, *from, last_axes(in, out), *to);
        return;
    }
    const elements<T> all(in);
    const results<T> sums(out);
    std::vector<T> line(in.size() / out.size());
    for (std::uint64_t k = 0; k < out.size(); ++k) {
        for (std::uint64_t j = 0; j < line.size(); ++j) {
            line[j] = all[k * line.size() + j];
        }
        sums[k] = warpfold::exact_sum(host{}, line.data(), line.size());
    }
}

// One line of an array along its last axis.
template <class T>
struct line {
    T operator[](std::uint64_t k) const { return loaded<T>(from + static_cast<std::int64_t>(k) * stride); }
    [[nodiscard]] const T* contiguous() const {
        const bool fits = stride == sizeof(T) && reinterpret_cast<std::uintptr_t>(from) % alignof(T) == 0;
        return fits ? reinterpret_cast<const T*>(from) : nullptr;
    }

    const char* from;
    std::int64_t stride;
};

template <class T>
class lines {
public:
    explicit lines(const array& of)
        : data_(of.data),
          stride_(of.strides.back()),
          at_({of.shape.begin(), of.shape.end() - 1}, {of.strides.begin(), of.strides.end() - 1}) {}
    line<T> operator[](std::uint64_t k) const { return {data_ + at_.offset(k), stride_}; }

private:
    const char* data_;
    std::int64_t stride_;
    layout at_;
};

// Threads share the results or, if there are few, the elements of each.
template <class T>
void dots_as(const array& a, const array& b, const array& out) {
    constexpr std::uint64_t few = 8;
    const lines<T> left(a), right(b);
    const results<T> to(out);
    const auto n = static_cast<std::uint64_t>(a.shape.back());
    const auto dot = [&](const host& on, std::uint64_t k) {
        const line<T> x = left[k], y = right[k];
        const bool is_plain = x.contiguous() != nullptr && y.contiguous() != nullptr;
        to[k] =
            is_plain ? warpfold::exact_dot(on, x.contiguous(), y.contiguous(), n) : warpfold::exact_dot(on, x, y, n);
    };
    if (out.size() < few) {
        for (std::uint64_t k = 0; k < out.size(); ++k) {
            dot(host{}, k);
        }
        return;
    }
    detail::parallel_for(host{}.threads, out.size(), [&](std::uint64_t k) { dot(host{1}, k); });
}

} // namespace

void exact_sum(const array& in, const array& out) {
    if (out.size() == 0) {
        return;
    }
    const auto of = [&](auto zero) {
        using T = decltype(zero);
        out.size() == 1 ? sum_as<T>(in.type, in, out) : sums_as<T>(in.type, in, out);
    };
    in.type == element::float32 ? of(float{}) : of(double{});
}

void exact_dot(const array& a, const array& b, const array& out) {
    a.type == element::float32 ? dots_as<float>(a, b, out) : dots_as<double>(a, b, out);
}

} // namespace warpfold::python
