// SPDX-License-Identifier: MIT
// The model of engines: a simulation from event to event, by the rules in the header.
#include "softgpu/observe/timeline_model.hpp"
#include "softgpu/observe/timeline.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace softgpu::observe {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct progress_of_operation {
    std::size_t left = 0; // operations before it that are not over
    std::vector<std::size_t> after_it;
    double issued = never;
    double start = never;
    double end = never;
    bool over = false;
};

struct progress_of_thread {
    std::vector<std::size_t> steps; // places in log.host
    std::size_t next = 0;
    double clock = 0;
    double waits_until = -1; // when it will have made its call
    bool begun = false;
};

class simulation {
public:
    // `predicted`: seconds of each operation; 0 or none: by the machine's rules.
    simulation(const operation_log& log, const timeline_machine& machine, std::span<const double> predicted)
        : log_(log), machine_(machine), predicted_(predicted), state_(log.operations.size()) {
        read_operations();
        read_steps();
    }

    void run() {
        for (;;) {
            while (host_moves() || engines_move()) {
            }
            if (!pass_time()) {
                break;
            }
        }
        for (const progress_of_operation& o : state_) {
            if (!o.over) {
                throw std::invalid_argument("an operation that never ends");
            }
        }
    }

    [[nodiscard]] const progress_of_operation& of(std::size_t operation) const { return state_[operation]; }

private:
    // What an engine has: ready operations by priority, time and order of issue; of one that works in order all that were
    // issued, by their order.
    struct queue {
        std::set<std::tuple<int, double, std::size_t>> ready;
        std::set<std::size_t> pending;
        bool busy = false;
    };

    void read_operations() {
        for (std::size_t k = 0; k < state_.size(); ++k) {
            for (const std::size_t before : log_.operations[k].after) {
                if (before >= k) {
                    throw std::invalid_argument("an operation that waits for a later one");
                }
                state_[before].after_it.push_back(k);
                ++state_[k].left;
            }
        }
    }

    void read_steps() {
        std::vector<bool> issued(state_.size());
        for (std::size_t k = 0; k < log_.host.size(); ++k) {
            const host_step& s = log_.host[k];
            if (s.operation >= state_.size() + (s.what == host_step::kind::waits_for_all ? 1 : 0)) {
                throw std::invalid_argument("a step of the host with an operation that is not in the log");
            }
            if (s.what == host_step::kind::issues) {
                if (issued[s.operation]) {
                    throw std::invalid_argument("an operation that is issued twice");
                }
                issued[s.operation] = true;
            }
            if (s.thread >= threads_.size()) {
                threads_.resize(std::size_t{s.thread} + 1);
            }
            threads_[s.thread].steps.push_back(k);
        }
        if (std::find(issued.begin(), issued.end(), false) != issued.end()) {
            throw std::invalid_argument("an operation that is never issued");
        }
    }

    queue& queue_of(const operation_record& o) {
        const bool shared = machine_.copy_engines == 1 && o.on == engine::to_host;
        return queues_[{o.device, shared ? engine::to_device : o.on}];
    }

    // Everything that threads of the host can do at this moment.
    bool host_moves() {
        bool moved = false;
        for (progress_of_thread& t : threads_) {
            while (t.next < t.steps.size() && step(t)) {
                moved = true;
            }
        }
        return moved;
    }

    // One step of a thread; false where it has to wait.
    bool step(progress_of_thread& t) {
        const std::size_t place = t.steps[t.next];
        if (!t.begun) {
            if (done_steps_ < place) { // all calls before its first one come first
                return false;
            }
            t.begun = true;
            t.clock = now_;
        }
        const host_step& s = log_.host[place];
        if (s.what == host_step::kind::issues) {
            const operation_record& o = log_.operations[s.operation];
            const double aside = o.staged ? static_cast<double>(o.bytes) / machine_.pageable_bytes_per_s : 0;
            const double at = t.clock + (o.on == engine::none ? 0 : machine_.call_seconds + aside);
            if (at > now_) {
                if (t.waits_until != at) {
                    times_.push(at);
                    t.waits_until = at;
                }
                return false;
            }
            t.clock = at;
            issue(s.operation);
        } else if (s.what == host_step::kind::waits) {
            if (!state_[s.operation].over) {
                return false;
            }
            t.clock = now_;
        } else {
            std::size_t& over = all_over_[s.device];
            while (over < state_.size() &&
                   (state_[over].over || (s.device >= 0 && log_.operations[over].device != s.device))) {
                ++over;
            }
            if (over < s.operation) {
                return false;
            }
            t.clock = now_;
        }
        ++t.next;
        ++done_steps_;
        return true;
    }

