// SPDX-License-Identifier: MIT
// Several modules as one program: which definition a name stands for, and what is said where there is none or two.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "softgpu/machine/demangle.hpp"
#include "softgpu/machine/launch.hpp"
#include "tests/message_of.hpp"

namespace softgpu::test {
namespace {

constexpr const char* head = ".version 8.0\n.target sm_75\n.address_size 64\n";

// A kernel that stores what `body` leaves in %r1 to %r4.
std::string kernel(const std::string& name, const std::string& body) {
    return ".visible .entry " + name + "(.param .u64 p)\n{\n.reg .b32 %r<16>; .reg .b64 %rd<16>;\n" + body +
           "ld.param.u64 %rd0, [p]; st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4}; ret;\n}\n";
}

// %r<n> = f()
std::string call(const std::string& f, int n) {
    return "{ .param .b32 v; call (v), " + f + "; ld.param.b32 %r" + std::to_string(n) + ", [v]; }\n";
}

std::string function(const std::string& linkage, const std::string& name, int value) {
    return linkage + " .func (.param .b32 v) " + name + "()\n{ .reg .b32 %x; mov.u32 %x, " + std::to_string(value) +
           "; st.param.b32 [v], %x; ret; }\n";
}
std::string declared(const std::string& name) { return ".extern .func (.param .b32 v) " + name + "()\n;\n"; }

class units {
public:
    explicit units(const std::vector<std::string>& texts) {
        std::vector<std::string> names;
        for (const std::string& text : texts) {
            all_.push_back(std::make_unique<machine::module>(head + text, memory_));
            names.push_back(std::string(1, static_cast<char>('a' + names.size())) + ".cu");
        }
        machine::link(all_, names);
    }

    [[nodiscard]] std::size_t count() const { return all_.size(); }
    machine::variable_place variable(std::size_t unit, const char* name) { return all_[unit]->find_variable(name); }

    std::vector<std::uint32_t> run(std::size_t unit, const char* name, std::uint32_t dynamic_shared_bytes = 0) {
        machine::launch_request request;
        request.dynamic_shared_bytes = dynamic_shared_bytes;
        return run(unit, name, request, 4);
    }

