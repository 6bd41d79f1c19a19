// SPDX-License-Identifier: MIT
// Random accesses, fences, releases and acquisitions by threads of several blocks: the graph of releases knows an order
// exactly where clocks, which carry all that a thread has heard of, have it.
#include "softgpu/check/order/release_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace softgpu::check {
namespace {

constexpr unsigned blocks = 5; // of one thread
constexpr unsigned words = 4;

using clocks = std::array<std::uint64_t, blocks>; // accesses of each block

void join(clocks& to, const clocks& from) {
    std::ranges::transform(to, from, to.begin(), [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
}

struct thread {
    block_clock clock;
    release_graph::block_record* record = nullptr;
    std::uint32_t fence = 0;
    bool has_fenced = false;
    clocks knows{};
    clocks at_fence{};
    std::vector<std::uint64_t> accesses; // their times

    std::uint64_t touch() {
        clock.view.warps[0].touched = clock.view.time;
        return clock.view.time + clock.view.global_offset;
    }
};

class release_graph_test : public testing::Test {
protected:
    release_graph_test() {
        for (unsigned b = 0; b < blocks; ++b) {
            threads_[b].clock.start(1, b + 1, 0, true);
            threads_[b].record = &graph_.record_of(b);
        }
    }

    void access(thread& t, unsigned b) {
        t.accesses.push_back(t.touch());
        t.knows[b] = t.accesses.size();
    }
    void fence(thread& t) {
        t.clock.close(0);
        t.fence = graph_.add_release(*t.record, t.clock, 0, false);
        t.has_fenced = true;
        t.at_fence = t.knows;
    }
    // By the last fence, or by a release of its own.
    void release(thread& t, unsigned w, bool by_fence, bool replaces) {
        if (!by_fence) {
            t.clock.close(0);
        }
        const std::uint32_t which = by_fence ? t.fence : graph_.add_release(*t.record, t.clock, 0, false);
        graph_.attach({w, release_graph::word::global}, *t.record, which, 1, replaces);
        heard_[w] = replaces ? clocks{} : heard_[w];
        join(heard_[w], by_fence ? t.at_fence : t.knows);
    }
    void acquire(thread& t, unsigned w) {
        graph_.acquire({w, release_graph::word::global}, *t.record, 0, t.touch(), 1);
        join(t.knows, heard_[w]);
    }
    [[nodiscard]] bool knows(const thread& t, unsigned other, std::size_t access, bool knows_acquisitions = true) {
        const event before{.time = threads_[other].accesses[access]};
        const auto is_known = [&](const event&) { return knows_acquisitions; };
        return release_graph::is_on_path(other, before, *t.record, paths_, is_known) ||
               graph_.is_ordered(other, before, *t.record, paths_, is_known);
    }

    release_graph graph_;
    release_graph::paths paths_; // of all blocks
    std::array<thread, blocks> threads_;
    std::array<clocks, words> heard_{};
};

TEST_F(release_graph_test, knows_the_orders_that_clocks_know) {
    std::mt19937 random(7); // NOLINT(cert-msc51-cpp): the same in every run
    const auto below = [&](std::size_t n) { return random() % n; };
    unsigned orders = 0;
    unsigned none = 0;
    for (int step = 0; step < 20000; ++step) {
        const auto b = static_cast<unsigned>(below(blocks));
        const auto w = static_cast<unsigned>(below(words));
        thread& t = threads_[b];
        switch (below(8)) {
        case 0: fence(t); break;
        case 1: release(t, w, t.has_fenced && below(2) == 0, below(4) == 0); break;
        case 2: acquire(t, w); break;
        default: access(t, b);
        }
        // One of the last accesses of another block: what is old is known to all.
        const auto other = static_cast<unsigned>((b + 1 + below(blocks - 1)) % blocks);
        const std::size_t made = threads_[other].accesses.size();
        if (made != 0) {
            const std::size_t access = made - 1 - below(std::min<std::size_t>(made, 30));
            const bool wanted = t.knows[other] > access;
            ASSERT_EQ(knows(t, other, access), wanted) << "step " << step;
            (wanted ? orders : none) += 1;
        }
    }
    EXPECT_GT(orders, 1000u);
    EXPECT_GT(none, 1000u);
}

// A search's answer holds for threads that know of the acquisition, and for what the release covers.
TEST_F(release_graph_test, an_answer_is_kept_with_its_conditions) {
    access(threads_[0], 0);
    release(threads_[0], 0, false, true);
    access(threads_[0], 0);
    acquire(threads_[1], 0);
    for (int again = 0; again < 2; ++again) {
        EXPECT_TRUE(knows(threads_[1], 0, 0));
        EXPECT_FALSE(knows(threads_[1], 0, 0, false));
        EXPECT_FALSE(knows(threads_[1], 0, 1));
        EXPECT_FALSE(knows(threads_[2], 0, 0));
    }
}

} // namespace
} // namespace softgpu::check
