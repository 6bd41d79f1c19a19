// SPDX-License-Identifier: MIT
// The interface of softgpu/machine: load a module, launch a kernel, get the result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/observe/counters.hpp"
#include "softgpu/observe/instruction_mix.hpp"
#include "softgpu/observe/profile.hpp"

namespace softgpu::check {
struct operation_note;
class session;
} // namespace softgpu::check

namespace softgpu::machine {

class device_runtime; // device_runtime.hpp

struct extent {
    std::uint32_t x = 1, y = 1, z = 1;

    [[nodiscard]] std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
    // x, y and z of element `k`; x runs fastest.
    [[nodiscard]] std::array<std::uint32_t, 3> index(std::uint64_t k) const noexcept {
        return {static_cast<std::uint32_t>(k % x), static_cast<std::uint32_t>(k / x % y),
                static_cast<std::uint32_t>(k / x / y)};
    }
};

enum class fault_kind : std::uint8_t {
    none,
    illegal_address,     // cudaErrorIllegalAddress
    misaligned_address,  // cudaErrorMisalignedAddress
    trap,                // cudaErrorLaunchFailure
    illegal_instruction, // cudaErrorIllegalInstruction
    assertion,           // cudaErrorAssert
    unsupported,         // an unsupported instruction: cudaErrorNotSupported
    invalid_ptx,         // the body does not parse: cudaErrorInvalidPtx
    deadlock,            // no warp can make progress: cudaErrorLaunchTimeout
    stack_overflow,      // calls nested too deeply: cudaErrorHardwareStackError
};

struct fault {
    fault_kind kind = fault_kind::none;
    // One line: kernel, block, thread, what, and the nearest allocation. Of a failed assertion: what CUDA prints, a line
    // for each thread.
    std::string message;

    explicit operator bool() const noexcept { return kind != fault_kind::none; }
};

// Properties of a kernel.
struct kernel_facts {
    std::uint32_t static_shared_bytes = 0;
    std::uint32_t local_bytes = 0;    // per thread
    std::uint32_t constant_bytes = 0; // of the module
    std::uint32_t parameter_bytes = 0;
    std::vector<std::uint32_t> parameter_offsets; // of each parameter in the parameter block
    std::vector<std::uint32_t> parameter_sizes;
    std::uint32_t registers = 0;    // an estimate: 32-bit registers live at most, per thread
    std::uint32_t registers_32 = 0; // the same on a card of compute capability 1.x, whose addresses have 32 bits
    std::uint32_t maxntid = 0;      // threads per block that __launch_bounds__ allows; 0: any
    std::uint32_t least_blocks = 0; // of a multiprocessor, that __launch_bounds__ asks for; 0: none
    std::uint32_t maxnreg = 0;      // registers per thread; 0: any
    std::uint32_t reqntid[3] = {0, 0, 0};
    std::uint32_t cluster[3] = {0, 0, 0};  // blocks of a cluster, of __cluster_dims__
    std::uint32_t most_cluster_blocks = 0; // 0: as the card allows
    bool needs_cluster = false;            // a launch without a cluster size is an error
    bool blocks_are_clusters = false;      // of __block_size__: a launch counts clusters
    bool lets_dependents_start = false;    // it has griddepcontrol.launch_dependents
    unsigned ptx_target = 0;               // 75 for sm_75
    std::string unresolved;                // a function that it may call and that nobody has; empty: none
};

class launch_trace; // softgpu/machine/trace.hpp
class kernel;       // opaque; owned by its module

struct variable_place {
    memory::address address = 0;
    std::uint64_t bytes = 0;
    bool constant = false;
    bool managed = false;
};

// One PTX module placed in device memory: parsed on first use, bodies decoded on first launch. Thread-safe.
class module {
public:
    module(std::string ptx, memory::device_memory& memory);
    ~module();
    module(const module&) = delete;
    module& operator=(const module&) = delete;

