// SPDX-License-Identifier: MIT
#include "python/src/gpu/module/whole_arrays.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "python/src/elements.hpp"
#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/module/package.hpp"
#include "python/src/gpu/module/page_locked.hpp"
#include "python/src/whole_arrays/equal_edges.hpp"
#include "python/src/whole_arrays/filter_shape.hpp"
#include "python/src/whole_arrays/whole_functions.hpp"
#include "warpfold/convolve.hpp"

namespace warpfold::python::on_gpu {

namespace {

// The calls that functions of whole arrays consist of.
struct whole_calls {
    void reduce(operation op, element fold, const array& in, std::uint64_t length, const array& out) const {
        on_gpu::reduce(on, op, fold, in, length, nullptr, out);
    }
    void scan(operation op, element fold, const array& in, const array& out) const {
        on_gpu::scan(on, op, fold, in, in.size(), nullptr, out);
    }
    void arg_extreme(bool smallest, element fold, const array& in, std::uint64_t length, const array& out) const {
        on_gpu::arg_extreme(on, smallest, fold, in, length, out);
    }
    void min_max(element fold, const array& in, const array& low, const array& high) const {
        on_gpu::min_max(on, fold, in, in.size(), low, high);
    }
    [[nodiscard]] bool number(whole function, const array& in, const array& out) const {
        if (function == whole::mean) {
            return mean_of_all(on, in, out);
        }
        if (function == whole::variance) {
            return variance_of_all(on, in, out);
        }
        if (function == whole::norm) {
            norm(on, 2, in, in.size(), out);
        } else if (function == whole::exact_sum) {
            exact_sum(on, in, out);
        } else {
            exact_moment(on, moment_of(function), in, nullptr, 0, out);
        }
        return true;
    }
    [[nodiscard]] bool nonzero(bool is_all, const array& in, std::uint64_t /*length*/, const array& out) const {
        return nonzero_of_all(on, is_all, in, out);
    }

    const gpu& on;
};

// A package's arrays in device memory, in the sense of whole_functions.
class package_engine {
public:
    static constexpr bool has_means = false;

    explicit package_engine(nb::object of) : object_(std::move(of)), package_(nb::cast<const package*>(object_)) {}

    [[nodiscard]] const package& of() const { return *package_; }
    [[nodiscard]] std::optional<device_array> read_all(nb::handle x) const { return package_->read_all(x); }
    [[nodiscard]] std::optional<device_array> read(nb::handle x) const { return package_->read(x); }
    [[nodiscard]] bool has_one_axis(nb::handle x, const device_array& /*unused*/) const {
        return package_->has_one_axis(x);
    }
    [[nodiscard]] std::pair<nb::object, device_array> make(numbers shape, element type, const device_array& in) const {
        return package_->make(std::move(shape), type, in.at);
    }
    static const array& elements(const device_array& one) { return one.of; }
    static array& elements(device_array& one) { return one.of; }
    [[nodiscard]] static nb::object finished(nb::object made, bool /*unused*/) { return made; }
    template <class Work>
    void run(const device_array& in, const Work& work) const {
        on_gpu::run(in.at, [&](const gpu& on) { work(whole_calls{on}); });
    }

private:
    nb::object object_;
    const package* package_;
};

// The same elements in the opposite order along all axes.
array turned(const array& of) {
    numbers strides = of.strides;
    std::int64_t last = 0; // of the first element, in bytes
    for (std::size_t d = 0; d < strides.size(); ++d) {
        last += (of.shape[d] - 1) * strides[d];
        strides[d] = -strides[d];
    }
    return {of.data + last, of.type, of.shape, std::move(strides)};
}

class whole_arrays {
public:
    explicit whole_arrays(nb::object package) : engine_(std::move(package)), functions_(engine_) {}

    // None for other classes and for arrays in host memory, too; so do the others.
    [[nodiscard]] nb::object call(int which, nb::handle x, nb::handle axis) const {
        return engine_.of().has(x) ? functions_.call(static_cast<whole>(which), x, axis) : nb::none();
    }

