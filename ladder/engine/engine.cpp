// SPDX-License-Identifier: MIT
// The engine's entry: describes the device, lists the ladders and their steps, and runs them.
#include "ladder/engine/engine.hpp"

#include "ladder/engine/installed.hpp"
#include "ladder/engine/run_ladder.hpp"

namespace warpfold::ladder {

namespace {

class engine_library final : public ladder_engine {
public:
    [[nodiscard]] device_description device() const override { return engine::describe_device(); }
    [[nodiscard]] std::vector<std::string> ladders() const override { return engine::installed_ladders(); }
    [[nodiscard]] std::vector<step_description> steps(const std::string& ladder) const override {
        std::vector<step_description> all;
        for (const engine::step_definition& step : engine::find_ladder(ladder).steps) {
            all.push_back(step.about);
        }
        return all;
    }
    [[nodiscard]] ladder_report run(const ladder_request& request) override { return engine::run_ladder(request); }
    [[nodiscard]] std::span<const source_file> sources() const override { return source_files(); }
};

} // namespace

} // namespace warpfold::ladder

warpfold::ladder::ladder_engine* warpfold_ladder_engine() {
    static warpfold::ladder::engine_library the_engine;
    return &the_engine;
}
