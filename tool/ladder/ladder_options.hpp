// SPDX-License-Identifier: MIT
// The options of `warpfold ladder NAME` and the request that they make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "ladder/engine/definition/catalogue.hpp"
#include "ladder/engine/definition/report.hpp"
#include "tool/run/predicted_cards.hpp"
#include "tool/run/runtime_choice.hpp"

namespace warpfold::tool {

struct ladder_options {
    std::optional<std::string> n;
    std::string block = "256";
    std::string type = "int32";
    std::string op = "sum";
    std::string finish = "device";
    std::string samples = "31";
    std::string seed = "587";
    std::optional<std::string> steps;
    std::optional<std::string> json;
    std::optional<std::string> trace;
    bool claims = false;
    bool no_claims = false;
    bool counterexamples = false;
    bool no_times = false;
    bool list = false;
    predict_options predict;
    device_options device;
};

// --json, --samples, --seed and those of the device: the options of all ladders together.
void add_common_options(CLI::App& app, ladder_options& options);
// --claims and --counterexamples.
void add_claim_options(CLI::App& app, ladder_options& options);
// All options of one ladder; parameters as the catalogue declares them.
void add_ladder_options(CLI::App& app, ladder_options& options, const ladder::catalogue_entry& ladder);

// Throws usage_error for a value that is no number, out of bounds or an unknown name.
[[nodiscard]] ladder::ladder_request request_of(const ladder_options& options, const ladder::catalogue_entry& ladder,
                                                device_kind kind);

// Tells the software GPU which cards to predict. Throws usage_error for a GPU, whose times are measured.
void set_predictions(const ladder_options& options, device_kind kind);

// A count given to the option, between the two bounds. Throws usage_error.
[[nodiscard]] std::uint64_t parse_bounded(std::string_view option, std::string_view text, std::uint64_t least,
                                          std::uint64_t most);

} // namespace warpfold::tool
