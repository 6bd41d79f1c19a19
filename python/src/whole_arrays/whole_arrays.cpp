// SPDX-License-Identifier: MIT
#include "python/src/whole_arrays/whole_arrays.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/compiled_operation.hpp"
#include "python/src/elements.hpp"
#include "python/src/lock_released.hpp"
#include "python/src/memory_order.hpp"
#include "python/src/operations.hpp"
#include "python/src/whole_arrays/calls_with_arguments.hpp"
#include "python/src/whole_arrays/equal_edges.hpp"
#include "python/src/whole_arrays/filter_shape.hpp"
#include "python/src/whole_arrays/host_engine.hpp"
#include "python/src/whole_arrays/whole_functions.hpp"
#include "warpfold/bins.hpp"

namespace warpfold::python {

namespace nb = nanobind;

namespace {

using objects = nb::typed<nb::tuple, nb::object, nb::ellipsis>;

// The results of every method are those of the function of Python, which computes and refuses what gives None here.
class whole_arrays {
public:
    explicit whole_arrays(host_engine engine) : engine_(std::move(engine)), functions_(engine_) {}

    [[nodiscard]] nb::object call(int which, nb::handle x, nb::handle axis) const {
        return functions_.call(static_cast<whole>(which), x, axis);
    }

    // With arguments of these names; `initial` is one if it is given.
    [[nodiscard]] nb::object call_with(int which, nb::handle x, nb::handle axis, nb::handle dtype, nb::handle out,
                                       nb::handle where, const objects& initial) const {
        return calls_with_arguments(engine_).call(static_cast<whole>(which), x, axis, dtype, out,
                                                  initial.size() == 0 ? nb::handle() : nb::handle(initial[0]), where);
    }

    // Without weights.
    [[nodiscard]] nb::object bincount(nb::handle x) const {
        const std::optional<array> in = engine_.read(x);
        if (!in || in->shape.size() != 1 || in->size() == 0 || in->type == element::uint64 ||
            in->type >= element::float16) {
            return nb::none();
        }
        std::int64_t smallest = 0, largest = 0;
        unlocked([&] { min_max(fold_type(in->type), *in, in->size(), place_of(smallest), place_of(largest)); });
        if (smallest < 0 || largest >= static_cast<std::int64_t>(most_bins)) {
            return nb::none();
        }
        return filled({largest + 1}, element::int64, [&](const array& out) { count_values(*in, nullptr, out); });
    }

    // Of arrays of one shape and type.
    [[nodiscard]] nb::object exact_dot(nb::handle a, nb::handle b) const {
        const std::optional<array> left = engine_.read(a), right = engine_.read(b);
        if (!left || !right || left->type < element::float32 || right->type != left->type || left->shape.empty() ||
            left->shape != right->shape) {
            return nb::none();
        }
        return filled({left->shape.begin(), left->shape.end() - 1}, left->type,
                      [&](const array& out) { python::exact_dot(*left, *right, out); });
    }

    // Of arrays of one axis.
    [[nodiscard]] nb::object scan(nb::handle x, int which, bool is_reverse, bool is_exclusive) const {
        const std::optional<array> in = engine_.read(x);
        if (!in || in->shape.size() != 1 || in->size() == 0) {
            return nb::none();
        }
        const operation op = operation_of(which);
        const bool is_sum = op == operation::sum || op == operation::product;
        const element type = is_sum ? sum_type(in->type) : in->type;
        if (is_exclusive && fold_type(type) != type) {
            return nb::none();
        }
        const auto room = engine_.make(is_exclusive ? in->shape : numbers{0}, type);
        return filled(in->shape, type, [&](const array& out) {
            array line = is_reverse ? reversed(*in) : *in;
            if (is_exclusive) {
                shift(op, line, room.second);
                line = room.second;
            }
            python::scan(op, fold_type(type), line, line.size(), nullptr, is_reverse ? reversed(out) : out);
        });
    }

