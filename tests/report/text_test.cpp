// SPDX-License-Identifier: MIT
// Width, wrapping and escaping of text.
#include "report/text.hpp"

#include <random>

#include <gtest/gtest.h>

namespace {

using namespace warpfold::report;
using lines = std::vector<std::string>;

TEST(display_width, counts_columns_not_bytes) {
    EXPECT_EQ(display_width(""), 0u);
    EXPECT_EQ(display_width("abc"), 3u);
    EXPECT_EQ(display_width("µs ✓"), 4u);
    EXPECT_EQ(display_width("e\xCC\x81"), 1u);
    EXPECT_EQ(display_width("漢字"), 4u);
    EXPECT_EQ(display_width("\xFF\xC2"), 2u);
    EXPECT_EQ(display_width("\xE2\x9C"), 2u);
}

TEST(wrap, breaks_at_blanks) {
    EXPECT_EQ(wrap("", 5), (lines{""}));
    EXPECT_EQ(wrap("one two three", 7), (lines{"one two", "three"}));
    EXPECT_EQ(wrap("a  b", 5), (lines{"a b"}));
    EXPECT_EQ(wrap("a\nb", 5), (lines{"a", "b"}));
    EXPECT_EQ(wrap("a\n\nb", 5), (lines{"a", "", "b"}));
    EXPECT_EQ(wrap("abcdefgh ij", 3), (lines{"abc", "def", "gh", "ij"}));
    EXPECT_EQ(wrap("µµµµ", 2), (lines{"µµ", "µµ"}));
    EXPECT_EQ(wrap("ab", 0), (lines{"a", "b"}));
}

TEST(wrap, keeps_every_line_within_the_width) {
    std::mt19937 random(1);
    for (int i = 0; i < 2000; ++i) {
        std::string text;
        for (auto length = random() % 80; length > 0; --length) {
            text += static_cast<char>(random() % 4 == 0 ? ' ' : random() % 256);
        }
        const std::size_t width = 1 + random() % 20;
        for (const std::string& line : wrap(text, width)) {
            EXPECT_LE(display_width(line), std::max<std::size_t>(width, 2)); // a wide character alone may take two
        }
    }
}

TEST(paragraph, hangs) {
    EXPECT_EQ(paragraph("✓ ", "one two three four five six", 22), "✓ one two three four\n  five six\n");
    EXPECT_EQ(paragraph("x  ", "", 40), "x  \n");
}

TEST(shortened, leaves_out_the_middle) {
    EXPECT_EQ(shortened("abcdefgh", 8), "abcdefgh");
    EXPECT_EQ(shortened("abcdefghi", 8), "abcd…ghi");
    EXPECT_EQ(shortened("µµµµµµ", 3), "µ…µ");
    EXPECT_EQ(shortened("漢字漢字", 5), "漢…字");
    EXPECT_EQ(shortened("", 3), "");
}

TEST(printable, leaves_one_line) { EXPECT_EQ(printable("a\nb\tc\x1b[0m\x7f µ"), "a\\nb\\tc\\x1b[0m\\x7f µ"); }

TEST(to_ascii, has_no_byte_beyond) {
    EXPECT_EQ(to_ascii("✓ 2 × 3 µs – ✗ 漢"), "+ 2 x 3 us - x ?");
    EXPECT_EQ(to_ascii("\xFFx"), "?x");
}

} // namespace
