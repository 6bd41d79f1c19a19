// SPDX-License-Identifier: MIT
// atom and red: read-modify-write on global memory with the host's own atomics, since other workers run other blocks; on
// shared memory plainly, since one worker runs the whole block. Lanes go in order.
#include "softgpu/machine/code/reduction.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/memory/atomic_cost.hpp"
#include "softgpu/machine/handlers/memory/atomic_operations.hpp"
#include "softgpu/machine/handlers/type_dispatch.hpp"
#include "softgpu/machine/run/bulk/bulk_copy.hpp"
#include "softgpu/machine/run/cluster/distributed.hpp"
#include "softgpu/machine/run/memory/exchange_128.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

// Space: 0 global, 1 shared, 2 generic, 3 shared memory of the cluster: what is not the own block's counts as neither. Fills
// `at` for the active lanes, with offsets where shared, after checking and counting; false: a fault was raised.
template <int Space>
bool locate(const instruction* i, warp* w, std::uint64_t* at, lane_mask& in_shared, unsigned bytes) {
    const auto offset = static_cast<std::uint64_t>(i->immediate);
    if (i->width[1] == 8) {
        const auto* const a = read<std::uint64_t>(w, i->a);
        each_lane(w->mask, [&](unsigned l) { at[l] = a[l] + offset; });
    } else {
        const auto* const a = read<std::uint32_t>(w, i->a);
        each_lane(w->mask, [&](unsigned l) { at[l] = static_cast<std::uint32_t>(a[l] + offset); });
    }
    in_shared = Space == 1 ? w->mask : 0;
    if constexpr (Space == 2) {
        const std::uint64_t base = w->host->launch->memory->shared_window();
        each_lane(w->mask, [&](unsigned l) {
            if (at[l] - base < memory::device_memory::window_bytes) {
                in_shared |= 1u << l;
                at[l] -= base;
            }
        });
    }
    lane_mask in_cluster = 0;
    if constexpr (Space >= 2) {
        const launch_state& l = *w->host->launch;
        each_lane(w->mask & ~in_shared, [&](unsigned lane) {
            if (Space == 3 && at[lane] < memory::device_memory::window_bytes) {
                in_shared |= 1u << lane;
            } else if (Space == 3 || is_in_cluster_window(l, at[lane])) {
                in_cluster |= 1u << lane;
            }
        });
        std::byte* each[lanes];
        if (in_cluster != 0) {
            if (!locate_distributed(i, w, in_cluster, at, Space == 2, bytes, "atomically update", each)) {
                return false;
            }
            each_lane(in_cluster, [&](unsigned lane) { at[lane] = reinterpret_cast<std::uint64_t>(each[lane]); });
        }
    }
    const lane_mask in_global = w->mask & ~in_shared & ~in_cluster;
    const std::uint32_t size = w->host->launch->shared_bytes;
    bool fine = true;
    each_lane(w->mask & ~in_cluster, [&](unsigned l) {
        if (!fine) {
            return;
        }
        const bool misaligned = (at[l] & (bytes - 1)) != 0;
        const bool mine = (in_shared >> l & 1u) != 0;
        const bool inside = mine ? at[l] <= size && bytes <= size - at[l] : is_allocated(w, at[l], bytes, verb::store);
        if (misaligned || !inside) {
            fine = false;
            raise_access(w, i, "atomically update", mine ? "shared" : "global", at[l], bytes, misaligned, l);
        }
    });
    if (fine && w->host->count) {
        if (in_shared != 0) {
            count_atomic(w, in_shared, at, true, bytes, i->c != nowhere);
        }
        if (in_global != 0) {
            count_atomic(w, in_global, at, false, bytes, i->c != nowhere);
        }
    }
    return fine;
}

template <class T, class Op>
SOFTGPU_INLINE T update_one(warp* w, std::uint64_t at, bool in_shared, T x, T y) {
    if (!in_shared) {
        return global_update<T, Op>(reinterpret_cast<void*>(at), x, y);
    }
    std::byte* const p = w->owner->shared + at;
    T old;
    std::memcpy(&old, p, sizeof(T));
    const T fresh = Op{}(old, x, y);
    std::memcpy(p, &fresh, sizeof(T));
    return old;
}

