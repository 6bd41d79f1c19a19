// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/refused_launches.hpp"

#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/accounts/checking.hpp"
#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime::refused {
namespace {

thread_local bool by_launch_syntax = false;
thread_local bool waits = false; // one of this thread does

// Never destroyed: calls come from static destructors too.
struct waiting {
    std::mutex mutex;
    std::map<std::thread::id, check::finding> list;
};

waiting& all_waiting() {
    static waiting& only = *new waiting;
    return only;
}

std::string text_of(const dimensions& d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string name_of_kernel(const function* what) {
    return what == nullptr ? std::string() : what->demangled.empty() ? what->name : what->demangled;
}

void add(check::finding f) {
    check::session* const s = checking::current();
    if (s != nullptr && s->has(check::memory) && journal::instance().is_of_this_process()) {
        s->sink().add(std::move(f));
    }
}

template <class Body>
void attempt(Body&& body) noexcept {
    try {
        body();
    } catch (const std::exception& e) {
        report(std::string("the checks: ") + e.what());
    }
}

} // namespace

void begin_launch_syntax() noexcept { by_launch_syntax = true; }

bool take_launch_syntax() noexcept { return std::exchange(by_launch_syntax, false); }

void launch(const function* what, const dimensions& grid, const dimensions& block, std::uint64_t dynamic_shared_bytes,
            error why, bool by_syntax) noexcept {
    attempt([&] {
        const std::string reason = std::string(runtime::name_of(why)) + " (" + runtime::text_of(why) + ")";
        journal::instance().add_refused({.kernel = name_of_kernel(what),
                                         .symbol = what == nullptr ? std::string() : what->name,
                                         .grid = {grid.x, grid.y, grid.z},
                                         .block = {block.x, block.y, block.z},
                                         .dynamic_shared_bytes = dynamic_shared_bytes,
                                         .total = {},
                                         .by_interval = {},
                                         .fault = "kernel " + name_of_kernel(what) + ": the launch was refused: " + reason});
        if (!by_syntax) {
            return; // whoever has called got the error
        }
        check::finding f;
        f.check = check::memory;
        f.kind = "launch refused";
        f.message = "a grid of " + text_of(grid) + " blocks of " + text_of(block) + " threads with " +
                    std::to_string(dynamic_shared_bytes) + " bytes of dynamic shared memory was refused with " + reason +
                    ", and nobody has asked for the error";
        f.kernel = name_of_kernel(what);
        const std::lock_guard lock(all_waiting().mutex);
        all_waiting().list.insert_or_assign(std::this_thread::get_id(), std::move(f));
        waits = true;
    });
}

void last_error_asked_for() noexcept {
    if (std::exchange(waits, false)) {
        const std::lock_guard lock(all_waiting().mutex);
        all_waiting().list.erase(std::this_thread::get_id());
    }
}

void last_error_overwritten() noexcept {
    if (std::exchange(waits, false)) {
        attempt([] {
            std::unique_lock lock(all_waiting().mutex);
            auto found = all_waiting().list.extract(std::this_thread::get_id());
            lock.unlock();
            if (!found.empty()) {
                add(std::move(found.mapped()));
            }
        });
    }
}

void nobody_asks() noexcept {
    attempt([] {
        std::unique_lock lock(all_waiting().mutex);
        const auto list = std::exchange(all_waiting().list, {});
        lock.unlock();
        for (const auto& [thread, f] : list) {
            add(f);
        }
    });
}

} // namespace softgpu::runtime::refused
