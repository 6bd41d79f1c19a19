// SPDX-License-Identifier: MIT
// Moving and converting: mov (packing and unpacking too), cvt, cvta, isspacep.
#include <cmath>
#include <cstdint>
#include <limits>

#include "softgpu/machine/handlers/arithmetic/conversions.hpp"
#include "softgpu/machine/handlers/arithmetic/floats.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/type_dispatch.hpp"
#include "softgpu/machine/run/cluster/distributed.hpp"
#include "softgpu/machine/run/memory/constant_lanes.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

template <class T>
const instruction* copy(const instruction* i, std::byte* frame, warp* w) {
    const T* const a = read<T>(w, i->a);
    T* const d = written<T>(frame, i->d);
    map_lanes(
        w->mask, d, [](T x) { return x; }, a);
    return go_on(i + 1, frame, w);
}
const instruction* copy_mask(const instruction* i, std::byte* frame, warp* w) {
    write_mask(frame, w, i->d, read_mask(w, i->a));
    return go_on(i + 1, frame, w);
}
const instruction* copy_wide(const instruction* i, std::byte* frame, warp* w) {
    const uint128* const a = read<uint128>(w, i->a);
    map_active(
        w->mask, written<uint128>(frame, i->d), [](uint128 x) { return x; }, a);
    return i + 1;
}

// A register of 8 bits has the room of one of 16.
template <class Part>
using room_of = std::conditional_t<sizeof(Part) == 1, std::uint16_t, Part>;

// {x, y, ...} = a: `places` are the elements of Part each, the low bits first; nowhere for a sink.
template <class Whole, class Part>
const instruction* unpack(const instruction* i, std::byte* frame, warp* w) {
    Whole a[lanes];
    std::memcpy(a, read<Whole>(w, i->a), sizeof(a));
    for (unsigned k = 0; k < sizeof(Whole) / sizeof(Part); ++k) {
        if (i->places[k] == nowhere) {
            continue;
        }
        map_active(
            w->mask, written<room_of<Part>>(frame, i->places[k]),
            [k](Whole x) { return room_of<Part>{static_cast<Part>(x >> (8 * sizeof(Part) * k))}; }, a);
    }
    return go_on(i + 1, frame, w);
}
// d = {x, y, ...}
template <class Whole, class Part>
const instruction* pack(const instruction* i, std::byte* frame, warp* w) {
    Whole r[lanes] = {};
    for (unsigned k = 0; k < sizeof(Whole) / sizeof(Part); ++k) {
        const room_of<Part>* const part = read<room_of<Part>>(w, i->places[k]);
        for (unsigned l = 0; l < lanes; ++l) {
            r[l] |= static_cast<Whole>(static_cast<Whole>(static_cast<Part>(part[l])) << (8 * sizeof(Part) * k));
        }
    }
    map_active(
        w->mask, written<Whole>(frame, i->d), [](Whole x) { return x; }, r);
    return go_on(i + 1, frame, w);
}

template <class D, class S>
D int_to_int(S x, std::uint32_t how) {
    if ((how & saturating) != 0) {
        if constexpr (std::is_signed_v<S>) {
            const auto v = static_cast<std::int64_t>(+x);
            if constexpr (std::is_signed_v<D>) {
                if (v < static_cast<std::int64_t>(std::numeric_limits<D>::min())) {
                    return std::numeric_limits<D>::min();
                }
            } else if (v < 0) {
                return 0;
            }
            if (v > 0 && static_cast<std::uint64_t>(v) > static_cast<std::uint64_t>(std::numeric_limits<D>::max())) {
                return std::numeric_limits<D>::max();
            }
        } else if (static_cast<std::uint64_t>(x) > static_cast<std::uint64_t>(std::numeric_limits<D>::max())) {
            return std::numeric_limits<D>::max();
        }
    }
    return static_cast<D>(x);
}

template <class T>
SOFTGPU_INLINE void flush_lanes(T* x, std::uint32_t how) {
    if (sizeof(T) == 4 && (how & flushing) != 0) {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            x[l] = flush(x[l]);
        }
    }
}

// To nearest, or as `how` says; `in` is used up.
template <class D, class S>
void to_float(D* out, S* in, std::uint32_t how) {
    constexpr bool narrows = sizeof(D) == 4 && std::is_same_v<S, double>;
    const bool to_mode = static_cast<round_to>(how & round_bits) != round_to::nearest;
    if constexpr (std::is_floating_point_v<S>) {
        flush_lanes(in, how);
    }
    if constexpr (narrows) {
        rounded(host_mode(how), [&] {
            SOFTGPU_LANES
            for (unsigned l = 0; l < lanes; ++l) {
                const auto r = static_cast<D>(in[l]);
                out[l] = (how & flushing) != 0 ? flush_rounded(r, static_cast<D>(in[l] * 0x1p64)) : r;
            }
        });
    } else if (std::is_integral_v<S> && to_mode) {
        // Lane by lane: vector code composes some of these conversions of several roundings.
        rounded(host_mode(how), [&] {
            for (unsigned l = 0; l < lanes; ++l) {
                volatile S x = in[l];
                out[l] = static_cast<D>(x);
            }
        });
    } else {
        if constexpr (std::is_same_v<D, S>) {
            if ((how & to_integral) != 0) {
                make_integral(in, how);
            }
        }
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            out[l] = static_cast<D>(in[l]);
        }
    }
    if constexpr (!narrows) {
        flush_lanes(out, how);
    }
    if ((how & saturating) != 0) {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            out[l] = saturate(out[l]);
        }
    }
}

