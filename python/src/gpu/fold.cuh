// SPDX-License-Identifier: MIT
// Reductions of arrays whose reduced axes come last.
#pragma once

#include <cstdint>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"
#include "python/src/gpu/stream_workspace.hpp"
#include "python/src/last_axes.hpp"
#include "warpfold/along_axis.cuh"
#include "warpfold/reduce.cuh"

namespace warpfold::python::on_gpu {

// A part of reduce() in a file of its own: it takes long to compile.
void sum_or_product(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array* mask,
                    const array& out);

// One result of all elements of type T in one launch, if both arrays have no gaps: `*out = result(op over map(x))`.
template <class A, class T, class R, class Map, class Op, class Result>
bool fold_all(const gpu& on, const array& in, element type, const array& out, const Map& map, const Op& op,
              const Result& result, const char* call) {
    const auto* const all = in.contiguous<const T>(in.type);
    auto* const one = out.contiguous<R>(type);
    if (out.size() != 1 || all == nullptr || one == nullptr) {
        return false;
    }
    const workspace_of_stream memory(on, reduce_workspace(sizeof(A)));
    detail::reduce_engine<gpu>::into<A>(memory.target(), all, in.size(), map, op, result, one, call);
    return true;
}

// Folds elements of type T in place, if both arrays are views of their types. `result` is a type of R's size.
template <class T, class R, class Op>
bool fold_in_place(const gpu& on, const array& in, element result, const array& out, const Op& op) {
    const auto* const all = in.contiguous<const T>(in.type);
    auto* const one = out.contiguous<R>(result);
    if (out.size() == 1 && all != nullptr && one != nullptr) {
        const workspace_of_stream memory(on, reduce_workspace(sizeof(R)));
        warpfold::reduce(memory.target(), all, in.size(), one, op);
        return true;
    }
    const auto from = in.view<const T>(in.type);
    const auto to = out.view<R>(result);
    if (from && to) {
        const workspace_of_stream memory(on, along_axis_workspace(sizeof(R)));
        reduce_along(memory.target(), *from, last_axes(in, out), *to, op);
    }
    return from && to;
}

// Bytes of bool, of any values, as 0 and 1.
inline void plain_bools(const gpu& on, const array& of) { convert<std::int64_t>(on, of, nullptr, 0, of); }

// Folds in A what the mask chooses, after a conversion. `none` is the result of no elements.
template <class A, class Op>
void fold_converted(const gpu& on, const array& in, std::uint64_t length, const array* mask, A none, const array& out,
                    const Op& op) {
    const temporary values(on, element_of<A>(),
                           {static_cast<std::int64_t>(out.size()), static_cast<std::int64_t>(length)});
    convert<A>(on, in, mask, none, values.get());
    const contiguous_output<A> to(on, out);
    reduce_along(on, strided_view<const A>(values.as<const A>(), {out.size(), length}), {1}, to.data(), op, none);
    to.finish();
}

} // namespace warpfold::python::on_gpu
