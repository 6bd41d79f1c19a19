// SPDX-License-Identifier: MIT
// Convolutions whose number of samples, or of rows, is in the target's memory, on any target: the results of the host with the
// number itself. Samples and masks are whole numbers, so that all sums are exact. `Place<T>` is an array of the target's memory:
// made of a vector and a number of elements to skip, with data() and read().
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/library/convolve/convolve_cases.hpp"
#include "warpfold/convolve.hpp"

namespace warpfold::tests {

// No more samples than the number says are there, and room for as many results.
template <class T, template <class> class Place, class On>
void counted_line(const On& on, std::uint64_t most, std::uint64_t k, const convolve_options& how) {
    const auto mask = samples<float>(k, true, 7);
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, k - 1, k, most / 2, most, most + 1}) {
        SCOPED_TRACE(number);
        const std::uint64_t n = std::min(number, most);
        const auto data = samples<T>(n, true, 3);
        std::vector<T> right(convolve_outputs(n, k, how.which));
        correlate(host{1}, data.data(), n, mask.data(), k, right.data(), how);
        const Place<T> in(data, 1 + number % 4);
        const Place<T> cleared(std::vector<T>(right.size()), 1 + number % 3);
        const Place<std::uint64_t> place(std::vector<std::uint64_t>{number}, 0);
        correlate(on, static_cast<const T*>(in.data()), count_at(place.data(), most), mask.data(), k, cleared.data(),
                  how);
        const auto got = cleared.read();
        ASSERT_EQ(std::memcmp(got.data(), right.data(), right.size() * sizeof(T)), 0)
            << "mask of " << k << ", border " << static_cast<int>(how.outside) << ", outputs "
            << static_cast<int>(how.which);
    }
}

// call(on, in, rows..., out): rows is a count_at of at most in.height rows, or absent. Rows behind the last are not written.
template <class T, template <class> class Place, class On, class Call>
void counted_rows(const On& on, const layout& most, std::uint64_t kx, std::uint64_t ky, const convolve_options& how,
                  const Call& call) {
    const layout to = padded(convolve_outputs(most.width, kx, how.which), convolve_outputs(most.height, ky, how.which),
                             1, most.count, 1);
    const auto data = samples<T>(most.elements(), true, 3);
    const std::vector<T> before(to.elements(), T(77.0f));
    for (const std::uint64_t number :
         {std::uint64_t{0}, std::uint64_t{1}, ky - 1, most.height / 2, most.height, most.height + 1}) {
        SCOPED_TRACE(number);
        layout from = most;
        from.height = std::min(number, most.height);
        layout results = to;
        results.height = convolve_outputs(from.height, ky, how.which);
        std::vector<T> right = before;
        call(host{1}, from.of(data.data()), results.of(right.data()));
        const Place<T> in(data, 0), out(before, 0);
        const Place<std::uint32_t> place(std::vector<std::uint32_t>{static_cast<std::uint32_t>(number)}, 0);
        call(on, most.of(static_cast<const T*>(in.data())), count_at(place.data(), most.height), to.of(out.data()));
        const auto got = out.read();
        ASSERT_EQ(std::memcmp(got.data(), right.data(), right.size() * sizeof(T)), 0)
            << "mask " << kx << " x " << ky << ", border " << static_cast<int>(how.outside) << ", outputs "
            << static_cast<int>(how.which);
    }
}
template <class On, class T, class O>
void convolve_image(const On& on, const image<const T>& in, const image<const float>& mask, const convolve_options& how,
                    const image<O>& out) {
    convolve(on, in, mask, out, how);
}
template <class On, class T, class I, class O>
void convolve_image(const On& on, const image<const T>& in, const image<const float>& mask, const convolve_options& how,
                    const count_at<I>& rows, const image<O>& out) {
    convolve(on, in, rows, mask, out, how);
}
template <class On, class T, class O>
void separable_image(const On& on, const image<const T>& in, const std::vector<float>& across,
                     const std::vector<float>& down, const convolve_options& how, const image<O>& out) {
    correlate_separable(on, in, across.data(), across.size(), down.data(), down.size(), out, how);
}
template <class On, class T, class I, class O>
void separable_image(const On& on, const image<const T>& in, const std::vector<float>& across,
                     const std::vector<float>& down, const convolve_options& how, const count_at<I>& rows,
                     const image<O>& out) {
    correlate_separable(on, in, rows, across.data(), across.size(), down.data(), down.size(), out, how);
}

template <class T, template <class> class Place, class On>
void counted_image(const On& on, const layout& most, std::uint64_t kx, std::uint64_t ky, const convolve_options& how) {
    const auto mask = samples<float>(kx * ky, true, 7), across = samples<float>(kx, true, 8),
               down = samples<float>(ky, true, 9);
    counted_rows<T, Place>(on, most, kx, ky, how, [&](const auto& target, const auto& in, const auto&... rest) {
        convolve_image(target, in, image{mask.data(), kx, ky}, how, rest...);
    });
    counted_rows<T, Place>(on, most, kx, ky, how, [&](const auto& target, const auto& in, const auto&... rest) {
        separable_image(target, in, across, down, how, rest...);
    });
}

template <template <class> class Place, class On>
void counted_lines(const On& on) {
    unsigned turn = 0;
    for (const std::uint64_t k : {1u, 3u, 9u, 12u, 200u}) {
        for (const border outside : all_borders) {
            const convolve_options how{outside, all_outputs[turn++ % 3]};
            counted_line<float, Place>(on, 3001, k, how);
            counted_line<std::uint8_t, Place>(on, 3001, k, how);
        }
    }
    counted_line<double, Place>(on, 1000, 5, {});
    const std::vector<float> mask{1};
    const Place<float> in(std::vector<float>(4), 0), out(std::vector<float>(4), 0);
    EXPECT_THROW(correlate(on, static_cast<const float*>(in.data()), count_at(static_cast<const int*>(nullptr), 4),
                           mask.data(), 1, out.data()),
                 invalid_argument);
}
// Of kernels for masks of these sizes, with rows that are aligned or not.
template <template <class> class Place, class On>
void counted_images(const On& on) {
    unsigned turn = 0;
    const std::uint64_t sizes[][2]{{1, 1}, {3, 3}, {5, 4}, {9, 9}, {21, 11}, {33, 2}};
    for (const auto& k : sizes) {
        for (const border outside : all_borders) {
            const convolve_options how{outside, all_outputs[turn % 3]};
            counted_image<float, Place>(on, padded(40, 33, turn % 2 == 0 ? 4 : 1, 1 + turn % 2, 0), k[0], k[1], how);
            ++turn;
        }
    }
    counted_image<std::uint8_t, Place>(on, dense(64, 33), 5, 5, {border::mirror});
    const std::vector<float> mask{1};
    const Place<float> data(std::vector<float>(8), 0);
    const Place<int> rows(std::vector<int>{1}, 0);
    const image<const float> in{data.data(), 2, 2};
    const image<float> out{data.data() + 4, 2, 2};
    EXPECT_THROW(convolve(on, in, count_at(rows.data(), 3), image{mask.data(), 1, 1}, out), invalid_argument);
}

} // namespace warpfold::tests
