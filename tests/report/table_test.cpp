// SPDX-License-Identifier: MIT
// Layout of tables.
#include "report/table.hpp"

#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "report/text.hpp"

namespace {

using namespace warpfold::report;

table small() {
    table t({{"step", align::left}, {"title", align::left, true}, {"time\nµs"}});
    t.add_row({{"1"}, {"interleaved addressing"}, {"80.0"}});
    t.add_rule();
    t.add_row({{"sum_warp"}, {"last"}, {"–"}});
    return t;
}

TEST(table, aligns) {
    EXPECT_EQ(small().text({}), "                                  time\n"
                                "step      title                     µs\n"
                                "──────────────────────────────────────\n"
                                "1         interleaved addressing  80.0\n"
                                "──────────────────────────────────────\n"
                                "sum_warp  last                       –\n");
}

TEST(table, gives_way_where_it_may) {
    EXPECT_EQ(small().text({.width = 28}), "                        time\n"
                                           "step      title           µs\n"
                                           "────────────────────────────\n"
                                           "1         interleaved   80.0\n"
                                           "          addressing\n"
                                           "────────────────────────────\n"
                                           "sum_warp  last             –\n");
}

TEST(table, keeps_the_width_that_it_was_given) {
    for (std::size_t width = 28; width < 60; ++width) {
        std::istringstream text(small().text({.width = width}));
        for (std::string line; std::getline(text, line);) {
            EXPECT_LE(display_width(line), width);
            EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
        }
    }
}

TEST(table, breaks_between_words) {
    table t({{"step", align::left}, {"title", align::left, true}});
    t.add_row({{"1"}, {"one step, warp-aggregated"}});
    EXPECT_EQ(t.text({.width = 10}), "step  title\n"
                                     "─────────────────────\n"
                                     "1     one step,\n"
                                     "      warp-aggregated\n");
}

TEST(table, goes_on_below_where_it_is_too_wide) {
    EXPECT_EQ(small().text({.width = 22}), "step      title\n"
                                           "──────────────────────\n"
                                           "1         interleaved\n"
                                           "          addressing\n"
                                           "──────────────────────\n"
                                           "sum_warp  last\n"
                                           "\n"
                                           "          time\n"
                                           "step        µs\n"
                                           "──────────────\n"
                                           "1         80.0\n"
                                           "──────────────\n"
                                           "sum_warp     –\n");
}

TEST(table, shortens_names) {
    table t({{"kernel", align::left, true, true}, {"µs"}});
    t.add_row({{"void reduce<float, 256>(float const*, float*)"}, {"1.5"}});
    EXPECT_EQ(t.text({.width = 30}), "kernel                      µs\n"
                                     "──────────────────────────────\n"
                                     "void reduce<…st*, float*)  1.5\n");
}

TEST(table, colours_without_moving_anything) {
    table t({{"a", align::left}, {"b"}});
    t.add_row({{"right", tone::good}, {"1"}});
    t.add_row({{"no", tone::bad}, {"22"}});
    EXPECT_EQ(t.text({.colour = true}), "a       b\n"
                                        "─────────\n"
                                        "\x1b[32mright\x1b[0m   1\n"
                                        "\x1b[1;31mno\x1b[0m     22\n");
    EXPECT_EQ(t.text({}).find('\x1b'), std::string::npos);
}

TEST(table, fills_short_rows_and_refuses_long_ones) {
    table t({{"a"}, {"b"}});
    t.add_row({{"1"}});
    EXPECT_EQ(t.text({}), "a  b\n────\n1\n");
    EXPECT_THROW(t.add_row({{"1"}, {"2"}, {"3"}}), std::invalid_argument);
    EXPECT_THROW(table({}), std::invalid_argument);
}

} // namespace
