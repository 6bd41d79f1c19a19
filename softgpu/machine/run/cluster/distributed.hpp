// SPDX-License-Identifier: MIT
// Accesses to distributed shared memory (state/distributed_place.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "softgpu/machine/state/distributed_place.hpp"

namespace softgpu::machine {

// What an address in .shared::cluster names, for an access of a lane. nothing: a fault was raised.
std::optional<distributed_place> locate_distributed(const instruction* i, warp* w, unsigned lane, std::uint64_t at,
                                                    std::uint64_t bytes, std::uint64_t alignment, const char* verb);
// The same for the lanes of a mask. `generic`: the addresses are. `each`: where the lanes' bytes are. Counts what is not
// the own block's. false: a fault was raised.
bool locate_distributed(const instruction* i, warp* w, lane_mask mask, const std::uint64_t* at, bool generic,
                        unsigned bytes, const char* verb, std::byte** each);

// Handlers of what converts addresses: mapa in .shared::cluster and generic, getctarank. width: as decoded.
template <bool Generic>
const instruction* map_address(const instruction* i, std::byte* frame, warp* w);
template <bool Generic>
const instruction* rank_of_address(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
