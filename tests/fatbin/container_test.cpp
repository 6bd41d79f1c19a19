// SPDX-License-Identifier: MIT
// The entries of a fat binary, and which of them a device uses.
#include <gtest/gtest.h>

#include "softgpu/runtime/fatbin/fatbin.hpp"
#include "tests/fatbin/containers.hpp"
#include "tests/message_of.hpp"

using namespace softgpu::runtime;
using namespace fatbin_test;

namespace {

std::string message_of(const std::string& bytes) {
    return warpfold::tests::message_of<fatbin_error>([&] { (void)read_fatbin(bytes.data(), bytes.size()); });
}

TEST(container, lists_entries_with_their_facts) {
    const std::string bytes = container({{2, 80, packing::plain,
                                          "\x7f"
                                          "ELFbody",
                                          0, "a.cu", ""},
                                         {1, 90, packing::zstd, some_ptx(2000), 0x100000, "b.cu", "-g --fast"},
                                         {1, 75, packing::lz4, some_ptx(500), 0, "", "--compile-only"},
                                         {64, 90, packing::plain, "????", 0x200000, "", ""},
                                         {8, 80, packing::zstd, "intermediate code", 0, "", "--compile-only"}});
    const std::vector<fatbin_entry> entries = read_fatbin(bytes.data(), bytes.size());
    ASSERT_EQ(entries.size(), 5u);
    EXPECT_EQ(entries[0].kind, fatbin_kind::elf);
    EXPECT_EQ(entries[0].architecture, 80u);
    EXPECT_EQ(entries[0].compression, fatbin_compression::none);
    EXPECT_EQ(entries[0].source, "a.cu");
    EXPECT_FALSE(entries[0].relocatable);
    EXPECT_EQ(entries[1].kind, fatbin_kind::ptx);
    EXPECT_EQ(entries[1].compression, fatbin_compression::zstd);
    EXPECT_EQ(entries[1].reach, fatbin_reach::exact);
    EXPECT_EQ(entries[1].source, "b.cu");
    EXPECT_EQ(entries[1].options, "-g --fast");
    EXPECT_EQ(entries[1].uncompressed_bytes, some_ptx(2000).size() + 1);
    EXPECT_EQ(entries[2].compression, fatbin_compression::lz4);
    EXPECT_TRUE(entries[2].relocatable);
    EXPECT_EQ(entries[3].kind, fatbin_kind::other);
    EXPECT_EQ(entries[3].reach, fatbin_reach::family);
    EXPECT_THROW((void)decompress(entries[3]), fatbin_error);
    EXPECT_EQ(entries[4].kind, fatbin_kind::lto);
    EXPECT_THROW((void)decompress(entries[4]), fatbin_error);
    EXPECT_EQ(entries[4].within.size(), bytes.size());
    EXPECT_EQ(best_lto(entries, 90)->options, "--compile-only");
    EXPECT_FALSE(best_lto(entries, 75).has_value());
}

TEST(container, several_behind_each_other) {
    const std::string bytes = container({{1, 75, packing::plain, "first", 0, "", ""}}) + container({}) +
                              std::string(24, '\0') + container({{1, 80, packing::plain, "second", 0, "", ""}}) +
                              std::string(5, '\0');
    const std::vector<fatbin_entry> entries = read_fatbin(bytes.data(), bytes.size());
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].container, 0u);
    EXPECT_EQ(entries[1].container, 2u);
    EXPECT_EQ(decompress(entries[1]), "second");
}

TEST(container, in_program_memory_ends_where_its_header_says) {
    const std::string bytes = container({{1, 75, packing::plain, "mine", 0, "", ""}}) + "not a container at all";
    EXPECT_EQ(read_fatbin(bytes.data()).size(), 1u);
    EXPECT_THROW((void)read_fatbin(bytes.data(), bytes.size()), fatbin_error);
}

struct wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* data;
    const void* const* linked;
};

TEST(wrapper, leads_to_its_container) {
    const std::string bytes = container({{1, 75, packing::zstd, some_ptx(300), 0, "", ""}});
    const wrapper w{0x466243B1u, 1, bytes.data(), nullptr};
    const std::vector<fatbin_entry> entries = read_fatbin(&w);
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(decompress(entries[0]), some_ptx(300));
}

TEST(wrapper, of_version_2_brings_the_relocatable_containers) {
    const std::string linked = container({{2, 75, packing::plain,
                                           "\x7f"
                                           "ELF",
                                           0, "", ""}});
    const std::string one = container({{1, 75, packing::plain, "one", 0, "", ""}});
    const std::string two = container({{1, 75, packing::plain, "two", 0, "", ""}});
    const void* const list[] = {one.data(), two.data(), nullptr};
    const wrapper w{0x466243B1u, 2, linked.data(), list};
    const std::vector<fatbin_entry> entries = read_fatbin(&w);
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_FALSE(entries[0].relocatable);
    EXPECT_TRUE(entries[1].relocatable);
    EXPECT_TRUE(entries[2].relocatable);
    EXPECT_EQ(entries[2].container, 2u);
    EXPECT_EQ(decompress(entries[2]), "two");
}

