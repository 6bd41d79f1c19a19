// SPDX-License-Identifier: MIT
// The extension module warpfold._core: calls.hpp for Python. Arrays are NumPy's (descriptions.hpp); the package checks them.
// Every call releases the interpreter's lock.
#include <cstdint>
#include <optional>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/calls.hpp"
#include "python/src/compiled_operation.hpp"
#include "python/src/descriptions.hpp"
#include "python/src/lock_released.hpp"
#include "python/src/whole_arrays/whole_arrays.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/core/target.hpp"

namespace nb = nanobind;
namespace wp = warpfold::python;

namespace {

using wp::array;
using wp::element_of;
using wp::operation_of;
using wp::pointer_to;

} // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): the macro's own parameter.
NB_MODULE(_core, m) {
    nb::set_leak_warnings(false); // objects that others keep are not this module's mistake
    m.doc() = "Calls of the C++ library on arrays of any type and any strides. Use the package warpfold.";
    nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*unused*/) {
        try {
            std::rethrow_exception(thrown);
        } catch (const warpfold::error& what) {
            PyErr_SetString(PyExc_ValueError, what.what());
        }
    });
    wp::define_whole_arrays(m);
    using unlocked = nb::call_guard<wp::lock_released>;
    m.def(
        "reduce",
        [](int op, int fold, const array& in, std::uint64_t length, const std::optional<array>& mask,
           const array& out) { wp::reduce(operation_of(op), element_of(fold), in, length, pointer_to(mask), out); },
        nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(), nb::arg("out"),
        unlocked());
    m.def(
        "count_nonzero",
        [](const array& in, std::uint64_t length, const std::optional<array>& mask, const array& out) {
            wp::count_nonzero(in, length, pointer_to(mask), out);
        },
        nb::arg("a"), nb::arg("length"), nb::arg("mask").none(), nb::arg("out"), unlocked());
    m.def(
        "test_nonzero",
        [](bool is_all, const array& in, std::uint64_t length, const array& out) {
            wp::test_nonzero(is_all, in, length, out);
        },
        nb::arg("is_all"), nb::arg("a"), nb::arg("length"), nb::arg("out"), unlocked());
    m.def(
        "squared_deviations",
        [](int fold, const array& in, std::uint64_t length, const std::optional<array>& mask, const array& means,
           const array& out) { wp::squared_deviations(element_of(fold), in, length, pointer_to(mask), means, out); },
        nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(), nb::arg("means"), nb::arg("out"),
        unlocked());
    m.def(
        "arg_extreme",
        [](bool smallest, int fold, const array& in, std::uint64_t length, const array& out) {
            wp::arg_extreme(smallest, element_of(fold), in, length, out);
        },
        nb::arg("smallest"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("out"), unlocked());
    m.def(
        "min_max",
        [](int fold, const array& in, std::uint64_t length, const array& smallest, const array& largest) {
            wp::min_max(element_of(fold), in, length, smallest, largest);
        },
        nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("smallest"), nb::arg("largest"), unlocked());
    m.def(
        "segment_reduce",
        [](int op, int fold, const array& in, const array& offsets, const array& out) {
            wp::segment_reduce(operation_of(op), element_of(fold), in, offsets, out);
        },
        nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("offsets"), nb::arg("out"), unlocked());
    m.def(
        "scan",
        [](int op, int fold, const array& in, std::uint64_t length, const std::optional<array>& heads,
           const array& out) { wp::scan(operation_of(op), element_of(fold), in, length, pointer_to(heads), out); },
        nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("heads").none(), nb::arg("out"),
        unlocked());
    m.def(
        "exact_sum", [](const array& in, const array& out) { wp::exact_sum(in, out); }, nb::arg("a"), nb::arg("out"),
        unlocked());
    m.def(
        "exact_dot", [](const array& a, const array& b, const array& out) { wp::exact_dot(a, b, out); }, nb::arg("a"),
        nb::arg("b"), nb::arg("out"), unlocked());
    m.def(
        "exact_moment",
        [](int which, const array& in, const std::optional<array>& imag, std::uint64_t less, const array& out) {
            wp::exact_moment(static_cast<wp::moment>(which), in, pointer_to(imag), less, out);
        },
        nb::arg("which"), nb::arg("a"), nb::arg("imag").none(), nb::arg("less"), nb::arg("out"), unlocked());
    m.def(
        "histogram",
        [](const array& samples, const array& edges, const std::optional<array>& weights, const array& sums) {
            wp::histogram(samples, edges, pointer_to(weights), sums);
        },
        nb::arg("samples"), nb::arg("edges"), nb::arg("weights").none(), nb::arg("sums"), unlocked());
    m.def(
        "count_values",
        [](const array& samples, const std::optional<array>& weights, const array& sums) {
            wp::count_values(samples, pointer_to(weights), sums);
        },
        nb::arg("samples"), nb::arg("weights").none(), nb::arg("sums"), unlocked());
    m.def(
        "correlate",
        [](const array& in, const array& mask, int which, const array& out) { wp::correlate(in, mask, which, out); },
        nb::arg("a"), nb::arg("mask"), nb::arg("which"), nb::arg("out"), unlocked());
    m.def(
        "correlate_products",
        [](int fold, const array& in, const array& mask, std::int64_t lead, const array& out) {
            wp::correlate_products(element_of(fold), in, mask, lead, out);
        },
        nb::arg("fold"), nb::arg("a"), nb::arg("mask"), nb::arg("lead"), nb::arg("out"), unlocked());
    m.def(
        "sum_magnitudes", [](const array& in, const array& out) { return wp::sum_magnitudes(in, out); }, nb::arg("a"),
        nb::arg("out"), unlocked());
    m.def(
        "ranks",
        [](const array& samples, const array& edges, bool less, const array& out) {
            wp::ranks(samples, edges, less, out);
        },
        nb::arg("samples"), nb::arg("edges"), nb::arg("less"), nb::arg("out"), unlocked());
    m.def(
        "append_bins",
        [](const array& samples, const array& edges, const array& out) { wp::append_bins(samples, edges, out); },
        nb::arg("samples"), nb::arg("edges"), nb::arg("out"), unlocked());
    m.def(
        "select",
        [](const array& in, const array& flags, const array& out, const std::optional<array>& rejected) {
            wp::select(in, flags, out, pointer_to(rejected));
        },
        nb::arg("a"), nb::arg("flags"), nb::arg("out"), nb::arg("rejected").none(), unlocked());
    m.def(
        "run_length_encode",
        [](const array& in, const array& values, const array& lengths) {
            return wp::run_length_encode(in, values, lengths);
        },
        nb::arg("a"), nb::arg("values"), nb::arg("lengths"), unlocked());
    m.def(
        "unique", [](const array& in, const array& values) { return wp::unique(in, values); }, nb::arg("a"),
        nb::arg("values"), unlocked());
    m.def(
        "correlate_images",
        [](const array& in, const array& mask, int which, int outside, std::int64_t lead_y, std::int64_t lead_x,
           const array& out) {
            wp::correlate_images(in, mask, which, outside, {lead_y, lead_x}, out);
        },
        nb::arg("a"), nb::arg("mask"), nb::arg("which"), nb::arg("outside"), nb::arg("lead_y"), nb::arg("lead_x"),
        nb::arg("out"), unlocked());
    m.def(
        "correlate_image_products",
        [](int fold, const array& in, const array& mask, std::int64_t lead_y, std::int64_t lead_x, const array& out) {
            wp::correlate_image_products(element_of(fold), in, mask, {lead_y, lead_x}, out);
        },
        nb::arg("fold"), nb::arg("a"), nb::arg("mask"), nb::arg("lead_y"), nb::arg("lead_x"), nb::arg("out"),
        unlocked());
    m.def(
        "correlate_channels",
        [](const array& in, const array& masks, const array& out) { wp::correlate_channels(in, masks, out); },
        nb::arg("a"), nb::arg("masks"), nb::arg("out"), unlocked());
    m.def(
        "run_parts",
        [](std::uintptr_t function, std::uint64_t size, std::uint64_t part,
           const nb::typed<nb::sequence, nb::object>& arrays, const array& out) {
            std::vector<const char*> data;
            for (const nb::handle x : arrays) {
                data.push_back(wp::array_of(x).value().data);
            }
            const wp::lock_released unlocked;
            wp::run_parts(reinterpret_cast<wp::compiled_operation*>(function), size, part, data, out.data);
        },
        nb::arg("function"), nb::arg("size"), nb::arg("part"), nb::arg("arrays"), nb::arg("out"));
    m.def(
        "correlate_separable",
        [](const array& in, const array& across, const array& down, int which, int outside, const array& out) {
            wp::correlate_separable(in, across, down, which, outside, out);
        },
        nb::arg("a"), nb::arg("across"), nb::arg("down"), nb::arg("which"), nb::arg("outside"), nb::arg("out"),
        unlocked());
}
