// SPDX-License-Identifier: MIT
#include "softgpu/runtime/nccl/clique.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>

#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/streams/capture.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/graph/graph.hpp"
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
// Once a rank cannot come any more none waits, in this launch and all later ones.
struct captured_call {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t there = 0;
    std::uint64_t times = 0; // that all have come
    std::size_t ranks = 0;
    std::function<void()> work;
    std::vector<const context*> gpus{};
    std::shared_ptr<const std::atomic<bool>> aborted{};
    bool given_up = false;

    static void run(void* user) {
        auto& self = *static_cast<captured_call*>(user);
        std::unique_lock lock(self.mutex);
        const std::uint64_t mine = self.times;
        if (++self.there == self.ranks && !self.given_up) {
            self.work();
            self.there = 0;
            ++self.times;
            self.changed.notify_all();
        }
        while (self.times == mine && !self.given_up) {
            self.changed.wait_for(lock, between_looks);
            self.given_up = self.given_up || (self.times == mine && self.is_hopeless());
        }
    }

private:
    [[nodiscard]] bool is_hopeless() const {
        return *aborted || std::ranges::any_of(gpus, [](const context* gpu) { return gpu->has_failed(); });
    }
};

// A captured call that lives as long as a graph of `calls` or a copy of one.
captured_call& kept_by_graphs(std::span<const rank_call> calls) {
    auto* const made = new captured_call;
    std::ranges::transform(calls, std::back_inserter(made->gpus), &rank_call::gpu);
    auto keeper = std::make_unique<user_object>();
    keeper->what = made;
    keeper->destroy = [](void* p) { delete static_cast<captured_call*>(p); };
    for (const rank_call& c : calls) {
        retain(*keeper, 1);
        ++c.on->capturing->into->retained[keeper.get()];
    }
    user_objects().insert(std::move(keeper));
    return *made;
}

// Streams of one capture get one node.
void capture(std::span<const rank_call> calls, std::shared_ptr<const std::atomic<bool>> aborted,
             std::function<void()> work) {
    captured_call* const made = &kept_by_graphs(calls);
    made->aborted = std::move(aborted);
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

template <class Work>
ncclResult_t begin(const std::string& title, const std::vector<rank_call>& calls, const std::vector<sizes>& used,
                   std::uint64_t bytes, const std::shared_ptr<const std::atomic<bool>>& aborted, Work work) {
    if (!agree_in_capture(calls)) {
        report(title + ": some ranks' streams capture a graph and others do not");
        return ncclInvalidUsage;
    }
    // The memory of a device that has failed holds anything.
    const auto unless_lost = [=] {
        const bool is_whole = std::ranges::none_of(calls, [](const rank_call& c) { return c.gpu->has_failed(); });
        if (is_whole) {
            work();
        }
        return is_whole;
    };
    try {
        if (is_capturing(*calls.front().on)) {
            capture(calls, aborted, unless_lost);
        } else {
            issue(title, calls, bytes, [=] {
                if (unless_lost()) {
                    note(title, calls, used);
                }
            });
        }
    } catch (const failure& f) { // all ranks shall learn of it
        report(title + ": " + (f.message.empty() ? std::string(name_of(f.code)) : f.message));
        return ncclUnhandledCudaError;
    }
    return ncclSuccess;
}

} // namespace

std::shared_ptr<meeting> clique::post(const call_terms& terms, int rank, const rank_call& with) {
    if (terms.what == call_kind::send || terms.what == call_kind::receive) {
        return transfer(terms, rank, with);
    }
    std::shared_ptr<meeting> at = meet(terms, rank, with);
    if (at->can_begin()) {
        std::vector<sizes> used;
        used.reserve(last_.size());
        for (int r = 0; r < ranks(); ++r) {
            used.push_back(sizes_of(terms, r, ranks()));
        }
        const auto work = [=, calls = at->calls] { carry_out(terms, calls); };
        finish(*at, begin(terms.title(), at->calls, used, terms.bytes(), aborted_, work));
    }
    return at;
}

