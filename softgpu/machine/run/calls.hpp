// SPDX-License-Identifier: MIT
// Calls in kernels. A call makes a frame for its lanes, registers and all, and a join behind the call where they meet
// again; a function's last return hands the frame back. What the compiler leaves to the driver (printf, malloc, a failed
// assertion) is a builtin: C++ that runs for the lanes of a call.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/launch.hpp"

namespace softgpu::machine {

// Runs for the active lanes of the warp. false: a fault was raised.
using builtin = bool (*)(const instruction* i, warp* w, const call_site& site);
// nullptr where there is none of this name.
[[nodiscard]] builtin find_builtin(std::string_view name);

// Something that can be called, and that has an address: what device_memory::code_at() gives.
struct function_entry {
    std::string name;
    ptx::function* source = nullptr; // with a body; nullptr: a builtin, or nothing that this program has
    module::implementation* home = nullptr;
    builtin run = nullptr;
    memory::address address = 0;
};

// A function as a worker runs it.
struct worker_function {
    const program_code* code = nullptr;
    std::byte* constants = nullptr;
    std::vector<std::byte> constant_storage;
    std::vector<execution_count> executions;
    std::vector<call_frame*> free;

    struct release {
        void operator()(std::byte* p) const noexcept { ::operator delete[](p, std::align_val_t{64}); }
    };
    std::vector<std::unique_ptr<std::byte, release>> storage;
};

// What a call costs of a thread's stack beside the function's own local memory.
inline constexpr std::uint32_t call_overhead = 32;
// The stack of a kernel whose functions call themselves or are called by address, at least.
inline constexpr std::uint32_t least_stack = 64 * 1024;

// Handlers.
const instruction* call_function(const instruction* i, std::byte* frame, warp* w);
const instruction* land(const instruction* i, std::byte* frame, warp* w);         // behind a call
const instruction* return_lanes(const instruction* i, std::byte* frame, warp* w); // guard `e`, negated if `more`
// d or places, from the area at a; st: b or places, to the area at d. `immediate`: offset, `e`: stride, `more`: bytes of
// an element, elements, whether the sign extends, as in handlers/memory/load_store.cpp.
const instruction* load_parameter(const instruction* i, std::byte* frame, warp* w);
const instruction* store_parameter(const instruction* i, std::byte* frame, warp* w);
const instruction* allocate_on_stack(const instruction* i, std::byte* frame, warp* w);
const instruction* save_stack(const instruction* i, std::byte* frame, warp* w);
const instruction* restore_stack(const instruction* i, std::byte* frame, warp* w);

// Of an operand's place.
inline const std::byte* lanes_at(std::byte* frame, const warp* w, place p) {
    return ((p & in_constants) != 0 ? w->constants : frame) + (p & ~in_constants);
}

} // namespace softgpu::machine
