// SPDX-License-Identifier: MIT
#include "softgpu/runtime/nccl/clique.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>

#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/core/capture_rules.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/nccl/data.hpp"
#include "softgpu/runtime/nccl/reduction.hpp"

namespace softgpu::runtime::nccl {
namespace {

constexpr std::chrono::seconds long_wait{60};
constexpr std::chrono::milliseconds between_looks{20}; // at the devices, by calls that wait

std::condition_variable& came() {
    static std::condition_variable& only = *new std::condition_variable; // never destroyed, as the devices
    return only;
}

void finish(meeting& m, ncclResult_t result) {
    m.result = result;
    m.done = true;
    came().notify_all();
}

std::vector<rank_call> calls_of(const meeting& m) {
    std::vector<rank_call> all;
    for (const auto& c : m.calls) {
        all.push_back(*c);
    }
    return all;
}

// One operation after the work of all streams, which all of them wait for.
void issue(const std::string& name, std::span<const rank_call> calls, std::uint64_t bytes, std::function<void()> work) {
    std::vector<operation_pointer> before;
    for (const rank_call& c : calls) {
        before.push_back(c.gpu->mark(*c.on));
    }
    const rank_call& first = calls.front();
    const operation_pointer issued =
        first.gpu->issue_after(before, operation_kind::device, std::move(work), first.on->priority, first.on->id);
    if (operation_journal::any()) {
        operation_journal::describe(*issued, {.on = observe::engine::compute, .name = name, .bytes = bytes});
    }
    for (const rank_call& c : calls) {
        c.gpu->mark(*c.on, issued);
    }
}

// A captured call: a host function in each rank's graph. All of them wait for each other, and the last one does the work.
struct captured_call {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t there = 0;
    std::uint64_t times = 0; // that all have come
    std::size_t ranks = 0;
    std::function<void()> work;

