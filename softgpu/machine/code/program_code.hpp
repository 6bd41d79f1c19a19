// SPDX-License-Identifier: MIT
// A kernel's or a function's decoded instructions, and what a launch, a block or a warp has to fill in for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/code/function_entry.hpp"
#include "softgpu/machine/code/instruction.hpp"
#include "softgpu/machine/code/value_flow.hpp"
#include "softgpu/observe/instruction_mix.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// A value of the launch or of the block that fills a place of the constants for all lanes.
enum class uniform : std::uint8_t {
    ntid_x,
    ntid_y,
    ntid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    clusterid_x,
    clusterid_y,
    clusterid_z,
    nclusterid_x,
    nclusterid_y,
    nclusterid_z,
    cluster_ctaid_x,
    cluster_ctaid_y,
    cluster_ctaid_z,
    cluster_ctarank,
    cluster_nctaid_x,
    cluster_nctaid_y,
    cluster_nctaid_z,
    cluster_nctarank,
    is_explicit_cluster, // a predicate
    nwarpid,
    smid,
    nsmid,
    gridid,
    dynamic_shared_bytes,
    total_shared_bytes,
    aggregate_shared_bytes, // with what the system has reserved
    reserved_shared_begin,
    reserved_shared_groups,
    reserved_shared_end, // offsets
    grid_workspace_high,
    grid_workspace_low, // %envreg1 and 2: where cooperative groups keep the grid's barrier
};

struct uniform_place {
    uniform what;
    place at;
    std::uint8_t bytes; // of a lane
};

// Bytes [offset, offset + bytes) of the parameters, extended to a lane of `lane_bytes`.
struct parameter_place {
    std::uint32_t offset;
    std::uint8_t bytes;
    bool is_signed;
    std::uint8_t lane_bytes;
    place at;
};

// Values that differ from warp to warp, in the frame.
enum class per_warp : std::uint8_t { tid_x, tid_y, tid_z, warpid };

struct warp_place {
    per_warp what;
    place at;
};

// 8-byte lanes in a frame that hold an address in the call's own local memory.
struct local_address {
    place at;
    std::uint64_t offset;
};

// An instruction names a register that a wgmma.mma_async before it may still use.
struct product_touch {
    std::uint32_t reg = 0; // as the product names it
    bool writes = false;
    bool is_factor = false; // the product reads it; else it writes it
};

inline constexpr std::uint32_t no_instruction = 0xFFFFFFFFu; // the source of the code behind the last instruction

// How long a piece of straight code takes (decode/ptxas/schedule.hpp); places in piece_cycles and piece_carried.
struct traced_piece {
    std::uint32_t cycles = 0;
    std::uint32_t carried = 0;
    std::uint16_t needs = 0, leaves = 0;
    bool waits = false; // of a loop that only waits: it counts once each time that a warp comes to the loop
};

// A loop that only reads memory (decode/analysis/waiting_loops.hpp).
struct waiting_loop {
    std::vector<std::uint32_t> reads; // by index into function::instructions
    bool may_time_out = false;
};

// In the place of a loop's number.
inline constexpr std::uint32_t no_loop = 0xFFFFFFFFu;

struct program_code {
    // Whether `loop`, or no_loop, is the outer one or within it.
    [[nodiscard]] bool is_in_loop(std::uint32_t loop, std::uint32_t outer) const {
        while (loop != no_loop && loop < outer) {
            loop = loop_parents[loop];
        }
        return loop == outer;
    }

    // Appends an instruction for the PTX instruction `source_index`.
    instruction& emit(handler run, std::uint32_t source_index) {
        instruction i;
        i.run = run;
        i.source = source_index;
        return code.emplace_back(i);
    }

    std::string name; // of the function
    std::vector<instruction> code;
    std::deque<std::vector<place>> place_lists;
    std::deque<std::vector<const instruction*>> target_lists;
    std::vector<std::byte> constants; // immediates in place, the rest filled per launch or block
    std::vector<uniform_place> of_launch;
    std::vector<uniform_place> of_block;
    std::vector<parameter_place> parameters;
    std::vector<place> parameter_address; // 8-byte lanes: the address of the parameter block is added
    std::vector<warp_place> of_warp;
    std::deque<call_site> call_sites;
    std::vector<waiting_loop> polls;
    std::vector<parameter_area> arguments; // of a function, in its own frame
    std::vector<parameter_area> results;
    std::vector<local_address> local_addresses;
    std::uint32_t local_bytes = 0; // of each call, in each thread
    std::uint32_t frame_bytes = 0;
    std::uint32_t clocks_begin = 0, clocks_end = 0; // registers that depend on a clock, in the frame
    std::uint32_t address_registers = 0;            // numbers given to those of loads and stores
    std::vector<std::uint32_t> block_instructions;  // PTX instructions of each basic block
    std::vector<std::uint32_t> loop_parents;        // by loop: the next one around it, which has a higher number
    // Of code that is traced: machine instructions of each basic block, and the pieces of straight code.
    std::vector<observe::instruction_mix> block_mixes;
    std::vector<traced_piece> pieces;
    std::vector<double> piece_cycles;         // by latency table: the piece's own, of what it needs, of what it leaves
    std::vector<std::uint32_t> piece_carried; // the registers of both
    std::size_t latency_tables = 0;
    std::uint32_t carried_registers = 0;
    const ptx::function* source = nullptr;
    std::deque<access_site> sites; // what the checks look at
    std::deque<register_flow> flows;
    std::deque<product_touch> touches;
};

} // namespace softgpu::machine
