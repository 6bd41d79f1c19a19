// SPDX-License-Identifier: MIT
// Loads and stores of elements of 8 bytes and fewer in shared memory.
#include "softgpu/machine/handlers/memory/load_store.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

// Any access, and the way to the fault of a wrong one.
template <class E, verb Verb>
__attribute__((noinline)) const instruction* shared_any(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint32_t at[lanes];
    shared_addresses(at, i, w);
    located where;
    if (!locate_shared<Verb>(i, w, w->mask, at, E::bytes, where)) {
        return nullptr;
    }
    E::template move<Verb>(i, frame, w, w->mask, where);
    return i + 1;
}

// A pattern that is not the one met last: a run at once, anything else is learnt.
template <class E, verb Verb>
__attribute__((noinline)) const instruction* shared_fresh(const instruction* i, std::byte* frame, warp* w) {
    constexpr unsigned bytes = E::bytes;
    const lane_mask mask = w->mask;
    alignas(64) std::uint32_t at[lanes];
    shared_addresses(at, i, w);
    const std::uint32_t apart = at[last_lane(mask)] - at[first_lane(mask)];
    located where;
    if (locate_shared_run<Verb>(w, mask, at, 0, bytes, where)) {
        learn_pattern<bytes>(pattern_of(i, w, mask, apart), mask, at);
        E::template move<Verb>(i, frame, w, mask, where);
        return i + 1;
    }
    if (!check_shared<Verb>(i, w, mask, at, bytes)) {
        return nullptr;
    }
    address_pattern& p = pattern_of(i, w, mask, apart);
    learn_pattern<bytes>(p, mask, at);
    if (w->host->count) {
        count_shared<Verb>(w, mask, cost_of<Verb, bytes>(p, mask, at[first_lane(mask)]), bytes);
    }
    E::template move_pattern<Verb, true>(i, frame, w, mask, p, w->owner->shared + at[first_lane(mask)]);
    return i + 1;
}

// `at` is short of the addresses by `offset`. Ends: how the handler goes on.
template <class E, verb Verb, class Ends>
SOFTGPU_INLINE const instruction* shared_at(const instruction* i, std::byte* frame, warp* w, const std::uint32_t* at,
                                            std::uint32_t offset, Ends&& ends) {
    constexpr unsigned bytes = E::bytes;
    const lane_mask mask = w->mask;
    const std::uint32_t first = at[first_lane(mask)];
    const std::uint32_t apart = at[last_lane(mask)] - first;
    address_pattern& p = pattern_of(i, w, mask, apart);
    if (p.key != pattern_key<bytes, false>(mask) || !has_pattern(p, mask, at, first)) [[unlikely]] {
        return shared_fresh<E, Verb>(i, frame, w);
    }
    const std::uint32_t origin = first + offset;
    const std::uint32_t lowest = origin + p.low;
    const std::uint32_t size = w->host->launch->shared_bytes;
    if ((origin & (bytes - 1)) != 0 || lowest > size || p.span > size - lowest) [[unlikely]] {
        return shared_any<E, Verb>(i, frame, w);
    }
    if (w->host->count) {
        count_shared<Verb>(w, mask, cost_of<Verb, bytes>(p, mask, origin), bytes);
    }
    E::template move_pattern<Verb, true>(i, frame, w, mask, p, w->owner->shared + origin);
    return ends();
}

// Addresses of 64 bits, which Numba's kernels have.
template <class E, verb Verb>
__attribute__((noinline)) const instruction* shared_wide(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint32_t at[lanes];
    shared_addresses(at, i, w);
    return shared_at<E, Verb>(i, frame, w, at, 0, [i] { return i + 1; });
}

template <class E, verb Verb>
const instruction* shared(const instruction* i, std::byte* frame, warp* w) {
    if (i->width[1] != 4) [[unlikely]] {
        return shared_wide<E, Verb>(i, frame, w);
    }
    return shared_at<E, Verb>(i, frame, w, read<std::uint32_t>(w, i->a), static_cast<std::uint32_t>(i->immediate),
                              [=] { return go_on(i + 1, frame, w); });
}

} // namespace

template <verb Verb>
handler quick_shared(unsigned element_bytes, unsigned elements, unsigned register_bytes) {
    return choose_elements(element_bytes, elements, register_bytes,
                           []<class E>() -> handler { return shared<E, Verb>; });
}
template handler quick_shared<verb::load>(unsigned, unsigned, unsigned);
template handler quick_shared<verb::store>(unsigned, unsigned, unsigned);

} // namespace softgpu::machine::SOFTGPU_TARGET
