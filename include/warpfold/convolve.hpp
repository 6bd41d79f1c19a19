// SPDX-License-Identifier: MIT
// Convolution of arrays and images with a mask. This header serves the host; convolve.cuh adds the GPU, with the same
// calls.
//
// For n samples N and a mask M of k values, with integer division, result i is
//      correlate: the sum over j of N[i - k/2 + j] * M[j]               (the lectures' "convolution")
//      convolve:  the sum over j of N[i + (k - 1)/2 - j] * M[j]         (NumPy's convolve, mode "same")
// for outputs::same. outputs::full and outputs::valid give more or fewer of the same sums.
//
// Types. Samples and results are float, double, half, bfloat16 (or the toolkit's 16-bit types) or integers of 8 or 16
// bits, each of its own type. Sums are in float, or in double if samples or results are double. The mask is rounded to
// that type. Results are rounded to their type; integers to nearest, ties to even, clamped to their range, NaN to 0.
//
// Accuracy. With u the unit roundoff of the sums' type (2^-24 or 2^-53) and k the number of mask values (of both masks
// for separable ones), a sum differs from the exact one by at most (k + 1) u times the sum of the magnitudes of its
// products, to first order and without overflow or underflow, before it is rounded to the result. Ghost elements take
// part like samples: infinity in the mask times a ghost element of 0 is NaN. Results have the same bits in every run on
// one device and for any number of threads; targets may differ in rounding.
//
// Memory. Masks are in host memory, of any size, and are read before the call returns. Samples and results are in the
// target's memory and must not overlap. On a GPU the call returns at once.
//
// Cost. O(results * mask values); separable masks O(results * (kx + ky)). Launches and workspace: convolve.cuh. Errors:
// throws invalid_argument if sizes do not match, arrays overlap or pointers are null, and what the target throws.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/convolve.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/error.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/host/convolve/convolve.hpp"

