// SPDX-License-Identifier: MIT
// Advice about managed memory. Host and device share one memory here, so advice is stored, can be read back, and has no
// effect.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

struct managed_advice {
    bool read_mostly = false;
    std::set<int> accessed_by; // devices
    memory_location preferred{location_type::none, no_device_number};
    memory_location last_prefetch{location_type::none, no_device_number};
};

// Pieces of one allocation by their first byte. Each ends where the next one begins.
using advice_pieces = std::map<memory::address, managed_advice>;

struct managed_ranges final : device_part {
    std::map<memory::address, advice_pieces> advice; // by base of the allocation
};

// What all pages of a range have in common. Throws invalid_value unless the range is in one managed allocation.
managed_advice advice_of(context& gpu, const void* pointer, std::size_t bytes);

// cudaMemPrefetchAsync, cudaMemDiscardBatchAsync and cudaMemAdvise, in every version of the interface. Throw failure.
void prefetch(context& gpu, const void* pointer, std::size_t bytes, memory_location to, unsigned flags, stream* on);
void discard(context& gpu, const void* pointer, std::size_t bytes, stream* on);
void advise(context& gpu, const void* pointer, std::size_t bytes, memory_advice what, memory_location at);

} // namespace softgpu::runtime