template <class D, class S>
const instruction* convert(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) S in[lanes];
    alignas(64) D out[lanes];
    using carrier = bits_of<S>;
    if constexpr (std::is_floating_point_v<S>) {
        std::memcpy(in, read<carrier>(w, i->a), sizeof(in));
    } else {
        widen_in(in, w, i->a, i->width[1]);
    }
    const std::uint32_t how = i->more;
    if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
        if ((how & saturating) == 0) {
            map_lanes(
                all_lanes, out, [](S x) { return static_cast<D>(x); }, in);
        } else {
            for (unsigned l = 0; l < lanes; ++l) {
                out[l] = int_to_int<D>(in[l], how);
            }
        }
    } else if constexpr (std::is_integral_v<D>) {
        flush_lanes(in, how);
        make_integral(in, how);
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            out[l] = bounded<D>(in[l]);
        }
    } else if (how == 0) {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            out[l] = static_cast<D>(in[l]);
        }
    } else {
        to_float(out, in, how);
    }
    if constexpr (std::is_floating_point_v<D>) {
        map_lanes(
            w->mask, written<D>(frame, i->d), [](D x) { return x; }, out);
    } else {
        widen_out(out, frame, w->mask, i->d, i->width[0]);
    }
    return go_on(i + 1, frame, w);
}

// cvta between generic addresses and a window whose base stands in b.
const instruction* add_base(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(
        w->mask, written<std::uint64_t>(frame, i->d), [](std::uint64_t a, std::uint64_t b) { return a + b; },
        read<std::uint64_t>(w, i->a), read<std::uint64_t>(w, i->b));
    return i + 1;
}
const instruction* subtract_base(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(
        w->mask, written<std::uint64_t>(frame, i->d), [](std::uint64_t a, std::uint64_t b) { return a - b; },
        read<std::uint64_t>(w, i->a), read<std::uint64_t>(w, i->b));
    return i + 1;
}

// cvta between generic addresses and those of shared memory. The address of another block of the cluster names that block
// in every space of shared memory: CUDA's headers convert what mapa gives with plain .shared.
template <bool ToShared>
const instruction* convert_shared(const instruction* i, std::byte* frame, warp* w) {
    const shared_windows windows(*w->host->launch);
    map_lanes(
        w->mask, written<std::uint64_t>(frame, i->d),
        [=](std::uint64_t a) { return ToShared ? windows.to_shared(a) : windows.to_generic(a); },
        read<std::uint64_t>(w, i->a));
    return i + 1;
}

// cvta.param: `mov.b32` of a parameter's name gives its place within the parameters, which begin at b; `mov.b64` its address.
const instruction* add_parameters(const instruction* i, std::byte* frame, warp* w) {
    map_lanes(
        w->mask, written<std::uint64_t>(frame, i->d),
        [](std::uint64_t a, std::uint64_t b) { return a >> 32 == 0 ? a + b : a; }, read<std::uint64_t>(w, i->a),
        read<std::uint64_t>(w, i->b));
    return i + 1;
}

// cvt.pack.sat: a and b as numbers of `Bits` bits, b the low one; c comes above them.
template <unsigned Bits, bool Signed>
const instruction* pack_saturated(const instruction* i, std::byte* frame, warp* w) {
    constexpr std::int32_t least = Signed ? -(1 << (Bits - 1)) : 0;
    constexpr std::int32_t most = (1 << (Signed ? Bits - 1 : Bits)) - 1;
    const auto* const c = read<std::uint32_t>(w, Bits < 16 ? i->c : i->a);
    map_active(
        w->mask, written<std::uint32_t>(frame, i->d),
        [](std::int32_t a, std::int32_t b, std::uint32_t above) {
            const auto part = [](std::int32_t x) {
                return static_cast<std::uint32_t>(x < least ? least : x > most ? most : x) & ((1u << Bits) - 1);
            };
            const std::uint32_t both = part(a) << Bits | part(b);
            return Bits < 16 ? above << (2 * Bits % 32) | both : both;
        },
        read<std::int32_t>(w, i->a), read<std::int32_t>(w, i->b), c);
    return i + 1;
}

