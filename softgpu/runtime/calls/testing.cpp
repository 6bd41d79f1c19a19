// SPDX-License-Identifier: MIT
// Recordings: what a program's own tests record of the software GPU (abi/testing.h).
#include "softgpu/runtime/abi/testing.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/check/findings/finding.hpp"
#include "softgpu/runtime/accounts/check_report.hpp"
#include "softgpu/runtime/accounts/checking.hpp"
#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/accounts/refused_launches.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/process.hpp"
#include "softgpu/runtime/program/registry.hpp"

using softgpu::runtime::journal;

struct softgpu_recording {
    std::optional<softgpu::check::check_set> checks;  // nullopt: unchanged
    std::optional<std::optional<std::uint64_t>> seed; // nullopt: unchanged; a schedule without a seed is the fair one
    std::uint64_t launches_before = 0;                // number of the last launch before it
    std::uint64_t serial_before = 0;                  // of the last allocation before it
    bool open = false;
    journal::launch_list by_order;
    softgpu::check::findings sink;

    std::vector<softgpu::observe::launch_record> launches;
    std::vector<softgpu::check::finding> findings;
    std::vector<std::string> texts; // of the findings
};

namespace softgpu::runtime {
namespace {

constexpr const char* names[] = {
#define SOFTGPU_COUNTER(name, combine, meaning) #name,
#include "softgpu/observe/counters.def"
#undef SOFTGPU_COUNTER
};

constexpr const char* meanings[] = {
#define SOFTGPU_COUNTER(name, combine, meaning) meaning,
#include "softgpu/observe/counters.def"
#undef SOFTGPU_COUNTER
};

// The open recordings in the order of their begin, and the settings without them. Guarded by the context's lock.
struct open_recordings {
    std::vector<softgpu_recording*> list;
    settings without;
};

open_recordings& all_open() {
    static open_recordings& only = *new open_recordings;
    return only;
}

void choose_settings(context& gpu, bool begin_checks) {
    settings s = all_open().without;
    check::findings* sink = nullptr;
    for (softgpu_recording* const r : all_open().list) {
        s.count = true;
        if (r->checks) {
            s.checks = *r->checks;
            sink = &r->sink;
        }
        if (r->seed) {
            s.seed = *r->seed;
            s.seed_from = r->launches_before;
        }
    }
    checking::send_findings_to(sink);
    gpu.group().change_settings(s, begin_checks);
}

void read_options(const softgpu_recording_options* options, softgpu_recording& into) {
    if (options == nullptr) {
        return;
    }
    if (options->bytes < sizeof *options) {
        throw std::invalid_argument("a recording's options are shorter than version 1 has them");
    }
    if (options->checks != nullptr) {
        into.checks = *options->checks == '\0' ? 0 : check::parse_checks(options->checks);
    }
    if (options->schedule < 0 || options->schedule > 2) {
        throw std::invalid_argument("a recording's schedule is none of 0, 1, 2");
    }
    if (options->schedule != 0) {
        into.seed.emplace(options->schedule == 2 ? std::optional(options->seed) : std::nullopt);
    }
}

void set_findings(softgpu_recording& recording, std::vector<check::finding> findings) {
    recording.findings = std::move(findings);
    for (const check::finding& f : recording.findings) {
        recording.texts.push_back(check::to_text(f));
    }
}

void begin(softgpu_recording& recording) {
    context& gpu = current_context();
    locked lock(gpu.mutex());
    gpu.wait_until_idle(lock);
    open_recordings& open = all_open();
    if (open.list.empty()) {
        open.without = gpu.options();
    }
    recording.launches_before = journal::instance().launches();
    recording.serial_before = gpu.group().last_allocation();
    open.list.push_back(&recording);
    recording.open = true;
    choose_settings(gpu, recording.checks.has_value());
    journal::instance().begin_list(recording.by_order);
}

void end(softgpu_recording& recording) {
    if (!recording.open) {
        return;
    }
    context& gpu = current_context();
    locked lock(gpu.mutex());
    gpu.wait_until_idle(lock);
    if (recording.checks) {
        refused_launches::report_unread_errors();
        for (const auto& device : gpu.group().members()) {
            checking::find_leaks(*device, recording.serial_before);
        }
    }
    journal::instance().end_list(recording.by_order);
    std::erase(all_open().list, &recording);
    recording.open = false;
    choose_settings(gpu, recording.checks.has_value());
    for (auto& [order, launch] : recording.by_order) {
        recording.launches.push_back(std::move(launch));
    }
    recording.by_order.clear();
    set_findings(recording, recording.sink.take());
}

// The process that may speak to the device: not one forked from it.
context* own_context() { return owner_process::is_this_one() ? existing_context() : nullptr; }

// Runs body(); returns nullptr or what went wrong.
template <class Body>
const char* attempt(Body&& body) noexcept {
    thread_local std::string wrong;
    try {
        body();
        return nullptr;
    } catch (const failure& f) {
        wrong = f.message.empty() ? std::string(name_of(f.code)) + " (" + text_of(f.code) + ")" : f.message;
    } catch (const std::exception& e) {
        wrong = e.what();
    }
    return wrong.c_str();
}

// Copies as much as the caller's version of the structure holds.
template <class Structure>
void give(const Structure& from, Structure* to) {
    const std::size_t bytes = std::min(to->bytes, sizeof from);
    std::memcpy(to, &from, bytes);
    to->bytes = bytes;
}

} // namespace
} // namespace softgpu::runtime

