// SPDX-License-Identifier: MIT
// Reductions, of axes and of segments.
#include <cstdint>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "python/src/fast_folds.hpp"
#include "python/src/memory_order.hpp"
#include "python/src/operations.hpp"
#include "python/src/plain_bools.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::python {

namespace {

// Segments of one length, or between offsets.
struct bounds {
    std::uint64_t operator[](std::uint64_t s) const {
        return offsets == nullptr ? s * length : static_cast<std::uint64_t>(offsets[s]);
    }

    std::uint64_t length = 0;
    const std::int64_t* offsets = nullptr;
};

void reduce_segments(operation op, element fold, const array& in, const bounds& segments, const array* mask,
                     const array& out) {
    with_fold_type(fold, [&](auto zero) {
        using A = decltype(zero);
        const A none = neutral<A>(op, in.type);
        const A* const plain = mask == nullptr ? in.contiguous<const A>(fold) : nullptr;
        with_operation(op, [&](const auto& by) {
            if (plain != nullptr) {
                segmented_reduce(host{}, plain, segments, out.size(), results<A>(out), by, none);
            } else {
                segmented_reduce(host{}, elements<A>(in, mask, none), segments, out.size(), results<A>(out), by, none);
            }
        });
    });
}

// Extremes of segments without gaps, in the type of the elements. False for other arrays.
template <class Op>
bool segment_extremes(const array& in, const bounds& segments, const array& out, operation which, const Op& op) {
    return with_plain_type(in.type, [&](auto zero) {
        using T = decltype(zero);
        const T* const from = in.contiguous<const T>(in.type);
        T* const to = out.contiguous<T>(in.type);
        if (from != nullptr && to != nullptr) {
            segmented_reduce(host{}, from, segments, out.size(), to, op, neutral<T>(which, in.type));
        }
        return from != nullptr && to != nullptr;
    });
}

// Whether sums or products are those in 64 bits, converted: narrow integers, and numbers of bools.
bool is_rounded_last(operation op, element in, element out) {
    const bool is_narrow = out <= element::uint64 && size_of(out) < 8;
    return op <= operation::product &&
           (is_narrow || (op == operation::sum && in == element::boolean && out > element::uint64));
}

} // namespace

void reduce(operation op, element fold, const array& in, std::uint64_t length, const array* mask, const array& out) {
    if (out.size() == 0) {
        return;
    }
    if (op > operation::product && in.type == element::boolean && out.type == in.type && mask == nullptr) {
        test_nonzero(op == operation::minimum, in, length, out);
        return;
    }
    if (out.size() == 1 && mask == nullptr && !in.at.is_contiguous(size_of(in.type))) {
        if (const auto same = in_memory_order(in)) {
            reduce(op, fold, *same, length, nullptr, array(out.data, out.type, {}, {}));
            return;
        }
    }
    if (mask == nullptr && !wraps_in_place(in.type, out.type) && is_rounded_last(op, in.type, out.type)) {
        const element type = in.type <= element::int64 ? element::int64 : element::uint64;
        std::vector<std::int64_t> sums(out.size());
        reduce(op, type, in, length, nullptr,
               array(reinterpret_cast<char*>(sums.data()), type, out.shape, row_major(out.shape, size_of(type))));
        const results<std::int64_t> to(out);
        for (std::uint64_t s = 0; s < sums.size(); ++s) {
            to[s] = sums[s];
        }
        return;
    }
    if (op == operation::sum && in.type == element::boolean) {
        count_nonzero(in, length, mask, out);
        return;
    }
    const auto is_fast = [&](const array& plain) {
        switch (op) {
        case operation::sum: return sum_fast(plain, out);
        case operation::product: return product_fast(plain, out);
        default: return extreme_fast(op == operation::minimum, plain, out);
        }
    };
    with_plain_bools(in, [&](const array& plain) {
        if (mask != nullptr || !is_fast(plain)) {
            reduce_segments(op, fold, plain, {length, nullptr}, mask, out);
        }
    });
}

void segment_reduce(operation op, element fold, const array& in, const array& offsets, const array& out) {
    if (out.size() == 0) {
        return;
    }
    const bounds segments{0, offsets.required<const std::int64_t>(element::int64)};
    const auto fold_plain = [&](const array& plain) {
        return op == operation::minimum ? segment_extremes(plain, segments, out, op, minimum{})
                                        : segment_extremes(plain, segments, out, op, maximum{});
    };
    const bool may_be_plain = op > operation::product && in.at.is_contiguous(size_of(in.type));
    if (!may_be_plain || !with_plain_bools(in, fold_plain)) {
        reduce_segments(op, fold, in, segments, nullptr, out);
    }
}

} // namespace warpfold::python