template <class T, class Op, int Space>
const instruction* update(const instruction* i, std::byte* frame, warp* w) {
    std::uint64_t at[lanes];
    lane_mask in_shared = 0;
    if (!locate<Space>(i, w, at, in_shared, sizeof(T))) {
        return nullptr;
    }
    const T* const b = read<T>(w, i->b);
    const T* const c = i->c == nowhere ? b : read<T>(w, i->c);
    T* const d = i->d == nowhere ? nullptr : written<T>(frame, i->d);
    each_lane(w->mask, [&](unsigned l) {
        const T old = update_one<T, Op>(w, at[l], (in_shared >> l & 1u) != 0, b[l], c[l]);
        if (d != nullptr) {
            d[l] = old;
        }
    });
    return i + 1;
}

// A vector: each element is an atomic of its own. places: `more` destinations (nowhere: not wanted), then the operands.
template <class T, class Op, int Space>
const instruction* update_vector(const instruction* i, std::byte* frame, warp* w) {
    const unsigned n = i->more;
    std::uint64_t at[lanes];
    lane_mask in_shared = 0;
    if (!locate<Space>(i, w, at, in_shared, static_cast<unsigned>(sizeof(T)) * n)) {
        return nullptr;
    }
    each_lane(w->mask, [&](unsigned l) {
        for (unsigned k = 0; k < n; ++k) {
            const T b = i->places[n + k] == nowhere ? T(0) : read<T>(w, i->places[n + k])[l];
            const T old = update_one<T, Op>(w, at[l] + k * sizeof(T), (in_shared >> l & 1u) != 0, b, b);
            if (i->places[k] != nowhere) {
                written<T>(frame, i->places[k])[l] = old;
            }
        }
    });
    return i + 1;
}

// 16 bytes: exch, and cas with Compare.
template <bool Compare, int Space>
const instruction* update_wide(const instruction* i, std::byte* frame, warp* w) {
    std::uint64_t at[lanes];
    lane_mask in_shared = 0;
    if (!locate<Space>(i, w, at, in_shared, sizeof(uint128))) {
        return nullptr;
    }
    const auto* const b = read<uint128>(w, i->b);
    const auto* const c = Compare ? read<uint128>(w, i->c) : b;
    auto* const d = written<uint128>(frame, i->d);
    each_lane(w->mask, [&](unsigned l) {
        void* const p = (in_shared >> l & 1u) != 0 ? w->owner->shared + at[l] : reinterpret_cast<std::byte*>(at[l]);
        d[l] = exchange_128(p, c[l], Compare, b[l]);
    });
    return i + 1;
}

// choice.operator()<Space>() for the space of the form.
template <class Choice>
handler choose_space(const form& f, Choice&& choice) {
    switch (f.space) {
    case suffix::global: return choice.template operator()<0>();
    case suffix::shared:
    case suffix::shared_cta: return choice.template operator()<1>();
    case suffix::shared_cluster: return choice.template operator()<3>();
    case suffix::none: return choice.template operator()<2>();
    default: return nullptr;
    }
}

template <class T, class Op>
handler by_space(const form& f) {
    return choose_space(f, []<int Space>() -> handler { return update<T, Op, Space>; });
}

template <class T, class Op>
handler vector_by_space(const form& f) {
    return f.space == suffix::global ? handler{update_vector<T, Op, 0>}
           : f.space == suffix::none ? update_vector<T, Op, 2>
                                     : nullptr;
}

template <bool Vector, class T, class Op>
handler floats_by_space(const form& f) {
    if constexpr (Vector) {
        return vector_by_space<T, Op>(f);
    } else {
        return by_space<T, Op>(f);
    }
}

