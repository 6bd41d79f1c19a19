// SPDX-License-Identifier: MIT
// Instructions of memory read out of cubins: names against those that nvdisasm gives for the same words, and what ptxas makes of
// loads by option, as docs/lectures/380.md has it, for each target that it knows.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "ladder/engine/command.hpp"
#include "ladder/occupancy/definition/machine_code.hpp"

namespace warpfold::ladder::occupancy {
namespace {

TEST(MachineCode, HasTheNamesOfTheDisassembler) {
    struct known {
        instruction words;
        const char* name;
    };
    for (const known& k : {known{{0x0000000402037981, 0x001eaa000c1e1900}, "LDG.E"},
                           {{0x0000000402037981, 0x001eaa000c1eb900}, "LDG.E.STRONG.SM"},
                           {{0x0000000402037981, 0x001eaa000c1ef900}, "LDG.E.STRONG.GPU"},
                           {{0x0000000402037981, 0x001eaa000c1f5900}, "LDG.E.STRONG.SYS"},
                           {{0x0000000402037981, 0x001eaa000c0e1900}, "LDG.E.EF"},
                           {{0x0000000402037981, 0x001eaa000c3e1900}, "LDG.E.LU"},
                           {{0x0000000402037981, 0x001eaa000c1e9900}, "LDG.E.CONSTANT"},
                           {{0x0000000402037980, 0x001eaa000c101900}, "LD.E"},
                           {{0x0000000001077983, 0x000ea20000100800}, "LDL"},
                           {{0x0000000005007387, 0x000fe20000100800}, "STL"},
                           {{0x00008800ff007b82, 0x000fe20000000800}, "LDC"},
                           {{0x0000000000007992, 0x000fe20000000000}, "MEMBAR"},
                           {{0x000000000000794d, 0x000fea0003800000}, ""}}) { // EXIT
        EXPECT_EQ(name_of(k.words, 90), k.name);
    }
    // Without what is known of sm_80 to sm_90 only.
    EXPECT_EQ(name_of({0x00000004ff007981, 0x000ea2000c1ee900}, 75), "LDG");
}

TEST(MachineCode, IsTheSameWhateverItsScheduling) {
    const instruction one{0x0000000402037981, 0x001eaa000c1e1900};
    EXPECT_EQ(one, (instruction{0x0000000402037981, 0x000ea2000c1e1900}));
    EXPECT_FALSE(one == (instruction{0x0000000402037981, 0x001eaa000c1ef900}));
    EXPECT_FALSE(one == (instruction{0x0000000402057981, 0x001eaa000c1e1900}));
}

TEST(MachineCode, IsReadFromCubinsOnly) {
    EXPECT_THROW(static_cast<void>(machine_code("")), std::runtime_error);
    EXPECT_THROW(static_cast<void>(machine_code(std::string(4096, 'x'))), std::runtime_error);
    const auto& made = engine::assemble(memory_program(), "sm_80", {});
    ASSERT_TRUE(made.there) << "the toolkit that builds this has a ptxas";
    ASSERT_FALSE(made.cubin.empty()) << made.said;
    const std::string& whole = made.cubin;
    for (const std::size_t length : {std::size_t{10}, whole.size() / 2, whole.size() - 1}) {
        try { // an end too early is said, or nothing was missing
            static_cast<void>(machine_code(std::string_view(whole).substr(0, length)));
        } catch (const std::runtime_error& problem) {
            EXPECT_STREQ(problem.what(), "a cubin that ends too early");
        }
    }
}

class MachineCodeOf : public ::testing::TestWithParam<const char*> {
protected:
    // The first instruction of memory but those for parameters.
    static instruction first(const char* kernel, const std::vector<std::string>& options = {}, unsigned which = 0) {
        const auto& made = engine::assemble(memory_program(), GetParam(), options);
        EXPECT_FALSE(made.cubin.empty()) << made.said;
        const auto code = machine_code(made.cubin);
        for (const instruction& one : code.at(kernel)) {
            const std::string name = name_of(one, 0);
            if (!name.empty() && name != "LDC" && which-- == 0) {
                return one;
            }
        }
        ADD_FAILURE() << kernel << " touches no memory";
        return {};
    }
};

TEST_P(MachineCodeOf, LoadsByOption) {
    if (CUDART_VERSION < 13000) {
        GTEST_SKIP() << "ptxas of CUDA 12 takes -dlcm, and leaves loads as they are";
    }
    EXPECT_EQ(first("global", {"-dlcm=ca"}), first("ca"));
    EXPECT_EQ(first("global", {"-dlcm=cg"}), first("cg"));
    EXPECT_FALSE(first("global") == first("cg"));
    EXPECT_EQ(first("cg", {"-dlcm=ca"}), first("cg"));
    EXPECT_EQ(first("cv", {"-dlcm=ca"}), first("cv"));
    EXPECT_EQ(first("cg", {"-flcm=ca"}), first("ca"));
    EXPECT_EQ(first("nc", {"-dlcm=cg"}), first("nc"));
}

TEST_P(MachineCodeOf, LocalMemoryHasNoOperators) {
    EXPECT_EQ(name_of(first("local", {}, 1), 0), "LDL");
    EXPECT_EQ(first("local_cs", {}, 1), first("local", {}, 1));
    EXPECT_EQ(first("local_lu", {}, 1), first("local", {}, 1));
}

// The registers that the first load fills and that the last store takes.
TEST_P(MachineCodeOf, ReadOnlyLoadsAreOneAcrossAStore) {
    const auto loaded = [&](const char* kernel) { return first(kernel).low >> 16 & 0xff; };
    const auto stored = [&](const char* kernel, unsigned which) { return first(kernel, {}, which).low >> 32 & 0xff; };
    EXPECT_EQ(loaded("nc_written"), stored("nc_written", 2));
    EXPECT_NE(loaded("written"), stored("written", 2));
}

TEST_P(MachineCodeOf, StateSpacesHaveTheirOwnInstructions) {
    EXPECT_EQ(name_of(first("global"), 0), "LDG");
    EXPECT_EQ(name_of(first("generic"), 0), "LD");
    EXPECT_EQ(name_of(first("shared"), 0), "STS");
    EXPECT_EQ(name_of(first("shared", {}, 1), 0), "LDS");
    EXPECT_EQ(name_of(first("local"), 0), "STL");
    EXPECT_EQ(name_of(first("red"), 0), "RED");
    EXPECT_EQ(name_of(first("atom"), 0), "ATOMG");
    EXPECT_EQ(name_of(first("atom_shared"), 0), "STS");
    EXPECT_EQ(name_of(first("prefetch"), 0), "CCTL");
    EXPECT_EQ(name_of(first("fence", {}, 1), 0), "MEMBAR");
}

TEST_P(MachineCodeOf, ForcingOfReadsIsNotAnOptionOfStores) {
    const auto& made = engine::assemble(memory_program(), GetParam(), {"-fscm=ca"});
    EXPECT_TRUE(made.cubin.empty());
    EXPECT_NE(made.said.find("on store"), std::string::npos) << made.said;
}

INSTANTIATE_TEST_SUITE_P(Targets, MachineCodeOf, ::testing::Values("sm_75", "sm_80", "sm_90"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Toolkit, MakesReadOnlyLoadsOfMarkedPointers) {
    const std::string& ptx =
        engine::ptx_of("extern \"C\" __global__ void k(int* __restrict__ o, const int* __restrict__ i) "
                       "{ o[threadIdx.x] = i[threadIdx.x]; }");
    EXPECT_NE(ptx.find("ld.global.nc"), std::string::npos) << ptx;
    EXPECT_TRUE(engine::ptx_of("this is no CUDA").empty());
}

TEST(Toolkit, SaysWhatItRefuses) {
    const auto& made = engine::assemble("this is no PTX", "sm_80", {});
    EXPECT_TRUE(made.there);
    EXPECT_TRUE(made.cubin.empty());
    EXPECT_FALSE(made.said.empty());
    EXPECT_EQ(engine::run_command({"/bin/sh", "-c", "echo no >&2; exit 3"}).trouble, "it ended with status 3");
    EXPECT_EQ(engine::run_command({"/bin/sh", "-c", "echo no >&2; exit 3"}).said, "no\n");
    EXPECT_EQ(engine::run_command({"/bin/sh", "-c", "exit 0"}).trouble, "");
    EXPECT_EQ(engine::run_command({"/bin/sh", "-c", "kill -9 $$"}).trouble, "signal 9 killed it");
    const std::vector<std::string> environment{"WORD=yes"};
    EXPECT_EQ(engine::run_command({"/bin/sh", "-c", "echo $WORD >&2"}, environment).said, "yes\n");
    EXPECT_THROW(static_cast<void>(engine::run_command({"/nowhere/to/be/found"})), std::runtime_error);
}

} // namespace
} // namespace warpfold::ladder::occupancy