    [[nodiscard]] nb::object ranks(nb::handle x, const array& edges, bool less) const {
        const std::optional<device_array> in = read(x);
        if (!in) {
            return nb::none();
        }
        auto made = engine_.make(in->of.shape, element::int64, *in);
        run(in->at, [&](const gpu& on) { on_gpu::ranks(on, in->of, edges, less, made.second.of); });
        return made.first;
    }

    // Counts of samples between the edges in `compared`, and a new array of `edges`.
    [[nodiscard]] nb::object histogram(nb::handle x, const array& compared, const array& edges) const {
        const std::optional<device_array> in = read(x);
        if (!in) {
            return nb::none();
        }
        return counted(*in, compared, edges);
    }

    // Counts of all samples in bins of equal width, and the edges. Waits for the extremes. None for what is an error, too.
    [[nodiscard]] nb::object histogram_of_all(nb::handle x, std::uint64_t bins) const {
        const std::optional<device_array> in = read(x);
        if (!in || in->of.size() == 0 || in->of.type == element::boolean || in->of.type == element::float16) {
            return nb::none();
        }
        return in->of.type == element::float32 ? histogram_with<float>(*in, bins) : histogram_with<double>(*in, bins);
    }

    // At least `least` counts. Waits for the extremes, unless no element can be as large. None for what is an error, too.
    [[nodiscard]] nb::object bincount(nb::handle x, std::int64_t least) const {
        const std::optional<device_array> in = read(x);
        if (!in || in->of.size() == 0 || in->of.shape.size() != 1 || in->of.type >= element::uint64) {
            return nb::none();
        }
        const element type = in->of.type;
        const bool is_known =
            (type == element::boolean && least > 1) || (type >= element::uint8 && least >> (8 * size_of(type)) != 0);
        const auto [smallest, largest] =
            is_known ? std::pair<std::int64_t, std::int64_t>() : extremes_of<std::int64_t>(*in);
        if (smallest < 0 || largest >= most_bincounts) {
            return nb::none();
        }
        auto counts = engine_.make({std::max(least, largest + 1)}, element::int64, *in);
        run(in->at, [&](const gpu& on) { count_values(on, in->of, nullptr, counts.second.of); });
        return counts.first;
    }

    // convolve() and correlate() of lines, convolve2d() and correlate2d() of images: of one floating-point type, without gaps, where the
    // arrays do not change places. A mask of the host is finite.
    [[nodiscard]] nb::object filter(nb::handle x, nb::handle by, int axes, int which, bool correlates) const {
        const std::optional<device_array> in = read_filtered(x), there = in ? read(by) : std::nullopt;
        const std::optional<array> here = in && !there ? array_of(by) : std::nullopt;
        if (!in || (!there && !here) || (there && there->at != in->at)) {
            return nb::none();
        }
        const array& given = there ? there->of : *here;
        auto shape = filter_shape::of(in->of, given, axes, which, correlates);
        if (!shape || !is_plain(given) || (here && !has_finite_elements(given))) {
            return nb::none();
        }
        const array mask = correlates ? given : turned(given);
        auto made = engine_.make(std::move(shape->results), in->of.type, *in);
        run(in->at, [&](const gpu& on) {
            correlate_images(on, in->of, {mask, there.has_value()}, which, 0, shape->lead, made.second.of);
        });
        return made.first;
    }

    // Images and masks of four axes, without gaps, both float32 or float64.
    [[nodiscard]] nb::object channels(nb::handle x, nb::handle masks) const {
        const std::optional<device_array> in = read_filtered(x), by = in ? read_filtered(masks) : std::nullopt;
        if (!by || in->of.type == element::float16 || by->of.type != in->of.type || by->at != in->at) {
            return nb::none();
        }
        const numbers &images = in->of.shape, &given = by->of.shape;
        if (images.size() != 4 || given.size() != 4 || images[1] != given[1] || images[2] < given[2] ||
            images[3] < given[3]) {
            return nb::none();
        }
        auto made =
            engine_.make({images[0], given[0], images[2] - given[2] + 1, images[3] - given[3] + 1}, in->of.type, *in);
        run(in->at, [&](const gpu& on) { correlate_channels(on, in->of, by->of, made.second.of); });
        return made.first;
    }