    // `offsets`: of int64, without gaps.
    [[nodiscard]] nb::object segments(nb::handle x, int which, nb::handle offsets) const {
        const std::optional<array> in = engine_.read(x), bounds = engine_.read(offsets);
        if (!in || !bounds || in->shape.size() != 1 || bounds->shape.size() != 1 || bounds->size() == 0) {
            return nb::none();
        }
        const auto* const at = bounds->contiguous<const std::int64_t>(element::int64);
        if (at == nullptr || at[0] < 0 || at[bounds->size() - 1] > in->shape[0]) {
            return nb::none();
        }
        const operation op = operation_of(which);
        const bool is_sum = op == operation::sum || op == operation::product;
        const element type = is_sum ? sum_type(in->type) : in->type;
        return filled({bounds->shape[0] - 1}, type,
                      [&](const array& out) { segment_reduce(op, fold_type(type), *in, *bounds, out); });
    }

    // The first element of each run of equal neighbours and, `with_lengths`, the lengths of runs. An array without gaps.
    [[nodiscard]] nb::object runs(nb::handle x, bool with_lengths) const {
        const std::optional<array> in = engine_.read(x);
        if (!in || in->size() == 0 || !is_plain(*in)) {
            return nb::none();
        }
        std::uint64_t number = 0;
        unlocked([&] { number = count_runs(*in); });
        const auto size = static_cast<std::int64_t>(number);
        const auto values = engine_.make({size}, in->type),
                   lengths = engine_.make({with_lengths ? size : 0}, element::int64);
        unlocked(
            [&] { with_lengths ? run_length_encode(*in, values.second, lengths.second) : unique(*in, values.second); });
        const nb::object firsts = engine_.finished(values.first, false);
        return with_lengths ? nb::make_tuple(firsts, engine_.finished(lengths.first, false)) : firsts;
    }

    // For each run of equal keys: the key, and the reduction of its values. Arrays of one axis, keys without gaps.
    [[nodiscard]] nb::object reduce_by_key(nb::handle x, int which, nb::handle values) const {
        const std::optional<array> keys = engine_.read(x), of = engine_.read(values);
        if (!keys || !of || keys->shape.size() != 1 || keys->shape != of->shape || keys->size() == 0 ||
            !is_plain(*keys)) {
            return nb::none();
        }
        std::uint64_t number = 0;
        unlocked([&] { number = count_runs(*keys); });
        const auto runs = static_cast<std::int64_t>(number);
        const auto firsts = engine_.make({runs}, keys->type);
        std::vector<std::int64_t> offsets(number + 1);
        unlocked([&] {
            const array lengths(reinterpret_cast<char*>(&offsets[1]), element::int64, {runs}, {sizeof(std::int64_t)});
            run_length_encode(*keys, firsts.second, lengths);
            std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
        });
        const array bounds(reinterpret_cast<char*>(offsets.data()), element::int64, {runs + 1}, {sizeof(std::int64_t)});
        const operation op = operation_of(which);
        const bool is_sum = op == operation::sum || op == operation::product;
        const element type = is_sum ? sum_type(of->type) : of->type;
        const nb::object results =
            filled({runs}, type, [&](const array& out) { segment_reduce(op, fold_type(type), *of, bounds, out); });
        return nb::make_tuple(engine_.finished(firsts.first, false), results);
    }

    // Elements whose flag is true and, `with_others`, the others. Arrays without gaps, of one shape.
    [[nodiscard]] nb::object select(nb::handle x, nb::handle where, bool with_others) const {
        const std::optional<array> in = engine_.read(x), flags = engine_.read(where);
        if (!in || !flags || flags->type != element::boolean || in->shape != flags->shape || in->size() == 0 ||
            !is_plain(*in) || !is_plain(*flags)) {
            return nb::none();
        }
        std::int64_t number = 0;
        unlocked([&] { count_nonzero(*flags, flags->size(), nullptr, place_of(number)); });
        const auto chosen = engine_.make({number}, in->type);
        if (!with_others) {
            unlocked([&] { python::select(*in, *flags, chosen.second, nullptr); });
            return engine_.finished(chosen.first, false);
        }
        const auto others = engine_.make({static_cast<std::int64_t>(in->size()) - number}, in->type);
        unlocked([&] { python::select(*in, *flags, chosen.second, &others.second); });
        return nb::make_tuple(engine_.finished(chosen.first, false), engine_.finished(others.first, false));
    }

