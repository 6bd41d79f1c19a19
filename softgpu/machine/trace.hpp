// SPDX-License-Identifier: MIT
// What a launch that is predicted tells while it runs: the memory that its blocks touch, and how long their dependent
// instructions take.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "softgpu/machine/words_between_blocks.hpp"
#include "softgpu/observe/counters.hpp"
#include "softgpu/observe/instruction_mix.hpp"

namespace softgpu::machine {

// `prefetch`: into L2, for which nobody waits. `atomic_of_floats`: additions, each of which waits for the one before it at its
// address. `atomic_of_warp`: ptxas adds up the lanes first.
enum class touch : std::uint8_t { load, load_past_l1, prefetch, store, atomic, atomic_of_floats, atomic_of_warp };
[[nodiscard]] constexpr bool is_atomic(touch how) noexcept { return how >= touch::atomic; }

// What lanes of a warp have in common decides how long these take.
enum class meeting : std::uint8_t {
    constant_words,    // a load of constant memory: different addresses, times the pairs of words of each
    joined_wavefronts, // a load of shared memory that ptxas makes of several: the wavefronts that it saves
    match_values,      // match.any: how many different values
    shared_counts,     // an addition of 1 to shared memory whose result nothing reads: the most words of a bank
    shared_counters,   // the same: the most lanes of a bank
    loop_rounds,       // an atomic on shared memory that is a loop of exchanges: the most lanes of a word
    loop_wavefronts,   // the same: halves of the wavefronts that it takes beside those of the counters
    load_turns,        // a load of global memory: quarters of a turn that L1 takes for it, once it has the lines
    texture_turns      // a texture fetch: halves of the time that texture units take for one from an array
};

// An access of a warp to 128 bytes of global memory.
struct line_access {
    std::uint64_t line = 0;  // the address over 128
    std::uint32_t warp = 0;  // of the block
    std::uint32_t words = 0; // a mask of the line's 32: those that a store fills, or that a load wants something of
    unsigned sectors = 0;    // a mask of the line's four
    // Of atomics: the most lanes that meet at one address of a sector, summed over its sectors. Of loads and stores: 0 for the
    // lines behind an access's first one.
    unsigned passes = 0;
    touch how = touch::load;
    // By table of module::trace(): cycles from the block's begin to the end of the warp's present piece of code, and from there to
    // the access, less than 0.
    const double* clocks = nullptr;
    const double* behind = nullptr;
};

// Of a table: what the blocks of a launch have in common that are all on the device at once.
struct common_clock {
    double begins = 0; // cycles from the launch's first block to this one
    double hop =
        -std::numeric_limits<double>::infinity(); // from a store of one block to the end of another one's wait for it
};

// One block. Its calls come one after the other; those of two blocks may be concurrent.
class block_trace {
public:
    virtual ~block_trace() = default;
    // By table; empty: blocks do not wait for each other.
    [[nodiscard]] virtual std::vector<common_clock> clocks() const { return {}; }
    // `by_lanes`: touched_by_lanes() has told it.
    virtual void touched(const line_access& a, bool by_lanes) = 0;
    // Where module::trace() asks for lanes: addresses of the lanes of `mask` that load or store `bytes` each in global memory.
    virtual void touched_by_lanes(std::uint32_t warp, std::span<const std::uint64_t, 32> at, std::uint32_t mask,
                                  unsigned bytes, touch how) = 0;
    // The same in shared memory.
    virtual void touched_shared(std::span<const std::uint64_t, 32> at, std::uint32_t mask, unsigned bytes,
                                touch how) = 0;
    // The same of local memory: `line` is a word of the 32 lanes, `mask` has those that access it.
    virtual void touched_local(std::uint32_t warp, std::uint64_t line, std::uint32_t mask, touch how) = 0;
    // The block acquires what others of the device have released: L1 keeps nothing.
    virtual void acquired() {}
    virtual void met(meeting what, unsigned times) = 0;
    // All warps of the block have come to a barrier: what was touched so far lies in front of it.
    virtual void passed_barrier() = 0;
    // The block is over. For each latency table of module::trace(): cycles along its longest chain of dependent
    // instructions, where warps wait for each other at barriers and for words of shared memory, and for other blocks by
    // clocks(); and those of them behind the last barrier. `polls`: what the counters have of loops that only wait.
    virtual void ended(std::span<const double> cycles, std::span<const double> last,
                       const observe::counters& polls) = 0;
};

class launch_trace {
public:
    virtual ~launch_trace() = default;
    // A block begins. Concurrent.
    virtual std::unique_ptr<block_trace> begin() = 0;
    [[nodiscard]] words_between_blocks& words() noexcept { return words_; }

private:
    words_between_blocks words_;
};

} // namespace softgpu::machine
