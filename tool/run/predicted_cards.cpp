// SPDX-License-Identifier: MIT
#include "tool/run/predicted_cards.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "softgpu/predict/card.hpp"
#include "tool/error.hpp"
#include "tool/run/locate.hpp"

namespace warpfold::tool {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        if (entry.path().extension() == ".json") {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string file_of(const std::string& name) {
    const std::string folder = find_cards_folder();
    const std::vector<std::string> known = names_in(folder);
    std::string key = name;
    std::transform(key.begin(), key.end(), key.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (std::find(known.begin(), known.end(), key) == known.end()) {
        throw usage_error(fmt::format("--predict: '{}' is none of {}; --card-file takes a file of your own", name,
                                      fmt::join(known, ", ")));
    }
    return folder + "/" + key + ".json";
}

} // namespace

void add_predict_options(CLI::App& app, predict_options& o) {
    app.add_option("--predict", o.cards,
                   "say how long each launch takes on these cards, by a model: h200, or several with commas between")
        ->type_name("CARDS");
    app.add_option("--card-file", o.files, "the same for a card that this file describes (docs/model.md)")
        ->type_name("FILE");
}

std::vector<std::string> set_predicted_cards(const predict_options& o) {
    std::vector<std::string> files;
    for (std::optional<std::string> rest = o.cards; rest;) {
        const std::size_t comma = rest->find(',');
        files.push_back(file_of(rest->substr(0, comma)));
        rest = comma == std::string::npos ? std::nullopt : std::optional(rest->substr(comma + 1));
    }
    for (const std::string& file : o.files) {
        if (file.empty() || fs::is_directory(file)) {
            throw failure(fmt::format("--card-file: '{}' is not a file", file));
        }
        files.push_back(fs::absolute(file).string());
    }
    std::vector<std::string> keys;
    for (const std::string& file : files) {
        if (file.find(',') != std::string::npos) {
            throw failure(fmt::format("a card's file must have no comma in its name: {}", file));
        }
        try {
            keys.push_back(softgpu::predict::read_card(file).key);
        } catch (const softgpu::predict::card_error& error) {
            throw failure(error.what());
        }
    }
    if (!files.empty()) {
        ::setenv("SOFTGPU_PREDICT", fmt::format("{}", fmt::join(files, ",")).c_str(), 1);
    }
    return keys;
}

} // namespace warpfold::tool
