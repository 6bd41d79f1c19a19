// SPDX-License-Identifier: MIT
// Coalescing and banks of cards before compute capability 5.0, request by request: "CUDA C Programming Guide" 6.5, G.3.2, G.3.3
// and G.4.3. Those of later cards are in the counters.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "softgpu/machine/trace.hpp"
#include "softgpu/predict/card.hpp"

namespace softgpu::predict {

enum class memory_rules : std::uint8_t {
    counters,             // 32-byte sectors of a warp, 32 banks of 4 bytes
    half_warps_in_order,  // 1.0, 1.1: 16 lanes; lane k has word k of a segment, or each lane is alone
    half_warps_any_order, // 1.2, 1.3: 16 lanes; a transaction for each segment, as small as it can be
    wide_banks            // 3.x: global memory as `counters`, 32 banks of 8 bytes
};

[[nodiscard]] memory_rules rules_of(const card& c);
[[nodiscard]] constexpr bool has_half_warps(memory_rules r) noexcept {
    return r == memory_rules::half_warps_in_order || r == memory_rules::half_warps_any_order;
}

using lane_addresses = std::span<const std::uint64_t, 32>;

// Of half warps, 32, 64 or 128 bytes of global memory: the address over 128, and a mask of the four sectors.
struct transaction {
    std::uint64_t line = 0;
    unsigned sectors = 0;
};
struct transactions {
    std::array<transaction, 32> of;
    unsigned count = 0;

    void add(std::uint64_t line, unsigned sectors) { of.at(count++) = {line, sectors}; }
};
// Of the lanes of `mask`, each with so many bytes, aligned.
[[nodiscard]] transactions transactions_of(memory_rules r, lane_addresses at, std::uint32_t mask, unsigned bytes);

// Accesses to shared memory by such rules. `wavefronts`: turns of the banks, of 16 lanes on 1.x; `reissued`: warp instructions
// that the turns after the first take.
struct shared_turns {
    std::uint64_t wavefronts = 0;
    double reissued = 0;

    shared_turns& operator+=(const shared_turns& more) noexcept {
        wavefronts += more.wavefronts;
        reissued += more.reissued;
        return *this;
    }
};
[[nodiscard]] shared_turns turns_of(memory_rules r, lane_addresses at, std::uint32_t mask, unsigned bytes,
                                    machine::touch how);

} // namespace softgpu::predict
