// SPDX-License-Identifier: MIT
// The extension module warpfold._gpu: ../calls.hpp for Python. Calls take arrays of the class Elements, and compute on the
// device and stream of the first one; masks of convolutions come so, too, or as for _core. Calls enqueue and return; to_host() waits.
// Every call releases the interpreter's lock. A CUDA error is a RuntimeError.
#include <cstdint>
#include <exception>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/descriptions.hpp"
#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/module/device_array.hpp"
#include "python/src/gpu/module/loaded_kernel.hpp"
#include "python/src/gpu/module/packages.hpp"
#include "python/src/gpu/module/page_locked.hpp"
#include "python/src/gpu/module/place.hpp"
#include "python/src/gpu/module/whole_arrays.hpp"
#include "warpfold/error.hpp"
#include "warpfold/gpu/core/error.hpp"

namespace nb = nanobind;
namespace wg = warpfold::python::on_gpu;

namespace {

using warpfold::python::array;
using warpfold::python::element_of;
using warpfold::python::operation_of;
using wg::device_array;

void define_calls(nb::module_& m) {
    m.def(
        "copy",
        [](const device_array& in, const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) { wg::copy(on, in.of, out.of); });
        },
        nb::arg("a"), nb::arg("out"));
    m.def(
        "copy_where",
        [](const device_array& in, const device_array& mask, const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) { wg::copy_where(on, in.of, mask.of, out.of); });
        },
        nb::arg("a"), nb::arg("mask"), nb::arg("out"));
    m.def(
        "mark",
        [](const device_array& places, const device_array& out) {
            wg::run(places.at, [&](const warpfold::gpu& on) { wg::mark(on, places.of, out.of); });
        },
        nb::arg("at"), nb::arg("out"));
    m.def(
        "apply",
        [](int op, int fold, const device_array& in, const device_array* other, std::uint64_t scalar,
           const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::apply(on, static_cast<wg::arithmetic>(op), element_of(fold), in.of, wg::of(other), scalar, out.of);
            });
        },
        nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("other").none(), nb::arg("scalar"), nb::arg("out"));
    m.def(
        "reduce",
        [](int op, int fold, const device_array& in, std::uint64_t length, const device_array* mask,
           const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::reduce(on, operation_of(op), element_of(fold), in.of, length, wg::of(mask), out.of);
            });
        },
        nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(), nb::arg("out"));
    m.def(
        "mean_of_all",
        [](const device_array& in, const device_array& out) {
            bool is_done = false;
            wg::run(in.at, [&](const warpfold::gpu& on) { is_done = wg::mean_of_all(on, in.of, out.of); });
            return is_done;
        },
        nb::arg("a"), nb::arg("out"));
    m.def(
        "count_nonzero",
        [](const device_array& in, std::uint64_t length, const device_array* mask, const device_array& out) {
            wg::run(in.at,
                    [&](const warpfold::gpu& on) { wg::count_nonzero(on, in.of, length, wg::of(mask), out.of); });
        },
        nb::arg("a"), nb::arg("length"), nb::arg("mask").none(), nb::arg("out"));
    m.def(
        "squared_deviations",
        [](int fold, const device_array& in, std::uint64_t length, const device_array* mask, const device_array* means,
           const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::squared_deviations(on, element_of(fold), in.of, length, wg::of(mask), wg::of(means), out.of);
            });
        },
        nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(), nb::arg("means").none(),
        nb::arg("out"));
    m.def(
        "arg_extreme",
        [](bool smallest, int fold, const device_array& in, std::uint64_t length, const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::arg_extreme(on, smallest, element_of(fold), in.of, length, out.of);
            });
        },
        nb::arg("smallest"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("out"));
    m.def(
        "min_max",
        [](int fold, const device_array& in, std::uint64_t length, const device_array& smallest,
           const device_array& largest) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::min_max(on, element_of(fold), in.of, length, smallest.of, largest.of);
            });
        },
        nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("smallest"), nb::arg("largest"));
    m.def(
        "segment_reduce",
        [](int op, int fold, const device_array& in, const device_array& offsets, const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::segment_reduce(on, operation_of(op), element_of(fold), in.of, offsets.of, out.of);
            });
        },
        nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("offsets"), nb::arg("out"));
    m.def(
        "scan",
        [](int op, int fold, const device_array& in, std::uint64_t length, const device_array* heads,
           const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::scan(on, operation_of(op), element_of(fold), in.of, length, wg::of(heads), out.of);
            });
        },
        nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("heads").none(), nb::arg("out"));
    m.def(
        "norm",
        [](double order, const device_array& in, std::uint64_t length, const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) { wg::norm(on, order, in.of, length, out.of); });
        },
        nb::arg("order"), nb::arg("a"), nb::arg("length"), nb::arg("out"));
    m.def(
        "select",
        [](const device_array& in, const device_array& flags, const device_array& out, const device_array* rejected) {
            wg::run(in.at, [&](const warpfold::gpu& on) { wg::select(on, in.of, flags.of, out.of, wg::of(rejected)); });
        },
        nb::arg("a"), nb::arg("flags"), nb::arg("out"), nb::arg("rejected").none());
    m.def(
        "select_and_count",
        [](const device_array& in, const device_array& flags, const device_array& out) {
            return wg::number_of(in.at, [&](const warpfold::gpu& on, std::uint64_t* number) {
                wg::select_and_count(on, in.of, flags.of, out.of, number);
            });
        },
        nb::arg("a"), nb::arg("flags"), nb::arg("out"));
    m.def(
        "unique",
        [](const device_array& in, const device_array& values) {
            return wg::number_of(in.at, [&](const warpfold::gpu& on, std::uint64_t* number) {
                wg::unique(on, in.of, values.of, number);
            });
        },
        nb::arg("a"), nb::arg("values"));
    m.def(
        "run_length_encode",
        [](const device_array& in, const device_array& values, const device_array& lengths) {
            return wg::number_of(in.at, [&](const warpfold::gpu& on, std::uint64_t* number) {
                wg::run_length_encode(on, in.of, values.of, lengths.of, number);
            });
        },
        nb::arg("a"), nb::arg("values"), nb::arg("lengths"));
    m.def(
        "exact_sum",
        [](const device_array& in, const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) { wg::exact_sum(on, in.of, out.of); });
        },
        nb::arg("a"), nb::arg("out"));
    m.def(
        "exact_dot",
        [](const device_array& a, const device_array& b, const device_array& out) {
            wg::run(a.at, [&](const warpfold::gpu& on) { wg::exact_dot(on, a.of, b.of, out.of); });
        },
        nb::arg("a"), nb::arg("b"), nb::arg("out"));
    m.def(
        "exact_moment",
        [](int which, const device_array& in, const device_array* imag, std::uint64_t less, const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::exact_moment(on, static_cast<warpfold::python::moment>(which), in.of, wg::of(imag), less, out.of);
            });
        },
        nb::arg("which"), nb::arg("a"), nb::arg("imag").none(), nb::arg("less"), nb::arg("out"));
}

