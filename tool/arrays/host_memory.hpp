// SPDX-License-Identifier: MIT
// The host's memory for run_*.hpp: arrays are where they are.
#pragma once

#include <cstdint>

#include "warpfold/host/core/target.hpp"

namespace warpfold::calls {

struct host_memory {
    static void use(int /*place*/) {}
    [[nodiscard]] static host on() { return {}; }
    [[nodiscard]] static const void* in(const void* data, std::uint64_t) { return data; }
    [[nodiscard]] static void* out(void* data, std::uint64_t) { return data; }
    static void fetch() {}
};

} // namespace warpfold::calls
