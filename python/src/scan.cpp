// SPDX-License-Identifier: MIT
#include "warpfold/scan.hpp"

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"

namespace warpfold::python {

namespace {

struct segment_heads {
    bool operator[](std::uint64_t k) const { return k % length == 0; }

    std::uint64_t length;
};

// One segment of T into T, if neither array has gaps.
template <class T, class Op>
bool scan_as(element type, const array& in, const array& out, const Op& op) {
    const T* const from = in.contiguous<const T>(type);
    T* const to = out.contiguous<T>(type);
    if (from == nullptr || to == nullptr) {
        return false;
    }
    inclusive_scan(host{}, from, in.size(), to, op);
    return true;
}

template <class Op>
void scan_by(const Op& op, element fold, const array& in, std::uint64_t length, const array& out) {
    if (length == in.size()) {
        const bool done = in.type == element::int64     ? scan_as<std::int64_t>(in.type, in, out, op)
                          : in.type == element::float32 ? scan_as<float>(in.type, in, out, op)
                          : in.type == element::float64 ? scan_as<double>(in.type, in, out, op)
                                                        : false;
        if (done) {
            return;
        }
    }
    with_fold_type(fold, [&](auto zero) {
        using A = decltype(zero);
        inclusive_scan(host{}, elements<A>(in), in.size(), results<A>(out), op, heads(segment_heads{length}));
    });
}

} // namespace

void scan(operation op, element fold, const array& in, std::uint64_t length, const array& out) {
    if (in.size() == 0) {
        return;
    }
    switch (op) {
    case operation::sum: return scan_by(sum{}, fold, in, length, out);
    case operation::product: return scan_by(product{}, fold, in, length, out);
    case operation::minimum: return scan_by(minimum{}, fold, in, length, out);
    case operation::maximum: return scan_by(maximum{}, fold, in, length, out);
    }
}

} // namespace warpfold::python