void define_bins(nb::module_& m) {
    m.def(
        "histogram",
        [](const device_array& samples, const array& edges, const device_array* weights, const device_array& sums) {
            wg::run(samples.at,
                    [&](const warpfold::gpu& on) { wg::histogram(on, samples.of, edges, wg::of(weights), sums.of); });
        },
        nb::arg("samples"), nb::arg("edges"), nb::arg("weights").none(), nb::arg("sums"));
    m.def(
        "count_values",
        [](const device_array& samples, const device_array* weights, const device_array& sums) {
            wg::run(samples.at,
                    [&](const warpfold::gpu& on) { wg::count_values(on, samples.of, wg::of(weights), sums.of); });
        },
        nb::arg("samples"), nb::arg("weights").none(), nb::arg("sums"));
    m.def(
        "ranks",
        [](const device_array& samples, const array& edges, bool less, const device_array& out) {
            wg::run(samples.at, [&](const warpfold::gpu& on) { wg::ranks(on, samples.of, edges, less, out.of); });
        },
        nb::arg("samples"), nb::arg("edges"), nb::arg("less"), nb::arg("out"));
    m.def(
        "append_bins",
        [](const device_array& samples, const array& edges, const device_array& out) {
            wg::run(samples.at, [&](const warpfold::gpu& on) { wg::append_bins(on, samples.of, edges, out.of); });
        },
        nb::arg("samples"), nb::arg("edges"), nb::arg("out"));
}