handler choose_pack(const form& f) {
    if (f.type[1] != suffix::s32 || !f.has(suffix::sat)) {
        return nullptr;
    }
    switch (f.type[0]) {
    case suffix::u2: return pack_saturated<2, false>;
    case suffix::s2: return pack_saturated<2, true>;
    case suffix::u4: return pack_saturated<4, false>;
    case suffix::s4: return pack_saturated<4, true>;
    case suffix::u8: return pack_saturated<8, false>;
    case suffix::s8: return pack_saturated<8, true>;
    case suffix::u16: return pack_saturated<16, false>;
    case suffix::s16: return pack_saturated<16, true>;
    default: return nullptr;
    }
}

enum class window { shared, cluster, local, global, constant, parameters };

// Parameters of the kernel are a part of global memory, constants are not.
template <window W>
const instruction* is_space(const instruction* i, std::byte* frame, warp* w) {
    const launch_state& launch = *w->host->launch;
    const std::uint64_t shared = launch.memory->shared_window();
    const std::uint64_t local = launch.memory->local_window();
    const std::uint64_t cluster = launch.memory->cluster_window();
    const std::uint64_t parameters = launch.constant_base;
    const std::uint64_t rank = w->owner->rank;
    constexpr std::uint64_t bytes = memory::device_memory::window_bytes;
    const auto* const addresses = read<std::uint64_t>(w, i->a);
    lane_mask yes = test_lanes(
        [=, &launch](std::uint64_t a) {
            const bool in_shared = a - shared < bytes;
            const bool in_local = a - local < bytes;
            const bool in_cluster = a - cluster < memory::device_memory::cluster_window_bytes;
            const bool own = in_cluster && (a - cluster) / bytes == rank;
            switch (W) {
            case window::shared: return in_shared || own;
            case window::cluster: return in_shared || in_cluster;
            case window::local: return in_local;
            case window::parameters: return parameters != 0 && a - parameters < launch.parameter_bytes;
            default: return !in_shared && !in_local && !in_cluster;
            }
        },
        addresses);
    if constexpr (W == window::constant) {
        yes = constant_lanes(launch, addresses, w->mask);
    } else if constexpr (W == window::global) {
        yes &= ~constant_lanes(launch, addresses, w->mask);
    }
    write_mask(frame, w, i->d, yes);
    return i + 1;
}

handler choose_space_test(suffix space) {
    switch (space) {
    case suffix::shared:
    case suffix::shared_cta: return is_space<window::shared>;
    case suffix::shared_cluster: return is_space<window::cluster>;
    case suffix::local: return is_space<window::local>;
    case suffix::global: return is_space<window::global>;
    case suffix::const_: return is_space<window::constant>;
    case suffix::param:
    case suffix::param_entry: return is_space<window::parameters>;
    default: return nullptr;
    }
}

handler choose_mov(const form& f) {
    const unsigned bytes = ptx::bytes_of(f.type[0]);
    if (f.type[0] == suffix::pred) {
        return copy_mask;
    }
    const unsigned parts = f.parts;
    if (parts == 0) {
        return bytes == 16 ? copy_wide : choose_bits(bytes, []<class T>(T) -> handler { return copy<T>; });
    }
    const auto of = [&]<class Whole, class Part>(Whole, Part) -> handler {
        return f.unpacks ? handler{unpack<Whole, Part>} : handler{pack<Whole, Part>};
    };
    switch (bytes * 16 + parts) {
    case 2 * 16 + 2: return of(std::uint16_t{}, std::uint8_t{});
    case 4 * 16 + 4: return of(std::uint32_t{}, std::uint8_t{});
    case 4 * 16 + 2: return of(std::uint32_t{}, std::uint16_t{});
    case 8 * 16 + 2: return of(std::uint64_t{}, std::uint32_t{});
    case 8 * 16 + 4: return of(std::uint64_t{}, std::uint16_t{});
    case 16 * 16 + 2: return of(uint128{}, std::uint64_t{});
    case 16 * 16 + 4: return of(uint128{}, std::uint32_t{});
    default: return nullptr;
    }
}

} // namespace

handler choose_convert(const form& f) {
    switch (f.op) {
    case opcode::mov: return choose_mov(f);
    case opcode::cvt:
        if (f.has(suffix::pack)) {
            return choose_pack(f);
        }
        if (const handler half = choose_half_convert(f); half != nullptr || f.operands > 2) {
            return half;
        }
        return choose_number(f.type[0], [&]<class D>(D) -> handler {
            return choose_number(f.type[1], []<class S>(S) -> handler { return convert<D, S>; });
        });
    case opcode::cvta:
        if (f.space == suffix::shared || f.space == suffix::shared_cta || f.space == suffix::shared_cluster) {
            return f.has(suffix::to) ? convert_shared<true> : convert_shared<false>;
        }
        if (f.space == suffix::local) {
            return f.has(suffix::to) ? subtract_base : add_base;
        }
        return f.space == suffix::param && !f.has(suffix::to) ? add_parameters : copy<std::uint64_t>;
    case opcode::mapa: return f.space == suffix::none ? map_address<true> : map_address<false>;
    case opcode::getctarank: return f.space == suffix::none ? rank_of_address<true> : rank_of_address<false>;
    case opcode::isspacep: return choose_space_test(f.space);
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