    // nullptr where there is no such kernel. Throws ptx::error where the module does not parse.
    [[nodiscard]] const kernel* find_kernel(std::string_view name);
    // The names of all kernels, in the order written. Throws likewise.
    [[nodiscard]] std::vector<std::string> kernel_names();
    // Address 0 where there is no such variable.
    [[nodiscard]] variable_place find_variable(std::string_view name);
    // Throws ptx::error where the body does not parse.
    [[nodiscard]] const kernel_facts& facts(const kernel& k);

    // Decodes the body and those of the functions that it calls, as the first launch does. Throws ptx::error where one is wrong.
    void check_bodies(const kernel& k);

    // Launches that count also count by instruction from now on. To be called before the first launch.
    void profile();
    // Launches can be traced from now on, with paths by these tables, and also lane by lane. To be called before the first
    // launch.
    void trace(std::span<const observe::latency_table> tables, bool by_lanes);
    // The instructions of a kernel that has run, in the order of launch_result::profile.
    [[nodiscard]] std::vector<observe::profile_point> profile_points(const kernel& k);

    struct implementation; // softgpu/machine/module/loaded_module.hpp
    [[nodiscard]] implementation& inside() noexcept { return *self_; }

private:
    std::unique_ptr<implementation> self_;
};

// Modules cannot be linked: no unit defines a symbol, or two do. The text is one line.
class link_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Links the units of one program, as nvlink does for machine code: each can then use the visible functions and variables of
// all. No unit may have been used before. `names`: one a unit, for messages. Units are to be destroyed together. NVIDIA's
// library for launches by kernels is removed from `units`; a unit of ours for grid groups is added where one is needed.
// Throws link_error, and ptx::error where a unit does not parse.
void link(std::vector<std::unique_ptr<module>>& units, std::vector<std::string> names);

struct launch_request {
    extent grid;
    extent block;
    extent cluster;                // blocks; divides the grid
    bool explicit_cluster = false; // %is_explicit_cluster
    std::uint32_t dynamic_shared_bytes = 0;
    const std::byte* parameters = nullptr; // kernel_facts::parameter_bytes of them, laid out by parameter_offsets
    bool count = true;
    bool cooperative = false;         // every block resident at once
    unsigned workers = 0;             // threads of the host; 0: all
    unsigned resident_blocks = 0;     // at once over all workers, from occupancy; 0: no limit
    unsigned multiprocessors = 132;   // %nsmid
    std::uint64_t number = 0;         // %gridid
    check::session* checks = nullptr; // nullptr: no checks; else they watch the module's device memory
    const check::operation_note* note =
        nullptr; // the launch's place among other operations, for the checks; nullptr: not known
    std::uint32_t shared_limit = 227 * 1024; // for bounds only; the runtime has checked the configuration
    std::uint64_t stack_bytes = 1024;        // cudaLimitStackSize: local memory of a thread, at least 64 KiB of it
    std::uint64_t heap_bytes = 8 << 20;      // cudaLimitMallocHeapSize: total of malloc in kernels
    // A launch whose threads all only wait for so long ends with fault_kind::deadlock; 0: never. Not while outside() says
    // that other work, such as another stream, may still change memory.
    double deadlock_seconds = 2;
    std::function<bool()> outside{};
    device_runtime* runtime = nullptr;   // that the kernel calls; nullptr: none
    launch_trace* trace = nullptr;       // nullptr: not traced; else of a module that is
    std::optional<std::uint64_t> seed{}; // of an adversarial schedule, which has one worker
};

struct launch_result {
    fault error;
    std::string printed; // by printf in the kernel, block after block
    observe::counters total;
    std::vector<observe::counters> by_interval; // see observe::launch_record
    observe::instruction_mix mix;               // of a module that is traced
    std::vector<observe::point_counts> profile; // by instruction, of a module that is profiled; see profile_points
};

// Runs a kernel to its end or its first fault. Errors of the kernel are in the result; they do not throw.
[[nodiscard]] launch_result launch(module& owner, const kernel& k, const launch_request& request);

// The instruction set of the host that the handlers use: "avx512", "avx2" or "plain".
[[nodiscard]] std::string_view instruction_set() noexcept;

} // namespace softgpu::machine