std::shared_ptr<meeting> clique::meet(const call_terms& terms, int rank, const rank_call& with) {
    const std::uint64_t number = ++last_[static_cast<std::size_t>(rank)];
    std::shared_ptr<meeting>& begun = begun_[number];
    if (begun == nullptr) {
        begun = std::make_shared<meeting>();
        begun->terms = terms;
        begun->first = rank;
        begun->calls.resize(last_.size());
    }
    std::shared_ptr<meeting> at = begun;
    at->calls[static_cast<std::size_t>(rank)] = with;
    if (++at->there == last_.size()) {
        begun_.erase(number);
    }
    if (const std::string other = difference(terms, rank, at->terms, at->first); !at->done && !other.empty()) {
        report(std::string(at->terms.name()) + ": " + other);
        finish(*at, ncclInvalidUsage);
    }
    return at;
}

std::shared_ptr<meeting> clique::transfer(const call_terms& terms, int rank, const rank_call& with) {
    const bool sends = terms.what == call_kind::send;
    const std::pair both = sends ? std::pair(rank, terms.root) : std::pair(terms.root, rank);
    queue &own = (sends ? sent_ : received_)[both], &others = (sends ? received_ : sent_)[both];
    std::shared_ptr<meeting> at;
    if (others.empty()) {
        at = std::make_shared<meeting>();
        at->terms = terms;
        at->first = rank;
        at->calls.resize(2);
        own.push_back(at);
    } else {
        at = others.front();
        others.pop_front();
    }
    at->calls[sends ? 0 : 1] = with;
    ++at->there;
    if (!at->can_begin()) { // the other one may have given it up
        return at;
    }
    const call_terms &sent = sends ? terms : at->terms, &received = sends ? at->terms : terms;
    if (const std::string other = difference(sent, both.first, received, both.second); !other.empty()) {
        report("ncclRecv: " + other);
        finish(*at, ncclInvalidUsage);
        return at;
    }
    const std::size_t bytes = terms.bytes();
    const std::vector<sizes> used{{bytes, 0}, {0, bytes}};
    const auto work = [=, calls = at->calls] { nccl::transfer(bytes, calls[0], calls[1]); };
    finish(*at, begin("ncclSend and ncclRecv of " + std::to_string(bytes) + " bytes", at->calls, used, bytes, aborted_,
                      work));
    return at;
}

std::shared_ptr<meeting> clique::split(int rank, split_call with) {
    std::shared_ptr<meeting> at = meet({.what = call_kind::split}, rank, {});
    at->splits.resize(last_.size());
    at->splits[static_cast<std::size_t>(rank)] = std::move(with);
    if (at->can_begin()) {
        std::map<int, std::vector<std::size_t>> of_color;
        for (std::size_t r = 0; r < at->splits.size(); ++r) {
            if (at->splits[r].color >= 0) {
                of_color[at->splits[r].color].push_back(r);
            }
        }
        for (auto& [color, members] : of_color) {
            std::ranges::stable_sort(members, {}, [&](std::size_t r) { return at->splits[r].key; });
            const auto made = std::make_shared<clique>(static_cast<int>(members.size()));
            for (std::size_t k = 0; k < members.size(); ++k) {
                (void)made->take(static_cast<int>(k), *gpus_[members[k]]);
                at->splits[members[k]].take(made, static_cast<int>(k));
            }
        }
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
    while (!at->done && !is_aborted() && !has_lost_device()) {
        came().wait_for(lock, between_looks);
        if (!told && std::chrono::steady_clock::now() - start >= long_wait) {
            told = true;
            report(std::string(at->terms.name()) + ": waits for a minute now: " + std::to_string(at->there) + " of " +
                   std::to_string(at->calls.size()) + " ranks have called it");
        }
    }
    give_up(*at, is_aborted() ? ncclInternalError : ncclRemoteError);
    return at->result;
}

void clique::give_up(meeting& at, ncclResult_t result) {
    if (!at.done) {
        finish(at, result);
    }
}

void clique::abort() {
    *aborted_ = true;
    came().notify_all();
}

} // namespace softgpu::runtime::nccl
