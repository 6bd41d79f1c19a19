// SPDX-License-Identifier: MIT
// Counts in, figures out.
#include "report/number.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace {

using namespace warpfold::report;

TEST(parse_count, takes_what_people_write) {
    EXPECT_EQ(parse_count("0"), 0u);
    EXPECT_EQ(parse_count("100000"), 100'000u);
    EXPECT_EQ(parse_count("2^22"), 4'194'304u);
    EXPECT_EQ(parse_count("10^3"), 1000u);
    EXPECT_EQ(parse_count("7^0"), 1u);
    EXPECT_EQ(parse_count("0^5"), 0u);
    EXPECT_EQ(parse_count("1^99999999999"), 1u);
    EXPECT_EQ(parse_count("4Ki"), 4096u);
    EXPECT_EQ(parse_count("1Mi"), 1'048'576u);
    EXPECT_EQ(parse_count("2Gi"), 2'147'483'648u);
    EXPECT_EQ(parse_count("1Ti"), 1'099'511'627'776u);
    EXPECT_EQ(parse_count("1e6"), 1'000'000u);
    EXPECT_EQ(parse_count("1E+6"), 1'000'000u);
    EXPECT_EQ(parse_count("1.5e3"), 1500u);
    EXPECT_EQ(parse_count("1.50e1"), 15u);
    EXPECT_EQ(parse_count("0e99"), 0u);
    EXPECT_EQ(parse_count("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(parse_count("2^63"), std::uint64_t{1} << 63);
}

TEST(parse_count, refuses_everything_else) {
    for (const char* text : {"",       "-1",    "+1",     " 1",    "1 ",    "x",    "1x",  "0x10", "2^",   "^2",
                             "2^-1",   "2^2^2", "Ki",     "1ki",   "1K",    "1MiB", "1e",  "e6",   "1e-3", "1.5",
                             "1.55e1", ".e2",   "1..5e3", "1e6e6", "1.5Mi", "-2^4", "1\n", "nan",  "inf"}) {
        EXPECT_THROW(static_cast<void>(parse_count(text)), bad_number) << text;
    }
    EXPECT_THROW(static_cast<void>(parse_count(std::string_view("1\0", 2))), bad_number);
}

TEST(parse_count, refuses_what_does_not_fit) {
    for (const char* text : {"18446744073709551616", "99999999999999999999999", "2^64", "10^20", "1e20", "1e99999999",
                             "16777216Ti", "3^99999999999999", "1.8446744073709551616e19"}) {
        try {
            static_cast<void>(parse_count(text));
            ADD_FAILURE() << text;
        } catch (const bad_number& error) {
            EXPECT_NE(std::string(error.what()).find("more than 2^64 - 1"), std::string::npos) << error.what();
        }
    }
}

TEST(figure, has_significant_digits) {
    EXPECT_EQ(figure(0), "0");
    EXPECT_EQ(figure(1), "1.00");
    EXPECT_EQ(figure(9.996), "10.0");
    EXPECT_EQ(figure(99.95), "100"); // rounds to 1.00e2 or 9.99e1, both of three digits
    EXPECT_EQ(figure(1234.4), "1234");
    EXPECT_EQ(figure(1678.2, 4), "1678");
    EXPECT_EQ(figure(-0.0123456), "-0.0123");
    EXPECT_EQ(figure(2.5e-7), "2.50e-07");
    EXPECT_EQ(figure(1e12), "1.00e+12");
    EXPECT_EQ(figure(NAN), "–");
    EXPECT_EQ(figure(HUGE_VAL), "–");
}

TEST(group_digits, puts_commas) {
    EXPECT_EQ(group_digits(0), "0");
    EXPECT_EQ(group_digits(999), "999");
    EXPECT_EQ(group_digits(1000), "1,000");
    EXPECT_EQ(group_digits(4'194'304), "4,194,304");
}

TEST(short_count, has_three_digits_from_100000_on) {
    EXPECT_EQ(short_count(99'999), "99999");
    EXPECT_EQ(short_count(100'000), "100k");
    EXPECT_EQ(short_count(999'500), "1.00M");
    EXPECT_EQ(short_count(12'345'678'901), "12.3G");
}

TEST(bytes, chooses_a_unit) {
    EXPECT_EQ(bytes(0), "0 bytes");
    EXPECT_EQ(bytes(999), "999 bytes");
    EXPECT_EQ(bytes(1000), "1.00 kB");
    EXPECT_EQ(bytes(999'999), "1.00 MB");
    EXPECT_EQ(bytes(16'777'216), "16.8 MB");
    EXPECT_EQ(bytes(85'017'493'504), "85.0 GB");
}

} // namespace
