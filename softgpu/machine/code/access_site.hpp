// SPDX-License-Identifier: MIT
// What the checks need of an access instruction; decode/emit/check_emitter.cpp fills it in.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "softgpu/check/shadow/stamp.hpp"
#include "softgpu/machine/code/instruction.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

enum class access_verb : std::uint8_t { load, store, update };
enum class access_space : std::uint8_t { global, shared, local, generic };

struct access_site {
    const ptx::function* function = nullptr;
    std::uint32_t source = 0; // index into ptx::function::instructions
    std::uint16_t id = 0;     // in stamps; 0: there were too many
    access_verb verb = access_verb::load;
    access_space space = access_space::global;
    std::uint8_t bytes = 0; // of a lane
    std::uint8_t element_bytes = 0;
    check::strength strength = check::strength::plain;
    bool acquires = false;     // reads that others may have released
    bool releases = false;     // of itself, without a fence before it
    bool within_block = false; // .cta scope
    bool is_init = false;      // mbarrier.init
    std::uint32_t used = 0;    // elements of a load that somebody reads
    std::uint8_t elements = 1;
    std::uint8_t value_width = 0;  // bytes of a lane of the register that is written from
    place value = nowhere;         // of a store or an update
    const place* values = nullptr; // ... of a vector, or of stmatrix: of its matrices
    bool is_matrix = false;        // stmatrix: the value of a row lies in several lanes
    bool is_transposed = false;    // ... by columns
    unsigned used_bytes = ~0u;     // of a load, by byte: those that somebody looks at
    // Of cp.async: the load from global memory that belongs to it, and where its operands are (handlers/memory/async_copy.cpp).
    const access_site* from = nullptr;
    const place* source_places = nullptr;
    std::uint32_t source_flags = 0;
};

// The access instructions of a kernel and of the functions that it calls, by their number in stamps. Functions are
// decoded while blocks run.
struct site_table {
    std::array<std::atomic<const access_site*>, check::most_sites + 1> by_id{};
    std::uint16_t used = 0;
};

} // namespace softgpu::machine
