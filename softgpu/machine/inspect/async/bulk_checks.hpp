// SPDX-License-Identifier: MIT
// Checks of bulk and tensor copies, st.async and red.async, from the handlers that begin and end them. What comes to shared
// memory is under way until a thread looks at its mbarrier: any access to its words is a race. What a copy to global memory
// reads is under way until its thread has waited for it: any write is a race. Threads' own writes that such a copy reads
// need fence.proxy.async before it.
#pragma once

#include "softgpu/machine/state/pending_bulk.hpp"
#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Handler, before the instruction: keeps its access site for the functions below.
const instruction* note_bulk_site(const instruction* i, std::byte* frame, warp* w);

void check_incoming(const instruction* i, warp* w, unsigned lane, block& target, incoming_copy& what);
void land_incoming(block& target, const incoming_copy& what);
// A copy to another block reads these bytes of the own shared memory.
void check_cluster_source(const instruction* i, warp* w, unsigned lane, std::uint32_t from, std::uint32_t bytes);
// st.bulk writes these bytes of the own shared memory.
void check_zeros(const instruction* i, warp* w, unsigned lane, std::uint32_t at, std::uint32_t bytes);
void check_outgoing(const instruction* i, warp* w, unsigned lane, const outgoing_copy& what);
void finish_outgoing_check(const warp* w, const outgoing_copy& what);

// The lanes have executed fence.proxy.async.
void note_proxy_fence(const warp* w);

} // namespace softgpu::machine
