// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/journal.hpp"

#include <exception>
#include <set>
#include <string>
#include <utility>

#include "softgpu/observe/json.hpp"
#include "softgpu/observe/whole_file.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/accounts/profile.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/process.hpp"

namespace softgpu::runtime {
namespace {

// Before the end the files are written the first few times, however busy the host is; then they may take this long, and one
// part in `share_of_writing` of the process's time.
constexpr int always_written = 8;
constexpr std::chrono::milliseconds most_spent_at_first{50};
constexpr int share_of_writing = 20;

void report_once(const std::string& text) {
    static std::mutex& mutex = *new std::mutex;
    static std::set<std::string>& said = *new std::set<std::string>;
    const std::lock_guard lock(mutex);
    if (said.insert(text).second) {
        report(text);
    }
}

observe::device_facts facts_of(const card& c) {
    return {.name = std::string(c.name),
            .key = std::string(c.key),
            .compute_major = c.major,
            .compute_minor = c.minor,
            .multiprocessors = c.multiprocessors,
            .clock_khz = c.clock_khz,
            .memory_clock_khz = c.memory_clock_khz,
            .memory_bus_bits = c.memory_bus_bits,
            .memory_bytes = c.memory_bytes,
            .l2_bytes = static_cast<std::uint64_t>(c.l2_bytes)};
}

} // namespace

journal& journal::instance() {
    static journal& only = *new journal; // never destroyed: static destructors launch kernels too
    return only;
}

void journal::set_observer(observe::launch_observer observer, void* user) {
    const std::lock_guard lock(mutex_);
    observer_ = observer;
    user_ = user;
    undelivered_.clear();
}

void journal::begin_list(launch_list& list) {
    const std::lock_guard lock(mutex_);
    lists_.push_back(&list);
}

void journal::end_list(launch_list& list) {
    const std::lock_guard lock(mutex_);
    std::erase(lists_, &list);
}

void journal::add(const settings& options, std::uint64_t launch, observe::launch_record record) {
    bool write_now = false;
    bool after_end = false;
    operation_journal::launched(launch, record);
    {
        const std::lock_guard lock(mutex_);
        after_end = ended_;
        if (!options.counters_path.empty() || !options.profile_path.empty() || !options.timeline_path.empty()) {
            write_now = ended_ || !record.fault.empty(); // after a fault a program may abort
        }
        if (!options.counters_path.empty()) {
            records_[launch] = record;
        }
        for (launch_list* const list : lists_) {
            (*list)[launch] = record;
        }
        if (observer_ != nullptr) {
            undelivered_[launch] = std::move(record);
        }
    }
    if (write_now) {
        write(options, after_end ? moment::after_end : moment::under_way);
    }
}

void journal::add_refused(const observe::launch_record& record) {
    const std::lock_guard lock(mutex_);
    if (!lists_.empty()) {
        const std::uint64_t launch = next_launch();
        for (launch_list* const list : lists_) {
            (*list)[launch] = record;
        }
    }
}

void journal::deliver() {
    const std::lock_guard in_turn(delivering_); // recursive: an observer may synchronise
    std::unique_lock lock(mutex_);
    while (!undelivered_.empty()) {
        const auto next = undelivered_.extract(undelivered_.begin());
        const observe::launch_observer observer = observer_;
        void* const user = user_;
        lock.unlock();
        if (observer != nullptr) {
            observer(next.mapped(), user);
        }
        lock.lock();
    }
}

void journal::write(const settings& options, moment now) noexcept {
    const bool finished = now != moment::under_way;
    const auto attempt = [&](const char* variable, const std::string& path, auto&& body) {
        try {
            // A pipe or a device gets one text, at the end.
            if (!path.empty() && (now == moment::end || !observe::whole_file::is_direct(path))) {
                body();
            }
        } catch (const std::exception& e) {
            report_once(variable + std::string(": ") + e.what());
        }
    };
    if (!owner_process::is_this_one()) {
        return;
    }
    const std::lock_guard in_turn(writing_);
    const auto start = std::chrono::steady_clock::now();
    attempt("SOFTGPU_COUNTERS", options.counters_path, [&] {
        const std::lock_guard lock(mutex_);
        std::vector<observe::launch_record> in_order;
        in_order.reserve(records_.size());
        for (const auto& [launch, record] : records_) {
            in_order.push_back(record);
        }
        observe::write_launches(options.counters_path, facts_of(*options.device), in_order, finished);
    });
    attempt("SOFTGPU_PROFILE", options.profile_path,
            [&] { profile::instance().write(options.profile_path, facts_of(*options.device), finished); });
    attempt("SOFTGPU_TIMELINE", options.timeline_path, [&] { timeline_file::write(options, finished); });
    spent_ += std::chrono::steady_clock::now() - start;
    ++writes_;
}

void journal::write_now_and_then(const settings& options) noexcept {
    if (options.counters_path.empty() && options.profile_path.empty() && options.timeline_path.empty()) {
        return;
    }
    {
        const std::lock_guard in_turn(writing_);
        if (writes_ >= always_written &&
            spent_ > most_spent_at_first + (std::chrono::steady_clock::now() - began_) / share_of_writing) {
            return;
        }
    }
    write(options, moment::under_way);
}

void journal::end(const settings& options) noexcept {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    write(options, moment::end);
}

void journal::begin(const settings& options) noexcept {
    {
        const std::lock_guard in_turn(writing_);
        began_ = std::chrono::steady_clock::now();
    }
    write(options, moment::under_way);
}

} // namespace softgpu::runtime
