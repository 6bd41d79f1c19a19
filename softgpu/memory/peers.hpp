// SPDX-License-Identifier: MIT
// The device memories of a process that has several devices, and which of them a device reaches besides its own. A memory
// that has not joined is alone. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "softgpu/memory/device_memory.hpp"

namespace softgpu::memory::peers {

void join(const device_memory& memory);
// The memory of managed variables, which belongs to no device.
void join_as_common(const device_memory& memory);
// Ends all access from it and to it.
void leave(const device_memory& memory);

// Kernels of `from` may use all memory of `to`, from now on or no longer. Returns false if that is so already.
bool open(const device_memory& from, const device_memory& to);
bool close(const device_memory& from, const device_memory& to);

// The allocation of another memory that holds all of [at, at + length) and that `from` reaches: managed memory and memory of
// the host in any case, all else of a memory that is open to it.
[[nodiscard]] std::optional<allocation> find(const device_memory& from, address at, std::uint64_t length);
// The allocation that holds it, `from`'s own or another one that it reaches.
[[nodiscard]] std::optional<allocation> find_reachable(const device_memory& from, address at, std::uint64_t length = 1);
// Whether it is an address of a reserved range, of any memory of the process, without an allocation there.
[[nodiscard]] bool is_reserved(const device_memory& from, address at);
// What to say of an address of another device's memory that `from` does not reach; nullptr for any other address.
[[nodiscard]] const char* describe(const device_memory& from, address at);

} // namespace softgpu::memory::peers