namespace warpfold {

// `count` images of `height` rows of `width` samples.
template <class T>
struct image {
    T* data;
    std::uint64_t width;
    std::uint64_t height;
    std::uint64_t pitch = 0;    // distance between rows, in samples; 0: width
    std::uint64_t count = 1;    // images
    std::uint64_t distance = 0; // distance between images, in samples; 0: height * pitch
};
// Deduction guide for compilers without one for aggregates.
template <class T>
image(T*, std::uint64_t, std::uint64_t, std::uint64_t = 0, std::uint64_t = 1, std::uint64_t = 0) -> image<T>;

struct convolve_options {
    border outside = border::zero;
    outputs which = outputs::same;
};

// The number of results of n samples and a mask of k values.
[[nodiscard]] constexpr std::uint64_t convolve_outputs(std::uint64_t n, std::uint64_t k, outputs which) {
    if (which == outputs::valid) {
        return n < k ? 0 : n - k + 1;
    }
    return which == outputs::same || n == 0 ? n : n + k - 1;
}

namespace detail {

template <class T>
concept sample = is_sample_v<std::remove_cv_t<T>>;

template <class T>
concept result = sample<T> && !std::is_const_v<T>;

[[noreturn]] inline void bad_convolve(const char* call, const std::string& what) {
    throw invalid_argument(std::string("warpfold: ") + call + ": " + what);
}

inline std::int64_t lead_of(std::uint64_t k, outputs which) {
    return static_cast<std::int64_t>(which == outputs::same ? k / 2 : (which == outputs::full ? k - 1 : 0));
}

// The mask in the order of a correlation, rounded to the type of the sums.
template <class A, class M>
std::vector<A> mask_values(const image<M>& mask, bool turned, const char* call) {
    if (mask.width == 0 || mask.height == 0 || mask.data == nullptr) {
        bad_convolve(call, "the mask is empty");
    }
    if (mask.width > (std::uint64_t{1} << 31) / mask.height) {
        bad_convolve(call, "the mask has more than 2^31 values");
    }
    const std::uint64_t pitch = mask.pitch == 0 ? mask.width : mask.pitch;
    if (pitch < mask.width) {
        bad_convolve(call, "the mask's pitch is less than its width");
    }
    std::vector<A> values(mask.width * mask.height);
    for (std::uint64_t y = 0; y < mask.height; ++y) {
        for (std::uint64_t x = 0; x < mask.width; ++x) {
            const std::uint64_t at = y * mask.width + x;
            values[turned ? values.size() - 1 - at : at] = number_of<A>(mask.data[y * pitch + x]);
        }
    }
    return values;
}

template <class T>
image<T> completed(image<T> of, const char* which, const char* call) {
    const std::string name(which);
    if (of.pitch == 0) {
        of.pitch = of.width;
    }
    if (of.pitch < of.width) {
        bad_convolve(call, name + ": the pitch is less than the width");
    }
    constexpr std::uint64_t most = std::uint64_t{1} << 60;
    if (of.width > most || of.height > most || of.pitch > most / (of.height + 1)) {
        bad_convolve(call, name + ": more than 2^60 samples");
    }
    if (of.distance == 0) {
        of.distance = of.pitch * of.height;
    }
    if (of.height != 0 && of.distance < of.pitch * (of.height - 1) + of.width) {
        bad_convolve(call, name + ": the distance between images is less than an image");
    }
    if (of.distance > most / (of.count + 1)) {
        bad_convolve(call, name + ": more than 2^60 samples");
    }
    if (reinterpret_cast<std::uintptr_t>(of.data) % alignof(T) != 0) {
        bad_convolve(call, name + ": the address is not aligned to the type's size");
    }
    return of;
}

// True if two non-empty sets of images may share memory. Exact unless their rows are interleaved.
template <class T, class O>
bool overlap(const image<T>& a, const image<O>& b) {
    const auto from_a = reinterpret_cast<std::uintptr_t>(a.data), from_b = reinterpret_cast<std::uintptr_t>(b.data);
    const auto end = [](const auto& i, std::uintptr_t from) {
        return from + ((i.count - 1) * i.distance + (i.height - 1) * i.pitch + i.width) * sizeof(*i.data);
    };
    if (end(a, from_a) <= from_b || end(b, from_b) <= from_a) {
        return false;
    }
    const std::uint64_t pitch = a.pitch * sizeof(T);
    const bool regular = pitch == b.pitch * sizeof(O) && (a.count == 1 || a.distance % a.pitch == 0) &&
                         (b.count == 1 || b.distance % b.pitch == 0);
    if (!regular) {
        return true;
    }
    const std::uint64_t apart =
        (from_b >= from_a ? (from_b - from_a) % pitch : pitch - 1 - (from_a - from_b - 1) % pitch);
    return apart < a.width * sizeof(T) || apart + b.width * sizeof(O) > pitch;
}

template <class T, class O>
convolve_task<std::remove_const_t<T>, O> task_of(const image<T>& in_image, const image<O>& out_image, std::uint64_t kx,
                                                 std::uint64_t ky, const convolve_options& how, const char* call,
                                                 bool checks_overlap = true) {
    const image<T> in = completed(in_image, "samples", call);
    const image<O> out = completed(out_image, "results", call);
    const std::uint64_t width = in.height == 0 ? 0 : convolve_outputs(in.width, kx, how.which);
    const std::uint64_t height = in.width == 0 ? 0 : convolve_outputs(in.height, ky, how.which);
    const bool none = width == 0 || height == 0;
    if (in.count != out.count) {
        bad_convolve(call,
                     std::to_string(in.count) + " images of samples, and " + std::to_string(out.count) + " of results");
    }
    if (none ? out.width != 0 && out.height != 0 : out.width != width || out.height != height) {
        bad_convolve(call, "the results are " + std::to_string(out.width) + " x " + std::to_string(out.height) +
                               ", and must be " + std::to_string(none ? 0 : width) + " x " +
                               std::to_string(none ? 0 : height));
    }
    if (!none && in.count != 0 && (in.data == nullptr || out.data == nullptr)) {
        bad_convolve(call,
                     in.data == nullptr ? "there are no samples at a null pointer" : "no results go to a null pointer");
    }
    if (checks_overlap && !none && in.count != 0 && overlap(in, out)) {
        bad_convolve(call, "the results overlap the samples");
    }
    const auto as = [](std::uint64_t x) { return static_cast<std::int64_t>(x); };
    return {in.data,
            out.data,
            as(in.width),
            as(in.height),
            as(in.pitch),
            as(in.distance),
            as(none ? 0 : width),
            as(none ? 0 : height),
            as(out.pitch),
            as(out.distance),
            as(in.count),
            lead_of(kx, how.which),
            lead_of(ky, how.which),
            how.outside};
}

// A rank takes part in the exchange of samples without results, too.
template <class On, class T, class O>
bool has_work(const convolve_task<T, O>& task, const convolve_options& how, const char* call) {
    if (is_split_v<On> && how.which != outputs::same) {
        bad_convolve(call, "over ranks there is outputs::same alone");
    }
    return is_split_v<On> || has_results(task);
}

template <bool OfLine, class T, class N>
void check_rows(const image<T>& in, const N& rows, const char* call) {
    if (!OfLine && most_of(rows) != in.height) {
        bad_convolve(call, "the images of samples have " + std::to_string(in.height) +
                               " rows, and the number of rows is at most " + std::to_string(most_of(rows)));
    }
}

// Calls work(task) with the number of samples of a line, or of rows, that the target's memory has.
template <bool OfLine, class On, class T, class O, element_count N, class Work>
void with_size(const convolve_task<T, O>& task, const N& n, const char* call, const Work& work) {
    if constexpr (!is_count_at_v<N>) {
        work(task);
    } else {
        static_assert(!is_split_v<On>, "over ranks the number of samples is an integer");
        const auto number = detail::checked_count(n, call);
        using I = std::remove_cvref_t<decltype(*number.number)>;
        const counted_task<T, O, I, OfLine> counted{
            task, number, OfLine ? task.out_width - task.width : task.out_height - task.height};
        if constexpr (!std::is_same_v<On, host>) {
            work(counted);
        } else if (const typename std::remove_cvref_t<decltype(counted)>::sized now(counted); has_results(now)) {
            work(now);
        }
    }
}

// `n`: samples of a line, or rows of each image. A number in the target's memory is at most that of the image.
template <bool OfLine, class On, class T, element_count N, class M, class O>
void filter(const On& on, const image<T>& in, const N& n, const image<M>& mask, const image<O>& out,
            const convolve_options& how, bool turned, const char* call) {
    call_scope<On>::run(on, call, [&] {
        using A = convolve_sum_t<std::remove_const_t<T>, O>;
        const std::vector<A> values = mask_values<A>(mask, turned, call);
        check_rows<OfLine>(in, n, call);
        const auto task = task_of(in, out, mask.width, mask.height, how, call, !is_count_at_v<N>);
        if (has_work<On>(task, how, call)) {
            with_size<OfLine, On>(task, n, call, [&](const auto& sized) {
                convolve_engine<On>::template direct<A>(on, sized, values.data(), static_cast<std::int64_t>(mask.width),
                                                        static_cast<std::int64_t>(mask.height), call);
            });
        }
    });
}

// An array, which ranks split by its elements; images are split by their rows.
template <class On, class T, element_count N, class M, class O>
void filter_line(const On& on, const T* in, const N& number, const M* mask, std::uint64_t k, O* out,
                 const convolve_options& how, bool turned, const char* call) {
    const std::uint64_t n = most_of(number);
    const image<const T> samples{in, n, 1};
    const image<O> results{out, convolve_outputs(n, k, how.which), 1};
    if constexpr (is_split_v<On>) {
        static_assert(!is_count_at_v<N>, "over ranks the number of samples is an integer");
        call_scope<On>::run(on, call, [&] {
            using A = convolve_sum_t<T, O>;
            const std::vector<A> values = mask_values<A>(image<const M>{mask, k, 1}, turned, call);
            const auto task = task_of(samples, results, k, 1, how, call);
            if (has_work<On>(task, how, call)) {
                convolve_engine<On>::template line<A>(on, task, values.data(), static_cast<std::int64_t>(k), call);
            }
        });
    } else {
        filter<true>(on, samples, number, image<const M>{mask, k, 1}, results, how, turned, call);
    }
}

template <class On, class T, element_count N, class M, class O>
void filter_separable(const On& on, const image<T>& in, const N& rows, const M* across, std::uint64_t kx, const M* down,
                      std::uint64_t ky, const image<O>& out, const convolve_options& how, bool turned,
                      const char* call) {
    call_scope<On>::run(on, call, [&] {
        using A = convolve_sum_t<std::remove_const_t<T>, O>;
        const std::vector<A> x = mask_values<A>(image<const M>{across, kx, 1}, turned, call);
        const std::vector<A> y = mask_values<A>(image<const M>{down, ky, 1}, turned, call);
        check_rows<false>(in, rows, call);
        const auto task = task_of(in, out, kx, ky, how, call, !is_count_at_v<N>);
        if (has_work<On>(task, how, call)) {
            with_size<false, On>(task, rows, call, [&](const auto& sized) {
                convolve_engine<On>::template separable<A>(on, sized, x.data(), static_cast<std::int64_t>(kx), y.data(),
                                                           static_cast<std::int64_t>(ky), call);
            });
        }
    });
}

} // namespace detail

// --- images and a two-dimensional mask -------------------------------------------------------------------------------
// Each image of `in` is filtered by itself. `out` has as many images, of the size that convolve_outputs gives for width
// and height. A mask of height 1 filters rows. Throws invalid_argument if sizes do not match.
//
// With `rows`, a count_at (detail/element_count.hpp), the number of rows of every image is read in the target's memory, in the
// target's order. `in` and `out` are images of rows.most rows then; rows that are not there are neither read nor written, and
// whether arrays overlap is not checked.

template <class On, detail::sample T, class M, detail::result O>
void convolve(const On& on, const image<T>& in, const image<M>& mask, const image<O>& out,
              const convolve_options& how = {}) {
    detail::filter<false>(on, in, in.height, mask, out, how, true, "convolve");
}
template <class On, detail::sample T, std::integral I, class M, detail::result O>
void convolve(const On& on, const image<T>& in, const count_at<I>& rows, const image<M>& mask, const image<O>& out,
              const convolve_options& how = {}) {
    detail::filter<false>(on, in, rows, mask, out, how, true, "convolve");
}
template <class On, detail::sample T, class M, detail::result O>
void correlate(const On& on, const image<T>& in, const image<M>& mask, const image<O>& out,
               const convolve_options& how = {}) {
    detail::filter<false>(on, in, in.height, mask, out, how, false, "correlate");
}
template <class On, detail::sample T, std::integral I, class M, detail::result O>
void correlate(const On& on, const image<T>& in, const count_at<I>& rows, const image<M>& mask, const image<O>& out,
               const convolve_options& how = {}) {
    detail::filter<false>(on, in, rows, mask, out, how, false, "correlate");
}

// --- images and a separable mask -------------------------------------------------------------------------------------
// mask(i, j) = across[i] * down[j]. Rows are filtered first; their sums stay in the sums' type and are filtered by
// columns.

template <class On, detail::sample T, class M, detail::result O>
void convolve_separable(const On& on, const image<T>& in, const M* across, std::uint64_t kx, const M* down,
                        std::uint64_t ky, const image<O>& out, const convolve_options& how = {}) {
    detail::filter_separable(on, in, in.height, across, kx, down, ky, out, how, true, "convolve_separable");
}
template <class On, detail::sample T, std::integral I, class M, detail::result O>
void convolve_separable(const On& on, const image<T>& in, const count_at<I>& rows, const M* across, std::uint64_t kx,
                        const M* down, std::uint64_t ky, const image<O>& out, const convolve_options& how = {}) {
    detail::filter_separable(on, in, rows, across, kx, down, ky, out, how, true, "convolve_separable");
}
template <class On, detail::sample T, class M, detail::result O>
void correlate_separable(const On& on, const image<T>& in, const M* across, std::uint64_t kx, const M* down,
                         std::uint64_t ky, const image<O>& out, const convolve_options& how = {}) {
    detail::filter_separable(on, in, in.height, across, kx, down, ky, out, how, false, "correlate_separable");
}
template <class On, detail::sample T, std::integral I, class M, detail::result O>
void correlate_separable(const On& on, const image<T>& in, const count_at<I>& rows, const M* across, std::uint64_t kx,
                         const M* down, std::uint64_t ky, const image<O>& out, const convolve_options& how = {}) {
    detail::filter_separable(on, in, rows, across, kx, down, ky, out, how, false, "correlate_separable");
}

// --- n samples and a mask of k values --------------------------------------------------------------------------------
// `out` has room for convolve_outputs(n, k, how.which) results. n may be a count_at.

template <class On, detail::sample T, detail::element_count N, class M, detail::result O>
void convolve(const On& on, const T* in, const N& n, const M* mask, std::uint64_t k, O* out,
              const convolve_options& how = {}) {
    detail::filter_line(on, in, n, mask, k, out, how, true, "convolve");
}
template <class On, detail::sample T, detail::element_count N, class M, detail::result O>
void correlate(const On& on, const T* in, const N& n, const M* mask, std::uint64_t k, O* out,
               const convolve_options& how = {}) {
    detail::filter_line(on, in, n, mask, k, out, how, false, "correlate");
}

// Ranges with data() and size(). Throws invalid_argument if a range of results is too small.

namespace detail {

template <class On, class Out, class Samples, class Mask>
auto results_in(const On& on, Out& out, const Samples& in, const Mask& mask, outputs which, const char* call) {
    if constexpr (sized_range<Out>) {
        call_scope<On>::run(on, call, [&] {
            const std::uint64_t all = convolve_outputs(std::size(in), std::size(mask), which);
            if (std::size(out) < all) {
                bad_convolve(call, "the output has room for " + std::to_string(std::size(out)) + " of " +
                                       std::to_string(all) + " results");
            }
        });
    }
    return detail::output_of(out);
}

} // namespace detail

template <class On, detail::sized_range Samples, detail::sized_range Mask, class Out>
void convolve(const On& on, const Samples& in, const Mask& mask, Out&& out, const convolve_options& how = {}) {
    warpfold::convolve(on, detail::data_of(in), std::uint64_t{std::size(in)}, std::data(mask),
                       std::uint64_t{std::size(mask)}, detail::results_in(on, out, in, mask, how.which, "convolve"),
                       how);
}
template <class On, detail::sized_range Samples, detail::sized_range Mask, class Out>
void correlate(const On& on, const Samples& in, const Mask& mask, Out&& out, const convolve_options& how = {}) {
    warpfold::correlate(on, detail::data_of(in), std::uint64_t{std::size(in)}, std::data(mask),
                        std::uint64_t{std::size(mask)}, detail::results_in(on, out, in, mask, how.which, "correlate"),
                        how);
}

} // namespace warpfold
