// SPDX-License-Identifier: MIT
// Reductions of segments between offsets.
#include <cstdint>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"
#include "python/src/gpu/for_each.cuh"
#include "python/src/gpu/stream_workspace.hpp"
#include "python/src/operations.hpp"
#include "warpfold/segmented_reduce.cuh"

namespace warpfold::python::on_gpu {

namespace {

// Offsets inside an array of `size` elements.
struct clamping {
    __device__ void operator()(std::uint64_t k) const {
        const std::int64_t at = offsets[k];
        inside[k] = at < 0 ? 0 : at > size ? size : at;
    }

    const std::int64_t* offsets;
    std::int64_t size;
    std::int64_t* inside;
};

} // namespace

void segment_reduce(const gpu& on, operation op, element fold, const array& in, const array& offsets,
                    const array& out) {
    if (out.size() == 0) {
        return;
    }
    const temporary inside(on, element::int64, {static_cast<std::int64_t>(offsets.size())});
    for_each(on, offsets.size(),
             clamping{offsets.required<const std::int64_t>(element::int64), static_cast<std::int64_t>(in.size()),
                      inside.as<std::int64_t>()});
    const bool is_sign_needed = op == operation::minimum || op == operation::maximum;
    with_fold_type(is_sign_needed ? fold : signed_of(fold), [&](auto zero) {
        using A = decltype(zero);
        const contiguous_input<A> values(on, in);
        const contiguous_output<A> to(on, out);
        const A none = neutral<A>(op, in.type);
        const auto run = [&](const auto& by) {
            const workspace_of_stream memory(on, segmented_reduce_workspace(sizeof(A)));
            segmented_reduce(memory.target(), values.data(), inside.as<const std::int64_t>(), out.size(), to.data(), by,
                             none);
        };
        if (op == operation::minimum) {
            run(minimum{});
        } else if (op == operation::maximum) {
            run(maximum{});
        } else if constexpr (!std::is_same_v<A, std::uint64_t>) {
            if (op == operation::sum) {
                run(sum{});
            } else {
                run(product{});
            }
        }
        to.finish();
    });
}

} // namespace warpfold::python::on_gpu
