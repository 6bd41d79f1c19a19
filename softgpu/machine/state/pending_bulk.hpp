// SPDX-License-Identifier: MIT
// Asynchronous operations that have begun and that nobody has waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace softgpu::machine {

// Consecutive bytes of global memory.
struct bulk_row {
    std::uint64_t at = 0;
    std::uint32_t bytes = 0;
};

// What brings bytes to a block's shared memory: bulk and tensor loads, st.async, red.async. It happens when a thread looks
// at the mbarrier that counts the bytes.
struct incoming_copy {
    std::uint32_t barrier = 0; // offset in the block's shared memory
    std::uint32_t to = 0;      // offset likewise
    std::uint32_t bytes = 0;
    std::uint32_t counted = 0;  // of these, what the mbarrier counts
    std::uint64_t from = 0;     // where these bytes come from, in global memory and in order; 0: not so
    std::vector<bulk_row> rows; // of a tensor: what it reads, for the checks; empty otherwise
    bool is_marked = false;     // under checks: the words' stamps say that it is under way
    std::function<void(std::byte* to)> write;
};

// What takes bytes from a block's shared memory to global memory: bulk and tensor stores and reductions. It happens when its
// thread waits for its group, or ends.
struct outgoing_copy {
    std::uint8_t lane = 0;
    std::uint32_t group = 0; // of its lane, counted from the lane's first
    std::uint32_t from = 0;  // offset in shared memory
    std::uint32_t bytes = 0;
    std::function<void(const std::byte* from)> write; // empty: has happened
    std::vector<bulk_row> rows;                       // what it writes, for the checks; empty otherwise
};

} // namespace softgpu::machine