    // Images without gaps, of a floating-point type, correlated with masks of the host, of their type.
    [[nodiscard]] nb::object separable(nb::handle x, const array& across, const array& down, int outside) const {
        const std::optional<device_array> in = read_filtered(x);
        if (!in || in->of.shape.size() < 2 || across.type != in->of.type) {
            return nb::none();
        }
        auto made = engine_.make(in->of.shape, in->of.type, *in);
        run(in->at, [&](const gpu& on) {
            correlate_separable(on, in->of, {across, false}, {down, false}, 0, outside, made.second.of);
        });
        return made.first;
    }

    // Products of arrays of one shape and type.
    [[nodiscard]] nb::object exact_dot(nb::handle a, nb::handle b) const {
        const std::optional<device_array> left = read(a), right = left ? read_beside(*left, b) : std::nullopt;
        if (!right || left->of.type < element::float32 || right->of.type != left->of.type || left->of.shape.empty() ||
            left->of.shape != right->of.shape) {
            return nb::none();
        }
        const numbers& shape = left->of.shape;
        return filled({shape.begin(), shape.end() - 1}, left->of.type, *left,
                      [&](const gpu& on, const array& out) { on_gpu::exact_dot(on, left->of, right->of, out); });
    }

    // Of arrays of one axis; only those that leave no element out.
    [[nodiscard]] nb::object scan(nb::handle x, int which, bool is_reverse, bool is_exclusive) const {
        const std::optional<device_array> in = read(x);
        if (!in || in->of.shape.size() != 1 || in->of.size() == 0 || is_exclusive) {
            return nb::none();
        }
        const element type = result_type(which, in->of.type);
        return filled(in->of.shape, type, *in, [&](const gpu& on, const array& out) {
            const array from = is_reverse ? turned(in->of) : in->of, to = is_reverse ? turned(out) : out;
            on_gpu::scan(on, operation_of(which), fold_type(type), from, from.size(), nullptr, to);
        });
    }

    // `offsets`: of int64, without gaps, on the same GPU.
    [[nodiscard]] nb::object segments(nb::handle x, int which, nb::handle offsets) const {
        const std::optional<device_array> in = read(x), bounds = in ? read_beside(*in, offsets) : std::nullopt;
        if (!bounds || in->of.shape.size() != 1 || bounds->of.shape.size() != 1 || bounds->of.size() == 0 ||
            bounds->of.type != element::int64 || !is_plain(bounds->of)) {
            return nb::none();
        }
        const element type = result_type(which, in->of.type);
        return filled({bounds->of.shape[0] - 1}, type, *in, [&](const gpu& on, const array& out) {
            segment_reduce(on, operation_of(which), fold_type(type), in->of, bounds->of, out);
        });
    }

    // The first element of each run of equal neighbours and, `with_lengths`, the lengths of runs. An array without gaps. Waits.
    [[nodiscard]] nb::object runs(nb::handle x, bool with_lengths) const {
        const std::optional<device_array> in = read(x);
        if (!in || in->of.size() == 0 || !is_plain(in->of)) {
            return nb::none();
        }
        const auto size = static_cast<std::int64_t>(in->of.size());
        auto values = engine_.make({size}, in->of.type, *in);
        if (!with_lengths) {
            const std::uint64_t number =
                number_of(in->at, [&](const gpu& on, std::uint64_t* to) { unique(on, in->of, values.second.of, to); });
            return shortened(std::move(values), number);
        }
        auto lengths = engine_.make({size}, element::int64, *in);
        const std::uint64_t number = number_of(in->at, [&](const gpu& on, std::uint64_t* to) {
            run_length_encode(on, in->of, values.second.of, lengths.second.of, to);
        });
        return nb::make_tuple(shortened(std::move(values), number), shortened(std::move(lengths), number));
    }

