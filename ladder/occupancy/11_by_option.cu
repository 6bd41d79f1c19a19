// SPDX-License-Identifier: MIT
// Loads that say nothing of caches, and the options by which ptxas decides for them: the machine code that comes out, and on a
// GPU what a line takes that is read again. The lecture's generations from 1.x to 5.x cannot be had any more; what it says of
// them stands here beside what holds today. (380 "Global Memory Access", "GMEM Reads", "Caching vs Non-caching Loads", "SASS
// LD/ST Instructions", "Vectorized Memory Access", "PTX Cache Operators", "PTX State Spaces".)
#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "ladder/engine/command.hpp"
#include "ladder/occupancy/definition/cycles.hpp"
#include "ladder/occupancy/definition/figures.hpp"
#include "ladder/occupancy/definition/machine_code.hpp"
#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"

namespace warpfold::ladder::occupancy {

namespace {

__global__ void link_plainly(std::byte* chain, std::uint64_t lines) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < lines) {
        *reinterpret_cast<const void**>(chain + i * line_bytes) = chain + next_line(i, lines) * line_bytes;
    }
}

__global__ void follow_plainly(std::int32_t* out, const std::byte* chain, unsigned hops) {
    const std::byte* at = chain;
#pragma unroll 1
    for (unsigned k = 0; k < hops; ++k) {
        at = *reinterpret_cast<const std::byte* const*>(at);
    }
    *out = static_cast<std::int32_t>((at - chain) / static_cast<std::int64_t>(line_bytes));
}

engine::sample end_of_the_chain(std::uint64_t lines, std::uint64_t /*seed*/) {
    if (lines == 0) {
        return {};
    }
    std::uint64_t at = 0;
    for (unsigned k = 0; k < hops_of_a_step; ++k) {
        at = next_line(at, lines);
    }
    return {lines, {}, engine::bytes_of(std::vector<std::int32_t>{static_cast<std::int32_t>(at)})};
}

void run_plainly(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    auto* const chain = on.temporary<std::byte>();
    engine::launch(on, "link_plainly", link_plainly, static_cast<unsigned>(engine::divide_up(on.n, 256)), 256, 0, chain,
                   on.n);
    engine::launch(on, "follow_plainly", follow_plainly, 1, 1, 0, on.output<std::int32_t>(), chain, hops_of_a_step);
}

// The same with a clock, as PTX, so that it can be assembled with other options. {L} is the load.
constexpr const char* timed_chain = R"(.version 6.4
.target sm_75
.address_size 64
.visible .entry timed_chain(.param .u64 chain, .param .u32 warm, .param .u32 rounds, .param .u64 cycles)
{
    .reg .pred %p;
    .reg .b32 %k, %w, %r;
    .reg .b64 %at, %c, %begin, %end;
    ld.param.u64 %at, [chain];
    ld.param.u32 %w, [warm];
    ld.param.u32 %r, [rounds];
    ld.param.u64 %c, [cycles];
    mov.u32 %k, 0;
WARM:
    {L}
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, %w;
    @%p bra WARM;
    mov.u64 %begin, %clock64;
    mov.u32 %k, 0;
TIMED:
    {L} {L} {L} {L} {L} {L} {L} {L}
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, %r;
    @%p bra TIMED;
    mov.u64 %end, %clock64;
    sub.s64 %end, %end, %begin;
    st.global.u64 [%c], %end;
    st.global.u64 [%c+8], %at;
    ret;
}
)";

std::string chain_with(const std::string& load) {
    std::string text = timed_chain;
    for (std::size_t at = 0; (at = text.find("{L}")) != std::string::npos;) {
        text.replace(at, 3, load);
    }
    return text;
}

// The driver's calls for a cubin; only as many as are needed here.
class driver {
public:
    driver() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {}

    [[nodiscard]] bool there() const { return library_ != nullptr; }
    template <class... Arguments>
    void call(const char* name, Arguments... arguments) const {
        const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
        const int answer = function == nullptr ? -1 : function(arguments...);
        if (answer != 0) {
            throw std::runtime_error(std::string(name) + " answers " + std::to_string(answer));
        }
    }

private:
    void* library_;
};

unsigned target_of(const engine::evidence& e) {
    return static_cast<unsigned>(10 * e.report.device.compute_major + e.report.device.compute_minor);
}
std::string name_of_target(unsigned target) { return "sm_" + std::to_string(target); }

