// SPDX-License-Identifier: MIT
// Fat binaries that nvcc wrote, read back to the PTX that nvcc prints.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/runtime/fatbin/fatbin.hpp"
#include "tests/contents_of.hpp"

using namespace softgpu::runtime;
using warpfold::tests::contents_of;

namespace {

// Removes what may differ: comments, blank lines and spacing.
std::string directives_of(const std::string& ptx) {
    std::string kept;
    std::size_t at = 0;
    while (at < ptx.size()) {
        const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
        std::string line = ptx.substr(at, end - at);
        at = end + 1;
        line.erase(std::min(line.find("//"), line.size()));
        std::istringstream words(line);
        std::string word;
        std::string words_apart;
        while (words >> word) {
            words_apart += (words_apart.empty() ? "" : " ") + word;
        }
        if (!words_apart.empty()) {
            kept += words_apart + '\n';
        }
    }
    return kept;
}

const std::filesystem::path folder = FATBIN_FOLDER;

TEST(nvcc, ptx_comes_back_from_every_way_to_compress) {
    const std::string expected = directives_of(contents_of(folder / "expected.ptx"));
    ASSERT_NE(expected.find(".entry"), std::string::npos);
    for (const char* name : {"default", "plain", "relocatable", "size", "speed", "balance", "none"}) {
        const std::filesystem::path path = folder / (std::string(name) + ".fatbin");
        if (!std::filesystem::exists(path)) {
            continue; // this nvcc does not have that mode, and nothing was built
        }
        const std::string bytes = contents_of(path);
        const std::vector<fatbin_entry> entries = read_fatbin(bytes.data(), bytes.size());
        const std::optional<fatbin_entry> best = best_ptx(entries, 90);
        ASSERT_TRUE(best) << name;
        EXPECT_EQ(best->architecture, 75u) << name;
        EXPECT_EQ(best->relocatable, std::string(name) == "relocatable") << name;
        const std::string text = decompress(*best);
        EXPECT_EQ(text.find('\0'), std::string::npos) << name;
        if (!best->relocatable) { // relocatable code keeps more symbols visible
            EXPECT_EQ(directives_of(text), expected) << name;
        }
        for (const fatbin_entry& entry : entries) {
            if (entry.kind == fatbin_kind::elf) {
                EXPECT_EQ(decompress(entry).substr(1, 3), "ELF") << name;
            }
        }
    }
}

TEST(nvcc, several_architectures_are_told_apart) {
    const std::string bytes = contents_of(folder / "several.fatbin");
    const std::vector<fatbin_entry> entries = read_fatbin(bytes.data(), bytes.size());
    EXPECT_EQ(entries.size(), 4u);
    const auto target = [&](unsigned capability) {
        const std::string text = decompress(best_ptx(entries, capability).value());
        const std::size_t at = text.find(".target ");
        return text.substr(at + 8, text.find('\n', at) - at - 8);
    };
    EXPECT_EQ(target(75), "sm_75");
    EXPECT_EQ(target(89), "sm_80");
    EXPECT_EQ(target(90), "sm_90a");
    EXPECT_EQ(target(100), "sm_80");
    EXPECT_FALSE(best_ptx(entries, 70));
}

TEST(nvcc, code_for_one_card_only_has_no_ptx) {
    const std::string bytes = contents_of(folder / "no_ptx.fatbin");
    const std::vector<fatbin_entry> entries = read_fatbin(bytes.data(), bytes.size());
    EXPECT_EQ(entries.size(), 1u);
    EXPECT_FALSE(best_ptx(entries, 90));
}

} // namespace
