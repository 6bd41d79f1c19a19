// SPDX-License-Identifier: MIT
// --predict and --card-file: the cards whose model says how long each launch takes (docs/model.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace warpfold::tool {

struct predict_options {
    std::optional<std::string> cards; // "h200,t4"
    std::vector<std::string> files;   // of the user's own
};

void add_predict_options(CLI::App& app, predict_options& options);

// Tells the software GPU by its environment which cards to predict; call it before the runtime starts. Returns their keys,
// none where nothing is asked. Throws usage_error for a card that there is not, failure for a file that is not valid.
std::vector<std::string> set_predicted_cards(const predict_options& options);

} // namespace warpfold::tool