// Cycles of a load that reads a line again, assembled with the options.
double cycles_with(const driver& gpu, const engine::evidence& e, const std::vector<std::string>& options,
                   const std::string& load = "ld.global.u64 %at, [%at];") {
    const auto& made = engine::assemble(chain_with(load), name_of_target(target_of(e)), options);
    if (made.cubin.empty()) {
        throw std::runtime_error("ptxas: " + made.said);
    }
    constexpr std::uint64_t lines = 128; // 16 KiB
    constexpr unsigned rounds = 256;
    const measure::device_memory chain(lines * line_bytes);
    const measure::device_memory cycles(2 * sizeof(std::int64_t));
    link_plainly<<<1, lines>>>(static_cast<std::byte*>(chain.data()), lines);
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    void* module = nullptr;
    void* function = nullptr;
    gpu.call("cuModuleLoadData", &module, static_cast<const void*>(made.cubin.data()));
    gpu.call("cuModuleGetFunction", &function, module, "timed_chain");
    void* from = chain.data();
    unsigned warm = lines;
    unsigned timed_rounds = rounds;
    void* to = cycles.data();
    void* arguments[] = {&from, &warm, &timed_rounds, &to};
    double best = 0;
    for (int sample = 0; sample < 3; ++sample) {
        gpu.call("cuLaunchKernel", function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, static_cast<void*>(nullptr),
                 static_cast<void**>(arguments), static_cast<void**>(nullptr));
        std::int64_t taken = 0;
        WARPFOLD_CUDA_CHECK(cudaMemcpy(&taken, cycles.data(), sizeof taken, cudaMemcpyDeviceToHost));
        const double each = static_cast<double>(taken) / (rounds * hops_at_once);
        best = best == 0 ? each : std::min(best, each);
    }
    gpu.call("cuModuleUnload", module);
    return best;
}

// Whether a line that is read again is found in the L1 cache, by code assembled with the options; on a GPU with ptxas.
struct reread {
    double cycles = 0, l1 = 0, l2 = 0;
    [[nodiscard]] bool in_l1() const { return std::abs(cycles - l1) < std::abs(cycles - l2); }
    [[nodiscard]] std::string in_words() const {
        return number(cycles, 0) + " cycles to read a line again; L1 " + number(l1, 0) + ", L2 " + number(l2, 0);
    }
};
using reread_check = std::function<verdict(const reread&)>;
engine::check read_again(std::vector<std::string> options, std::string load, reread_check inner) {
    return [=](const engine::evidence& e) {
        if (const auto* const given = e.given<reread>()) {
            return inner(*given);
        }
        if (!e.step.cold) {
            return unseen("needs the clock of a GPU");
        }
        const driver gpu;
        if (!gpu.there() || !engine::assemble(memory_program(), name_of_target(target_of(e)), {}).there) {
            return unseen("needs NVIDIA's driver and ptxas");
        }
        const auto& t = measured_memory(e.report.device.l2_bytes);
        return inner({cycles_with(gpu, e, options, load), t.l1, t.l2});
    };
}
constexpr const char* plain_load = "ld.global.u64 %at, [%at];";
// Refuted by a line found in the other level.
engine::check kept(bool in_l1, std::vector<std::string> options, const char* load = plain_load) {
    return read_again(std::move(options), load,
                      [in_l1](const reread& r) { return seen(r.in_l1() == in_l1, r.in_words()); })
        .refuted_by(engine::figures_in_place(in_l1 ? "a line found in L2" : "a line found in L1",
                                             reread{in_l1 ? 280.0 : 32.0, 32, 280}));
}
// Of generations that cannot be had any more: it holds for them only where today's lines are found in L1.
engine::check not_in_l1_of(const std::string& generation) {
    return read_again({}, plain_load,
                      [generation](const reread& r) {
                          return r.in_l1() ? holds_only_for(generation, r.in_words()) : seen(true, r.in_words());
                      })
        .refuted_by(engine::figures_in_place("an H200's cycles", reread{32, 32, 280}));
}
// Of what cannot be had any more.
engine::check gone() {
    return read_again({}, plain_load, [](const reread& r) {
        return unseen("hardware that is gone; today a load without an operator finds its line in the L1 cache: " +
                      r.in_words());
    });
}