    // As the methods of the GPU's module.
    [[nodiscard]] nb::object ranks(nb::handle x, const array& edges, bool less) const {
        const std::optional<array> in = engine_.read(x);
        if (!in) {
            return nb::none();
        }
        return filled(in->shape, element::int64, [&](const array& out) { python::ranks(*in, edges, less, out); });
    }
    [[nodiscard]] nb::object histogram(nb::handle x, const array& compared, const array& edges) const {
        const std::optional<array> in = engine_.read(x);
        return in ? counted(*in, compared, edges) : nb::none();
    }
    [[nodiscard]] nb::object histogram_of_all(nb::handle x, std::uint64_t bins) const {
        const std::optional<array> in = engine_.read(x);
        if (!in || in->size() == 0 || in->type == element::boolean || in->type == element::float16) {
            return nb::none();
        }
        return in->type == element::float32 ? histogram_with<float>(*in, bins) : histogram_with<double>(*in, bins);
    }
    // Counts of points in a grid of `bins` along each axis, as float64, and the edges of each coordinate. Columns of one type and size.
    [[nodiscard]] nb::object grid(nb::handle x, std::uint64_t bins, const objects& others) const {
        std::vector<array> columns;
        for (std::size_t k = 0; k <= others.size(); ++k) {
            std::optional<array> column = engine_.read(k == 0 ? x : nb::handle(others[k - 1]));
            if (!column || column->shape.size() != 1 || column->size() == 0 || column->type == element::boolean ||
                column->type == element::float16 ||
                (k != 0 && (column->type != columns[0].type || column->size() != columns[0].size()))) {
                return nb::none();
            }
            columns.push_back(std::move(*column));
        }
        return columns[0].type == element::float32 ? grid_with<float>(columns, bins) : grid_with<double>(columns, bins);
    }
    // As the methods of the GPU's module.
    [[nodiscard]] nb::object filter(nb::handle x, nb::handle by, int axes, int which, bool correlates) const {
        const std::optional<array> in = engine_.read(x), given = engine_.read(by);
        if (!in || !given || in->type < element::float16 || in->size() == 0 || !is_plain(*in)) {
            return nb::none();
        }
        const auto shape = filter_shape::of(*in, *given, axes, which, correlates);
        if (!shape || !has_finite_elements(*given)) {
            return nb::none();
        }
        // The mask without gaps; that of a convolution is turned.
        const std::uint64_t size = given->size(), bytes = static_cast<std::uint64_t>(size_of(in->type));
        std::vector<std::uint64_t> room(size); // no type has more bytes
        const array mask(reinterpret_cast<char*>(room.data()), in->type, given->shape,
                         row_major(given->shape, size_of(in->type)));
        for (std::uint64_t k = 0; k < size; ++k) {
            std::memcpy(mask.data + (correlates ? k : size - 1 - k) * bytes, given->data + given->at.offset(k), bytes);
        }
        return filled(shape->results, in->type, [&](const array& out) {
            if (axes == 1) {
                correlate(*in, mask, which, out);
            } else {
                correlate_images(*in, mask, which, 0, shape->lead, out);
            }
        });
    }
    [[nodiscard]] nb::object separable(nb::handle x, const array& across, const array& down, int outside) const {
        const std::optional<array> in = engine_.read(x);
        if (!in || in->shape.size() < 2 || in->size() == 0 || across.type != in->type || !is_plain(*in)) {
            return nb::none();
        }
        return filled(in->shape, in->type, [&](const array& out) {
            correlate_separable(*in, across, down, static_cast<int>(outputs::same), outside, out);
        });
    }

