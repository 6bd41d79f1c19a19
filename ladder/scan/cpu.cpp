// SPDX-License-Identifier: MIT
// The host's own scan, on one core.
#include <cstdint>
#include <numeric>
#include <vector>

#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

frame::step_definition peer_cpu() {
    return {.about = {"cpu", "std::inclusive_scan", "ladder/scan/cpu.cpp", "one core of the host", "", true},
            .data = inclusive,
            .on_host =
                [](const frame::sample& s) {
                    const auto in = frame::view<std::int32_t>(s.in[0]);
                    frame::bytes out(s.in[0].size());
                    std::inclusive_scan(in.begin(), in.end(), reinterpret_cast<std::int32_t*>(out.data()));
                    return out;
                },
            .least_bytes = read_and_written};
}

} // namespace warpfold::ladder::scan