    // For each run of equal keys: the key, and the reduction of its values. Arrays of one axis, keys without gaps. Waits.
    [[nodiscard]] nb::object reduce_by_key(nb::handle x, int which, nb::handle values) const {
        const std::optional<device_array> keys = read(x), of = keys ? read_beside(*keys, values) : std::nullopt;
        if (!of || keys->of.shape.size() != 1 || keys->of.shape != of->of.shape || keys->of.size() == 0 ||
            !is_plain(keys->of)) {
            return nb::none();
        }
        const std::int64_t size = keys->of.shape[0];
        auto firsts = engine_.make({size}, keys->of.type, *keys), lengths = engine_.make({size}, element::int64, *keys);
        const std::uint64_t number = number_of(keys->at, [&](const gpu& on, std::uint64_t* to) {
            run_length_encode(on, keys->of, firsts.second.of, lengths.second.of, to);
        });
        const auto runs = static_cast<std::int64_t>(number);
        const auto offsets = engine_.make({runs + 1}, element::int64, *keys);
        const array& all = offsets.second.of;
        const array behind(all.data + sizeof(std::int64_t), all.type, {runs}, all.strides);
        const array counts(lengths.second.of.data, all.type, {runs}, all.strides);
        const element type = result_type(which, of->of.type);
        nb::object results = filled({runs}, type, *keys, [&](const gpu& on, const array& out) {
            WARPFOLD_CHECK_CUDA(cudaMemsetAsync(all.data, 0, sizeof(std::int64_t), on.stream));
            on_gpu::scan(on, operation::sum, element::int64, counts, number, nullptr, behind);
            segment_reduce(on, operation_of(which), fold_type(type), of->of, all, out);
        });
        return nb::make_tuple(shortened(std::move(firsts), number), results);
    }

    // Elements whose flag is true and, `with_others`, the others. Arrays without gaps, of one shape. Waits.
    [[nodiscard]] nb::object select(nb::handle x, nb::handle where, bool with_others) const {
        const std::optional<device_array> in = read(x), flags = in ? read_beside(*in, where) : std::nullopt;
        if (!flags || flags->of.type != element::boolean || in->of.shape != flags->of.shape || in->of.size() == 0 ||
            !is_plain(in->of) || !is_plain(flags->of)) {
            return nb::none();
        }
        const element type = in->of.type;
        const auto size = static_cast<std::int64_t>(in->of.size());
        if (!with_others && size * size_of(type) <= most_selected_at_once) { // results get room for all
            auto chosen = engine_.make({size}, type, *in);
            const std::uint64_t number = number_of(in->at, [&](const gpu& on, std::uint64_t* to) {
                select_and_count(on, in->of, flags->of, chosen.second.of, to);
            });
            return shortened(std::move(chosen), number);
        }
        const auto number = static_cast<std::int64_t>(number_of(in->at, [&](const gpu& on, std::uint64_t* to) {
            const array count(reinterpret_cast<char*>(to), element::int64, {}, {});
            count_nonzero(on, flags->of, flags->of.size(), nullptr, count);
        }));
        const auto chosen = engine_.make({number}, type, *in);
        if (!with_others) {
            run(in->at, [&](const gpu& on) { on_gpu::select(on, in->of, flags->of, chosen.second.of, nullptr); });
            return chosen.first;
        }
        const auto others = engine_.make({size - number}, type, *in);
        run(in->at, [&](const gpu& on) { on_gpu::select(on, in->of, flags->of, chosen.second.of, &others.second.of); });
        return nb::make_tuple(chosen.first, others.first);
    }

private:
    static constexpr std::int64_t most_bincounts = std::int64_t{1} << 30;
    static constexpr std::int64_t most_selected_at_once = std::int64_t{1}
                                                          << 23; // bytes; see MOST_AT_ONCE of _selection.py

    static element result_type(int which, element type) {
        const operation op = operation_of(which);
        return op == operation::sum || op == operation::product ? sum_type(type) : type;
    }
    // A new array beside `in`, whose elements work(on, out) computes.
    template <class Work>
    [[nodiscard]] nb::object filled(numbers shape, element type, const device_array& in, const Work& work) const {
        auto made = engine_.make(std::move(shape), type, in);
        run(in.at, [&](const gpu& on) { work(on, made.second.of); });
        return made.first;
    }
    // The first elements of a new array of one axis. They stay where they are if they are at least a quarter of all.
    [[nodiscard]] nb::object shortened(std::pair<nb::object, device_array> made, std::uint64_t number) const {
        const array& all = made.second.of;
        const auto count = static_cast<std::int64_t>(number);
        if (4 * count >= all.shape[0]) {
            return nb::object(made.first[nb::slice(count)]);
        }
        const array first(all.data, all.type, {count}, all.strides);
        return filled({count}, all.type, made.second, [&](const gpu& on, const array& out) { copy(on, first, out); });
    }