    void issue(std::size_t k) {
        state_[k].issued = now_;
        const operation_record& o = log_.operations[k];
        if (o.on != engine::none && machine_.in_order) {
            queue_of(o).pending.insert(k);
        }
        if (state_[k].left == 0) {
            make_ready(k);
        }
    }

    void make_ready(std::size_t k) {
        const operation_record& o = log_.operations[k];
        if (o.on != engine::none) {
            queue_of(o).ready.emplace(o.priority, now_, k);
            return;
        }
        state_[k].start = now_;
        complete(k);
    }

    // Without recursion: a stream may be full of marks.
    void complete(std::size_t first) {
        std::vector<std::size_t> over{first};
        while (!over.empty()) {
            const std::size_t k = over.back();
            over.pop_back();
            state_[k].end = now_;
            state_[k].over = true;
            for (const std::size_t next : state_[k].after_it) {
                if (--state_[next].left != 0 || state_[next].issued == never) {
                    continue;
                }
                if (log_.operations[next].on == engine::none) {
                    state_[next].start = now_;
                    over.push_back(next);
                } else {
                    make_ready(next);
                }
            }
        }
    }

    bool engines_move() {
        bool moved = false;
        while (!running_.empty() && running_.top().first <= now_) {
            const std::size_t k = running_.top().second;
            running_.pop();
            queue_of(log_.operations[k]).busy = false;
            complete(k);
            moved = true;
        }
        for (auto& [of, q] : queues_) {
            moved = begin_next(q) || moved;
        }
        return moved;
    }

    bool begin_next(queue& q) {
        if (q.busy || q.ready.empty()) {
            return false;
        }
        auto chosen = q.ready.begin();
        if (machine_.in_order) {
            const std::size_t first = *q.pending.begin();
            chosen = std::find_if(q.ready.begin(), q.ready.end(),
                                  [first](const auto& r) { return std::get<2>(r) == first; });
            if (chosen == q.ready.end()) {
                return false;
            }
            q.pending.erase(q.pending.begin());
        }
        const std::size_t k = std::get<2>(*chosen);
        q.ready.erase(chosen);
        q.busy = true;
        state_[k].start = now_;
        const bool is_predicted = k < predicted_.size() && predicted_[k] > 0;
        running_.emplace(now_ + (is_predicted ? predicted_[k] : duration_of(log_.operations[k], machine_)), k);
        return true;
    }

    // On to the next moment at which something can happen; false: nothing can any more.
    bool pass_time() {
        while (!times_.empty() && times_.top() <= now_) {
            times_.pop();
        }
        double next = times_.empty() ? never : times_.top();
        if (!running_.empty()) {
            next = std::min(next, running_.top().first);
        }
        if (next == never) {
            return false;
        }
        now_ = next;
        return true;
    }

    using in_time = std::pair<double, std::size_t>;

    const operation_log& log_;
    const timeline_machine& machine_;
    std::span<const double> predicted_;
    std::vector<progress_of_operation> state_;
    std::vector<progress_of_thread> threads_;
    std::map<std::pair<int, engine>, queue> queues_;
    std::priority_queue<in_time, std::vector<in_time>, std::greater<>> running_; // by their end
    std::priority_queue<double, std::vector<double>, std::greater<>> times_;     // at which the host goes on
    std::size_t done_steps_ = 0;                                                 // of the host
    std::map<int, std::size_t> all_over_; // by device, -1: all: its operations before this one are over
    double now_ = 0;
};