// The memory instructions of one kernel of memory_program(), assembled with the options.
std::vector<instruction> code_of(const engine::evidence& e, const std::vector<std::string>& options,
                                 const char* kernel) {
    const auto& made = engine::assemble(memory_program(), name_of_target(target_of(e)), options);
    const auto code = machine_code(made.cubin);
    std::vector<instruction> found;
    for (const instruction& one : code.at(kernel)) {
        const std::string name = name_of(one, target_of(e));
        if (!name.empty() && name != "LDC") { // parameters
            found.push_back(one);
        }
    }
    return found;
}
std::string first_name(const engine::evidence& e, const std::vector<std::string>& options, const char* kernel) {
    return name_of(code_of(e, options, kernel).at(0), target_of(e));
}
bool same(const engine::evidence& e, const std::vector<std::string>& options, const char* kernel, const char* other) {
    return code_of(e, options, kernel).at(0) == code_of(e, {}, other).at(0);
}

// `inner` where there is a ptxas with the device's target.
engine::check assembled(engine::check inner) {
    return engine::guarded(std::move(inner), [](const engine::evidence& e) {
        const auto& made = engine::assemble(memory_program(), name_of_target(target_of(e)), {});
        return made.cubin.empty() ? (made.there ? "ptxas: " + made.said : "needs ptxas") : std::string();
    });
}

// The kernel of memory_program() that a claim speaks of; a counter-example puts another one there.
struct kernel_in_place {
    const char* name;
};
const char* kernel_or(const engine::evidence& e, const char* name) {
    return e.given<kernel_in_place>() != nullptr ? e.given<kernel_in_place>()->name : name;
}
engine::check against_kernel(verdict (*inner)(const engine::evidence&), const char* what, const char* name) {
    return assembled(engine::check(inner).refuted_by(engine::figures_in_place(what, kernel_in_place{name})));
}

verdict opt_in(const engine::evidence& e) {
    const char* const load = kernel_or(e, "global");
    return seen(same(e, {"-dlcm=ca"}, load, "ca") && same(e, {"-dlcm=cg"}, load, "cg"),
                "the load becomes " + first_name(e, {}, load) + ", with -dlcm=ca " + first_name(e, {"-dlcm=ca"}, load) +
                    ", with -dlcm=cg " + first_name(e, {"-dlcm=cg"}, load) + "; ld.global.ca is " +
                    first_name(e, {}, "ca") + ", ld.global.cg " + first_name(e, {}, "cg"));
}

verdict except_operators(const engine::evidence& e) {
    const char* const load = kernel_or(e, "cg");
    return seen(same(e, {"-dlcm=ca"}, load, "cg") && same(e, {"-dlcm=ca"}, "cv", "cv"),
                "with -dlcm=ca the load is " + first_name(e, {"-dlcm=ca"}, load) + ", ld.global.cv " +
                    first_name(e, {"-dlcm=ca"}, "cv"));
}

verdict forced(const engine::evidence& e) {
    const auto& refused = engine::assemble(memory_program(), name_of_target(target_of(e)), {"-fscm=ca"});
    const std::string figure = "-fscm is of stores today (" + refused.said.substr(0, refused.said.find('\n')) +
                               "); with -flcm=ca ld.global.cg becomes " + first_name(e, {"-flcm=ca"}, "cg");
    return !refused.cubin.empty() && same(e, {"-fscm=ca"}, kernel_or(e, "cg"), "ca")
               ? seen(true, figure)
               : holds_only_for("ptxas of that time", figure);
}

verdict local_by_cs(const engine::evidence& e) {
    const auto cs = code_of(e, {}, kernel_or(e, "local_cs"));
    const auto lu = code_of(e, {}, "local_lu");
    return seen(cs.at(1) == lu.at(1), name_of(cs.at(1), target_of(e)) + ", and " + name_of(lu.at(1), target_of(e)) +
                                          " of ld.local.lu" +
                                          (lu.at(1) == code_of(e, {}, "local").at(1) ? ", as of ld.local" : ""));
}

// The register that the first load fills, and the one that the last store takes.
verdict one_load_of_both(const engine::evidence& e) {
    const auto code = code_of(e, {}, kernel_or(e, "nc_written"));
    const auto loaded = code.front().low >> 16 & 0xff;
    const auto stored = code.back().low >> 32 & 0xff;
    std::string names;
    for (const instruction& one : code) {
        names += (names.empty() ? "" : ", ") + name_of(one, target_of(e));
    }
    return seen(loaded == stored, "load, store, load again, output become " + names + ": the output is " +
                                      (loaded == stored ? "what the first load has read" : "what was stored"));
}

