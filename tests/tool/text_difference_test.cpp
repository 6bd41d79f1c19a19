// SPDX-License-Identifier: MIT
// The difference of two texts: against what diff -u prints, and by putting the new text together from the edits.
#include "tool/explain/source/text_difference.hpp"

#include <random>

#include <gtest/gtest.h>

namespace {

using namespace warpfold::tool;

TEST(unified_difference, is_empty_where_nothing_changes) {
    EXPECT_EQ(unified("", ""), "");
    EXPECT_EQ(unified("a\nb\n", "a\nb\n"), "");
    EXPECT_EQ(unified("a", "a"), "");
}

TEST(unified_difference, of_an_empty_text_is_all_of_the_other) {
    EXPECT_EQ(unified("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
    EXPECT_EQ(unified("a\nb\n", ""), "@@ -1,2 +0,0 @@\n-a\n-b\n");
}

TEST(unified_difference, shows_a_line_changed_in_the_middle) {
    EXPECT_EQ(unified("a\nb\nc\nd\ne\n", "a\nb\nX\nd\ne\n", 1), "@@ -2,3 +2,3 @@\n b\n-c\n+X\n d\n");
    EXPECT_EQ(unified("a\n", "b\n"), "@@ -1 +1 @@\n-a\n+b\n");
}

TEST(unified_difference, marks_a_last_line_without_its_break) {
    EXPECT_EQ(unified("a\nb", "a\nb\n"), "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
    EXPECT_EQ(unified("a", "b"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n");
    EXPECT_EQ(unified("x\na", "y\na"), "@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n");
}

TEST(unified_difference, joins_hunks_that_touch_and_parts_those_that_do_not) {
    const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n";
    EXPECT_EQ(unified(before, "x\n2\n3\n4\n5\n6\n7\ny\n", 3),
              "@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n");
    EXPECT_EQ(unified(before, "x\n2\n3\n4\n5\n6\n7\ny\n", 2),
              "@@ -1,3 +1,3 @@\n-1\n+x\n 2\n 3\n@@ -6,3 +6,3 @@\n 6\n 7\n-8\n+y\n");
}

TEST(unified_difference, keeps_what_moves_least) {
    EXPECT_EQ(unified("a\nb\nc\n", "b\nc\na\n", 0), "@@ -1 +0,0 @@\n-a\n@@ -3,0 +3 @@\n+a\n");
}

// What the edits leave of the old text and bring in from the new one is the new one; there is no shorter way than by
// the longest common subsequence, whose length is computed otherwise here.
TEST(edits, lead_from_one_text_to_the_other) {
    std::mt19937 random(5);
    for (int round = 0; round < 300; ++round) {
        const auto text = [&] {
            std::vector<std::string> lines(random() % 12);
            for (auto& line : lines) {
                line = std::string(1, static_cast<char>('a' + random() % 3));
            }
            return lines;
        };
        const auto before = text();
        const auto after = text();
        std::vector<std::string> old_again;
        std::vector<std::string> new_again;
        std::size_t kept = 0;
        for (const edit& e : edits_between(before, after)) {
            if (e.what != change::added) {
                ASSERT_EQ(e.before, old_again.size());
                old_again.push_back(before[e.before]);
            }
            if (e.what != change::removed) {
                ASSERT_EQ(e.after, new_again.size());
                new_again.push_back(after[e.after]);
            }
            if (e.what == change::none) {
                ASSERT_EQ(before[e.before], after[e.after]);
                ++kept;
            }
        }
        EXPECT_EQ(old_again, before);
        EXPECT_EQ(new_again, after);
        std::vector<std::size_t> row(after.size() + 1, 0);
        for (const auto& line : before) {
            std::vector<std::size_t> next(after.size() + 1, 0);
            for (std::size_t k = 0; k < after.size(); ++k) {
                next[k + 1] = line == after[k] ? row[k] + 1 : std::max(row[k + 1], next[k]);
            }
            row = next;
        }
        EXPECT_EQ(kept, row.back());
    }
}

} // namespace