    static void run(void* user) {
        auto& self = *static_cast<captured_call*>(user);
        std::unique_lock lock(self.mutex);
        const std::uint64_t mine = self.times;
        if (++self.there == self.ranks) {
            self.work();
            self.there = 0;
            ++self.times;
            self.changed.notify_all();
        } else {
            self.changed.wait(lock, [&] { return self.times != mine; });
        }
    }
};

// Graphs may run it for as long as the process lives, so it is never destroyed. Streams of one capture get one node.
void capture(std::span<const rank_call> calls, std::function<void()> work) {
    auto* const made = new captured_call;
    const rank_call& first = calls.front();
    if (std::ranges::all_of(calls, [&](const rank_call& c) { return c.on->capturing == first.on->capturing; })) {
        made->ranks = 1;
        made->work = std::move(work);
        auto& before = first.on->capture_before;
        for (const rank_call& c : calls) {
            std::ranges::copy_if(c.on->capture_before, std::back_inserter(before),
                                 [&](graph_node* n) { return std::ranges::find(before, n) == before.end(); });
        }
        enqueue_host_function(*first.gpu, {captured_call::run, made}, *first.on);
        for (const rank_call& c : calls) {
            c.on->capture_before = before;
        }
        return;
    }
    made->ranks = calls.size();
    made->work = std::move(work);
    for (const rank_call& c : calls) {
        enqueue_host_function(*c.gpu, {captured_call::run, made}, *c.on);
    }
}

// All of them, or none, capture.
bool agree_in_capture(std::span<const rank_call> calls) {
    return std::ranges::all_of(
        calls, [&](const rank_call& c) { return is_capturing(*c.on) == is_capturing(*calls.front().on); });
}

template <class Work, class Note>
ncclResult_t begin(const std::string& name, std::span<const rank_call> calls, std::uint64_t bytes, Work work,
                   Note notes) {
    if (!agree_in_capture(calls)) {
        report(name + ": some ranks' streams capture a graph and others do not");
        return ncclInvalidUsage;
    }
    // The memory of a device that has failed holds anything.
    const auto unless_lost = [of = std::vector<rank_call>(calls.begin(), calls.end())](const auto& work_of_all) {
        if (std::ranges::none_of(of, [](const rank_call& c) { return c.gpu->has_failed(); })) {
            work_of_all();
        }
    };
    try {
        if (is_capturing(*calls.front().on)) {
            capture(calls, [=] { unless_lost(work); });
        } else {
            issue(name, calls, bytes, [=] {
                unless_lost([&] {
                    work();
                    notes();
                });
            });
        }
    } catch (const failure& f) { // all ranks shall learn of it
        report(name + ": " + (f.message.empty() ? std::string(name_of(f.code)) : f.message));
        return ncclUnhandledCudaError;
    }
    return ncclSuccess;
}

} // namespace

std::shared_ptr<meeting> clique::join(collective what, const char* name, ncclRedOp_t op, int root, int rank,
                                      const rank_call& with) {
    const std::uint64_t number = ++last_[static_cast<std::size_t>(rank)];
    const agreed mine{what, op, root, with.count, with.type};
    const auto [place, first] = begun_.try_emplace(number, begun{mine, nullptr});
    if (first) {
        place->second.at = std::make_shared<meeting>();
        place->second.at->name = name;
        place->second.at->calls.resize(last_.size());
    }
    const bool agrees = place->second.in == mine;
    const std::shared_ptr<meeting> at = place->second.at;
    at->calls[static_cast<std::size_t>(rank)] = with;
    const bool is_last = ++at->there == last_.size();
    if (is_last) {
        begun_.erase(place);
    }
    if (at->done) { // it was given up
        return at;
    }
    if (!agrees) {
        report(std::string(name) + ": rank " + std::to_string(rank) + " calls another function than others (" +
               at->name + "), or with another count, type, operation or root");
        finish(*at, ncclInvalidUsage);
        return at;
    }
    if (is_last) {
        const std::vector<rank_call> calls = calls_of(*at);
        const std::uint64_t bytes = with.count * bytes_of(with.type);
        const std::string title = at->name + " of " + std::to_string(bytes) + " bytes";
        finish(*at, begin(
                        title, calls, bytes, [=] { carry_out(what, op, root, calls); },
                        [=] { note(title, what, root, calls); }));
    }
    return at;
}

std::shared_ptr<meeting> clique::transfer(std::size_t side, queue& own, queue& other, const rank_call& with) {
    std::shared_ptr<meeting> at;
    if (other.empty()) {
        at = std::make_shared<meeting>();
        at->name = side == 0 ? "ncclSend" : "ncclRecv";
        at->calls.resize(2);
        own.push_back(at);
    } else {
        at = other.front();
        other.pop_front();
    }
    at->calls[side] = with;
    if (++at->there < 2 || at->done) { // the other one may have given it up
        return at;
    }
    const std::vector<rank_call> both = calls_of(*at);
    const std::uint64_t bytes = both[0].count * bytes_of(both[0].type);
    if (bytes != both[1].count * bytes_of(both[1].type)) {
        report("ncclRecv: of " + std::to_string(both[1].count * bytes_of(both[1].type)) + " bytes, and " +
               std::to_string(bytes) + " are sent");
        finish(*at, ncclInvalidUsage);
        return at;
    }
    const std::string title = "ncclSend and ncclRecv of " + std::to_string(bytes) + " bytes";
    finish(*at, begin(
                    title, both, bytes, [=] { carry_out(both[0], both[1]); }, [=] { note(title, both[0], both[1]); }));
    return at;
}

std::shared_ptr<meeting> clique::send(int from, int to, const rank_call& with) {
    return transfer(0, sent_[{from, to}], received_[{from, to}], with);
}

std::shared_ptr<meeting> clique::receive(int from, int to, const rank_call& with) {
    return transfer(1, received_[{from, to}], sent_[{from, to}], with);
}

std::shared_ptr<meeting> clique::split(int rank, split_call with) {
    if (split_ == nullptr) {
        split_ = std::make_shared<meeting>();
        split_->name = "ncclCommSplit";
        split_->calls.resize(last_.size());
        splits_.assign(last_.size(), {});
    }
    const std::shared_ptr<meeting> at = split_;
    splits_[static_cast<std::size_t>(rank)] = std::move(with);
    if (++at->there == last_.size()) {
        split_ = nullptr;
        std::map<int, std::vector<std::size_t>> of_color;
        for (std::size_t r = 0; r < splits_.size(); ++r) {
            if (splits_[r].color >= 0) {
                of_color[splits_[r].color].push_back(r);
            }
        }
        for (auto& [color, members] : of_color) {
            std::ranges::stable_sort(members, {}, [&](std::size_t r) { return splits_[r].key; });
            const auto made = std::make_shared<clique>(static_cast<int>(members.size()));
            for (std::size_t k = 0; k < members.size(); ++k) {
                (void)made->take(static_cast<int>(k), *gpus_[members[k]]);
                splits_[members[k]].take(made, static_cast<int>(k));
            }
        }
        splits_.clear();
        finish(*at, ncclSuccess);
    }
    return at;
}

bool clique::is_complete() const {
    return std::ranges::none_of(gpus_, [](const context* gpu) { return gpu == nullptr; });
}

bool clique::has_lost_device() const {
    return std::ranges::any_of(gpus_, [](const context* gpu) { return gpu != nullptr && gpu->has_failed(); });
}

ncclResult_t clique::wait(locked& lock, const std::shared_ptr<meeting>& at) {
    const auto start = std::chrono::steady_clock::now();
    bool told = false;
    while (!at->done && !aborted_ && !has_lost_device()) {
        came().wait_for(lock, between_looks);
        if (!told && std::chrono::steady_clock::now() - start >= long_wait) {
            told = true;
            report(at->name + ": waits for a minute now: " + std::to_string(at->there) + " of " +
                   std::to_string(at->calls.size()) + " ranks have called it");
        }
    }
    return at->done ? at->result : aborted_ ? ncclInternalError : ncclRemoteError;
}

void clique::give_up(meeting& at, ncclResult_t result) {
    if (!at.done) {
        finish(at, result);
    }
}

void clique::abort() {
    aborted_ = true;
    came().notify_all();
}

} // namespace softgpu::runtime::nccl