// With One<Format>, of halves and pairs of them.
template <bool Vector, template <class> class One>
handler halves_updated(const form& f) {
    switch (f.type[0]) {
    case suffix::f16: return floats_by_space<Vector, std::uint16_t, op_halves<One<f16_format>>>(f);
    case suffix::bf16: return floats_by_space<Vector, std::uint16_t, op_halves<One<bf16_format>>>(f);
    case suffix::f16x2: return floats_by_space<Vector, std::uint32_t, op_halves<One<f16_format>>>(f);
    case suffix::bf16x2: return floats_by_space<Vector, std::uint32_t, op_halves<One<bf16_format>>>(f);
    default: return nullptr;
    }
}
template <bool Vector>
handler floats_added(const form& f) {
    return f.type[0] == suffix::f32 ? floats_by_space<Vector, std::uint32_t, op_add_float<float>>(f)
                                    : halves_updated<Vector, added_half>(f);
}
template <class Format>
using least_half = extreme_of_halves<Format, false>;
template <class Format>
using most_half = extreme_of_halves<Format, true>;

template <class Op>
handler of_bits(const form& f, bool narrow = false) {
    return choose_bits(ptx::bytes_of(f.type[0]), [&]<class T>(T) -> handler {
        if constexpr (sizeof(T) >= 4) {
            return by_space<T, Op>(f);
        } else {
            return narrow ? by_space<T, Op>(f) : nullptr;
        }
    });
}

template <class Op>
handler of_ints(const form& f) {
    return choose_int(f.type[0], [&]<class T>(T) -> handler {
        if constexpr (sizeof(T) >= 4) {
            return by_space<T, Op>(f);
        } else {
            return nullptr;
        }
    });
}

} // namespace

handler choose_atomic(const form& f) {
    if (f.op != opcode::atom && f.op != opcode::red) {
        return nullptr;
    }
    if (f.has(suffix::async)) {
        return f.space == suffix::shared_cluster && reduction_number(f, f.type[0]) != 0 ? start_async_store : nullptr;
    }
    const unsigned bytes = ptx::bytes_of(f.type[0]);
    if (f.vector != 1) {
        return f.vector * bytes > 16 ? nullptr
               : f.has(suffix::add)  ? floats_added<true>(f)
               : f.has(suffix::min)  ? halves_updated<true, least_half>(f)
               : f.has(suffix::max)  ? halves_updated<true, most_half>(f)
                                     : nullptr;
    }
    if (bytes == 16) {
        return f.has(suffix::cas)    ? choose_space(f, []<int Space>() -> handler { return update_wide<true, Space>; })
               : f.has(suffix::exch) ? choose_space(f, []<int Space>() -> handler { return update_wide<false, Space>; })
                                     : nullptr;
    }
    if (f.has(suffix::add)) {
        switch (f.type[0]) {
        case suffix::f32:
        case suffix::f16:
        case suffix::bf16:
        case suffix::f16x2:
        case suffix::bf16x2: return floats_added<false>(f);
        case suffix::f64: return by_space<std::uint64_t, op_add_float<double>>(f);
        case suffix::u32:
        case suffix::s32:
        case suffix::u64:
        case suffix::s64: return of_bits<op_add>(f);
        default: return nullptr;
        }
    }
    if (f.has(suffix::min)) {
        return of_ints<op_min>(f);
    }
    if (f.has(suffix::max)) {
        return of_ints<op_max>(f);
    }
    if (f.has(suffix::inc)) {
        return f.type[0] == suffix::u32 ? by_space<std::uint32_t, op_inc>(f) : nullptr;
    }
    if (f.has(suffix::dec)) {
        return f.type[0] == suffix::u32 ? by_space<std::uint32_t, op_dec>(f) : nullptr;
    }
    if (f.has(suffix::and_)) {
        return of_bits<op_and>(f);
    }
    if (f.has(suffix::or_)) {
        return of_bits<op_or>(f);
    }
    if (f.has(suffix::xor_)) {
        return of_bits<op_xor>(f);
    }
    if (f.has(suffix::exch)) {
        return of_bits<op_exchange>(f);
    }
    if (f.has(suffix::cas)) {
        return of_bits<op_compare_swap>(f, true);
    }
    return nullptr;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
