// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/refused_launches.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/host_thread.hpp"
#include "softgpu/runtime/core/process.hpp"

namespace softgpu::runtime::refused_launches {
namespace {

constexpr const char* subject = "the checks";

thread_local bool by_launch_syntax = false;
thread_local bool has_unread_error = false; // a refused launch by <<<>>> of this thread

// Findings to report unless their threads read the error. Never destroyed: static destructors make calls too.
struct unread_errors {
    std::mutex mutex;
    std::map<std::uint64_t, check::finding> list; // by host_thread::number()
};

unread_errors& all_unread() {
    static unread_errors& only = *new unread_errors;
    return only;
}

std::string text_of(const dimensions& d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

void report_finding(check::finding f) {
    check::session* const s = checking::current();
    if (s != nullptr && s->has(check::memory) && owner_process::is_this_one()) {
        s->sink().add(std::move(f));
    }
}

} // namespace

void begin_launch_syntax() noexcept { by_launch_syntax = true; }

bool take_launch_syntax() noexcept { return std::exchange(by_launch_syntax, false); }

void add(const refused_launch& launch, bool by_syntax) noexcept {
    report_exceptions(subject, [&] {
        const dimensions& grid = launch.grid;
        const dimensions& block = launch.block;
        const std::string reason =
            std::string(runtime::name_of(launch.reason)) + " (" + runtime::text_of(launch.reason) + ")";
        journal::instance().add_refused({.kernel = launch.kernel,
                                         .symbol = launch.symbol,
                                         .grid = {grid.x, grid.y, grid.z},
                                         .block = {block.x, block.y, block.z},
                                         .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                                         .total = {},
                                         .by_interval = {},
                                         .fault = "kernel " + launch.kernel + ": the launch was refused: " + reason});
        if (!by_syntax) {
            return; // the caller has got the error
        }
        check::finding f;
        f.check = check::memory;
        f.kind = "launch refused";
        f.message = "a grid of " + text_of(grid) + " blocks of " + text_of(block) + " threads with " +
                    std::to_string(launch.dynamic_shared_bytes) + " bytes of dynamic shared memory was refused with " +
                    reason + ", and nobody has asked for the error";
        f.kernel = launch.kernel;
        const std::lock_guard lock(all_unread().mutex);
        all_unread().list.insert_or_assign(host_thread::number(), std::move(f));
        has_unread_error = true;
    });
}

void last_error_read() noexcept {
    if (std::exchange(has_unread_error, false)) {
        const std::lock_guard lock(all_unread().mutex);
        all_unread().list.erase(host_thread::number());
    }
}

void last_error_replaced() noexcept {
    if (std::exchange(has_unread_error, false)) {
        report_exceptions(subject, [] {
            std::unique_lock lock(all_unread().mutex);
            auto found = all_unread().list.extract(host_thread::number());
            lock.unlock();
            if (!found.empty()) {
                report_finding(std::move(found.mapped()));
            }
        });
    }
}

void report_unread_errors() noexcept {
    report_exceptions(subject, [] {
        std::unique_lock lock(all_unread().mutex);
        const auto list = std::exchange(all_unread().list, {});
        lock.unlock();
        for (const auto& [thread, f] : list) {
            report_finding(f);
        }
    });
}

} // namespace softgpu::runtime::refused_launches