using namespace softgpu::runtime;

#pragma GCC visibility push(default)
extern "C" {

softgpu_testing_version_function softgpu_testing_version;
softgpu_testing_in_use_function softgpu_testing_in_use;
softgpu_testing_last_error_function softgpu_testing_last_error;
softgpu_counter_name_function softgpu_counter_name;
softgpu_counter_meaning_function softgpu_counter_meaning;
softgpu_recording_begin_function softgpu_recording_begin;
softgpu_recording_end_function softgpu_recording_end;
softgpu_recording_launches_function softgpu_recording_launches;
softgpu_recording_launch_function softgpu_recording_launch;
softgpu_recording_counters_function softgpu_recording_counters;
softgpu_recording_prediction_function softgpu_recording_prediction;
softgpu_recording_findings_function softgpu_recording_findings;
softgpu_recording_finding_function softgpu_recording_finding;
softgpu_take_findings_function softgpu_take_findings;
softgpu_testing_device_failed_function softgpu_testing_device_failed;
softgpu_recording_free_function softgpu_recording_free;

uint32_t softgpu_testing_version() { return SOFTGPU_TESTING_VERSION; }

int32_t softgpu_testing_in_use() { return registry::instance().empty() ? 0 : 1; }

const char* softgpu_testing_last_error() {
    thread_local std::string text;
    const error e = last_error();
    text = e == error::success ? std::string() : std::string(name_of(e)) + " (" + text_of(e) + ")";
    return text.c_str(); // NOLINT(clang-analyzer-cplusplus.InnerPointer): the thread's own text
}

const char* softgpu_counter_name(uint32_t number) { return number < std::size(names) ? names[number] : nullptr; }

const char* softgpu_counter_meaning(uint32_t number) {
    return number < std::size(meanings) ? meanings[number] : nullptr;
}

const char* softgpu_recording_begin(const softgpu_recording_options* options, softgpu_recording** recording) {
    return attempt([&] {
        auto made = std::make_unique<softgpu_recording>();
        read_options(options, *made);
        begin(*made);
        *recording = made.release();
    });
}

const char* softgpu_recording_end(softgpu_recording* recording) {
    return attempt([&] { end(*recording); });
}

size_t softgpu_recording_launches(const softgpu_recording* recording) { return recording->launches.size(); }

void softgpu_recording_launch(const softgpu_recording* recording, size_t number, softgpu_recorded_launch* out) {
    const softgpu::observe::launch_record& l = recording->launches[number];
    give({.bytes = 0,
          .kernel = l.kernel.c_str(),
          .symbol = l.symbol.c_str(),
          .fault = l.fault.c_str(),
          .grid = {l.grid[0], l.grid[1], l.grid[2]},
          .block = {l.block[0], l.block[1], l.block[2]},
          .dynamic_shared_bytes = l.dynamic_shared_bytes,
          .static_shared_bytes = l.static_shared_bytes,
          .seconds = l.seconds,
          .intervals = l.by_interval.size()},
         out);
}

void softgpu_recording_counters(const softgpu_recording* recording, size_t number, size_t interval, uint64_t* values,
                                size_t count) {
    const softgpu::observe::launch_record& l = recording->launches[number];
    const auto& c = interval < l.by_interval.size() ? l.by_interval[interval] : l.total;
    std::size_t at = 0;
    softgpu::observe::for_each_counter(c, [&](std::string_view, std::uint64_t value, std::string_view) {
        if (at < count) {
            values[at++] = value;
        }
    });
    std::fill(values + at, values + count, 0);
}

int32_t softgpu_recording_prediction(const softgpu_recording* recording, size_t launch, size_t number,
                                     softgpu_recorded_prediction* out) {
    const auto& predictions = recording->launches[launch].predictions;
    if (number >= predictions.size()) {
        return 0;
    }
    const softgpu::observe::prediction& p = predictions[number];
    give({.bytes = 0,
          .card = p.card.c_str(),
          .bound = p.bound.c_str(),
          .next_bound = p.next_bound.c_str(),
          .nanoseconds = p.nanoseconds,
          .cold_nanoseconds = p.cold_nanoseconds,
          .share_of_roof = p.share_of_roof,
          .l1_load_hit_rate = p.l1_load_hit_rate,
          .l2_read_hit_rate = p.l2_read_hit_rate,
          .dram_read_bytes = p.dram_read_bytes,
          .dram_write_bytes = p.dram_write_bytes,
          .cold_dram_read_bytes = p.cold_dram_read_bytes,
          .cold_dram_write_bytes = p.cold_dram_write_bytes},
         out);
    return 1;
}

size_t softgpu_recording_findings(const softgpu_recording* recording) { return recording->findings.size(); }

void softgpu_recording_finding(const softgpu_recording* recording, size_t number, softgpu_recorded_finding* out) {
    const softgpu::check::finding& f = recording->findings[number];
    const bool placed = !f.accesses.empty() && !f.accesses.front().where.file.empty();
    give({.bytes = 0,
          .check = softgpu::check::name_of(f.check).data(), // of a literal
          .kind = f.kind.c_str(),
          .message = f.message.c_str(),
          .kernel = f.kernel.c_str(),
          .file = placed ? f.accesses.front().where.file.c_str() : "",
          .text = recording->texts[number].c_str(),
          .line = placed ? f.accesses.front().where.line : 0,
          .times = f.times,
          .is_note = f.is_note ? 1 : 0},
         out);
}

const char* softgpu_take_findings(softgpu_recording** taken) {
    return attempt([&] {
        auto made = std::make_unique<softgpu_recording>();
        if (context* const gpu = own_context()) {
            locked lock(gpu->mutex());
            gpu->wait_until_idle(lock);
            refused_launches::report_unread_errors();
            set_findings(*made, checking::take_findings());
        }
        *taken = made.release();
    });
}

int32_t softgpu_testing_device_failed() {
    context* const gpu = own_context();
    if (gpu == nullptr) {
        return 0;
    }
    const locked lock(gpu->mutex());
    const auto all = gpu->group().members();
    return std::ranges::any_of(all, [](const auto& device) { return device->has_failed(); }) ? 1 : 0;
}

void softgpu_recording_free(softgpu_recording* recording) {
    if (recording != nullptr && attempt([&] { end(*recording); }) == nullptr) {
        delete recording;
    }
}

} // extern "C"
#pragma GCC visibility pop