wg::filter_mask mask_of(const array& of) { return {of, false}; }
wg::filter_mask mask_of(const device_array& of) { return {of.of, true}; }

// For masks in host memory, and for those in device memory.
template <class Mask>
void define_filters_by(nb::module_& m) {
    m.def(
        "correlate",
        [](const device_array& in, const Mask& mask, int which, const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) { wg::correlate(on, in.of, mask_of(mask), which, out.of); });
        },
        nb::arg("a"), nb::arg("mask"), nb::arg("which"), nb::arg("out"));
    m.def(
        "correlate_images",
        [](const device_array& in, const Mask& mask, int which, int outside, std::int64_t lead_y, std::int64_t lead_x,
           const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::correlate_images(on, in.of, mask_of(mask), which, outside, {lead_y, lead_x}, out.of);
            });
        },
        nb::arg("a"), nb::arg("mask"), nb::arg("which"), nb::arg("outside"), nb::arg("lead_y"), nb::arg("lead_x"),
        nb::arg("out"));
    m.def(
        "correlate_separable",
        [](const device_array& in, const Mask& across, const Mask& down, int which, int outside,
           const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::correlate_separable(on, in.of, mask_of(across), mask_of(down), which, outside, out.of);
            });
        },
        nb::arg("a"), nb::arg("across"), nb::arg("down"), nb::arg("which"), nb::arg("outside"), nb::arg("out"));
}

void define_filters(nb::module_& m) {
    define_filters_by<array>(m);
    define_filters_by<device_array>(m);
    m.def(
        "correlate_products",
        [](int fold, const device_array& in, const device_array& mask, std::int64_t lead, const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::correlate_products(on, element_of(fold), in.of, mask.of, lead, out.of);
            });
        },
        nb::arg("fold"), nb::arg("a"), nb::arg("mask"), nb::arg("lead"), nb::arg("out"));
    m.def(
        "correlate_image_products",
        [](int fold, const device_array& in, const device_array& mask, std::int64_t lead_y, std::int64_t lead_x,
           const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) {
                wg::correlate_image_products(on, element_of(fold), in.of, mask.of, {lead_y, lead_x}, out.of);
            });
        },
        nb::arg("fold"), nb::arg("a"), nb::arg("mask"), nb::arg("lead_y"), nb::arg("lead_x"), nb::arg("out"));
    m.def(
        "correlate_channels",
        [](const device_array& in, const device_array& masks, const device_array& out) {
            wg::run(in.at, [&](const warpfold::gpu& on) { wg::correlate_channels(on, in.of, masks.of, out.of); });
        },
        nb::arg("a"), nb::arg("masks"), nb::arg("out"));
}

} // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): the macro's own parameter.
NB_MODULE(_gpu, m) {
    m.doc() = "Calls of the C++ library on arrays in device memory. Use the package warpfold.";
    nb::set_leak_warnings(false); // the class of new arrays lives as long as the process
    nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*unused*/) {
        try {
            std::rethrow_exception(thrown);
        } catch (const warpfold::cuda_error& what) {
            PyErr_SetString(PyExc_RuntimeError, what.what());
        } catch (const warpfold::error& what) {
            PyErr_SetString(PyExc_ValueError, what.what());
        }
    });
    wg::define_arrays(m);
    wg::define_packages(m);
    wg::define_whole_arrays(m);
    wg::define_memory(m);
    wg::define_kernels(m);
    define_calls(m);
    define_bins(m);
    define_filters(m);
}
