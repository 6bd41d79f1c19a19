// SPDX-License-Identifier: MIT
// The host's own histogram of bytes, on one core.
#include <vector>

#include "ladder/histogram/steps.hpp"

namespace warpfold::ladder::histogram {

engine::step_definition peer_cpu() {
    return {.about = {"cpu", "a loop over bytes", "ladder/histogram/cpu.cpp", "one core of the host", "", true},
            .data = uniform_bytes,
            .on_host =
                [](const engine::stage& on) {
                    const engine::sample& s = *on.data;
                    std::vector<std::int32_t> counts(byte_bins);
                    for (const std::byte value : s.in[0]) {
                        ++counts[static_cast<unsigned char>(value)];
                    }
                    return engine::bytes_of(counts);
                },
            .least_bytes = [](std::uint64_t n) { return n; }};
}

} // namespace warpfold::ladder::histogram
