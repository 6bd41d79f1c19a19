// SPDX-License-Identifier: MIT
// A kernel ready to run: decoded instructions and what a launch has to lay out for them. Made by decode(), run by launch().
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/uninitialized.hpp"
#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/program/program.hpp"
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

// A parameter or a result of a function: 32 lanes of `stride` bytes each, one behind the other.
struct parameter_area {
    place at = nowhere;
    std::uint32_t stride = 0;
    std::uint32_t local = not_in_memory; // of a function's parameter whose address is taken: where in its local memory

    static constexpr std::uint32_t not_in_memory = 0xFFFFFFFFu;
};

// What a call says about itself.
struct call_site {
    const function_entry* to = nullptr; // nullptr: each lane's address of a function is in `target`
    place target = nowhere;
    std::vector<parameter_area> arguments; // what the caller gives, and where it wants the results
    std::vector<parameter_area> results;
};

// 8-byte lanes in a frame that hold an address in the call's own local memory.
struct local_address {
    place at;
    std::uint64_t offset;
};

struct program_code {
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
    std::vector<std::vector<std::uint32_t>> polls; // what loops read that wait, by index into function::instructions
    std::vector<parameter_area> arguments;         // of a function, in its own frame
    std::vector<parameter_area> results;
    std::vector<local_address> local_addresses;
    std::uint32_t local_bytes = 0; // of each call, in each thread
    std::uint32_t frame_bytes = 0;
    std::uint32_t address_registers = 0; // numbers given to those of loads and stores
    bool uses_grid_workspace = false;
    std::vector<std::uint32_t> block_instructions; // PTX instructions of each basic block
    const ptx::function* source = nullptr;
    std::deque<access_site> sites; // what the checks look at
    std::deque<register_flow> flows;
};

class profile_points;

// What the names in a body stand for.
struct symbol_value {
    enum class kind : std::uint8_t { unknown, shared, global, local, parameter, function };
    kind what = kind::unknown;
    std::uint64_t value = 0; // shared, local: offset; global, function: address; parameter: offset in the block
};

struct decode_context {
    std::function<symbol_value(std::string_view)> resolve;
    std::function<const function_entry*(std::string_view)> find_function; // of a name that resolve() calls a function
    std::function<std::uint32_t(std::size_t)>
        local_of_parameter; // where a function's parameter lies in local memory, or
                            // parameter_area::not_in_memory
    std::uint64_t shared_window = 0;
    std::uint64_t local_window = 0;
    bool count = true;
    profile_points* profile = nullptr; // where instructions are counted one by one
    const ptx::module* home = nullptr; // of the function
    bool adversarial = false;          // with a choice of the adversary before what others can notice
    site_table* sites = nullptr;       // where accesses and meetings of threads are looked at: of the kernel
    check::check_set looks = 0;        // for which checks
};

// Throws ptx::error for a body that makes no sense (a branch to nowhere, an unknown symbol).
[[nodiscard]] program_code decode(const ptx::function& f, const program::control_flow& flow,
                                  const program::register_places& places, const decode_context& context);

} // namespace softgpu::machine
