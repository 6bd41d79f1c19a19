// SPDX-License-Identifier: MIT
// Damaged fat binaries: the reader returns or throws, and does nothing worse. Run it with the address sanitizer as well.
#include <cstdint>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "softgpu/runtime/fatbin/fatbin.hpp"
#include "tests/fatbin/containers.hpp"

using namespace softgpu::runtime;
using namespace fatbin_test;

namespace {

std::string sample() {
    return container({{2, 80, packing::plain,
                       "\x7f"
                       "ELFbody of the code",
                       0, "a.cu", ""},
                      {1, 90, packing::zstd, some_ptx(800), 0x100000, "b.cu", "-g --fast"},
                      {1, 75, packing::lz4, some_ptx(500), 0, "", "--compile-only"},
                      {1, 70, packing::plain, some_ptx(200), 0, "", ""}}) +
           container({{1, 75, packing::zstd, some_ptx(400), 0, "", ""}});
}

// Reads all entries. The bytes lie in a block of exactly their size, so that the sanitizer sees a read beyond it.
// Returns whether there was no error.
bool survives(const std::string& bytes) {
    const auto block = std::make_unique<char[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), block.get());
    try {
        const std::vector<fatbin_entry> entries = read_fatbin(block.get(), bytes.size());
        (void)best_ptx(entries, 90);
        bool whole = true;
        for (const fatbin_entry& entry : entries) {
            try {
                EXPECT_LE(decompress(entry).size(), most_uncompressed_bytes);
            } catch (const fatbin_error& e) {
                EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
                whole = false;
            }
        }
        return whole;
    } catch (const fatbin_error& e) {
        EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
        return false;
    }
}

TEST(damage, truncated_at_every_length) {
    const std::string whole = sample();
    const std::string first = container({{2, 80, packing::plain,
                                          "\x7f"
                                          "ELFbody of the code",
                                          0, "a.cu", ""},
                                         {1, 90, packing::zstd, some_ptx(800), 0x100000, "b.cu", "-g --fast"},
                                         {1, 75, packing::lz4, some_ptx(500), 0, "", "--compile-only"},
                                         {1, 70, packing::plain, some_ptx(200), 0, "", ""}});
    EXPECT_TRUE(survives(whole));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        // Only the cut between the two containers leaves a whole container.
        EXPECT_EQ(survives(whole.substr(0, length)), length == first.size()) << length;
    }
}

TEST(damage, every_byte_of_the_headers_in_turn) {
    const std::string whole = sample();
    for (std::size_t at = 0; at < 16 + 64 + 8; ++at) {
        for (unsigned value = 0; value < 256; ++value) {
            std::string bytes = whole;
            bytes[at] = static_cast<char>(value);
            survives(bytes);
        }
    }
}

TEST(damage, extreme_numbers_in_every_field) {
    const std::string whole = sample();
    for (std::size_t at = 0; at + 8 <= whole.size(); at += 2) {
        for (const std::uint64_t value : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 63,
                                          std::uint64_t{0x7FFFFFFFFFFFFFFF}, ~std::uint64_t{0} - at}) {
            std::string bytes = whole;
            put(bytes, at, value);
            survives(bytes);
            bytes = whole;
            put(bytes, at, static_cast<std::uint32_t>(value));
            survives(bytes);
        }
    }
}

TEST(damage, random_mutations) {
    const std::string whole = sample();
    std::mt19937 random(587);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    unsigned damaged = 0;
    for (unsigned round = 0; round < 20'000; ++round) {
        std::string bytes = whole;
        for (std::size_t k = 1 + below(4); k-- > 0;) {
            switch (below(4)) {
            case 0: bytes[below(bytes.size())] = static_cast<char>(below(256)); break;
            case 1: bytes.erase(below(bytes.size() - 1), 1 + below(16)); break;
            case 2: bytes.insert(below(bytes.size()), 1 + below(16), static_cast<char>(below(256))); break;
            default: {
                const std::size_t from = below(bytes.size());
                const std::size_t to = below(bytes.size());
                const std::size_t length = std::min(1 + below(64), bytes.size() - std::max(from, to));
                std::memmove(bytes.data() + to, bytes.data() + from, length);
            }
            }
        }
        damaged += survives(bytes) ? 0 : 1;
    }
    EXPECT_GT(damaged, 1000u);
}

} // namespace
