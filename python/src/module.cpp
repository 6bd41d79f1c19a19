// SPDX-License-Identifier: MIT
// The extension module warpfold._core: calls.hpp for Python. Arrays come as (address, type, shape, strides in bytes); the
// package holds on to their owners and checks them. Every call releases the interpreter's lock.
#include <cstdint>
#include <optional>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/calls.hpp"
#include "python/src/descriptions.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/core/target.hpp"

namespace nb = nanobind;
namespace wp = warpfold::python;

namespace {

using wp::array_of;
using wp::description;
using wp::element_of;
using wp::operation_of;
using wp::optional_array;

} // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): the macro's own parameter.
NB_MODULE(_core, m) {
    m.doc() = "Calls of the C++ library on arrays of any type and any strides. Use the package warpfold.";
    nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*unused*/) {
        try {
            std::rethrow_exception(thrown);
        } catch (const warpfold::error& what) {
            PyErr_SetString(PyExc_ValueError, what.what());
        }
    });
    using unlocked = nb::call_guard<nb::gil_scoped_release>;
    m.def(
        "reduce",
        [](int op, int fold, const description& in, std::uint64_t length, const std::optional<description>& mask,
           const description& out) {
            wp::reduce(operation_of(op), element_of(fold), array_of(in), length, optional_array(mask).get(),
                       array_of(out));
        },
        nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(), nb::arg("out"),
        unlocked());
    m.def(
        "count_nonzero",
        [](const description& in, std::uint64_t length, const std::optional<description>& mask,
           const description& out) {
            wp::count_nonzero(array_of(in), length, optional_array(mask).get(), array_of(out));
        },
        nb::arg("a"), nb::arg("length"), nb::arg("mask").none(), nb::arg("out"), unlocked());
    m.def(
        "squared_deviations",
        [](int fold, const description& in, std::uint64_t length, const std::optional<description>& mask,
           const description& means, const description& out) {
            wp::squared_deviations(element_of(fold), array_of(in), length, optional_array(mask).get(), array_of(means),
                                   array_of(out));
        },
        nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(), nb::arg("means"), nb::arg("out"),
        unlocked());
    m.def(
        "arg_extreme",
        [](bool smallest, int fold, const description& in, std::uint64_t length, const description& out) {
            wp::arg_extreme(smallest, element_of(fold), array_of(in), length, array_of(out));
        },
        nb::arg("smallest"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("out"), unlocked());
    m.def(
        "min_max",
        [](int fold, const description& in, std::uint64_t length, const description& smallest,
           const description& largest) {
            wp::min_max(element_of(fold), array_of(in), length, array_of(smallest), array_of(largest));
        },
        nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("smallest"), nb::arg("largest"), unlocked());
    m.def(
        "segment_reduce",
        [](int op, int fold, const description& in, const description& offsets, const description& out) {
            wp::segment_reduce(operation_of(op), element_of(fold), array_of(in), array_of(offsets), array_of(out));
        },
        nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("offsets"), nb::arg("out"), unlocked());
    m.def(
        "scan",
        [](int op, int fold, const description& in, std::uint64_t length, const std::optional<description>& heads,
           const description& out) {
            wp::scan(operation_of(op), element_of(fold), array_of(in), length, optional_array(heads).get(),
                     array_of(out));
        },
        nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("heads").none(), nb::arg("out"),
        unlocked());
    m.def(
        "exact_sum", [](const description& in, const description& out) { wp::exact_sum(array_of(in), array_of(out)); },
        nb::arg("a"), nb::arg("out"), unlocked());
    m.def(
        "exact_dot",
        [](const description& a, const description& b, const description& out) {
            wp::exact_dot(array_of(a), array_of(b), array_of(out));
        },
        nb::arg("a"), nb::arg("b"), nb::arg("out"), unlocked());
    m.def(
        "exact_moment",
        [](int which, const description& in, const std::optional<description>& imag, std::uint64_t less,
           const description& out) {
            wp::exact_moment(static_cast<wp::moment>(which), array_of(in), optional_array(imag).get(), less,
                             array_of(out));
        },
        nb::arg("which"), nb::arg("a"), nb::arg("imag").none(), nb::arg("less"), nb::arg("out"), unlocked());
    m.def(
        "histogram",
        [](const description& samples, const description& edges, const std::optional<description>& weights,
           const description& sums) {
            wp::histogram(array_of(samples), array_of(edges), optional_array(weights).get(), array_of(sums));
        },
        nb::arg("samples"), nb::arg("edges"), nb::arg("weights").none(), nb::arg("sums"), unlocked());
    m.def(
        "count_values",
        [](const description& samples, const std::optional<description>& weights, const description& sums) {
            wp::count_values(array_of(samples), optional_array(weights).get(), array_of(sums));
        },
        nb::arg("samples"), nb::arg("weights").none(), nb::arg("sums"), unlocked());
    m.def(
        "correlate",
        [](const description& in, const description& mask, int which, const description& out) {
            wp::correlate(array_of(in), array_of(mask), which, array_of(out));
        },
        nb::arg("a"), nb::arg("mask"), nb::arg("which"), nb::arg("out"), unlocked());
    m.def(
        "correlate_products",
        [](int fold, const description& in, const description& mask, std::int64_t lead, const description& out) {
            wp::correlate_products(element_of(fold), array_of(in), array_of(mask), lead, array_of(out));
        },
        nb::arg("fold"), nb::arg("a"), nb::arg("mask"), nb::arg("lead"), nb::arg("out"), unlocked());
    m.def(
        "sum_magnitudes",
        [](const description& in, const description& out) { return wp::sum_magnitudes(array_of(in), array_of(out)); },
        nb::arg("a"), nb::arg("out"), unlocked());
    m.def(
        "ranks",
        [](const description& samples, const description& edges, bool less, const description& out) {
            wp::ranks(array_of(samples), array_of(edges), less, array_of(out));
        },
        nb::arg("samples"), nb::arg("edges"), nb::arg("less"), nb::arg("out"), unlocked());
    m.def(
        "append_bins",
        [](const description& samples, const description& edges, const description& out) {
            wp::append_bins(array_of(samples), array_of(edges), array_of(out));
        },
        nb::arg("samples"), nb::arg("edges"), nb::arg("out"), unlocked());
    m.def(
        "select",
        [](const description& in, const description& flags, const description& out,
           const std::optional<description>& rejected) {
            wp::select(array_of(in), array_of(flags), array_of(out), optional_array(rejected).get());
        },
        nb::arg("a"), nb::arg("flags"), nb::arg("out"), nb::arg("rejected").none(), unlocked());
    m.def(
        "run_length_encode",
        [](const description& in, const description& values, const description& lengths) {
            return wp::run_length_encode(array_of(in), array_of(values), array_of(lengths));
        },
        nb::arg("a"), nb::arg("values"), nb::arg("lengths"), unlocked());
    m.def(
        "correlate_images",
        [](const description& in, const description& mask, int which, int outside, std::int64_t lead_y,
           std::int64_t lead_x, const description& out) {
            wp::correlate_images(array_of(in), array_of(mask), which, outside, {lead_y, lead_x}, array_of(out));
        },
        nb::arg("a"), nb::arg("mask"), nb::arg("which"), nb::arg("outside"), nb::arg("lead_y"), nb::arg("lead_x"),
        nb::arg("out"), unlocked());
    m.def(
        "correlate_image_products",
        [](int fold, const description& in, const description& mask, std::int64_t lead_y, std::int64_t lead_x,
           const description& out) {
            wp::correlate_image_products(element_of(fold), array_of(in), array_of(mask), {lead_y, lead_x},
                                         array_of(out));
        },
        nb::arg("fold"), nb::arg("a"), nb::arg("mask"), nb::arg("lead_y"), nb::arg("lead_x"), nb::arg("out"),
        unlocked());
    m.def(
        "correlate_separable",
        [](const description& in, const description& across, const description& down, int which, int outside,
           const description& out) {
            wp::correlate_separable(array_of(in), array_of(across), array_of(down), which, outside, array_of(out));
        },
        nb::arg("a"), nb::arg("across"), nb::arg("down"), nb::arg("which"), nb::arg("outside"), nb::arg("out"),
        unlocked());
}
