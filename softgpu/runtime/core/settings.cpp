// SPDX-License-Identifier: MIT
// The environment variables that configure the software GPU.
#include "softgpu/runtime/core/settings.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {
namespace {

constexpr int most_devices = 64;

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
}

const card* read_card() {
    const std::string_view text = environment("SOFTGPU_DEVICE");
    if (text.empty()) {
        return &all_cards().front();
    }
    const card* found = find_card(text);
    if (found == nullptr) {
        std::string names;
        for (const card& c : all_cards()) {
            names += names.empty() ? "" : ", ";
            names += c.key;
        }
        fail(error::invalid_device, "SOFTGPU_DEVICE=" + std::string(text) + " names no card; there are " + names);
    }
    return found;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    return wrong == std::errc{} && end == text.data() + text.size();
}

int read_devices() {
    const std::string_view text = environment("SOFTGPU_DEVICES");
    int devices = 1;
    if (!text.empty() && (!read_number(text, devices) || devices < 1 || devices > most_devices)) {
        fail(error::initialization_error, "SOFTGPU_DEVICES=" + std::string(text) +
                                              " is no number of devices from 1 to " + std::to_string(most_devices));
    }
    return devices;
}

unsigned read_workers() {
    const std::string_view text = environment("SOFTGPU_WORKERS");
    unsigned workers = 0;
    if (!text.empty()) {
        if (!read_number(text, workers) || workers > 4096) {
            fail(error::initialization_error,
                 "SOFTGPU_WORKERS=" + std::string(text) + " is no number of threads from 0 (all) to 4096");
        }
    }
    return workers;
}

std::optional<std::uint64_t> read_seed() {
    const std::string_view schedule = environment("SOFTGPU_SCHEDULE");
    if (schedule.empty() || schedule == "fair") {
        return std::nullopt;
    }
    if (schedule != "adversarial") {
        fail(error::initialization_error,
             "SOFTGPU_SCHEDULE=" + std::string(schedule) + " is no schedule; there are fair and adversarial");
    }
    std::uint64_t seed = 0;
    const std::string_view text = environment("SOFTGPU_SEED");
    if (!text.empty() && !read_number(text, seed)) {
        fail(error::initialization_error, "SOFTGPU_SEED=" + std::string(text) + " is no number");
    }
    return seed;
}

// The machine itself reads it, where the runtime is not.
void require_instruction_set() {
    const std::string_view text = environment("SOFTGPU_INSTRUCTION_SET");
    if (!text.empty() && text != "plain" && text != "avx2" && text != "avx512") {
        fail(error::initialization_error, "SOFTGPU_INSTRUCTION_SET=" + std::string(text) +
                                              " is no instruction set; there are plain, avx2 and avx512");
    }
}

double read_deadlock_seconds(double default_seconds) {
    const std::string text(environment("SOFTGPU_DEADLOCK_SECONDS"));
    if (text.empty()) {
        return default_seconds;
    }
    char* end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    if (*end != '\0' || !(seconds >= 0 && seconds <= 1e9)) {
        fail(error::initialization_error, "SOFTGPU_DEADLOCK_SECONDS=" + text + " is no number of seconds");
    }
    return seconds;
}

// Expands a file name: %p is the process's id, %t the time in nanoseconds, %% a percent sign. With %p and %t each of
// several processes writes its own file, including a process that exec() has replaced.
std::string read_path(const char* variable) {
    const std::string_view text = environment(variable);
    std::string path;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const char next = text[k] == '%' && k + 1 < text.size() ? text[k + 1] : '\0';
        if (next == 'p') {
            path += std::to_string(::getpid());
        } else if (next == 't') {
            path += std::to_string(std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
        } else if (next != '%') {
            path += text[k];
            continue;
        } else {
            path += '%';
        }
        ++k;
    }
    return path;
}

std::vector<std::string> read_list(const char* variable) {
    std::vector<std::string> all;
    std::string_view rest = environment(variable);
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        all.emplace_back(rest.substr(0, comma));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return all;
}

check::check_set read_checks() {
    const std::string_view text = environment("SOFTGPU_CHECK");
    try {
        return text.empty() ? 0 : check::parse_checks(text);
    } catch (const std::invalid_argument& e) {
        fail(error::initialization_error, std::string("SOFTGPU_CHECK: ") + e.what());
    }
}

} // namespace

settings read_settings() {
    settings s;
    s.device = read_card();
    s.devices = read_devices();
    s.workers = read_workers();
    s.seed = read_seed();
    require_instruction_set();
    s.deadlock_seconds = read_deadlock_seconds(s.deadlock_seconds);
    s.counters_path = read_path("SOFTGPU_COUNTERS");
    s.profile_path = read_path("SOFTGPU_PROFILE");
    s.timeline_path = read_path("SOFTGPU_TIMELINE");
    s.count = environment("SOFTGPU_COUNT") != "0" || !s.profile_path.empty() || !s.timeline_path.empty() ||
              !environment("SOFTGPU_PREDICT").empty();
    s.predicted_cards = read_list("SOFTGPU_PREDICT");
    s.checks = read_checks();
    s.check_json_path = read_path("SOFTGPU_CHECK_JSON");
    return s;
}

} // namespace softgpu::runtime
