// SPDX-License-Identifier: MIT
// What the environment configures: the card, the schedule, the checks and the output files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "softgpu/check/findings/checks.hpp"
#include "softgpu/runtime/cards/cards.hpp"

namespace softgpu::runtime {

struct settings {
    const card* device = nullptr;      // SOFTGPU_DEVICE, else H100
    int devices = 1;                   // SOFTGPU_DEVICES: how many of it
    unsigned workers = 0;              // SOFTGPU_WORKERS; 0: all cores of the host
    bool count = true;                 // SOFTGPU_COUNT is not 0, or a profile or timeline is written
    std::optional<std::uint64_t> seed; // SOFTGPU_SEED (else 0) where SOFTGPU_SCHEDULE is adversarial
    std::uint64_t seed_from = 0;       // the launch at which the seed's sequence begins
    double deadlock_seconds =
        3; // SOFTGPU_DEADLOCK_SECONDS: a kernel whose threads all wait this long has failed; 0: never
    std::string counters_path;                // SOFTGPU_COUNTERS; empty: none
    std::string profile_path;                 // SOFTGPU_PROFILE; empty: none
    std::string timeline_path;                // SOFTGPU_TIMELINE; empty: none
    std::vector<std::string> predicted_cards; // SOFTGPU_PREDICT: files of cards, with commas between
    check::check_set checks = 0;              // SOFTGPU_CHECK
    std::string check_json_path;              // SOFTGPU_CHECK_JSON; empty: none

    // Each launch has a schedule of its own, given by its number.
    [[nodiscard]] std::optional<std::uint64_t> seed_of(std::uint64_t launch) const {
        return seed ? std::optional(*seed * 0x9E3779B97F4A7C15ull + (launch - seed_from)) : std::nullopt;
    }
};

// The settings that the environment has now. Throws failure with a message for a value that is not valid.
[[nodiscard]] settings read_settings();

} // namespace softgpu::runtime
