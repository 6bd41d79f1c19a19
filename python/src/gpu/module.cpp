// SPDX-License-Identifier: MIT
// The extension module warpfold._gpu: gpu/calls.hpp for Python. A place is (device, stream); arrays come as for _core, with
// device addresses. Calls enqueue and return; to_host() waits. Every call releases the interpreter's lock. A CUDA error
// is a RuntimeError.
#include <cstdint>
#include <exception>
#include <optional>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/descriptions.hpp"
#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/loaded_kernel.hpp"
#include "python/src/gpu/place.hpp"
#include "warpfold/error.hpp"
#include "warpfold/gpu/core/error.hpp"

namespace nb = nanobind;
namespace wg = warpfold::python::on_gpu;

namespace {

using warpfold::python::array_of;
using warpfold::python::description;
using warpfold::python::element_of;
using warpfold::python::operation_of;
using warpfold::python::optional_array;
using wg::place;

void define_calls(nb::module_& m) {
    m.def(
        "copy",
        [](const place& at, const description& in, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) { wg::copy(on, array_of(in), array_of(out)); });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("out"));
    m.def(
        "copy_where",
        [](const place& at, const description& in, const description& mask, const description& out) {
            wg::run(at,
                    [&](const warpfold::gpu& on) { wg::copy_where(on, array_of(in), array_of(mask), array_of(out)); });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("mask"), nb::arg("out"));
    m.def(
        "mark",
        [](const place& at, const description& places, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) { wg::mark(on, array_of(places), array_of(out)); });
        },
        nb::arg("place"), nb::arg("at"), nb::arg("out"));
    m.def(
        "apply",
        [](const place& at, int op, int fold, const description& in, const std::optional<description>& other,
           std::uint64_t scalar, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::apply(on, static_cast<wg::arithmetic>(op), element_of(fold), array_of(in),
                          optional_array(other).get(), scalar, array_of(out));
            });
        },
        nb::arg("place"), nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("other").none(), nb::arg("scalar"),
        nb::arg("out"));
    m.def(
        "reduce",
        [](const place& at, int op, int fold, const description& in, std::uint64_t length,
           const std::optional<description>& mask, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::reduce(on, operation_of(op), element_of(fold), array_of(in), length, optional_array(mask).get(),
                           array_of(out));
            });
        },
        nb::arg("place"), nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(),
        nb::arg("out"));
    m.def(
        "count_nonzero",
        [](const place& at, const description& in, std::uint64_t length, const std::optional<description>& mask,
           const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::count_nonzero(on, array_of(in), length, optional_array(mask).get(), array_of(out));
            });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(), nb::arg("out"));
    m.def(
        "squared_deviations",
        [](const place& at, int fold, const description& in, std::uint64_t length,
           const std::optional<description>& mask, const std::optional<description>& means, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::squared_deviations(on, element_of(fold), array_of(in), length, optional_array(mask).get(),
                                       optional_array(means).get(), array_of(out));
            });
        },
        nb::arg("place"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(),
        nb::arg("means").none(), nb::arg("out"));
    m.def(
        "arg_extreme",
        [](const place& at, bool smallest, int fold, const description& in, std::uint64_t length,
           const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::arg_extreme(on, smallest, element_of(fold), array_of(in), length, array_of(out));
            });
        },
        nb::arg("place"), nb::arg("smallest"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("out"));
    m.def(
        "min_max",
        [](const place& at, int fold, const description& in, std::uint64_t length, const description& smallest,
           const description& largest) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::min_max(on, element_of(fold), array_of(in), length, array_of(smallest), array_of(largest));
            });
        },
        nb::arg("place"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("smallest"), nb::arg("largest"));
    m.def(
        "segment_reduce",
        [](const place& at, int op, int fold, const description& in, const description& offsets,
           const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::segment_reduce(on, operation_of(op), element_of(fold), array_of(in), array_of(offsets),
                                   array_of(out));
            });
        },
        nb::arg("place"), nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("offsets"), nb::arg("out"));
    m.def(
        "scan",
        [](const place& at, int op, int fold, const description& in, std::uint64_t length,
           const std::optional<description>& heads, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::scan(on, operation_of(op), element_of(fold), array_of(in), length, optional_array(heads).get(),
                         array_of(out));
            });
        },
        nb::arg("place"), nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("heads").none(),
        nb::arg("out"));
    m.def(
        "norm",
        [](const place& at, double order, const description& in, std::uint64_t length, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) { wg::norm(on, order, array_of(in), length, array_of(out)); });
        },
        nb::arg("place"), nb::arg("order"), nb::arg("a"), nb::arg("length"), nb::arg("out"));
    m.def(
        "select",
        [](const place& at, const description& in, const description& flags, const description& out,
           const std::optional<description>& rejected) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::select(on, array_of(in), array_of(flags), array_of(out), optional_array(rejected).get());
            });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("flags"), nb::arg("out"), nb::arg("rejected").none());
    m.def(
        "run_length_encode",
        [](const place& at, const description& in, const description& values, const description& lengths) {
            std::uint64_t runs = 0;
            wg::run(at, [&](const warpfold::gpu& on) {
                runs = wg::run_length_encode(on, array_of(in), array_of(values), array_of(lengths));
            });
            return runs;
        },
        nb::arg("place"), nb::arg("a"), nb::arg("values"), nb::arg("lengths"));
    m.def(
        "exact_sum",
        [](const place& at, const description& in, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) { wg::exact_sum(on, array_of(in), array_of(out)); });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("out"));
    m.def(
        "exact_dot",
        [](const place& at, const description& a, const description& b, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) { wg::exact_dot(on, array_of(a), array_of(b), array_of(out)); });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("b"), nb::arg("out"));
}

