// SPDX-License-Identifier: MIT
#include "python/src/gpu/module/whole_arrays.hpp"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/module/package.hpp"
#include "python/src/gpu/send.hpp"
#include "python/src/whole_functions.hpp"

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
        function == whole::norm ? norm(on, 2, in, in.size(), out) : exact_sum(on, in, out);
        return true;
    }
    [[nodiscard]] bool nonzero(bool is_all, const array& in, const array& out) const {
        return nonzero_of_all(on, is_all, in, out);
    }

    const gpu& on;
};

// A package's arrays in device memory, in the sense of whole_functions.
class package_engine {
public:
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
    static constexpr bool computes(whole /*unused*/) { return true; }
    template <class Work>
    void run(const device_array& in, const Work& work) const {
        on_gpu::run(in.at, [&](const gpu& on) { work(whole_calls{on}); });
    }

private:
    nb::object object_;
    const package* package_;
};

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
        auto counts = engine_.make({static_cast<std::int64_t>(compared.size()) - 1}, element::int64, *in);
        auto bounds = engine_.make(edges.shape, edges.type, *in);
        run(in->at, [&](const gpu& on) {
            on_gpu::histogram(on, in->of, compared, nullptr, counts.second.of);
            send(on, edges.data, edges.size() * static_cast<std::size_t>(size_of(edges.type)), bounds.second.of.data);
        });
        return nb::make_tuple(counts.first, bounds.first);
    }

private:
    [[nodiscard]] std::optional<device_array> read(nb::handle x) const {
        return engine_.of().has(x) ? engine_.read(x) : std::nullopt;
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
        .def("histogram", &whole_arrays::histogram, nb::arg("array"), nb::arg("compared"), nb::arg("edges"));
}

} // namespace warpfold::python::on_gpu
