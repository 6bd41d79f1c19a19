// SPDX-License-Identifier: MIT
// Copies that a thread starts and waits for later (cp.async), and the barrier objects of shared memory (mbarrier).
// A copy is carried out as late as PTX allows: when its thread waits for it, or has an mbarrier track it. What a program
// reads before it has waited is then still the old contents.
#pragma once

#include <cstddef>
#include <cstdint>

#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// `more` of a copy, beside its bytes: its source's address has 8 bytes; the predicate that says that nothing is copied is
// negated.
enum : std::uint32_t { copies_from_wide_address = 1024, copies_where_not_set = 2048 };

// Notes a copy of the lane, from global memory to its block's shared memory: `filled` bytes are copied, the rest of
// `bytes` becomes zero. All addresses have been checked.
void start_copy(warp* w, unsigned lane, std::uint64_t from, std::uint32_t to, unsigned bytes, unsigned filled);
// Makes a group, of each lane's own, of what the lanes have started since their last group.
void commit_copies(warp* w, lane_mask by);
// Carries out the lanes' groups but the `keep` youngest.
void finish_groups(warp* w, lane_mask by, std::uint32_t keep);
// Carries out everything that the lanes have started.
void finish_copies(warp* w, lane_mask by);

// An mbarrier: eight bytes of shared memory. Only this machine reads them; PTX leaves the layout open.
class barrier_object {
public:
    explicit barrier_object(std::byte* at) noexcept : at_(at) {}

    static constexpr std::uint32_t most_arrivals = (1u << 20) - 1;

    void initialise(std::uint32_t arrivals) noexcept;
    void invalidate() noexcept;
    // What the object held, as arriving and waiting know it.
    [[nodiscard]] std::uint64_t state() const noexcept;
    // `count` arrivals; `drop` takes them away from later phases too. false: fewer are pending.
    [[nodiscard]] bool arrive(std::uint32_t count, bool drop) noexcept;
    // Bytes that asynchronous copies will bring, or (negative) have brought, in this phase.
    void expect_bytes(std::int64_t bytes) noexcept;
    // One more arrival pending in this phase. false: too many.
    [[nodiscard]] bool expect_arrival() noexcept;
    // Whether the phase in which `token` was taken is over, or the phase of this parity.
    [[nodiscard]] bool is_over(std::uint64_t token) const noexcept;
    [[nodiscard]] bool is_over_parity(std::uint32_t parity) const noexcept;

    [[nodiscard]] static std::uint32_t pending_of(std::uint64_t token) noexcept;

private:
    void store(std::uint64_t pending, std::uint64_t expected, std::int64_t bytes, std::uint64_t phase) noexcept;

    std::byte* at_;
};

// Puts `fresh` at a place of 16 bytes, aligned so, and gives what was there; with `compare` only where that is
// `expected`. One step for all threads of the host.
struct wide_value {
    std::uint64_t low = 0, high = 0;
};
wide_value exchange_wide(void* at, wide_value fresh, bool compare, wide_value expected) noexcept;

} // namespace softgpu::machine
