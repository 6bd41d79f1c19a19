// SPDX-License-Identifier: MIT
// mma, wmma and wgmma against the results of an H200, form by form, bit by bit. make_golden.cpp says how golden.txt is made.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/machine/handlers/matrix/matrix_operands.hpp"
#include "tests/machine/handlers/matrix/warpgroup_forms.hpp"
#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {
namespace {

std::map<std::string, std::vector<std::uint32_t>> golden() {
    std::map<std::string, std::vector<std::uint32_t>> all;
    std::ifstream file(std::string(WARPFOLD_SOURCE_DIR) + "/tests/machine/handlers/matrix/golden.txt");
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        std::vector<std::uint32_t>& hashes = all[name];
        for (std::string word; words >> word;) {
            hashes.push_back(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
        }
    }
    return all;
}

template <class Form>
void compare(const Form& form, const std::string& name, unsigned lanes, const std::vector<std::uint32_t>& expected) {
    std::vector<std::uint32_t> in;
    for (unsigned n = 0; n < expected.size(); ++n) {
        const auto more = operands_of(form, n);
        in.insert(in.end(), more.begin(), more.end());
    }
    const std::size_t each = std::size_t{words_out(form)} * lanes;
    program p(text_of(form));
    const std::uint64_t out = p.buffer<std::uint32_t>(each * expected.size());
    launch_options how;
    how.grid.x = static_cast<std::uint32_t>(expected.size());
    how.block.x = std::max(lanes, 32u);
    p.run(how, {out == 0 ? 0 : p.buffer(in), out});
    const auto words = p.contents<std::uint32_t>(out, each * expected.size());
    std::string wrong;
    for (std::size_t n = 0; n < expected.size(); ++n) {
        if (hash_of(words.data() + n * each, each) != expected[n]) {
            wrong += " " + std::to_string(n);
        }
    }
    EXPECT_EQ(wrong, "") << name << ": these cases differ from the hardware's";
}

TEST(MatrixGolden, MmaIsBitForBitTheHardwares) {
    const auto known = golden();
    for (const mma_form& f : mma_forms()) {
        ASSERT_TRUE(known.contains(f.key())) << f.key();
        compare(f, f.key(), 32, known.at(f.key()));
    }
}

TEST(MatrixGolden, WmmaIsBitForBitTheHardwares) {
    const auto known = golden();
    for (const wmma_form& f : wmma_forms()) {
        ASSERT_TRUE(known.contains(f.name())) << f.name();
        compare(f, f.name(), 1, known.at(f.name()));
    }
}

TEST(MatrixGolden, WgmmaIsBitForBitTheHardwares) {
    const auto known = golden();
    for (const warpgroup_form& f : warpgroup_forms()) {
        ASSERT_TRUE(known.contains(f.key())) << f.key();
        compare(f, f.key(), 128, known.at(f.key()));
    }
}

} // namespace
} // namespace softgpu::test