TEST(wrapper, that_is_damaged_is_an_error) {
    const std::string bytes = container({});
    const wrapper unknown{0x466243B1u, 3, bytes.data(), nullptr};
    EXPECT_THROW((void)read_fatbin(&unknown), fatbin_error);
    const wrapper empty{0x466243B1u, 1, nullptr, nullptr};
    EXPECT_THROW((void)read_fatbin(&empty), fatbin_error);
    // With a length, pointers are never followed.
    const wrapper good{0x466243B1u, 1, bytes.data(), nullptr};
    EXPECT_THROW((void)read_fatbin(&good, sizeof good), fatbin_error);
}

TEST(container, errors_are_one_line_that_says_where) {
    EXPECT_THROW((void)read_fatbin(nullptr), fatbin_error);
    EXPECT_EQ(message_of(""), "fat binary: there is none (no bytes)");
    EXPECT_EQ(message_of(std::string(64, 'x')), "fat binary: no container at offset 0 (wrong magic number)");
    const std::string good = container({{1, 75, packing::plain, "text", 0, "", ""}});
    EXPECT_EQ(message_of(good + "abcd"),
              "fat binary: cut off in a container's header at offset " + std::to_string(good.size()));
    std::string bad = good;
    put(bad, 4, std::uint16_t{9});
    EXPECT_EQ(message_of(bad), "fat binary: container version 9 at offset 0 is not known");
    bad = good;
    put(bad, 8, ~std::uint64_t{0});
    EXPECT_EQ(message_of(bad), "fat binary: a container at offset 0 is longer than the data");
    bad = good;
    put(bad, 16 + 8, ~std::uint64_t{0});
    EXPECT_EQ(message_of(bad), "fat binary: an entry at offset 16 is longer than its container");
    bad = good;
    put(bad, 16 + 4, std::uint32_t{8});
    EXPECT_EQ(message_of(bad), "fat binary: an entry at offset 16 is longer than its container");
    bad = good;
    put(bad, 16 + 40, std::uint64_t{0xA000});
    EXPECT_EQ(message_of(bad), "fat binary: an entry at offset 16 claims to be compressed in two ways");
    bad = good;
    put(bad, 16 + 40, std::uint64_t{0x8000});
    put(bad, 16 + 16, std::uint32_t{9});
    EXPECT_EQ(message_of(bad), "fat binary: an entry at offset 16 has 8 bytes and claims 9 compressed ones");
}

unsigned chosen(const std::vector<entry_plan>& plans, unsigned capability) {
    const std::string bytes = container(plans);
    const std::vector<fatbin_entry> entries = read_fatbin(bytes.data(), bytes.size());
    const std::optional<fatbin_entry> best = best_ptx(entries, capability);
    return best ? best->architecture : 0;
}

TEST(best_ptx, is_the_highest_that_the_device_runs) {
    const std::vector<entry_plan> plans{{1, 75, packing::plain, "", 0, "", ""},
                                        {1, 90, packing::plain, "", 0, "", ""},
                                        {2, 86, packing::plain, "", 0, "", ""},
                                        {1, 80, packing::plain, "", 0, "", ""}};
    EXPECT_EQ(chosen(plans, 70), 0u);
    EXPECT_EQ(chosen(plans, 75), 75u);
    EXPECT_EQ(chosen(plans, 86), 80u);
    EXPECT_EQ(chosen(plans, 90), 90u);
    EXPECT_EQ(chosen(plans, 120), 90u);
    EXPECT_EQ(chosen({}, 90), 0u);
}

TEST(best_ptx, respects_code_for_one_architecture_or_family) {
    const std::vector<entry_plan> plans{{1, 75, packing::plain, "", 0, "", ""},
                                        {1, 90, packing::plain, "", 0x100000, "", ""},
                                        {1, 100, packing::plain, "", 0x200000, "", ""}};
    EXPECT_EQ(chosen(plans, 86), 75u);
    EXPECT_EQ(chosen(plans, 90), 90u);
    EXPECT_EQ(chosen(plans, 100), 100u);
    EXPECT_EQ(chosen(plans, 103), 100u);
    EXPECT_EQ(chosen(plans, 120), 75u);
}

TEST(best_ptx, of_equals_is_the_most_specific_and_linked_before_relocatable) {
    const std::string bytes = container({{1, 100, packing::plain, "any", 0, "", ""},
                                         {1, 100, packing::plain, "exact", 0x100000, "", ""},
                                         {1, 100, packing::plain, "family", 0x200000, "", ""},
                                         {1, 103, packing::plain, "loose", 0, "", "--compile-only"}});
    const std::vector<fatbin_entry> entries = read_fatbin(bytes.data(), bytes.size());
    EXPECT_EQ(decompress(best_ptx(entries, 100).value()), "exact");
    EXPECT_EQ(decompress(best_ptx(entries, 103).value()), "family");
    EXPECT_EQ(decompress(best_ptx(entries, 120).value()), "any");
    EXPECT_EQ(decompress(best_ptx(std::span(entries).subspan(3), 120).value()), "loose");
}

} // namespace