    // A compiled operation of arrays without gaps, of one shape: the address of the function, and `part`, its elements a part.
    [[nodiscard]] nb::object elementwise(std::uintptr_t function, std::uint64_t part, int type,
                                         const objects& arrays) const {
        const std::optional<operands> in = operands_of(arrays);
        if (!in) {
            return nb::none();
        }
        return filled(in->shape, element_of(type), [&](const array& out) {
            run_parts(reinterpret_cast<compiled_operation*>(function), in->size, part, in->data, out.data);
        });
    }
    // A reduction of it that has one result a part, of `part_type`.
    [[nodiscard]] nb::object reduction(std::uintptr_t function, std::uint64_t part, int type, int op, int part_type,
                                       int fold, const objects& arrays) const {
        const std::optional<operands> in = operands_of(arrays);
        if (!in) {
            return nb::none();
        }
        const std::uint64_t parts = (in->size - 1) / part + 1;
        const std::int64_t bytes = size_of(element_of(part_type));
        return filled({}, element_of(type), [&](const array& out) {
            std::vector<std::uint64_t> room(parts); // no type has more bytes
            const array each(reinterpret_cast<char*>(room.data()), element_of(part_type),
                             {static_cast<std::int64_t>(parts)}, {bytes});
            run_parts(reinterpret_cast<compiled_operation*>(function), in->size, part, in->data, each.data);
            reduce(operation_of(op), element_of(fold), each, parts, nullptr, out);
        });
    }

private:
    struct operands {
        numbers shape;
        std::uint64_t size;
        std::vector<const char*> data;
    };

    [[nodiscard]] std::optional<operands> operands_of(const objects& arrays) const {
        std::optional<operands> all;
        for (const nb::handle x : arrays) {
            const std::optional<array> one = engine_.read(x);
            if (!one || one->size() == 0 || !is_plain(*one) || (all && all->shape != one->shape)) {
                return std::nullopt;
            }
            if (!all) {
                all = {one->shape, one->size(), {}};
            }
            all->data.push_back(one->data);
        }
        return all;
    }
    template <class Work>
    static void unlocked(const Work& work) {
        const lock_released unlocked;
        work();
    }
    // A new array with the elements that work(out) computes.
    template <class Work>
    [[nodiscard]] nb::object filled(const numbers& shape, element type, const Work& work) const {
        const auto made = engine_.make(shape, type);
        unlocked([&] { work(made.second); });
        return engine_.finished(made.first, shape.empty());
    }
    // A new array of elements without gaps.
    [[nodiscard]] nb::object copied(const array& of) const {
        const auto made = engine_.make(of.shape, of.type);
        std::memcpy(made.second.data, of.data, of.size() * static_cast<std::uint64_t>(size_of(of.type)));
        return engine_.finished(made.first, false);
    }
    [[nodiscard]] nb::object counted(const array& in, const array& compared, const array& edges) const {
        return nb::make_tuple(filled({edges.shape[0] - 1}, element::int64,
                                     [&](const array& out) { python::histogram(in, compared, nullptr, out); }),
                              copied(edges));
    }
    // Edges between the extremes.
    template <class E>
    static equal_edges<E> edges_of(const array& in, std::uint64_t bins) {
        std::uint64_t low = 0, high = 0;
        const array least(reinterpret_cast<char*>(&low), in.type, {}, {});
        const array most(reinterpret_cast<char*>(&high), in.type, {}, {});
        unlocked([&] { min_max(fold_type(in.type), in, in.size(), least, most); });
        return {load_as<E>(in.type, least.data), load_as<E>(in.type, most.data), bins};
    }
    template <class E>
    [[nodiscard]] nb::object grid_with(const std::vector<array>& columns, std::uint64_t bins) const {
        std::vector<equal_edges<E>> edges;
        std::uint64_t size = 1;
        for (const array& column : columns) {
            edges.push_back(edges_of<E>(column, bins));
            size *= bins;
            if (!edges.back().are_usual() || size > most_bins) {
                return nb::none();
            }
        }
        nb::list results;
        const auto places = engine_.make(columns[0].shape, element::int64);
        const auto counts = engine_.make({static_cast<std::int64_t>(size)}, element::int64);
        const numbers shape(columns.size(), static_cast<std::int64_t>(bins));
        results.append(filled(shape, element::float64, [&](const array& out) {
            std::memset(places.second.data, 0, places.second.size() * sizeof(std::int64_t));
            for (std::size_t k = 0; k < columns.size(); ++k) {
                append_bins(columns[k], edges[k].compared(), places.second);
            }
            count_values(places.second, nullptr, counts.second);
            std::copy_n(reinterpret_cast<const std::int64_t*>(counts.second.data), size,
                        reinterpret_cast<double*>(out.data));
        }));
        for (const equal_edges<E>& each : edges) {
            results.append(copied(each.edges()));
        }
        return nb::tuple(results);
    }
    // Edges are of E.
    template <class E>
    [[nodiscard]] nb::object histogram_with(const array& in, std::uint64_t bins) const {
        const equal_edges<E> edges = edges_of<E>(in, bins);
        return edges.are_usual() ? counted(in, edges.compared(), edges.edges()) : nb::none();
    }
    // A line from its end.
    static array reversed(const array& line) {
        return {line.data + (line.shape[0] - 1) * line.strides[0], line.type, line.shape, {-line.strides[0]}};
    }
    // `to`, of the type that is folded in, gets the operation's result of no elements, and all elements but the last one.
    static void shift(operation op, const array& line, const array& to) {
        with_fold_type(to.type, [&](auto zero) {
            using A = decltype(zero);
            auto* const first = reinterpret_cast<A*>(to.data);
            *first = neutral<A>(op, line.type);
            python::elements<A>(line).read(0, line.size() - 1, first + 1);
        });
    }

