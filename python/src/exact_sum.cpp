// SPDX-License-Identifier: MIT
#include "warpfold/exact_sum.hpp"

#include <cstdint>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "python/src/exact_moment.hpp"
#include "python/src/last_axes.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/exact_moments.hpp"
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

// work(on, k) for each of n results. Threads share the results or, if there are few, the elements of each.
template <class Work>
void for_results(std::uint64_t n, const Work& work) {
    constexpr std::uint64_t few = 8;
    if (n < few) {
        for (std::uint64_t k = 0; k < n; ++k) {
            work(host{}, k);
        }
        return;
    }
    detail::parallel_for(host{}.threads, n, [&](std::uint64_t k) { work(host{1}, k); });
}

template <class T>
void dots_as(const array& a, const array& b, const array& out) {
    const lines<T> left(a), right(b);
    const results<T> to(out);
    const auto n = static_cast<std::uint64_t>(a.shape.back());
    for_results(out.size(), [&](const host& on, std::uint64_t k) {
        const line<T> x = left[k], y = right[k];
        const bool is_plain = x.contiguous() != nullptr && y.contiguous() != nullptr;
        to[k] =
            is_plain ? warpfold::exact_dot(on, x.contiguous(), y.contiguous(), n) : warpfold::exact_dot(on, x, y, n);
    });
}

template <class T, class In>
void moments_from(moment which, const In& in, std::uint64_t n, std::uint64_t less, const array& out) {
    const results<T> to(out);
    for_results(out.size(),
                [&](const host& on, std::uint64_t k) { to[k] = moment_of<T>(which, on, from(in, k * n), n, less); });
}

template <class T>
void moments_as(moment which, const array& in, const array* imag, std::uint64_t less, const array& out) {
    const std::uint64_t n = in.size() / out.size();
    if (imag == nullptr) {
        const T* const plain = in.contiguous<const T>(in.type);
        plain != nullptr ? moments_from<T>(which, plain, n, less, out)
                         : moments_from<T>(which, elements<T>(in), n, less, out);
    } else if (const auto* const pairs = neighbours<T>(in, *imag)) {
        moments_from<T>(which, pairs, n, less, out);
    } else {
        moments_from<T>(which, two_parts<elements<T>>{elements<T>(in), elements<T>(*imag)}, n, less, out);
    }
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

void exact_moment(moment which, const array& in, const array* imag, std::uint64_t less, const array& out) {
    if (out.size() != 0) {
        in.type == element::float32 ? moments_as<float>(which, in, imag, less, out)
                                    : moments_as<double>(which, in, imag, less, out);
    }
}

} // namespace warpfold::python