void define_bins(nb::module_& m) {
    m.def(
        "histogram",
        [](const place& at, const description& samples, const description& edges,
           const std::optional<description>& weights, const description& sums) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::histogram(on, array_of(samples), array_of(edges), optional_array(weights).get(), array_of(sums));
            });
        },
        nb::arg("place"), nb::arg("samples"), nb::arg("edges"), nb::arg("weights").none(), nb::arg("sums"));
    m.def(
        "count_values",
        [](const place& at, const description& samples, const std::optional<description>& weights,
           const description& sums) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::count_values(on, array_of(samples), optional_array(weights).get(), array_of(sums));
            });
        },
        nb::arg("place"), nb::arg("samples"), nb::arg("weights").none(), nb::arg("sums"));
    m.def(
        "ranks",
        [](const place& at, const description& samples, const description& edges, bool less, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::ranks(on, array_of(samples), array_of(edges), less, array_of(out));
            });
        },
        nb::arg("place"), nb::arg("samples"), nb::arg("edges"), nb::arg("less"), nb::arg("out"));
    m.def(
        "append_bins",
        [](const place& at, const description& samples, const description& edges, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::append_bins(on, array_of(samples), array_of(edges), array_of(out));
            });
        },
        nb::arg("place"), nb::arg("samples"), nb::arg("edges"), nb::arg("out"));
}

void define_filters(nb::module_& m) {
    m.def(
        "correlate",
        [](const place& at, const description& in, const description& mask, int which, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::correlate(on, array_of(in), array_of(mask), which, array_of(out));
            });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("mask"), nb::arg("which"), nb::arg("out"));
    m.def(
        "correlate_products",
        [](const place& at, int fold, const description& in, const description& mask, std::int64_t lead,
           const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::correlate_products(on, element_of(fold), array_of(in), array_of(mask), lead, array_of(out));
            });
        },
        nb::arg("place"), nb::arg("fold"), nb::arg("a"), nb::arg("mask"), nb::arg("lead"), nb::arg("out"));
    m.def(
        "correlate_images",
        [](const place& at, const description& in, const description& mask, int which, int outside, std::int64_t lead_y,
           std::int64_t lead_x, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::correlate_images(on, array_of(in), array_of(mask), which, outside, {lead_y, lead_x}, array_of(out));
            });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("mask"), nb::arg("which"), nb::arg("outside"), nb::arg("lead_y"),
        nb::arg("lead_x"), nb::arg("out"));
    m.def(
        "correlate_image_products",
        [](const place& at, int fold, const description& in, const description& mask, std::int64_t lead_y,
           std::int64_t lead_x, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::correlate_image_products(on, element_of(fold), array_of(in), array_of(mask), {lead_y, lead_x},
                                             array_of(out));
            });
        },
        nb::arg("place"), nb::arg("fold"), nb::arg("a"), nb::arg("mask"), nb::arg("lead_y"), nb::arg("lead_x"),
        nb::arg("out"));
    m.def(
        "correlate_separable",
        [](const place& at, const description& in, const description& across, const description& down, int which,
           int outside, const description& out) {
            wg::run(at, [&](const warpfold::gpu& on) {
                wg::correlate_separable(on, array_of(in), array_of(across), array_of(down), which, outside,
                                        array_of(out));
            });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("across"), nb::arg("down"), nb::arg("which"), nb::arg("outside"),
        nb::arg("out"));
}

} // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): the macro's own parameter.
NB_MODULE(_gpu, m) {
    m.doc() = "Calls of the C++ library on arrays in device memory. Use the package warpfold.";
    nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*unused*/) {
        try {
            std::rethrow_exception(thrown);
        } catch (const warpfold::cuda_error& what) {
            PyErr_SetString(PyExc_RuntimeError, what.what());
        } catch (const warpfold::error& what) {
            PyErr_SetString(PyExc_ValueError, what.what());
        }
    });
    wg::define_memory(m);
    wg::define_kernels(m);
    define_calls(m);
    define_bins(m);
    define_filters(m);
}