verdict instructions_of_kepler(const engine::evidence& e) {
    std::set<std::string> names;
    const auto code = machine_code(engine::assemble(memory_program(), name_of_target(target_of(e)), {}).cubin);
    for (const auto& [kernel, instructions] : code) {
        for (const instruction& one : instructions) {
            const std::string name = name_of(one, target_of(e));
            names.insert(name.substr(0, name.find('.')));
        }
    }
    names.erase("");
    std::string all;
    for (const std::string& name : names) {
        all += (all.empty() ? "" : ", ") + name;
    }
    const std::string figure =
        name_of_target(target_of(e)) + " has " + all +
        ": stores and atomics know their state space, and ATOMS has taken the place of the locks";
    return names.count("STG") == 0 && names.count("ATOMS") == 0 ? seen(true, figure) : holds_only_for("Kepler", figure);
}

verdict non_coherent(const engine::evidence& e) {
    const char* const load = kernel_or(e, "global");
    const std::string figure =
        "the load is " + first_name(e, {}, load) + "; what is not coherent is " + first_name(e, {}, "nc");
    return first_name(e, {}, load).rfind("LDG", 0) != 0 ? seen(true, figure) : holds_only_for("Kepler", figure);
}

verdict wide_names(const engine::evidence& e) {
    const auto two = code_of(e, {}, kernel_or(e, "two_words"));
    const auto four = code_of(e, {}, "four_words");
    std::string all;
    bool wide = true;
    for (const auto& [code, width] : {std::pair{two, ".64"}, {four, ".128"}}) {
        for (const instruction& one : code) {
            const std::string name = name_of(one, target_of(e));
            wide = wide && name.find(width) != std::string::npos;
            all += (all.empty() ? "" : ", ") + name;
        }
    }
    if (target_of(e) < 80 || target_of(e) > 90) {
        return unseen("widths are known of sm_80 to sm_90: " + all);
    }
    return seen(wide, all + "; with G where the address is known to be global");
}

// What ptxas takes, and what it refuses: properties of state spaces.
struct rule {
    const char* what;
    const char* globals;
    const char* body;
    bool taken;
};
constexpr rule rules[] = {
    {"the address of a register", "", ".reg .b32 %x; .reg .b64 %y; mov.u64 %y, %x;", false},
    {"a store to a special register", "", "mov.u32 %tid.x, 3;", false},
    {"a constant variable with a value", ".const .b32 c = 587;", "", true},
    {"a store to constant memory", ".const .b32 c = 587;", "st.const.u32 [c], 3;", false},
    {"a global variable with a value", ".global .b32 g = 759;", "st.global.u32 [g], 3;", true},
    {"a local variable with a value", "", ".local .b32 l = 3;", false},
    {"a local variable's address", "", ".local .b32 l; .reg .b64 %y; mov.u64 %y, l;", true},
    {"a shared variable with a value", ".shared .b32 s = 3;", "", false},
    {"a shared variable's address", ".shared .b32 s;", ".reg .b64 %y; mov.u64 %y, s;", true},
    {"a kernel parameter's address by mov", "", ".reg .b64 %y; mov.u64 %y, p;", true},
    {"a store to a kernel parameter", "", "st.param.u32 [p], 3;", false},
    {"a variable in .tex, which .texref has replaced", ".tex .u64 t;", "", false},
    {"a texture read by tex", ".global .texref t;",
     ".reg .b32 %r<4>, %i; mov.u32 %i, 0; tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [t, {%i}];", true},
    {"a texture read by ld", ".global .texref t;", ".reg .b32 %r; ld.u32 %r, [t];", false},
    {"a store to a texture", ".global .texref t;", "st.u32 [t], 3;", false},
};
using rules_taken = std::vector<bool>;
rules_taken try_rules(const engine::evidence& e) {
    rules_taken all;
    for (const rule& r : rules) {
        const std::string ptx = std::string(".version 6.4\n.target sm_75\n.address_size 64\n") + r.globals +
                                "\n.visible .entry k(.param .u32 p)\n{\n" + r.body + "\nret;\n}\n";
        all.push_back(!engine::assemble(ptx, name_of_target(target_of(e)), {}).cubin.empty());
    }
    return all;
}

