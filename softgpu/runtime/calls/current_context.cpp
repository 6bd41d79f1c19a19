// SPDX-License-Identifier: MIT
#include "softgpu/runtime/calls/current_context.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <string>

#include "softgpu/runtime/accounts/check_report.hpp"
#include "softgpu/runtime/accounts/checking.hpp"
#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/accounts/predictions.hpp"
#include "softgpu/runtime/accounts/printed.hpp"
#include "softgpu/runtime/accounts/refused_launches.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/process.hpp"
#include "softgpu/runtime/memory/pools.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {
namespace {

// At its end the process waits this long for unfinished work.
constexpr std::chrono::milliseconds time_to_end{5000};

std::atomic<device_group*> the_devices{nullptr};
std::atomic<context*> the_only_device{nullptr}; // nullptr before the first call, and with several devices
thread_local int chosen_device = 0;
thread_local runtime_choice last_choice;
std::atomic<bool> in_forked_child{false}; // of a process that has devices

[[noreturn]] void fail_in_child() {
    static std::atomic<bool> said{false};
    fail(error::initialization_error,
         said.exchange(true)
             ? ""
             : "this process was forked from one that had used CUDA already: it has no device; fork before "
               "the first call");
}

// A later call does not repeat the message about a wrong environment.
settings read_settings_once_said() {
    static std::string& said = *new std::string;
    try {
        settings s = read_settings();
        load_predicted_cards(s.predicted_cards);
        return s;
    } catch (failure& f) {
        if (f.message == said) {
            f.message.clear();
        } else {
            said = f.message;
        }
        throw;
    }
}

context_hooks make_hooks() {
    return {.begin_checks = checking::begin,
            .deliver =
                [](const settings& options) {
                    journal::instance().deliver();
                    journal::instance().write_now_and_then(options);
                    show_printed();
                },
            .before_reset =
                [](context& gpu) {
                    registry::instance().unload(gpu);
                    for (const auto& other : gpu.group().members()) {
                        other->part<memory_pools>().close_all(gpu.memory());
                    }
                    checking::find_leaks(gpu);
                },
            .after_reset =
                [](context& gpu) {
                    if (gpu.number() == 0) { // which has all managed variables
                        registry::instance().reload_managed(gpu);
                    }
                }};
}

void end_accounts(const settings& options, const device_group* devices) noexcept {
    executor::instance().wait_for_all(time_to_end);
    journal::instance().end(options);
    refused_launches::report_unread_errors();
    if (devices != nullptr) {
        for (const auto& gpu : devices->members()) {
            checking::find_leaks(*gpu);
        }
    }
    checking::report_all(options);
}

// Runs when the process ends by exit(), by the end of main or by quick_exit(); after the program's own destructors.
[[gnu::destructor]] void end_process() {
    if (!owner_process::is_this_one()) {
        return;
    }
    if (const device_group* const devices = existing_devices()) {
        end_accounts(devices->at(0).options(), devices);
    } else if (!registry::instance().empty()) {
        try {
            end_accounts(read_settings(), nullptr);
        } catch (const failure&) {
            // The environment is wrong, and the program has made no call that could have reported it.
        }
    }
    show_printed();
    std::fflush(stdout);
}

} // namespace

device_group& all_devices() {
    if (device_group* const made = existing_devices()) {
        if (in_forked_child.load(std::memory_order_relaxed)) {
            fail_in_child();
        }
        return *made;
    }
    static std::mutex& making = *new std::mutex;
    const std::lock_guard lock(making);
    if (existing_devices() == nullptr) {
        const settings options = read_settings_once_said();
        auto* const made = new device_group(options, make_hooks());
        timeline_file::begin(options);
        the_devices.store(made, std::memory_order_release);
        the_only_device.store(made->count() == 1 ? &made->at(0) : nullptr, std::memory_order_release);
        owner_process::set_by_first_call();
        journal::instance().begin(options);
        checking::begin_report(options);
        std::at_quick_exit(end_process);
        pthread_atfork(nullptr, nullptr, [] { in_forked_child = true; });
    }
    return *existing_devices();
}

device_group* existing_devices() noexcept { return the_devices.load(std::memory_order_acquire); }

void choose_device(int number) {
    (void)all_devices().at(number);
    chosen_device = number;
    last_choice = {number, last_choice.times + 1};
}

const runtime_choice& device_of_runtime() noexcept { return last_choice; }

void follow_context(int device) noexcept { chosen_device = device; }

context& current_context() {
    context* const only = the_only_device.load(std::memory_order_acquire);
    if (only != nullptr && !in_forked_child.load(std::memory_order_relaxed)) {
        return *only;
    }
    return all_devices().at(chosen_device);
}

context* existing_context() noexcept {
    const device_group* const all = existing_devices();
    return all == nullptr ? nullptr : all->members()[static_cast<std::size_t>(chosen_device)].get();
}

} // namespace softgpu::runtime
