// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/operation_journal.hpp"

#include <algorithm>
#include <memory>

#include "softgpu/observe/timeline_trace.hpp"
#include "softgpu/runtime/accounts/predictions.hpp"
#include "softgpu/runtime/core/host_thread.hpp"
#include "softgpu/runtime/core/streams/stream.hpp"

namespace softgpu::runtime {
namespace {

// What copies of pinned memory reach over PCI Express 5.0, 4.0 and 3.0 with 16 lanes.
double link_bytes_per_s(const card& c) { return c.major >= 9 ? 55e9 : c.major == 8 ? 25e9 : 12e9; }

observe::timeline_machine machine_of(const card& c) {
    observe::timeline_machine m;
    m.copy_engines = c.async_engines > 1 ? 2 : 1;
    m.pinned_bytes_per_s = link_bytes_per_s(c);
    m.pageable_bytes_per_s = std::min(m.pageable_bytes_per_s, m.pinned_bytes_per_s / 2);
    m.multiprocessors = static_cast<unsigned>(c.multiprocessors);
    m.warp_instructions_per_s = 4.0 * c.clock_khz * 1e3; // four schedulers, one instruction per clock each
    m.memory_bytes_per_s = 2.0 * c.memory_clock_khz * 1e3 * c.memory_bus_bits / 8;
    m.name = "model of " + std::string(c.name) + ": a compute engine, " + std::to_string(m.copy_engines) +
             (m.copy_engines == 1 ? " copy engine, " : " copy engines, ") +
             std::to_string(static_cast<int>(m.pinned_bytes_per_s / 1e9)) + " GB/s each way, " +
             std::to_string(static_cast<int>(m.pageable_bytes_per_s / 1e9)) + " GB/s for pageable memory";
    return m;
}

// Never destroyed: kernels may still run while the process ends.
struct all_journals {
    std::mutex mutex;
    std::vector<operation_journal*> list;
    std::atomic<unsigned> count{0};
};

all_journals& all() {
    static all_journals& only = *new all_journals;
    return only;
}

} // namespace

operation_journal::operation_journal(observe::operation_log& to) : log_(to) {
    {
        const std::lock_guard lock(all().mutex);
        all().list.push_back(this);
        ++all().count;
    }
    executor::instance().add_observer(*this);
}

operation_journal::~operation_journal() {
    executor::instance().remove_observer(*this);
    const std::lock_guard lock(all().mutex);
    std::erase(all().list, this);
    --all().count;
}

bool operation_journal::any() noexcept { return all().count != 0; }

std::uint32_t operation_journal::this_thread() {
    const auto next = static_cast<std::uint32_t>(threads_.size());
    return threads_.emplace(host_thread::number(), next).first->second;
}

std::string operation_journal::name_of_stream(std::uint64_t id) {
    if (id == legacy_stream_id) {
        return "default stream";
    }
    if (is_per_thread_id(id)) {
        return "default stream of thread " + std::to_string(this_thread());
    }
    const std::size_t next = streams_.size() + 1;
    return streams_.emplace(id, "stream " + std::to_string(next)).first->second;
}

// Work within another operation counts as that one's.
void operation_journal::issued(operation& what, std::span<const operation_pointer> after) {
    if (what.within != nullptr) {
        return;
    }
    const std::lock_guard lock(mutex_);
    const std::size_t place = log_.operations.size();
    observe::operation_record& record = log_.operations.emplace_back();
    record.priority = what.priority;
    record.device = what.device;
    for (const operation_pointer& o : after) {
        if (const auto at = o == nullptr ? places_.end() : places_.find(o->id); at != places_.end()) {
            record.after.push_back(at->second.place);
        }
    }
    places_.emplace(what.id, place_and_stream{place, what.stream});
    log_.host.push_back({observe::host_step::kind::issues, this_thread(), place});
}

// Also called when a host function begins: that is no wait of a program's thread.
void operation_journal::host_waited(const operation& what) {
    const std::lock_guard lock(mutex_);
    if (const auto at = places_.find(what.id); what.at == operation::stage::done && at != places_.end()) {
        log_.host.push_back({observe::host_step::kind::waits, this_thread(), at->second.place});
    }
}

void operation_journal::host_waited_for_all(std::optional<int> of) {
    const std::lock_guard lock(mutex_);
    log_.host.push_back(
        {observe::host_step::kind::waits_for_all, this_thread(), log_.operations.size(), of.value_or(-1)});
}

void operation_journal::describe(const operation& what, const operation_description& as) {
    const operation* outermost = &what;
    while (outermost->within != nullptr) {
        outermost = outermost->within.get();
    }
    const std::lock_guard every(all().mutex);
    for (operation_journal* const j : all().list) {
        const std::lock_guard lock(j->mutex_);
        const auto at = j->places_.find(outermost->id);
        if (at == j->places_.end()) {
            continue;
        }
        if (outermost != &what) {
            if (as.launch != 0) {
                j->of_launches_[as.launch] = at->second.place;
            }
            continue;
        }
        observe::operation_record& record = j->log_.operations[at->second.place];
        record.stream = j->name_of_stream(at->second.stream);
        record.on = as.on;
        record.name = as.name;
        record.bytes = as.bytes;
        record.pageable = as.pageable;
        record.staged = as.staged;
        if (as.launch != 0) {
            j->of_launches_[as.launch] = at->second.place;
        }
    }
}

void operation_journal::launched(std::uint64_t launch, const observe::launch_record& record) {
    if (!any()) {
        return;
    }
    const std::lock_guard every(all().mutex);
    for (operation_journal* const j : all().list) {
        const std::lock_guard lock(j->mutex_);
        cost& c = j->costs_[launch];
        c = {record.blocks(), record.total.warp_instructions, record.total.global_bytes_moved(), {}};
        for (const observe::prediction& p : record.predictions) {
            c.predicted_seconds.push_back(p.nanoseconds * 1e-9);
        }
    }
}

void operation_journal::add_costs(observe::operation_log& to) const {
    for (const auto& [launch, place] : of_launches_) {
        observe::operation_record& o = to.operations[place];
        o.blocks = o.warp_instructions = o.memory_bytes = 0;
    }
    for (const auto& [launch, place] : of_launches_) {
        if (const auto at = costs_.find(launch); at != costs_.end()) {
            observe::operation_record& o = to.operations[place];
            o.blocks += at->second.blocks;
            o.warp_instructions += at->second.warp_instructions;
            o.memory_bytes += at->second.memory_bytes;
        }
    }
}

observe::operation_log operation_journal::so_far() {
    const std::lock_guard lock(mutex_);
    observe::operation_log copy = log_;
    add_costs(copy);
    return copy;
}

std::vector<observe::predicted_machine> operation_journal::predicted() {
    std::vector<observe::predicted_machine> machines = predicted_machines();
    const std::lock_guard lock(mutex_);
    for (std::size_t k = 0; k < machines.size(); ++k) {
        machines[k].seconds.resize(log_.operations.size());
        for (const auto& [launch, place] : of_launches_) {
            const auto at = costs_.find(launch);
            if (at != costs_.end() && k < at->second.predicted_seconds.size()) {
                machines[k].seconds[place] += at->second.predicted_seconds[k];
            }
        }
    }
    return machines;
}

void operation_journal::complete() {
    const std::lock_guard lock(mutex_);
    add_costs(log_);
}

namespace {

// The journals of the whole program and of softgpu_record_operations.
struct open_journals {
    std::mutex mutex;
    observe::operation_log log;
    std::unique_ptr<operation_journal> whole;
    std::unique_ptr<operation_journal> recording;
    std::vector<observe::predicted_machine> predicted; // of the last recording
};

open_journals& opened() {
    static open_journals& only = *new open_journals;
    return only;
}

} // namespace

void timeline_file::begin(const settings& options) {
    const std::lock_guard lock(opened().mutex);
    if (!options.timeline_path.empty() && opened().whole == nullptr) {
        opened().whole = std::make_unique<operation_journal>(opened().log);
    }
}

void timeline_file::write(const settings& options, bool finished) {
    const std::lock_guard lock(opened().mutex);
    const observe::operation_log log = opened().whole == nullptr ? observe::operation_log{} : opened().whole->so_far();
    std::vector<std::string> names;
    std::vector<observe::timeline> modelled;
    if (opened().whole != nullptr) {
        for (const observe::predicted_machine& on : opened().whole->predicted()) {
            names.push_back(on.card);
            modelled.push_back(observe::model_of(log, on));
        }
    }
    if (modelled.empty()) {
        names.emplace_back(options.device->name);
        modelled.push_back(observe::model_of(log, machine_of(*options.device)));
    }
    std::vector<observe::traced> traces;
    for (std::size_t k = 0; k < names.size(); ++k) {
        traces.push_back({names[k], &modelled[k]});
    }
    observe::write_trace(options.timeline_path, traces, finished);
}

void record_operations(observe::operation_log* to) {
    const std::lock_guard lock(opened().mutex);
    if (opened().recording != nullptr) {
        opened().recording->complete();
        opened().predicted = opened().recording->predicted();
        opened().recording = nullptr;
    }
    if (to != nullptr) {
        opened().recording = std::make_unique<operation_journal>(*to);
    }
}

std::vector<observe::predicted_machine> predicted_operations() {
    const std::lock_guard lock(opened().mutex);
    return opened().predicted;
}

} // namespace softgpu::runtime
