// SPDX-License-Identifier: MIT
#include "warpfold/scan.cuh"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"
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
        inclusive_scan_along(on, *from, -1, *to, op);
        return;
    }
    const std::vector<std::uint64_t> extents{out.size() / length, length};
    const contiguous_input<A> values(on, in);
    const contiguous_output<A> results(on, out);
    inclusive_scan_along(on, strided_view<const A>(values.data(), extents), -1,
                         strided_view<A>(results.data(), extents), op);
    results.finish();
}

} // namespace

void scan(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array& out) {
    if (out.size() == 0) {
        return;
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