verdict properties(const engine::evidence& e) {
    const auto works = e.given<rules_taken>() != nullptr ? *e.given<rules_taken>() : try_rules(e);
    std::string taken;
    std::string refused;
    std::string otherwise;
    for (std::size_t k = 0; k < std::size(rules); ++k) {
        std::string& list = works[k] == rules[k].taken ? (works[k] ? taken : refused) : otherwise;
        list += (list.empty() ? "" : "; ") + std::string(rules[k].what);
    }
    return seen(otherwise.empty(), "ptxas takes: " + taken + "; it refuses: " + refused +
                                       (otherwise.empty() ? "" : "; against the table: " + otherwise));
}
const auto constant_written = engine::planted("constant memory that can be written", [](engine::altered_evidence& e) {
    rules_taken all;
    for (const rule& r : rules) {
        all.push_back(r.taken || std::string(r.what) == "a store to constant memory");
    }
    e.figures = all;
});

constexpr const char* reads = "380, GMEM Reads";
constexpr const char* kepler = "380, Compute Capab. 3.x (Kepler, Part 1)";
constexpr const char* maxwell = "380, Compute Capab. 5.x (Maxwell, Part 2)";
constexpr const char* sass = "380, SASS LD/ST Instructions";

} // namespace

engine::step_definition by_option() {
    return {
        .about = {"by option", "what ptxas decides for loads that say nothing", "ladder/occupancy/11_by_option.cu",
                  "-dlcm and its kind: the instructions that come out, and what a line takes that is read again", reads,
                  false, "reload"},
        .data = end_of_the_chain,
        .run = run_plainly,
        .size = [](std::uint64_t n) { return std::bit_floor(std::min<std::uint64_t>(n, 1u << 14)); },
        .scratch_bytes = [](std::uint64_t n) { return n * line_bytes; },
        .claims = {{"caching in L1 can be asked for by -Xptxas -dlcm=ca, left out by -Xptxas -dlcm=cg", reads,
                    against_kernel(opt_in, "a load by ld.global.nc", "nc")},
                   {"caching loads (-dlcm=ca): attempt to hit in L1", reads, kept(true, {"-dlcm=ca"})},
                   {"non-caching loads (-dlcm=cg): go directly to L2", reads, kept(false, {"-dlcm=cg"})},
                   {"CC 1.x: no L1; CC 2.x: can hit in L1; CC 3.0, 3.5: cannot, L1 is for local memory", reads, gone()},
                   {"CC 1.x, 3.0, 3.5: does not matter, all loads behave like non-caching",
                    "380, Caching vs Non-caching Loads", gone()},
                   {"global memory accesses are normally not cached in L1", kepler,
                    not_in_l1_of("compute capability 3.x")},
                   {"data that is not read-only is, by default, not cached in the unified L1/texture cache", maxwell,
                    not_in_l1_of("compute capability 5.x")},
                   {"inline assembly with the appropriate modifier caches", maxwell,
                    kept(true, {}, "ld.global.ca.u64 %at, [%at];")},
                   {"-dlcm=ca: all reads are cached, except by inline assembly with a modifier that disables caching",
                    maxwell, against_kernel(except_operators, "a load without a modifier", "global")},
                   {"-fscm=ca: all reads are cached, regardless of the modifier used", maxwell,
                    against_kernel(forced, "a load by ld.global.nc", "nc")},
                   {"global memory behaves the same way as in devices of compute capability 5.x",
                    "380, Compute Capab. 9.x (Hopper)", not_in_l1_of("compute capability 5.x")},
                   {"read-only data: addresses must not be written by the same kernel", "380, Read-only Data Cache",
                    against_kernel(one_load_of_both, "ordinary loads", "written")},
                   {"LDC, LD, LDG, LDL, LDS, LDSLK, ST, STL, STS, STSCUL, ATOM, RED, CCTL, CCTLL, MEMBAR", sass,
                    assembled(engine::check(instructions_of_kepler).refuted_by(engine::on_size(64)))},
                   {"LDG: non-coherent global memory load", sass,
                    against_kernel(non_coherent, "a coherent load", "global")},
                   {"SASS: LD.E.64, LD.E.128, ST.E.64, ST.E.128", "380, Vectorized Memory Access",
                    against_kernel(wide_names, "one word in the place of two", "global")},
                   {"ld.cs applied to a local address performs the ld.lu operation", "380, PTX Cache Operators",
                    against_kernel(local_by_cs, "shared memory in the place of local", "shared")},
                   {"state spaces: addressable, initializable, access", "380, PTX State Spaces (2)",
                    assembled(engine::check(properties).refuted_by(constant_written))}}};
}

} // namespace warpfold::ladder::occupancy
