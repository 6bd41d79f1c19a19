// SPDX-License-Identifier: MIT
// The model of engines, rule by rule, on logs whose times are known by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "softgpu/observe/timeline_model.hpp"
#include "tests/observe/logs.hpp"

namespace softgpu::observe {
namespace {

using testing::program;
using testing::slow_machine;
using times = std::vector<std::pair<double, double>>;

times times_of(const timeline& t) {
    times all;
    for (const timeline_event& e : t.events) {
        all.emplace_back(e.start, e.end);
    }
    return all;
}

times times_of(const program& p, const timeline_machine& m = slow_machine()) { return times_of(model_of(p.log, m)); }

timeline_machine with(unsigned copy_engines, bool in_order) {
    timeline_machine m = slow_machine();
    m.copy_engines = copy_engines;
    m.in_order = in_order;
    return m;
}

void depth_first(program& p, int streams) {
    for (int s = 1; s <= streams; ++s) {
        p.copy_in(s);
        p.kernel(s);
        p.copy_out(s);
    }
}

void breadth_first(program& p, int streams) {
    for (int s = 1; s <= streams; ++s) {
        p.copy_in(s);
    }
    for (int s = 1; s <= streams; ++s) {
        p.kernel(s);
    }
    for (int s = 1; s <= streams; ++s) {
        p.copy_out(s);
    }
}

// A predicted kernel takes its prediction; copies, and kernels without one, go by the machine's rules.
TEST(TimelineModel, PredictedKernelsTakeWhatTheModelOfTheCardSays) {
    program p;
    depth_first(p, 2);
    const timeline ruled = model_of(p.log, slow_machine());
    predicted_machine on{"h200", slow_machine(), std::vector<double>(p.log.operations.size())};
    on.machine.name = "predicted";
    std::vector<std::size_t> kernels;
    for (std::size_t k = 0; k < p.log.operations.size(); ++k) {
        if (p.log.operations[k].on == engine::compute) {
            kernels.push_back(k);
        }
    }
    ASSERT_EQ(kernels.size(), 2u);
    on.seconds[kernels[0]] = 123;
    const timeline t = model_of(p.log, on);
    ASSERT_EQ(t.events.size(), ruled.events.size());
    for (std::size_t k = 0; k < t.events.size(); ++k) {
        const double took = t.events[k].end - t.events[k].start;
        const double by_rule = ruled.events[k].end - ruled.events[k].start;
        EXPECT_NEAR(took, k == kernels[0] ? 123 : by_rule, 1e-9) << k;
    }
    EXPECT_TRUE(t.modelled);
    EXPECT_EQ(t.machine, "predicted; kernels without a prediction, by their instructions and bytes: 1");
    on.seconds[kernels[1]] = 1;
    EXPECT_EQ(model_of(p.log, on).machine, "predicted");
}

TEST(TimelineModel, MovesAreFillsAndCopiesButNoKernels) {
    operation_log log;
    log.operations = {{.on = engine::to_device, .bytes = 1000},
                      {.on = engine::compute, .bytes = 3000},
                      {.on = engine::compute, .bytes = 3000, .blocks = 1},
                      {.on = engine::host},
                      {.on = engine::none}};
    predicted_machine on{"h200", slow_machine(), {}, 0.25};
    on.machine.copy_latency = 0.5;
    on.machine.pinned_bytes_per_s = 1000;
    on.machine.memory_bytes_per_s = 2000;
    EXPECT_DOUBLE_EQ(seconds_of_moves(log, on), 0.5 + 1 + 0.25 + 1.5);
    EXPECT_DOUBLE_EQ(seconds_of_moves({}, on), 0);
}

TEST(TimelineModel, NothingTakesNoTime) {
    const timeline t = model_of({}, slow_machine());
    EXPECT_TRUE(t.events.empty());
    EXPECT_EQ(t.seconds(), 0);
    EXPECT_TRUE(t.modelled);
}

TEST(TimelineModel, OneStreamIsInOrder) {
    program p;
    depth_first(p, 1);
    p.copy_in(1, 5);
    EXPECT_EQ(times_of(p), (times{{0, 1}, {1, 2}, {2, 3}, {3, 8}}));
}

TEST(TimelineModel, StreamsOverlapOnDifferentEngines) {
    program p;
    depth_first(p, 2);
    EXPECT_EQ(times_of(p), (times{{0, 1}, {1, 2}, {2, 3}, {1, 2}, {2, 3}, {3, 4}}));
}

TEST(TimelineModel, AnEngineDoesOneThingAtATime) {
    program p;
    p.kernel(1, 3);
    p.kernel(2, 4);
    p.copy_in(3);
    p.copy_in(4);
    EXPECT_EQ(times_of(p), (times{{0, 3}, {3, 7}, {0, 1}, {1, 2}}));
}

// Three streams: the sum of all operations is 9.
TEST(TimelineModel, DepthAndBreadthFirst) {
    program depth;
    depth_first(depth, 3);
    program breadth;
    breadth_first(breadth, 3);
    const auto seconds = [](const program& p, unsigned engines, bool in_order) {
        return model_of(p.log, with(engines, in_order)).seconds();
    };
    // Two copy engines: 3 in, and the last one's kernel and copy.
    EXPECT_EQ(seconds(depth, 2, false), 5);
    EXPECT_EQ(seconds(breadth, 2, false), 5);
    EXPECT_EQ(seconds(depth, 2, true), 5);
    EXPECT_EQ(seconds(breadth, 2, true), 5);
    // One that works in order: a copy back holds up the next stream's copy, and nothing overlaps.
    EXPECT_EQ(seconds(depth, 1, true), 9);
    EXPECT_EQ(seconds(breadth, 1, true), 6);
    // One that takes what is ready: six copies, one after the other.
    EXPECT_EQ(seconds(depth, 1, false), 6);
    EXPECT_EQ(seconds(breadth, 1, false), 6);
}

TEST(TimelineModel, EnginesInOrderWaitForTheFirstOfTheirQueue) {
    program p;
    p.copy_in(1, 4);
    p.kernel(1);
    p.kernel(2); // ready at once
    EXPECT_EQ(times_of(p, with(2, true)), (times{{0, 4}, {4, 5}, {5, 6}}));
    EXPECT_EQ(times_of(p, with(2, false)), (times{{0, 4}, {4, 5}, {0, 1}}));
}

TEST(TimelineModel, EventsHold) {
    program p;
    p.copy_in(1, 3);
    const std::size_t event = p.record(1);
    p.copy_out(2, 5);
    p.wait_event(2, event);
    p.kernel(2);
    p.kernel(3, 2);
    const timeline t = model_of(p.log, slow_machine());
    EXPECT_EQ(times_of(t), (times{{0, 3}, {0, 5}, {5, 6}, {0, 2}}));
    EXPECT_EQ(t.events[2].after, (std::vector<std::size_t>{0, 1})); // through the marks
    // A long copy in the first stream holds the kernel.
    p.log.operations[0].bytes = 9;
    EXPECT_EQ(times_of(p), (times{{0, 9}, {0, 5}, {9, 10}, {0, 2}}));
}

TEST(TimelineModel, TheLegacyDefaultStreamSerialises) {
    program p;
    p.copy_in(1, 2);
    p.kernel(0);
    p.copy_out(2, 3);
    EXPECT_EQ(times_of(p), (times{{0, 2}, {2, 3}, {3, 6}}));
    program q;
    q.non_blocking(1);
    q.non_blocking(2);
    q.copy_in(1, 2);
    q.kernel(0);
    q.copy_out(2, 3);
    EXPECT_EQ(times_of(q), (times{{0, 2}, {0, 1}, {0, 3}}));
}

TEST(TimelineModel, TheHostWaits) {
    program p;
    const std::size_t first = p.copy_in(1, 2);
    p.kernel(2, 5);
    p.synchronize(first);
    p.copy_out(3);
    p.synchronize();
    p.copy_in(3);
    EXPECT_EQ(times_of(p), (times{{0, 2}, {0, 5}, {2, 3}, {5, 6}}));
    const timeline t = model_of(p.log, slow_machine());
    EXPECT_EQ(t.events[2].issued, 2);
    EXPECT_EQ(t.events[3].issued, 5);
}

TEST(TimelineModel, CallsTakeTheHostsTime) {
    program p;
    p.kernel(1, 10);
    p.kernel(2, 1);
    p.record(2);
    p.copy_in(3, 1);
    timeline_machine m = slow_machine();
    m.call_seconds = 0.25;
    const timeline t = model_of(p.log, m);
    EXPECT_EQ(t.events[0].issued, 0.25);
    EXPECT_EQ(t.events[1].issued, 0.5);
    EXPECT_EQ(t.events[2].issued, 0.75); // events take none
    EXPECT_EQ(times_of(t), (times{{0.25, 10.25}, {10.25, 11.25}, {0.75, 1.75}}));
}

TEST(TimelineModel, ThreadsOfTheHostCallByThemselves) {
    program p;
    const std::size_t first = p.copy_in(1, 4);
    p.thread = 1; // begins after that call
    p.kernel(2, 1);
    p.thread = 0;
    p.synchronize(first);
    p.thread = 1;
    p.kernel(2, 1); // does not wait
    p.thread = 0;
    p.copy_out(1, 1);
    p.thread = 2; // begins when all calls so far are made
    p.copy_in(3, 1);
    EXPECT_EQ(times_of(p), (times{{0, 4}, {0, 1}, {1, 2}, {4, 5}, {4, 5}}));
}

TEST(TimelineModel, PriorityThenTimeThenOrderOfIssue) {
    program p;
    p.kernel(1, 2);
    p.kernel(2, 1);
    p.kernel(3, 1);
    p.kernel(4, 1);
    p.log.operations[3].priority = -1;
    EXPECT_EQ(times_of(p), (times{{1, 3}, {3, 4}, {4, 5}, {0, 1}}));
}

TEST(TimelineModel, HostFunctionsHoldTheirStreamOnly) {
    program p;
    p.copy_in(1);
    p.host_function(1);
    p.kernel(1);
    p.host_function(2); // the same thread of the host
    p.kernel(3);
    EXPECT_EQ(times_of(p), (times{{0, 1}, {1, 2}, {2, 3}, {0, 1}, {0, 1}}));
}

TEST(TimelineModel, CostsAreAsStated) {
    timeline_machine m;
    m.copy_latency = 1;
    m.pinned_bytes_per_s = 10;
    m.pageable_bytes_per_s = 5;
    m.kernel_latency = 2;
    m.multiprocessors = 4;
    m.warp_instructions_per_s = 8;
    m.memory_bytes_per_s = 100;
    m.host_function_seconds = 7;
    operation_record o{.on = engine::to_device, .bytes = 100};
    EXPECT_DOUBLE_EQ(duration_of(o, m), 11);
    o.pageable = true;
    EXPECT_DOUBLE_EQ(duration_of(o, m), 21);
    o.staged = true;
    EXPECT_DOUBLE_EQ(duration_of(o, m), 11);
    operation_record k{.on = engine::compute, .blocks = 2, .warp_instructions = 160, .memory_bytes = 300};
    EXPECT_DOUBLE_EQ(duration_of(k, m), 2 + 10); // two blocks, two multiprocessors
    k.blocks = 100;
    EXPECT_DOUBLE_EQ(duration_of(k, m), 2 + 5);
    k.memory_bytes = 1000;
    EXPECT_DOUBLE_EQ(duration_of(k, m), 2 + 10); // memory takes longer
    EXPECT_DOUBLE_EQ(duration_of({.on = engine::compute, .bytes = 500}, m), 2 + 5);
    EXPECT_DOUBLE_EQ(duration_of({.on = engine::host}, m), 7);
    EXPECT_DOUBLE_EQ(duration_of({.on = engine::none, .bytes = 500}, m), 0);
}

TEST(TimelineModel, WhatIsCopiedAsideKeepsTheHost) {
    program p;
    p.copy_in(1, 2);
    p.kernel(2);
    p.log.operations[0].pageable = p.log.operations[0].staged = true;
    EXPECT_EQ(times_of(p), (times{{4, 6}, {4, 5}})); // half a byte a second, then as a pinned one
}

TEST(TimelineModel, RefusesWhatIsNoLog) {
    program p;
    p.copy_in(1);
    p.kernel(1);
    operation_log later = p.log;
    later.operations[0].after = {1};
    EXPECT_THROW(static_cast<void>(model_of(later, slow_machine())), std::invalid_argument);
    operation_log itself = p.log;
    itself.operations[1].after = {1};
    EXPECT_THROW(static_cast<void>(model_of(itself, slow_machine())), std::invalid_argument);
    operation_log never = p.log;
    never.host.pop_back();
    EXPECT_THROW(static_cast<void>(model_of(never, slow_machine())), std::invalid_argument);
    operation_log twice = p.log;
    twice.host.push_back(twice.host.front());
    EXPECT_THROW(static_cast<void>(model_of(twice, slow_machine())), std::invalid_argument);
    operation_log none = p.log;
    none.host.push_back({host_step::kind::waits, 0, 2});
    EXPECT_THROW(static_cast<void>(model_of(none, slow_machine())), std::invalid_argument);
}

// Random programs on every machine: engines do one thing at a time, what has to be over is over, nothing begins before it
// is issued, and no engine is idle while something is ready for it (where it need not work in order).
TEST(TimelineModel, HoldsItsRulesOnRandomPrograms) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const bool two_threads = seed % 3 == 0;
        program p;
        p.non_blocking(3);
        std::vector<std::size_t> events;
        for (unsigned k = 0; k < 60; ++k) {
            const int stream = static_cast<int>(random() % 5);
            p.thread = two_threads && random() % 8 == 0 ? 1 : 0;
            switch (random() % 8) {
            case 0:
            case 1: p.copy_in(stream, random() % 5); break;
            case 2: p.copy_out(stream, random() % 5); break;
            case 3: p.kernel(stream, random() % 9); break;
            case 4: p.host_function(stream); break;
            case 5: events.push_back(p.record(stream)); break;
            case 6:
                if (!events.empty()) {
                    p.wait_event(stream, events[random() % events.size()]);
                }
                break;
            default:
                if (random() % 3 == 0 && !p.log.operations.empty()) {
                    p.synchronize(random() % p.log.operations.size());
                }
            }
        }
        timeline_machine m = with(1 + seed % 2, seed % 4 >= 2);
        m.call_seconds = 0.125;
        const timeline t = model_of(p.log, m);
        for (std::size_t a = 0; a < t.events.size(); ++a) {
            const timeline_event& e = t.events[a];
            double ready = e.issued;
            for (const std::size_t before : e.after) {
                EXPECT_LE(t.events[before].end, e.start) << "seed " << seed;
                ready = std::max(ready, t.events[before].end);
            }
            EXPECT_LE(e.issued, e.start) << "seed " << seed;
            bool taken = e.start == ready;
            for (std::size_t b = 0; b < t.events.size(); ++b) {
                const timeline_event& o = t.events[b];
                const bool copies = (e.on == engine::to_device || e.on == engine::to_host) &&
                                    (o.on == engine::to_device || o.on == engine::to_host);
                if (a == b || !(e.on == o.on || (m.copy_engines == 1 && copies))) {
                    continue;
                }
                EXPECT_TRUE(e.end <= o.start || o.end <= e.start) << "seed " << seed;
                taken = taken || o.end == e.start;
            }
            // With two threads a mark, which is not in the timeline, may be issued late.
            EXPECT_TRUE(taken || m.in_order || two_threads) << "seed " << seed << ": an engine was idle";
        }
    }
}

TEST(Timeline, DevicesHaveEnginesOfTheirOwn) {
    testing::program p;
    p.log.operations[p.kernel(1)].device = 0;
    p.log.operations[p.kernel(2)].device = 1;
    p.log.operations[p.kernel(3, 5)].device = 2;
    p.log.host.push_back({host_step::kind::waits_for_all, 0, p.log.operations.size(), 1});
    p.log.operations[p.kernel(2)].device = 1;
    const timeline t = model_of(p.log, testing::slow_machine());
    EXPECT_EQ(t.events[0].end, 1);
    EXPECT_EQ(t.events[1].end, 1) << "at once with the kernel of the other device";
    EXPECT_EQ(t.events[3].issued, 1) << "the host has waited for device 1 alone";
}

} // namespace
} // namespace softgpu::observe