// What each operation waits for, by places in the timeline: marks stand for what they wait for.
std::vector<std::vector<std::size_t>> shown_before(const operation_log& log, const std::vector<std::size_t>& place) {
    std::vector<std::vector<std::size_t>> all(log.operations.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
        std::vector<std::size_t>& mine = all[k];
        for (const std::size_t before : log.operations[k].after) {
            if (log.operations[before].on != engine::none) {
                mine.push_back(place[before]);
            } else {
                mine.insert(mine.end(), all[before].begin(), all[before].end());
            }
        }
        std::sort(mine.begin(), mine.end());
        mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    }
    return all;
}

} // namespace

const char* name_of(engine e) noexcept {
    switch (e) {
    case engine::compute: return "compute";
    case engine::to_device: return "to device";
    case engine::to_host: return "to host";
    case engine::host: return "host functions";
    case engine::none: break;
    }
    return "none";
}

int timeline::devices() const noexcept {
    int last = 0;
    for (const timeline_event& e : events) {
        last = std::max(last, e.device);
    }
    return last + 1;
}

double timeline::seconds() const noexcept {
    double last = 0;
    for (const timeline_event& e : events) {
        last = std::max(last, e.end);
    }
    return last;
}

double duration_of(const operation_record& o, const timeline_machine& m) noexcept {
    const auto bytes = static_cast<double>(o.bytes);
    switch (o.on) {
    case engine::to_device:
    case engine::to_host:
        return m.copy_latency + bytes / (o.pageable && !o.staged ? m.pageable_bytes_per_s : m.pinned_bytes_per_s);
    case engine::compute: {
        const double filled = static_cast<double>(std::clamp<std::uint64_t>(o.blocks, 1, m.multiprocessors));
        const double working = static_cast<double>(o.warp_instructions) / (m.warp_instructions_per_s * filled);
        return m.kernel_latency +
               std::max(working, (bytes + static_cast<double>(o.memory_bytes)) / m.memory_bytes_per_s);
    }
    case engine::host: return m.host_function_seconds + bytes / m.pageable_bytes_per_s;
    case engine::none: break;
    }
    return 0;
}

namespace {

timeline model_of(const operation_log& log, const timeline_machine& machine, std::span<const double> predicted) {
    simulation s(log, machine, predicted);
    s.run();
    std::vector<std::size_t> place(log.operations.size());
    std::size_t shown = 0;
    for (std::size_t k = 0; k < place.size(); ++k) {
        place[k] = shown;
        shown += log.operations[k].on != engine::none ? 1 : 0;
    }
    auto before = shown_before(log, place);
    timeline out;
    out.modelled = true;
    out.machine = machine.name;
    for (std::size_t k = 0; k < place.size(); ++k) {
        const operation_record& o = log.operations[k];
        if (o.on != engine::none) {
            out.events.push_back({o.name, o.on, o.device, o.stream, s.of(k).issued, s.of(k).start, s.of(k).end, o.bytes,
                                  o.pageable, std::move(before[k])});
        }
    }
    return out;
}

} // namespace

timeline model_of(const operation_log& log, const timeline_machine& machine) { return model_of(log, machine, {}); }

double seconds_of_moves(const operation_log& log, const predicted_machine& on) {
    timeline_machine in_a_row = on.machine;
    in_a_row.kernel_latency = on.launch_next;
    double seconds = 0;
    for (const operation_record& o : log.operations) {
        const bool moves = o.on == engine::to_device || o.on == engine::to_host || o.on == engine::compute;
        seconds += moves && o.blocks == 0 ? duration_of(o, in_a_row) : 0;
    }
    return seconds;
}

timeline model_of(const operation_log& log, const predicted_machine& on) {
    timeline out = model_of(log, on.machine, on.seconds);
    std::size_t by_rule = 0;
    for (std::size_t k = 0; k < log.operations.size(); ++k) {
        const bool is_kernel = log.operations[k].on == engine::compute && log.operations[k].blocks != 0;
        by_rule += is_kernel && (k >= on.seconds.size() || on.seconds[k] == 0) ? 1 : 0;
    }
    if (by_rule != 0) {
        out.machine += "; kernels without a prediction, by their instructions and bytes: " + std::to_string(by_rule);
    }
    return out;
}

} // namespace softgpu::observe
