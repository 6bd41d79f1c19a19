// SPDX-License-Identifier: MIT
// The difference of two texts: the new one is put together from the edits.
#include "tool/explain/source/text_difference.hpp"

#include <random>

#include <gtest/gtest.h>

namespace {

using namespace warpfold::tool;

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