    // The words that the kernel has written; `error`: its message.
    std::vector<std::uint32_t> run(std::size_t unit, const char* name, machine::launch_request request,
                                   std::size_t count, const std::string& error = "") {
        const memory::address out = memory_.allocate(count * 4, memory::allocation_kind::device, "out");
        std::memset(reinterpret_cast<void*>(out), 0, count * 4);
        const machine::kernel* const k = all_[unit]->find_kernel(name);
        EXPECT_NE(k, nullptr);
        request.parameters = reinterpret_cast<const std::byte*>(&out);
        const machine::launch_result result = machine::launch(*all_[unit], *k, request);
        EXPECT_EQ(result.error.message.substr(0, error.size()), error);
        EXPECT_EQ(result.error.message.empty(), error.empty()) << result.error.message;
        const auto* const words = reinterpret_cast<const std::uint32_t*>(out);
        std::vector<std::uint32_t> seen(words, words + count);
        memory_.release(out);
        return seen;
    }

private:
    memory::device_memory memory_{1ull << 28};
    std::vector<std::unique_ptr<machine::module>> all_;
};

using words = std::vector<std::uint32_t>;

std::string error_of(const std::vector<std::string>& texts) {
    return warpfold::tests::message_of<machine::link_error>([&] { const units linked(texts); });
}

TEST(Link, FunctionsOfOtherUnits) {
    units u({declared("f") + declared("g") + function("", "h", 1) +
                 kernel("k", call("f", 1) + call("g", 2) + call("h", 3) + "mov.u32 %r4, 4;\n"),
             function(".visible", "f", 10) + function("", "h", 2) + kernel("m", call("f", 1) + call("h", 2)),
             function(".visible", "g", 20) + function("", "h", 3)});
    EXPECT_EQ(u.run(0, "k"), (words{10, 20, 1, 4}));
    const words m = u.run(1, "m");
    EXPECT_EQ(m[0], 10u);
    EXPECT_EQ(m[1], 2u) << "a function without linkage is its unit's own";
}

TEST(Link, OfWeakDefinitionsTheFirstOfAllUnlessOneIsNotWeak) {
    const std::string both = kernel("k", call("f", 1) + call("g", 2) + "mov.u32 %r3, 0; mov.u32 %r4, 0;\n");
    units u({function(".weak", "f", 1) + function(".weak", "g", 1) + both,
             function(".weak", "f", 2) + function(".visible", "g", 2) + declared("e") +
                 kernel("m", call("f", 1) + call("g", 2) + call("e", 3) + "mov.u32 %r4, 0;\n"),
             function(".weak", "e", 3) + function(".weak", "g", 3)});
    EXPECT_EQ(u.run(0, "k"), (words{1, 2, 0, 0}));
    EXPECT_EQ(u.run(1, "m"), (words{1, 2, 3, 0}));
}

TEST(Link, VariablesAreOnePlaceForAll) {
    units u({".extern .global .align 4 .u32 x;\n.extern .const .align 4 .b8 c[8];\n.global .align 4 .u32 own = 1;\n"
             ".weak .global .align 4 .u32 w = 7;\n" +
                 kernel("k", "ld.global.u32 %r1, [x]; ld.const.u32 %r2, [c+4]; ld.global.u32 %r3, [own];\n"
                             "ld.global.u32 %r4, [w]; add.u32 %r5, %r1, 1; st.global.u32 [x], %r5;\n"),
             ".visible .global .align 4 .u32 x = 40;\n.visible .const .align 4 .b8 c[8] = {1, 0, 0, 0, 2, 0, 0, 0};\n"
             ".global .align 4 .u32 own = 5;\n.weak .global .align 4 .u32 w = 8;\n" +
                 kernel("m", "ld.global.u32 %r1, [x]; ld.global.u32 %r2, [own]; ld.global.u32 %r3, [w];\n"
                             "mov.u32 %r4, 0;\n")});
    EXPECT_EQ(u.run(0, "k"), (words{40, 2, 1, 7}));
    EXPECT_EQ(u.run(1, "m"), (words{41, 5, 7, 0}));
    EXPECT_EQ(u.variable(0, "x").address, u.variable(1, "x").address);
    EXPECT_EQ(u.variable(0, "w").address, u.variable(1, "w").address);
    EXPECT_TRUE(u.variable(0, "c").constant);
    EXPECT_NE(u.variable(0, "own").address, u.variable(1, "own").address);
}

// As tables of virtual functions are: the table is in one unit, functions in others.
TEST(Link, AddressesInInitialValues) {
    units u({".extern .global .align 8 .u64 table[3];\n.visible .global .align 4 .u32 x = 9;\n" +
                 kernel("k", "ld.global.u64 %rd1, [table]; { .param .b32 v;\ncall (v), %rd1, (), P;\n"
                             "ld.param.b32 %r1, [v]; }\nP: .callprototype (.param .b32 _) _ ();\n"
                             "ld.global.u64 %rd1, [table+8]; { .param .b32 v;\ncall (v), %rd1, (), Q;\n"
                             "ld.param.b32 %r2, [v]; }\nQ: .callprototype (.param .b32 _) _ ();\n"
                             "ld.global.u64 %rd1, [table+16]; ld.u32 %r3, [%rd1]; mov.u32 %r4, 0;\n") +
                 function(".visible", "f", 3),
             declared("f") + declared("g") + ".extern .global .align 4 .u32 x;\n" +
                 ".visible .global .align 8 .u64 table[3] = {f, g, generic(x)};\n",
             function(".visible", "g", 4)});
    EXPECT_EQ(u.run(0, "k"), (words{3, 4, 9, 0}));
}

TEST(Link, SharedMemoryOfFunctionsInOtherUnits) {
    const std::string other = ".shared .align 4 .u32 s;\n.extern .shared .align 4 .b8 d[];\n"
                              ".visible .func (.param .b32 v) f()\n{ .reg .b32 %x<4>; mov.u32 %x1, 5;\n"
                              "st.shared.u32 [s], %x1; ld.shared.u32 %x2, [d]; add.u32 %x2, %x2, %x1;\n"
                              "st.param.b32 [v], %x2; ret; }\n";
    units u({".shared .align 4 .u32 s;\n.extern .shared .align 4 .b8 d[];\n" + declared("f") +
                 kernel("k", "mov.u32 %r5, 1; st.shared.u32 [s], %r5; mov.u32 %r5, 30; st.shared.u32 [d], %r5;\n" +
                                 call("f", 1) + "ld.shared.u32 %r2, [s]; mov.u32 %r3, 0; mov.u32 %r4, 0;\n"),
             other});
    EXPECT_EQ(u.run(0, "k", 16), (words{35, 1, 0, 0})) << "s is a variable of its own in each unit, d the same in both";
}

TEST(Link, WhatIsDefinedNowhere) {
    EXPECT_EQ(
        error_of({declared("_Z3onei") + kernel("k", ""), ".extern .global .align 4 .u32 two;\n" + declared("_Z3onei")}),
        "no unit defines function one(int) (wanted by a.cu), variable two (wanted by b.cu)");
    EXPECT_EQ(error_of({declared("f"), function("", "f", 1)}), "no unit defines function f (wanted by a.cu)")
        << "without linkage nobody else sees it";
    EXPECT_EQ(error_of({declared("vprintf"), declared("__cudaCDP2Malloc")}), "") << "the driver has these";
}

TEST(Link, WhatIsDefinedTwice) {
    EXPECT_EQ(error_of({function(".visible", "_Z1fv", 1), "", function(".visible", "_Z1fv", 1)}),
              "f() is defined twice, in a.cu and in c.cu");
    EXPECT_EQ(error_of({".visible .global .align 4 .u32 x = 1;\n", ".visible .global .align 4 .u32 x = 1;\n"}),
              "x is defined twice, in a.cu and in b.cu");
    EXPECT_EQ(error_of({function("", "f", 1), function("", "f", 1)}), "");
}

TEST(Link, TheLibraryForLaunchesByKernelsIsLeftOut) {
    units u({kernel("k", "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4;\n"),
             declared("nobody_knows") + function(".visible", "cudaLaunchDeviceV2", 0)});
    EXPECT_EQ(u.count(), 1u);
    EXPECT_EQ(u.run(0, "k"), (words{1, 2, 3, 4}));
}

constexpr const char* grid_groups =
    ".extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 s)\n;\n"
    ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 f)\n;\n";

// Leaves the handle of a group of this scope in %rd1.
std::string handle_of(const std::string& scope) {
    return "{ .param .b32 s; .param .b64 h; st.param.b32 [s], " + scope +
           "; call (h), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %rd1, [h]; }\n";
}
constexpr const char* synchronize =
    "{ .param .b64 h; .param .b32 f; .param .b32 r; st.param.b64 [h], %rd1;\n"
    "st.param.b32 [f], 0; call (r), cudaCGSynchronize, (h, f); ld.param.b32 %r9, [r]; }\n";

// In each of three rounds every thread adds 1 to word 0, and to its own word what it then reads there.
std::string rounds(const std::string& scope) {
    return std::string(grid_groups) +
           kernel("k", "ld.param.u64 %rd0, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x;\n"
                       "mad.lo.u32 %r1, %r2, %r3, %r1; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
                       "mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd0;\n"
                       "mov.u32 %r4, 0; mov.u32 %r5, 0;\n" +
                           handle_of(scope) + "again: red.global.add.u32 [%rd0], 1;\n" + synchronize +
                           "ld.global.u32 %r6, [%rd0]; add.u32 %r5, %r5, %r6;\n" + synchronize +
                           "add.u32 %r4, %r4, 1; { .reg .pred q; setp.lt.u32 q, %r4, 3; @q bra again; }\n"
                           "st.global.u32 [%rd2+4], %r5; ret;\n");
}

machine::launch_request of_shape(const machine::extent& grid, const machine::extent& block, bool cooperative) {
    machine::launch_request request;
    request.grid = grid;
    request.block = block;
    request.cooperative = cooperative;
    return request;
}

TEST(Link, GridGroupsOfTheDeviceRuntime) {
    for (const unsigned workers : {1u, 2u}) {
        units u({rounds("1")});
        EXPECT_EQ(u.count(), 2u);
        machine::launch_request request = of_shape({5, 3, 1}, {64, 1, 1}, true);
        request.workers = workers;
        words expected(1 + 15 * 64, 960 * (1 + 2 + 3));
        expected[0] = 3 * 960;
        EXPECT_EQ(u.run(0, "k", request, expected.size()), expected);
        request.seed = 7;
        request.workers = 1;
        EXPECT_EQ(u.run(0, "k", request, expected.size()), expected);
    }
}

// Then there is no group to wait for, and a thread that waits nonetheless ends its kernel.
TEST(Link, GridGroupsNeedACooperativeLaunch) {
    const std::string tells = kernel("t", handle_of("1") + "cvt.u32.u64 %r1, %rd1; shr.u64 %rd1, %rd1, 32;\n"
                                                           "cvt.u32.u64 %r2, %rd1; mov.u32 %r3, 0; mov.u32 %r4, 0;\n");
    units u({rounds("1") + tells});
    EXPECT_EQ(u.run(0, "t"), (words{0, 0, 0, 0}));
    u.run(0, "k", of_shape({2, 1, 1}, {32, 1, 1}, false), 65, "kernel k");
    units other({rounds("2")}); // a scope that is not the grid's
    other.run(0, "k", of_shape({2, 1, 1}, {32, 1, 1}, true), 65, "kernel k");
}

TEST(Link, SizeAndRankOfGridGroups) {
    units u(
        {".extern .func (.param .b32 r) cudaCGGetSize(.param .b64 t, .param .b64 g, .param .b64 h)\n;\n"
         ".extern .func (.param .b32 r) cudaCGGetRank(.param .b64 t, .param .b64 g, .param .b64 h)\n;\n" +
         kernel("k", "ld.param.u64 %rd0, [p]; mov.u32 %r1, %clock; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y;\n"
                     "mad.lo.u32 %r2, %r3, 2, %r2; mov.u32 %r3, %ctaid.z; mad.lo.u32 %r2, %r3, 6, %r2;\n"
                     "mov.u32 %r3, %tid.x; mov.u32 %r4, %tid.y; mad.lo.u32 %r3, %r4, 4, %r3; mov.u32 %r4, %tid.z;\n"
                     "mad.lo.u32 %r3, %r4, 8, %r3; mad.lo.u32 %r2, %r2, 16, %r3; mul.wide.u32 %rd1, %r2, 16;\n"
                     "add.u64 %rd1, %rd1, %rd0; add.u64 %rd2, %rd1, 4; add.u64 %rd3, %rd1, 8; add.u64 %rd4, %rd1, 12;\n"
                     "{ .param .b64 a; .param .b64 b; .param .b64 h; .param .b32 r; st.param.b64 [a], %rd1;\n"
                     "st.param.b64 [b], %rd2; st.param.b64 [h], 0; call (r), cudaCGGetSize, (a, b, h); }\n"
                     "{ .param .b64 a; .param .b64 b; .param .b64 h; .param .b32 r; st.param.b64 [a], %rd3;\n"
                     "st.param.b64 [b], %rd4; st.param.b64 [h], 0; call (r), cudaCGGetRank, (a, b, h); } ret;\n")});
    constexpr std::uint32_t threads = 2 * 3 * 2 * 16;
    words expected;
    for (std::uint32_t k = 0; k < threads; ++k) {
        expected.insert(expected.end(), {threads, 1, k, 0});
    }
    EXPECT_EQ(u.run(0, "k", of_shape({2, 3, 2}, {4, 2, 2}, true), expected.size()), expected);
}

TEST(Link, GridGroupsOfTheProgramItself) {
    units u({std::string(".extern .func (.param .b32 v) cudaCGOwn()\n;\n") +
                 kernel("k", call("cudaCGOwn", 1) + "mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;\n"),
             function(".visible", "cudaCGOwn", 6)});
    EXPECT_EQ(u.run(0, "k"), (words{6, 0, 0, 0}));
}

TEST(Demangled, NamesOfOneUnit) {
    EXPECT_EQ(machine::demangled("_Z5scalePf"), "scale(float*)");
    EXPECT_EQ(machine::demangled("__nv_static_27__e9e3e49d_7_data_cu_counter__Z5countPi"), "count(int*)");
    EXPECT_EQ(machine::demangled("__nv_static_27__e9e3e49d_7_data_cu_counter_x"), "x");
    EXPECT_EQ(
        machine::demangled("_ZN34_INTERNAL_b150fbb2_4_b_cu_7bb7a97f36_GLOBAL__N__b150fbb2_4_b_cu_7bb7a97f4anonEi"),
        "(anonymous namespace)::anon(int)");
    for (const char* odd : {"s", "", "__nv_static_", "__nv_static_99999999999999999999_x", "__nv_static_3_",
                            "_INTERNAL_a", "__nv_static_3__ab_"}) {
        EXPECT_EQ(machine::demangled(odd), odd);
    }
}

} // namespace
} // namespace softgpu::test