    host_engine engine_;
    whole_functions<host_engine> functions_;
};

} // namespace

void define_whole_arrays(nb::module_& m) {
    nb::class_<whole_arrays>(m, "WholeArrays")
        .def(
            "__init__",
            [](whole_arrays* made, nb::object ndarray, nb::object empty, objects dtypes, nb::object tensor,
               nb::object from_numpy) {
                new (made) whole_arrays(host_engine(std::move(ndarray), std::move(empty), std::move(dtypes),
                                                    std::move(tensor), std::move(from_numpy)));
            },
            nb::arg("ndarray"), nb::arg("empty"), nb::arg("dtypes"), nb::arg("tensor").none(),
            nb::arg("from_numpy").none())
        .def("call", &whole_arrays::call, nb::arg("which"), nb::arg("array"), nb::arg("axis").none())
        .def("call_with", &whole_arrays::call_with, nb::arg("which"), nb::arg("array"), nb::arg("axis").none(),
             nb::arg("dtype").none(), nb::arg("out").none(), nb::arg("where").none(), nb::arg("initial"))
        .def("bincount", &whole_arrays::bincount, nb::arg("x"))
        .def("exact_dot", &whole_arrays::exact_dot, nb::arg("a"), nb::arg("b").none())
        .def("scan", &whole_arrays::scan, nb::arg("x"), nb::arg("op"), nb::arg("reverse"), nb::arg("exclusive"))
        .def("segments", &whole_arrays::segments, nb::arg("x"), nb::arg("op"), nb::arg("offsets").none())
        .def("select", &whole_arrays::select, nb::arg("x"), nb::arg("where").none(), nb::arg("with_others"))
        .def("runs", &whole_arrays::runs, nb::arg("x"), nb::arg("with_lengths"))
        .def("reduce_by_key", &whole_arrays::reduce_by_key, nb::arg("x"), nb::arg("op"), nb::arg("values").none())
        .def("filter", &whole_arrays::filter, nb::arg("x"), nb::arg("by").none(), nb::arg("axes"), nb::arg("which"),
             nb::arg("correlates"))
        .def("ranks", &whole_arrays::ranks, nb::arg("x"), nb::arg("edges"), nb::arg("less"))
        .def("histogram", &whole_arrays::histogram, nb::arg("x"), nb::arg("compared"), nb::arg("edges"))
        .def("histogram_of_all", &whole_arrays::histogram_of_all, nb::arg("x"), nb::arg("bins"))
        .def("grid", &whole_arrays::grid, nb::arg("x"), nb::arg("bins"), nb::arg("others"))
        .def("separable", &whole_arrays::separable, nb::arg("x"), nb::arg("across"), nb::arg("down"),
             nb::arg("outside"))
        .def("elementwise", &whole_arrays::elementwise, nb::arg("function"), nb::arg("part"), nb::arg("type"),
             nb::arg("arrays"))
        .def("reduction", &whole_arrays::reduction, nb::arg("function"), nb::arg("part"), nb::arg("type"),
             nb::arg("op"), nb::arg("part_type"), nb::arg("fold"), nb::arg("arrays"));
    m.def("whole_functions", [] { return std::vector<std::string>(whole_names.begin(), whole_names.end()); });
}

} // namespace warpfold::python
