// SPDX-License-Identifier: MIT
// Reductions of segments between offsets.
#include <cstdint>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"
#include "python/src/operations.hpp"
#include "warpfold/segmented_reduce.cuh"

namespace warpfold::python::on_gpu {

void segment_reduce(const gpu& on, operation op, element fold, const array& in, const array& offsets,
                    const array& out) {
    if (out.size() == 0) {
        return;
    }
    const auto count = static_cast<std::int64_t>(offsets.size());
    const temporary inside(on, element::int64, {count});
    apply(on, arithmetic::maximum, element::int64, offsets, nullptr, 0, inside.get());
    apply(on, arithmetic::minimum, element::int64, inside.get(), nullptr, in.size(), inside.get());
    const bool is_sign_needed = op == operation::minimum || op == operation::maximum;
    with_fold_type(is_sign_needed ? fold : signed_of(fold), [&](auto zero) {
        using A = decltype(zero);
        const contiguous_input<A> values(on, in);
        const contiguous_output<A> to(on, out);
        const A none = neutral<A>(op, in.type);
        const auto run = [&](const auto& by) {
            segmented_reduce(on, values.data(), inside.as<const std::int64_t>(), out.size(), to.data(), by, none);
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
