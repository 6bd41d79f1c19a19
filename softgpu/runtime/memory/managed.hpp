// SPDX-License-Identifier: MIT
// What a program has advised about its managed memory. Kept so that it can be asked for again; it changes nothing.
#pragma once

#include <cstdint>
#include <map>

#include "softgpu/runtime/abi/memory.hpp"

namespace softgpu::runtime {

struct managed_advice {
    bool read_mostly = false;
    bool accessed_by_device = false;
    memory_location preferred{location_type::none, no_device_number};
    memory_location last_prefetch{location_type::none, no_device_number};
};

struct stream;

using managed_ranges = std::map<std::uint64_t, managed_advice>; // by base of the allocation

// What cudaMemPrefetchAsync and cudaMemAdvise do in every version of the interface. They throw failure.
void prefetch(const void* pointer, std::size_t bytes, memory_location to, unsigned flags, stream* on);
void discard(const void* pointer, std::size_t bytes, stream* on);
void advise(const void* pointer, std::size_t bytes, memory_advice what, memory_location at);

} // namespace softgpu::runtime
