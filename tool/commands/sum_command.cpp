// SPDX-License-Identifier: MIT
// `warpfold sum FILE...`: exact sums of arrays.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/text.hpp"
#include "tool/arrays/arrays.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/progress.hpp"

namespace warpfold::tool {
namespace {

struct sum_options {
    std::vector<std::string> files;
    array_options array;
};

int run_sum(const sum_options& o) {
    std::vector<std::unique_ptr<array_input>> arrays;
    for (const std::string& file : o.files) {
        arrays.push_back(std::make_unique<array_input>(file, o.array));
    }
    const std::unique_ptr<calls::target> chosen = choose_target(o.array);
    calls::target& target = *chosen;
    std::string text;
    progress line;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        line.show(o.files[k], k, arrays.size());
        const std::string sum = target.sum({*arrays[k], passage_of(o.array, line, o.files[k])});
        text += arrays.size() == 1 ? sum + "\n" : fmt::format("{}  {}\n", sum, report::printable(o.files[k]));
    }
    print_exactly(text);
    return 0;
}

} // namespace

action add_sum(CLI::App& app) {
    const auto o = std::make_shared<sum_options>();
    app.add_option("FILE", o->files, input_help)->required();
    add_array_options(app, o->array);
    add_chunk_option(app, o->array);
    app.footer("Sums of float and double are the true sum, rounded once: the same on every device and for every order. "
               "Sums of integers have all their digits.");
    return [o] { return run_sum(*o); };
}

} // namespace warpfold::tool
