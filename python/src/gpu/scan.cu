// SPDX-License-Identifier: MIT
#include "warpfold/scan.cuh"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"
#include "python/src/gpu/stream_workspace.hpp"
#include "python/src/operations.hpp"
#include "warpfold/along_axis.cuh"

namespace warpfold::python::on_gpu {

namespace {

// A view as A of an array of this type, or of the integers of 64 bits with the other sign.
template <class A>
auto view_as(const array& of) {
    return signed_of(of.type) == signed_of(element_of<std::remove_const_t<A>>()) ? of.view<A>(of.type) : std::nullopt;
}

template <class A, class Op>
void scan_rows(const gpu& on, const array& in, std::uint64_t length, const array& out, const Op& op) {
    const auto from = view_as<const A>(in);
    const auto to = view_as<A>(out);
    if (from && to) {
        const workspace_of_stream memory(on, scan_along_workspace<A, A, Op>(in.size()));
        inclusive_scan_along(memory.target(), *from, -1, *to, op);
        return;
    }
    const std::vector<std::uint64_t> extents{out.size() / length, length};
    const contiguous_input<A> values(on, in);
    const contiguous_output<A> results(on, out);
    inclusive_scan_along(on, strided_view<const A>(values.data(), extents), -1,
                         strided_view<A>(results.data(), extents), op);
    results.finish();
}

// Chosen at run time, so that scans of parts are compiled once per type.
struct any_operation {
    template <class A>
    WARPFOLD_HD A operator()(const A& a, const A& b) const {
        switch (op) {
        case operation::sum: return sum{}(a, b);
        case operation::product: return product{}(a, b);
        case operation::minimum: return minimum{}(a, b);
        default: return maximum{}(a, b);
        }
    }

    operation op;
};

// Where rows, and the parts of each, begin.
struct part_heads {
    WARPFOLD_HD bool operator[](std::uint64_t k) const {
        const std::uint64_t place = is_one_row ? k : k % length;
        return place == 0 || parts[place] != 0;
    }

    const std::uint8_t* parts;
    std::uint64_t length;
    bool is_one_row;
};

void scan_parts(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array& parts,
                const array& out) {
    const part_heads begins{parts.required<const std::uint8_t>(element::boolean), length, length == out.size()};
    with_fold_type(fold, [&](auto zero) {
        using A = decltype(zero);
        const contiguous_input<A> values(on, in);
        const contiguous_output<A> results(on, out);
        inclusive_scan(on, values.data(), out.size(), results.data(), any_operation{op}, heads(begins));
        results.finish();
    });
}

} // namespace

void scan(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array* heads,
          const array& out) {
    if (out.size() == 0) {
        return;
    }
    if (heads != nullptr) {
        return scan_parts(on, op, fold, in, length, *heads, out);
    }
    const bool is_sign_needed = op == operation::minimum || op == operation::maximum;
    with_fold_type(is_sign_needed ? fold : signed_of(fold), [&](auto zero) {
        using A = decltype(zero);
        if (op == operation::minimum) {
            scan_rows<A>(on, in, length, out, minimum{});
        } else if (op == operation::maximum) {
            scan_rows<A>(on, in, length, out, maximum{});
        } else if constexpr (!std::is_same_v<A, std::uint64_t>) {
            if (op == operation::sum) {
                scan_rows<A>(on, in, length, out, sum{});
            } else {
                scan_rows<A>(on, in, length, out, product{});
            }
        }
    });
}

} // namespace warpfold::python::on_gpu
