// SPDX-License-Identifier: MIT
// Reading executables, sound and damaged.
#include "tool/run/elf_facts.hpp"

#include <random>

#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::tests;
using warpfold::tool::read_elf;

class elf : public with_folder {};

TEST_F(elf, sees_how_a_program_is_linked) {
    const auto plain = read_elf(COUNTING_PROGRAM);
    ASSERT_TRUE(plain);
    EXPECT_TRUE(plain->dynamic);
    EXPECT_FALSE(plain->embeds_cuda);
    EXPECT_FALSE(plain->needs_cuda_library());
    EXPECT_FALSE(plain->needed.empty());
    const auto embedding = read_elf(EMBEDDING_PROGRAM);
    ASSERT_TRUE(embedding);
    EXPECT_TRUE(embedding->embeds_cuda);
    for (const char* const library : {"libcudart.so.13", "libcuda.so.1"}) { // by the runtime, by the driver API
        const warpfold::tool::elf_facts facts{.dynamic = true, .embeds_cuda = true, .needed = {"libc.so.6", library}};
        EXPECT_TRUE(facts.needs_cuda_library());
    }
}

TEST_F(elf, is_nothing_else) {
    EXPECT_FALSE(read_elf(path("none")));
    EXPECT_FALSE(read_elf(folder_.path()));
    EXPECT_FALSE(read_elf(write("script", "#!/bin/sh\n")));
    EXPECT_FALSE(read_elf(write("empty", "")));
}

TEST_F(elf, survives_damage) {
    const std::string whole = contents_of(EMBEDDING_PROGRAM);
    std::mt19937 random(587);
    std::size_t read = 0;
    for (int i = 0; i < 300; ++i) {
        std::string file = whole;
        // The header, the program headers and the section headers are where damage matters.
        const std::size_t at = random() % 2 == 0 ? random() % 1024 : file.size() - 1 - random() % 2500;
        for (std::size_t j = 0; j < 1 + random() % 8 && at + j < file.size(); ++j) {
            file[at + j] = static_cast<char>(random() % 3 == 0 ? 0xFF : random() % 256);
        }
        if (random() % 4 == 0) {
            file.resize(random() % file.size());
        }
        read += read_elf(write("damaged", file)).has_value() ? 1 : 0;
    }
    EXPECT_GT(read, 0u);
}

TEST_F(elf, warns_of_a_program_that_the_software_gpu_does_not_reach) {
    const outcome seen = run_command({"run", "--", EMBEDDING_PROGRAM});
    EXPECT_EQ(seen.status, 0);
    EXPECT_EQ(seen.out, "ran\n");
    EXPECT_EQ(seen.error_lines(), 1u);
    EXPECT_NE(seen.error.find("build it with -cudart shared"), std::string::npos) << seen.error;
    EXPECT_EQ(run_command({"run", "--", COUNTING_PROGRAM}).error, "");
}

} // namespace
