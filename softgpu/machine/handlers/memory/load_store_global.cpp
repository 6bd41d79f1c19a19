// SPDX-License-Identifier: MIT
// Loads and stores of elements of 8 bytes and fewer in global memory.
#include "softgpu/machine/handlers/memory/load_store.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

// Any access, and the way to the fault of a wrong one.
template <class E, verb Verb>
__attribute__((noinline)) const instruction* global_any(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, w);
    located where;
    if (!locate_global<Verb>(i, w, w->mask, at, E::bytes, true, where)) {
        return nullptr;
    }
    E::template move<Verb>(i, frame, w, w->mask, where);
    return i + 1;
}

// A pattern that is not the one met last: it is learnt once the access was found right.
template <class E, verb Verb>
__attribute__((noinline)) const instruction* global_fresh(const instruction* i, std::byte* frame, warp* w) {
    constexpr unsigned bytes = E::bytes;
    const lane_mask mask = w->mask;
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, w);
    const std::uint64_t apart = at[last_lane(mask)] - at[first_lane(mask)];
    located where;
    if (!locate_global_run<Verb>(w, mask, at, 0, bytes, where) &&
        !locate_global<Verb>(i, w, mask, at, bytes, true, where)) {
        return nullptr;
    }
    learn_pattern<bytes>(pattern_of(i, w, mask, apart), mask, at);
    E::template move<Verb>(i, frame, w, mask, where);
    return i + 1;
}

template <class E, verb Verb>
const instruction* global(const instruction* i, std::byte* frame, warp* w) {
    constexpr unsigned bytes = E::bytes;
    if (i->width[1] != 8) [[unlikely]] {
        return global_any<E, Verb>(i, frame, w);
    }
    const lane_mask mask = w->mask;
    const auto* const at = read<std::uint64_t>(w, i->a);
    const std::uint64_t first = at[first_lane(mask)];
    const std::uint64_t apart = at[last_lane(mask)] - first;
    address_pattern& p = pattern_of(i, w, mask, apart);
    if (p.key != pattern_key<bytes, true>(mask) || !has_pattern(p, mask, at, first)) [[unlikely]] {
        return global_fresh<E, Verb>(i, frame, w);
    }
    const std::uint64_t origin = first + static_cast<std::uint64_t>(i->immediate);
    const std::uint64_t lowest = origin + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(p.low)});
    if ((origin & (bytes - 1)) != 0 || !is_allocated(w, lowest, p.span, Verb)) [[unlikely]] {
        return global_any<E, Verb>(i, frame, w);
    }
    if (w->host->count) {
        count_global<Verb>(w, mask, sectors_of(p, mask, origin), bytes);
    }
    E::template move_pattern<Verb, false>(i, frame, w, mask, p, reinterpret_cast<std::byte*>(origin));
    return go_on(i + 1, frame, w);
}

} // namespace

template <verb Verb>
handler quick_global(unsigned element_bytes, unsigned elements, unsigned register_bytes) {
    return choose_elements(element_bytes, elements, register_bytes,
                           []<class E>() -> handler { return global<E, Verb>; });
}
template handler quick_global<verb::load>(unsigned, unsigned, unsigned);
template handler quick_global<verb::store>(unsigned, unsigned, unsigned);

} // namespace softgpu::machine::SOFTGPU_TARGET
