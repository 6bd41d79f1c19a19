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
#include "ladder/occupancy/cycles.hpp"
#include "ladder/occupancy/figures.hpp"
#include "ladder/occupancy/machine_code.hpp"
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

// On a GPU with ptxas: whether a line is in the L1 cache when it is read again, and the figure that says so.
struct reread {
    bool in_l1 = false;
    std::string figure;
};
using reread_check = std::function<verdict(const engine::evidence&, const reread&)>;
engine::check read_again(std::vector<std::string> options, std::string load, reread_check inner) {
    return timed([=](const engine::evidence& e) {
        const driver gpu;
        if (!gpu.there() || !engine::assemble(memory_program(), name_of_target(target_of(e)), {}).there) {
            return unseen("needs NVIDIA's driver and ptxas");
        }
        const double cycles = cycles_with(gpu, e, options, load);
        const auto& t = measured_memory(e.report.device.l2_bytes);
        return inner(
            e, {std::abs(cycles - t.l1) < std::abs(cycles - t.l2),
                number(cycles, 0) + " cycles to read a line again; L1 " + number(t.l1, 0) + ", L2 " + number(t.l2, 0)});
    });
}
engine::check read_again(std::vector<std::string> options, reread_check inner) {
    return read_again(std::move(options), "ld.global.u64 %at, [%at];", std::move(inner));
}
reread_check kept(bool wanted) {
    return [wanted](const engine::evidence&, const reread& r) { return seen(r.in_l1 == wanted, r.figure); };
}
// Of what cannot be had any more.
reread_check gone() {
    return [](const engine::evidence&, const reread& r) {
        return unseen("hardware that is gone; today a load without an operator finds its line in the L1 cache: " +
                      r.figure);
    };
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
engine::check assembled(std::function<verdict(const engine::evidence&)> inner) {
    return [inner = std::move(inner)](const engine::evidence& e) {
        const auto& made = engine::assemble(memory_program(), name_of_target(target_of(e)), {});
        return made.cubin.empty() ? unseen(made.there ? "ptxas: " + made.said : "needs ptxas") : inner(e);
    };
}

verdict opt_in(const engine::evidence& e) {
    return seen(same(e, {"-dlcm=ca"}, "global", "ca") && same(e, {"-dlcm=cg"}, "global", "cg"),
                "ld.global becomes " + first_name(e, {}, "global") + ", with -dlcm=ca " +
                    first_name(e, {"-dlcm=ca"}, "global") + ", with -dlcm=cg " + first_name(e, {"-dlcm=cg"}, "global") +
                    ", as ld.global.ca and ld.global.cg do");
}

verdict except_operators(const engine::evidence& e) {
    return seen(same(e, {"-dlcm=ca"}, "cg", "cg") && same(e, {"-dlcm=ca"}, "cv", "cv"),
                "with -dlcm=ca ld.global.cg stays " + first_name(e, {"-dlcm=ca"}, "cg") + ", ld.global.cv " +
                    first_name(e, {"-dlcm=ca"}, "cv"));
}

verdict forced(const engine::evidence& e) {
    const auto& refused = engine::assemble(memory_program(), name_of_target(target_of(e)), {"-fscm=ca"});
    return seen(!refused.cubin.empty() && same(e, {"-fscm=ca"}, "cg", "ca"),
                "-fscm is of stores today (" + refused.said.substr(0, refused.said.find('\n')) +
                    "); with -flcm=ca ld.global.cg becomes " + first_name(e, {"-flcm=ca"}, "cg"));
}

verdict local_by_cs(const engine::evidence& e) {
    const auto cs = code_of(e, {}, "local_cs");
    const auto lu = code_of(e, {}, "local_lu");
    return seen(cs.at(1) == lu.at(1), "ld.local.cs and ld.local.lu both become " + name_of(cs.at(1), target_of(e)) +
                                          (cs.at(1) == code_of(e, {}, "local").at(1) ? ", as ld.local does" : ""));
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
    return seen(names.count("STG") == 0 && names.count("ATOMS") == 0,
                name_of_target(target_of(e)) + " has " + all +
                    ": stores and atomics know their state space, and ATOMS has taken the place of the locks");
}

verdict non_coherent(const engine::evidence& e) {
    return seen(first_name(e, {}, "global").rfind("LDG", 0) != 0, "every ld.global is " + first_name(e, {}, "global") +
                                                                      "; what is not coherent is " +
                                                                      first_name(e, {}, "nc"));
}

verdict wide_names(const engine::evidence& e) {
    const auto two = code_of(e, {}, "two_words");
    const auto four = code_of(e, {}, "four_words");
    std::string all;
    bool wide = true;
    for (const auto& [code, width] : {std::pair{two, "64"}, {four, "128"}}) {
        for (const instruction& one : code) {
            const std::string name = name_of(one, target_of(e));
            wide = wide && name.find(width) != std::string::npos;
            all += (all.empty() ? "" : ", ") + name;
        }
    }
    if (target_of(e) < 80 || target_of(e) > 90) {
        return unseen("widths are known of sm_80 to sm_90: " + all);
    }
    return seen(wide && all.find("LD.E.64") != std::string::npos,
                all + ": with G, since the address is known to be global");
}

// The slides' two pointers, as nvcc takes them: the PTX of both kernels.
verdict detected(const engine::evidence& /*e*/) {
    const std::string& ptx = engine::ptx_of(R"(
extern "C" __global__ void plain(int* output, const int* input) { output[threadIdx.x] = input[threadIdx.x]; }
extern "C" __global__ void marked(int* __restrict__ output, const int* __restrict__ input) {
    output[threadIdx.x] = input[threadIdx.x];
}
)");
    if (ptx.empty()) {
        return unseen("needs nvcc");
    }
    const auto load_of = [&](const char* kernel) {
        const auto at = ptx.find("ld.global", ptx.find(std::string("entry ") + kernel));
        return ptx.substr(at, ptx.find_first_of(" \t", at) - at);
    };
    const std::string plain = load_of("plain");
    const std::string marked = load_of("marked");
    return seen(marked.find(".nc") != std::string::npos && plain.find(".nc") == std::string::npos,
                "plain pointers: " + plain + "; const and __restrict__: " + marked);
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
};

verdict properties(const engine::evidence& e) {
    std::string taken;
    std::string refused;
    std::string otherwise;
    for (const rule& r : rules) {
        const std::string ptx = std::string(".version 6.4\n.target sm_75\n.address_size 64\n") + r.globals +
                                "\n.visible .entry k(.param .u32 p)\n{\n" + r.body + "\nret;\n}\n";
        const bool works = !engine::assemble(ptx, name_of_target(target_of(e)), {}).cubin.empty();
        std::string& list = works == r.taken ? (works ? taken : refused) : otherwise;
        list += (list.empty() ? "" : "; ") + std::string(r.what);
    }
    return seen(otherwise.empty(), "ptxas takes: " + taken + "; it refuses: " + refused +
                                       (otherwise.empty() ? "" : "; against the table: " + otherwise));
}

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
                    assembled(opt_in)},
                   {"caching loads (-dlcm=ca): attempt to hit in L1", reads, read_again({"-dlcm=ca"}, kept(true))},
                   {"non-caching loads (-dlcm=cg): go directly to L2", reads, read_again({"-dlcm=cg"}, kept(false))},
                   {"CC 1.x: no L1; CC 2.x: can hit in L1; CC 3.0, 3.5: cannot, L1 is for local memory", reads,
                    read_again({}, gone())},
                   {"CC 1.x, 3.0, 3.5: does not matter, all loads behave like non-caching",
                    "380, Caching vs Non-caching Loads", read_again({}, gone())},
                   {"global memory accesses are normally not cached in L1", kepler, read_again({}, kept(false))},
                   {"data that is not read-only is, by default, not cached in the unified L1/texture cache", maxwell,
                    read_again({}, kept(false))},
                   {"inline assembly with the appropriate modifier caches", maxwell,
                    read_again({}, "ld.global.ca.u64 %at, [%at];", kept(true))},
                   {"-dlcm=ca: all reads are cached, except by inline assembly with a modifier that disables caching",
                    maxwell, assembled(except_operators)},
                   {"-fscm=ca: all reads are cached, regardless of the modifier used", maxwell, assembled(forced)},
                   {"global memory behaves the same way as in devices of compute capability 5.x",
                    "380, Compute Capab. 9.x (Hopper)", read_again({}, kept(false))},
                   {"the compiler uses __ldg() where it detects that data is read-only: const and __restrict__ make "
                    "that likelier",
                    "380, Compute Capab. 3.x (Kepler, Part 2)", detected},
                   {"LDC, LD, LDG, LDL, LDS, LDSLK, ST, STL, STS, STSCUL, ATOM, RED, CCTL, CCTLL, MEMBAR", sass,
                    assembled(instructions_of_kepler)},
                   {"LDG: non-coherent global memory load", sass, assembled(non_coherent)},
                   {"SASS: LD.E.64, LD.E.128, ST.E.64, ST.E.128", "380, Vectorized Memory Access",
                    assembled(wide_names)},
                   {"ld.cs applied to a local address performs the ld.lu operation", "380, PTX Cache Operators",
                    assembled(local_by_cs)},
                   {"state spaces: what can be addressed, initialised, written to", "380, PTX State Spaces (2)",
                    assembled(properties)}}};
}

} // namespace warpfold::ladder::occupancy
