// SPDX-License-Identifier: MIT
// `warpfold ladder`: the ladders there are, and choosing one.
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "tool/command.hpp"
#include "tool/console.hpp"

namespace warpfold::tool {
namespace {

constexpr std::array<ladder_entry, 1> ladders{{
    {"reduce", "[--n N] [--block B] [--type T] [--op OP]",
     "many values to one: sum, min, max, product, from the first kernel of the lectures to CUB", add_ladder_reduce},
}};

int list() {
    std::string out = "The ladders (warpfold ladder NAME; warpfold ladder NAME --help):\n";
    for (const ladder_entry& ladder : ladders) {
        out += fmt::format("  {:<10} {}\n", ladder.name, ladder.summary);
    }
    print(out);
    return 0;
}

} // namespace

action add_ladder(CLI::App& app) {
    app.require_subcommand(0, 1);
    std::vector<std::pair<CLI::App*, action>> actions;
    for (const ladder_entry& ladder : ladders) {
        CLI::App* child = app.add_subcommand(ladder.name, ladder.summary);
        actions.emplace_back(child, ladder.add(*child));
    }
    return [actions] {
        for (const auto& [child, run] : actions) {
            if (child->parsed()) {
                return run();
            }
        }
        return list();
    };
}

} // namespace warpfold::tool