    [[nodiscard]] nb::object counted(const device_array& in, const array& compared, const array& edges) const {
        auto counts = engine_.make({static_cast<std::int64_t>(compared.size()) - 1}, element::int64, in);
        auto bounds = engine_.make(edges.shape, edges.type, in);
        run(in.at, [&](const gpu& on) {
            histogram_and_edges(on, in.of, compared, edges, counts.second.of, bounds.second.of);
        });
        return nb::make_tuple(counts.first, bounds.first);
    }
    // The smallest and the largest element, as A. Waits.
    template <class A>
    static std::pair<A, A> extremes_of(const device_array& in) {
        const page_locked room;
        const element type = in.of.type;
        const array low(room.data(), type, {}, {}), high(room.data() + page_locked::bytes / 2, type, {}, {});
        run(in.at, [&](const gpu& on) {
            min_max(on, fold_type(type), in.of, in.of.size(), low, high);
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
        });
        return {load_as<A>(type, low.data), load_as<A>(type, high.data)};
    }
    // Edges are of E.
    template <class E>
    [[nodiscard]] nb::object histogram_with(const device_array& in, std::uint64_t bins) const {
        const auto [least, most] = extremes_of<E>(in);
        const equal_edges<E> edges(least, most, bins);
        return edges.are_usual() ? counted(in, edges.compared(), edges.edges()) : nb::none();
    }
    [[nodiscard]] std::optional<device_array> read(nb::handle x) const {
        return engine_.of().has(x) ? engine_.read(x) : std::nullopt;
    }
    // Another array of a call, on the same device and stream.
    [[nodiscard]] std::optional<device_array> read_beside(const device_array& first, nb::handle x) const {
        std::optional<device_array> found = read(x);
        return found && found->at == first.at ? std::move(found) : std::nullopt;
    }
    [[nodiscard]] std::optional<device_array> read_filtered(nb::handle x) const {
        std::optional<device_array> found = read(x);
        const bool fits = found && found->of.type >= element::float16 && found->of.size() != 0 && is_plain(found->of);
        return fits ? std::move(found) : std::nullopt;
    }

    package_engine engine_;
    whole_functions<package_engine> functions_;
};

} // namespace

void define_whole_arrays(nb::module_& m) {
    nb::class_<whole_arrays>(m, "WholeArrays")
        .def(nb::init<nb::object>(), nb::arg("package"))
        .def("call", &whole_arrays::call, nb::arg("which"), nb::arg("array"), nb::arg("axis").none())
        .def("ranks", &whole_arrays::ranks, nb::arg("array"), nb::arg("edges"), nb::arg("less"))
        .def("filter", &whole_arrays::filter, nb::arg("array"), nb::arg("mask"), nb::arg("axes"), nb::arg("which"),
             nb::arg("correlates"))
        .def("channels", &whole_arrays::channels, nb::arg("images"), nb::arg("masks"))
        .def("separable", &whole_arrays::separable, nb::arg("array"), nb::arg("across"), nb::arg("down"),
             nb::arg("outside"))
        .def("bincount", &whole_arrays::bincount, nb::arg("array"), nb::arg("least"))
        .def("exact_dot", &whole_arrays::exact_dot, nb::arg("a"), nb::arg("b").none())
        .def("scan", &whole_arrays::scan, nb::arg("array"), nb::arg("op"), nb::arg("reverse"), nb::arg("exclusive"))
        .def("segments", &whole_arrays::segments, nb::arg("array"), nb::arg("op"), nb::arg("offsets").none())
        .def("select", &whole_arrays::select, nb::arg("array"), nb::arg("where").none(), nb::arg("with_others"))
        .def("runs", &whole_arrays::runs, nb::arg("array"), nb::arg("with_lengths"))
        .def("reduce_by_key", &whole_arrays::reduce_by_key, nb::arg("keys"), nb::arg("op"), nb::arg("values").none())
        .def("histogram_of_all", &whole_arrays::histogram_of_all, nb::arg("array"), nb::arg("bins"))
        .def("histogram", &whole_arrays::histogram, nb::arg("array"), nb::arg("compared"), nb::arg("edges"));
}

} // namespace warpfold::python::on_gpu
