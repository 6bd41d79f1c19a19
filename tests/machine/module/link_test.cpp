// SPDX-License-Identifier: MIT
// Several modules as one program: which definition a name stands for, and what is said where there is none or two.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "softgpu/machine/demangle.hpp"
#include "softgpu/machine/launch.hpp"

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
        const memory::address out = memory_.allocate(16, memory::allocation_kind::device, "out");
        const machine::kernel* const k = all_[unit]->find_kernel(name);
        EXPECT_NE(k, nullptr);
        machine::launch_request request;
        request.parameters = reinterpret_cast<const std::byte*>(&out);
        request.dynamic_shared_bytes = dynamic_shared_bytes;
        const machine::launch_result result = machine::launch(*all_[unit], *k, request);
        EXPECT_EQ(result.error.message, "");
        const auto* const words = reinterpret_cast<const std::uint32_t*>(out);
        std::vector<std::uint32_t> seen(words, words + 4);
        memory_.release(out);
        return seen;
    }

private:
    memory::device_memory memory_{1ull << 28};
    std::vector<std::unique_ptr<machine::module>> all_;
};

using words = std::vector<std::uint32_t>;

std::string error_of(const std::vector<std::string>& texts) {
    try {
        const units linked(texts);
    } catch (const machine::link_error& e) {
        return e.what();
    }
    return "none";
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
    EXPECT_EQ(error_of({declared("vprintf"), declared("__cudaCDP2Malloc")}), "none") << "the driver has these";
}

TEST(Link, WhatIsDefinedTwice) {
    EXPECT_EQ(error_of({function(".visible", "_Z1fv", 1), "", function(".visible", "_Z1fv", 1)}),
              "f() is defined twice, in a.cu and in c.cu");
    EXPECT_EQ(error_of({".visible .global .align 4 .u32 x = 1;\n", ".visible .global .align 4 .u32 x = 1;\n"}),
              "x is defined twice, in a.cu and in b.cu");
    EXPECT_EQ(error_of({function("", "f", 1), function("", "f", 1)}), "none");
}

TEST(Link, TheLibraryForLaunchesByKernelsIsLeftOut) {
    units u({kernel("k", "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4;\n"),
             declared("nobody_knows") + function(".visible", "cudaLaunchDeviceV2", 0)});
    EXPECT_EQ(u.count(), 1u);
    EXPECT_EQ(u.run(0, "k"), (words{1, 2, 3, 4}));
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
