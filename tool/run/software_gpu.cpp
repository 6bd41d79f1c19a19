// SPDX-License-Identifier: MIT
// Asking the software GPU's own tables, and its environment.
#include "tool/run/software_gpu.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "report/number.hpp"
#include "softgpu/machine/launch.hpp"

namespace warpfold::tool {

std::string card_names() {
    std::string names;
    for (const auto& card : softgpu::runtime::all_cards()) {
        names += (names.empty() ? "" : ", ") + std::string(card.key);
    }
    return names;
}

const softgpu::runtime::card* chosen_card() {
    const char* wish = std::getenv("SOFTGPU_DEVICE");
    return wish != nullptr && *wish != '\0' ? softgpu::runtime::find_card(wish) : softgpu::runtime::all_cards().data();
}

std::string_view instruction_set() { return softgpu::machine::instruction_set(); }

unsigned workers() {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    const char* wish = std::getenv("SOFTGPU_WORKERS");
    if (wish == nullptr || *wish == '\0') {
        return cores;
    }
    try {
        const std::uint64_t count = report::parse_count(wish);
        return count == 0 ? cores : static_cast<unsigned>(std::min<std::uint64_t>(count, 4096));
    } catch (const report::bad_number&) {
        return cores;
    }
}

} // namespace warpfold::tool
