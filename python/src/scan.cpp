// SPDX-License-Identifier: MIT
#include "warpfold/scan.hpp"

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "warpfold/along_axis.hpp"

namespace warpfold::python {

namespace {

struct segment_heads {
    bool operator[](std::uint64_t k) const {
        const std::uint64_t place = k % length;
        return place == 0 || (parts != nullptr && parts[place]);
    }

    std::uint64_t length;
    const bool* parts;
};

// T into T along the last axis, if both arrays are views of it.
template <class T, class Op>
bool scan_as(element type, const array& in, std::uint64_t length, const array& out, const Op& op) {
    const T* const line = in.contiguous<const T>(type);
    T* const to_line = out.contiguous<T>(type);
    if (length == in.size() && line != nullptr && to_line != nullptr) {
        inclusive_scan(host{}, line, length, to_line, op);
        return true;
    }
    const auto from = in.view<const T>(type);
    const auto to = out.view<T>(type);
    if (from && to) {
        inclusive_scan_along(host{}, *from, -1, *to, op);
    }
    return from && to;
}

template <class Op>
void scan_by(const Op& op, element fold, const array& in, std::uint64_t length, const array* parts, const array& out) {
    const bool done = parts != nullptr              ? false
                      : in.type == element::int64   ? scan_as<std::int64_t>(in.type, in, length, out, op)
                      : in.type == element::float32 ? scan_as<float>(in.type, in, length, out, op)
                      : in.type == element::float64 ? scan_as<double>(in.type, in, length, out, op)
                                                    : false;
    if (done) {
        return;
    }
    const segment_heads begins{length, parts == nullptr ? nullptr : parts->required<const bool>(element::boolean)};
    with_fold_type(fold, [&](auto zero) {
        using A = decltype(zero);
        inclusive_scan(host{}, elements<A>(in), in.size(), results<A>(out), op, heads(begins));
    });
}

} // namespace

void scan(operation op, element fold, const array& in, std::uint64_t length, const array* heads, const array& out) {
    if (in.size() == 0) {
        return;
    }
    switch (op) {
    case operation::sum: return scan_by(sum{}, fold, in, length, heads, out);
    case operation::product: return scan_by(product{}, fold, in, length, heads, out);
    case operation::minimum: return scan_by(minimum{}, fold, in, length, heads, out);
    case operation::maximum: return scan_by(maximum{}, fold, in, length, heads, out);
    }
}

} // namespace warpfold::python
