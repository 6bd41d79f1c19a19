// SPDX-License-Identifier: MIT
// Where the machine meets the checks (softgpu/check): before each access and each instruction that threads come to
// together, decode() puts a pseudo-instruction that looks at it. Handlers in handlers/checks/access.cpp take the short way,
// where all is well; everything else comes here.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "softgpu/check/session.hpp"
#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/code/form.hpp"
#include "softgpu/machine/inspect/uninitialized.hpp"

namespace softgpu::machine {

struct program_code;

// The access instructions of a kernel and of the functions that it calls, by their number in stamps. Functions are
// decoded while blocks run.
struct site_table {
    std::array<std::atomic<const access_site*>, check::most_sites + 1> by_id{};
    std::uint16_t used = 0;
};

// Emits the pseudo-instructions of one body.
class inspector {
public:
    inspector(const ptx::function& f, program_code& code, site_table& table, check::check_set looks);

    // Before an access or a warp-wide instruction, whose operands are decoded already; run is nullptr where there is
    // nothing to look at.
    [[nodiscard]] instruction before(const ptx::instruction& i, std::uint32_t source, const form& fm,
                                     const instruction& decoded);
    // The same behind it.
    [[nodiscard]] instruction after(const instruction& before) const;
    // Before any instruction that may meet what was read from unwritten memory; run is nullptr for the others.
    [[nodiscard]] instruction flow(std::uint32_t source, const program::register_places& places);

private:
    [[nodiscard]] bool is_used(const ptx::operand& o) const;
    [[nodiscard]] bool looks_for(check::check_set any) const { return (looks_ & any) != 0; }

    const ptx::function& f_;
    program_code& code_;
    site_table& table_;
    check::check_set looks_;
    std::vector<bool> read_;
    std::unordered_map<std::uint32_t, std::uint32_t> used_bytes_; // of loads that say so, by index of the instruction
    value_flows flows_;
};

// Warps, or parts of them, that have come to one barrier.
struct barrier_arrival {
    unsigned warp = 0;
    lane_mask lanes = 0;
    const ptx::function* function = nullptr;
    std::uint32_t source = 0; // index into its instructions
    bool aligned = false;
};

// Two lanes of a warp wrote one word of shared memory, and nothing says which value stays.
struct lost_value {
    const access_site* site = nullptr;
    const access_site* site_before = nullptr;
    std::uint32_t thread = 0;
    std::uint32_t thread_before = 0;
    std::optional<std::uint64_t> value;
    std::optional<std::uint64_t> value_before;
    std::uint64_t time = 0; // of the block
    bool one_instruction = false;
};

// A block that is looked at.
struct block_checks {
    check::block_clock clock;
    check::release_graph::block_record* record = nullptr; // made when it is needed
    std::vector<check::stamp> shared_stamps;
    std::vector<std::uint8_t> valid;
    std::size_t shared_valid_bytes = 0;
    std::uint64_t acquired_at[32][32];
    std::array<std::vector<barrier_arrival>, 16> arrivals; // by barrier
    std::uint64_t started = 0;                             // the block's time when it began
    std::uint64_t copies_under_way = 0;                    // of cp.async, a lane's each
    site_table* sites = nullptr;
    // What was found last for a serial of another launch, copy or fill: nullptr where it is in order.
    std::uint64_t met_serial = 0;
    check::record_pointer met;
    std::array<std::vector<unwritten_value>, 32> unwritten; // by warp
    std::unordered_map<std::uint64_t, lost_value> lost;     // by word
};

// The block is about to start; makes what it needs.
void start_checks(block& b);
// A barrier of the block has completed; everybody: it was for all threads of the block.
void barrier_completed(block& b, unsigned id, bool everybody);
// No thread of the block can go on.
void report_stuck(const block& b);
// `gone` have ended, and `waits`, of the same warp, has waited for them: they went past the place where it waits.
void report_passed_by(const warp* w, const split& waits, lane_mask gone);

} // namespace softgpu::machine
