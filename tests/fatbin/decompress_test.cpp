// SPDX-License-Identifier: MIT
// The contents of an entry in every compression, and wrong lengths.
#include <gtest/gtest.h>

#include "softgpu/runtime/fatbin/fatbin.hpp"
#include "tests/fatbin/containers.hpp"
#include "tests/message_of.hpp"

using namespace softgpu::runtime;
using namespace fatbin_test;

namespace {

constexpr std::size_t entry_at = 16; // after the container's header

fatbin_entry only_entry(const std::string& bytes) {
    const std::vector<fatbin_entry> entries = read_fatbin(bytes.data(), bytes.size());
    EXPECT_EQ(entries.size(), 1u);
    return entries.at(0);
}

std::string message_of(const std::string& bytes) {
    return warpfold::tests::message_of<fatbin_error>([&] { (void)decompress(only_entry(bytes)); });
}

class packings : public testing::TestWithParam<packing> {};

TEST_P(packings, give_the_text_back_without_its_zeros) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{65536},
                                    std::size_t{300'000}, std::size_t{5'000'000}}) {
        const std::string text = bytes < 2 ? std::string(bytes, 'p') : some_ptx(bytes);
        const std::string in = container({{1, 75, GetParam(), text, 0, "", ""}});
        EXPECT_EQ(decompress(only_entry(in)), text) << bytes;
    }
}

TEST_P(packings, keep_the_zeros_of_machine_code) {
    const std::string code("\x7f"
                           "ELF\0\0ab\0\0\0\0\0\0\0\0",
                           16);
    const std::string in = container({{2, 75, GetParam(), code, 0, "", ""}});
    EXPECT_EQ(decompress(only_entry(in)), code);
}

INSTANTIATE_TEST_SUITE_P(all, packings, testing::Values(packing::plain, packing::lz4, packing::zstd));

class compressed : public testing::TestWithParam<packing> {};

TEST_P(compressed, length_has_to_be_right) {
    const std::string text = some_ptx(1000);
    const std::string good = container({{1, 75, GetParam(), text, 0, "", ""}});
    for (const std::uint64_t claimed : {text.size(), text.size() + 2, std::size_t{0}, std::size_t{1}}) {
        std::string bad = good;
        put(bad, entry_at + 56, claimed);
        EXPECT_THROW((void)decompress(only_entry(bad)), fatbin_error) << claimed;
    }
}

TEST_P(compressed, absurd_lengths_are_refused_before_memory_is_asked_for) {
    std::string bad = container({{1, 75, GetParam(), some_ptx(1000), 0, "", ""}});
    put(bad, entry_at + 56, std::uint64_t{1} << 60);
    EXPECT_EQ(message_of(bad), "fat binary: an entry claims 1152921504606846976 bytes, more than 1073741824");
}

TEST_P(compressed, data_may_not_be_cut_off) {
    const std::string good = container({{1, 75, GetParam(), some_ptx(3000), 0, "", ""}});
    std::uint32_t whole = 0;
    std::memcpy(&whole, good.data() + entry_at + 16, sizeof whole);
    for (std::uint32_t kept = 0; kept < whole; ++kept) {
        std::string bad = good;
        put(bad, entry_at + 16, kept);
        EXPECT_THROW((void)decompress(only_entry(bad)), fatbin_error) << kept;
    }
}

INSTANTIATE_TEST_SUITE_P(both, compressed, testing::Values(packing::lz4, packing::zstd));

TEST(decompress, of_a_small_frame_that_swells_stops_at_the_length_claimed) {
    const std::string zeros(50'000'000, '\0'); // NOLINT(bugprone-string-constructor): as many
    std::string bomb = container({{2, 75, packing::zstd, zeros, 0, "", ""}});
    EXPECT_LT(bomb.size(), 100'000u);
    put(bomb, entry_at + 56, std::uint64_t{1000});
    EXPECT_EQ(message_of(bomb), "fat binary: an entry holds more bytes than it claims");
}

TEST(decompress, says_what_is_wrong) {
    std::string bad = container({{1, 75, packing::zstd, some_ptx(1000), 0, "", ""}});
    bad[entry_at + 64] = 'x';
    EXPECT_EQ(message_of(bad).rfind("fat binary: damaged Zstandard data (", 0), 0u) << message_of(bad);
    bad = container({{1, 75, packing::lz4, some_ptx(1000), 0, "", ""}});
    put(bad, entry_at + 56, std::uint64_t{1} << 29);
    EXPECT_EQ(message_of(bad), "fat binary: an entry claims more bytes than its LZ4 data can yield");
}

} // namespace
