// SPDX-License-Identifier: MIT
// Cards' files: those of the tree, and what is refused in a user's own.
#include <filesystem>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "softgpu/predict/card.hpp"
#include "tests/contents_of.hpp"
#include "tests/message_of.hpp"

namespace softgpu::predict {
namespace {

std::string text_of(const std::string& key) {
    return warpfold::tests::contents_of(std::string(CARDS_FOLDER) + "/" + key + ".json");
}

std::string changed(const std::string& from, const std::string& to) {
    std::string text = text_of("h200");
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
    return warpfold::tests::message_of<card_error>([&] { static_cast<void>(parse_card(text, "my.json")); });
}

TEST(Cards, OfTheTreeAreValid) {
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(CARDS_FOLDER)) {
        EXPECT_EQ(read_card(entry.path().string()).key, entry.path().stem().string());
        ++found;
    }
    EXPECT_GE(found, 9u);
    EXPECT_EQ(parse_card(text_of("h200"), "h200").multiprocessors, 132);
}

// TFLOP/s of halves with sums of 32 bits, dense, as the data sheets print them.
TEST(Cards, TensorCoresReachTheDataSheet) {
    const std::pair<const char*, double> printed[] = {
        {"v100", 125}, {"t4", 65}, {"a100", 312}, {"rtx4090", 165}, {"rtx5090", 209.5}};
    for (const auto& [key, tera] : printed) {
        const card c = parse_card(text_of(key), key);
        EXPECT_NEAR(2 * c.throughput_tensor * c.multiprocessors * c.clock / 1000 / tera, 1, 0.01) << key;
    }
}

// Of compute capability 9.0 the figure is what mma reaches, measured; wgmma has the rest.
TEST(Cards, ProductsByMmaStayBelowHoppersDataSheet) {
    for (const char* const key : {"h100", "h200"}) {
        const card c = parse_card(text_of(key), key);
        EXPECT_LT(2 * c.throughput_tensor * c.multiprocessors * c.clock / 1000, 989) << key;
    }
}

TEST(Cards, AFigureThatIsMissingIsNamed) {
    EXPECT_EQ(error_of(changed("\"dram_bandwidth\": {", "\"dram_bandwith\": {")),
              "my.json: figure dram_bandwidth is missing (GB/s)");
    EXPECT_EQ(error_of(changed("\"figures\": {", "\"figures\": {\"colour\": {},")),
              "my.json: there is no figure colour");
}

TEST(Cards, AbsurdFiguresAreRefused) {
    EXPECT_EQ(error_of(changed("\"value\": 1.97937", "\"value\": 1980")),
              "my.json: figure clock is 1980; it has to be from 0.1 to 10 GHz");
    EXPECT_EQ(error_of(changed("\"value\": 1.97937", "\"value\": \"1.97903\"")),
              "my.json: figure clock: \"value\" is missing or no number");
    EXPECT_EQ(error_of(changed("\"unit\": \"GHz\"", "\"unit\": \"MHz\"")),
              "my.json: figure clock: the unit is \"GHz\", not \"MHz\"");
    EXPECT_EQ(error_of(changed("\"source\": ", "\"origin\": ")),
              "my.json: figure clock: \"source\" is missing or no text");
}

TEST(Cards, ComputeCapabilityIsMajorAndMinor) {
    EXPECT_EQ(parse_card(text_of("g80"), "g80").compute_capability, 10u);
    EXPECT_EQ(parse_card(text_of("rtx5090"), "rtx5090").compute_capability, 120u);
    for (const char* const wrong : {"9", "9.", ".0", "9.x", "9.0.1", "9.10", "x9.0", "-9.0"}) {
        EXPECT_EQ(error_of(changed("\"compute_capability\": \"9.0\"",
                                   std::string("\"compute_capability\": \"") + wrong + '"')),
                  std::string("my.json: compute_capability is \"") + wrong + "\", not MAJOR.MINOR");
    }
    EXPECT_EQ(error_of(changed("\"compute_capability\"", "\"capability\"")),
              "my.json: \"compute_capability\" is missing or no text");
}

TEST(Cards, WhatIsNoCardIsRefused) {
    EXPECT_EQ(error_of("{"), "my.json is no description of a card: no JSON object with \"figures\"");
    EXPECT_EQ(error_of("[]"), "my.json is no description of a card: no JSON object with \"figures\"");
    EXPECT_THROW(static_cast<void>(read_card("/nowhere/my.json")), card_error);
}

} // namespace
} // namespace softgpu::predict
