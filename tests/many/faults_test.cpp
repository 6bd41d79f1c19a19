// SPDX-License-Identifier: MIT
// What every rank gets when one of them fails, calls something else, or does not call.
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "warpfold/convolve.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"
#include "warpfold/segmented_reduce.hpp"
#include "warpfold/thread_communicator.hpp"

namespace warpfold {

namespace {

// The messages of all ranks; empty where a rank threw nothing.
template <class Work>
std::vector<std::string> messages_of(int ranks, const Work& work, time_limit patience = std::chrono::seconds(20)) {
    std::vector<std::string> said(static_cast<std::size_t>(ranks));
    thread_ranks group(ranks, patience);
    group.run([&](thread_communicator& comm) {
        try {
            work(comm);
        } catch (const std::exception& e) {
            said[static_cast<std::size_t>(comm.rank())] = e.what();
        }
    });
    return said;
}

void expect_all(const std::vector<std::string>& said, const std::string& words) {
    for (const std::string& one : said) {
        EXPECT_NE(one.find(words), std::string::npos) << one;
    }
}

struct throws_at_seven {
    int operator()(int x) const { return x == 7 ? throw std::runtime_error("seven is not allowed") : x; }
};

const std::vector<int> numbers{1, 2, 3, 4};

TEST(Faults, AnExceptionOfOneRankReachesAll) {
    const auto said = messages_of(3, [](thread_communicator& comm) {
        const std::vector<int> mine{1, comm.rank() == 1 ? 7 : 2};
        (void)transform_reduce(host{1}.over(comm), mine, throws_at_seven{});
    });
    expect_all({said[0], said[2]}, "transform_reduce: rank 1 failed: seven is not allowed");
    EXPECT_EQ(said[1], "seven is not allowed");
}

struct throws_at_seven_of_an_index {
    int operator()(int x, std::uint64_t /*index*/) const { return throws_at_seven{}(x); }
};

TEST(Faults, AnExceptionBehindTheFirstGatherReachesAll) {
    const auto check = [](const char* call, const auto& work) {
        const auto said = messages_of(3, [&](thread_communicator& comm) {
            const std::vector<int> mine{1, comm.rank() == 1 ? 7 : 2};
            std::vector<int> out(2);
            work(host{1}.over(comm), mine, out);
        });
        expect_all({said[0], said[2]}, std::string(call) + ": rank 1 failed: seven is not allowed");
        EXPECT_EQ(said[1], "seven is not allowed");
    };
    const throws_at_seven_of_an_index map;
    check("transform_reduce", [&](const auto& on, const auto& mine, auto&) { (void)transform_reduce(on, mine, map); });
    check("transform_inclusive_scan", [&](const auto& on, const auto& mine, auto& out) {
        transform_inclusive_scan(on, mine, out, map, sum{}, reversed);
    });
    const std::vector<std::uint32_t> offsets{0, 1, 2};
    check("segmented_transform_reduce", [&](const auto& on, const auto& mine, auto&) {
        std::vector<std::int64_t> sums(2);
        segmented_transform_reduce(on, mine, offsets, sums, map);
    });
}

TEST(Faults, TheCommunicatorIsOfUseAfterAnException) {
    thread_ranks group(2, std::chrono::seconds(20));
    group.run([](thread_communicator& comm) {
        const auto on = host{1}.over(comm);
        const int* const data = comm.rank() == 0 ? nullptr : numbers.data();
        EXPECT_THROW((void)reduce(on, data, 4), error);
        EXPECT_EQ(reduce(on, numbers), 20);
        std::vector<int> small(comm.rank() == 0 ? 1 : 4), enough(4);
        EXPECT_THROW(inclusive_scan(on, numbers, small), error); // before the target is called
        inclusive_scan(on, numbers, enough);
        EXPECT_EQ(enough[3], comm.rank() == 0 ? 10 : 20);
        std::vector<float> samples{1, 2};
        EXPECT_THROW((void)exact_dot(on, samples.data(), comm.rank() == 0 ? samples.data() : nullptr, 2), error);
        std::vector<std::uint64_t> counts(comm.rank() == 0 ? 3 : 4);
        EXPECT_THROW(histogram(on, samples, counts, even_bins<float>{0, 1, 4}), error);
        std::vector<float> filtered(comm.rank() == 0 ? 2 : 1);
        EXPECT_THROW(convolve(on, samples, samples, filtered), error);
        EXPECT_THROW(weighted_histogram(on, samples, filtered, counts, even_bins<float>{0, 1, 4}), error);
        const std::vector<std::uint32_t> offsets{0, 1, 2};
        EXPECT_THROW(segmented_reduce(on, samples, offsets, filtered), error);
        EXPECT_EQ(exact_sum(on, samples), 6);
    });
}

TEST(Faults, AnotherCallTypeOperationOrNumberOfBinsIsNamed) {
    const std::vector<float> floats{1, 2};
    expect_all(messages_of(2,
                           [&](thread_communicator& comm) {
                               const auto on = host{1}.over(comm);
                               if (comm.rank() == 0) {
                                   (void)exact_sum(on, floats);
                               } else {
                                   (void)reduce(on, floats);
                               }
                           }),
               "rank 1 calls reduce, rank 0 calls exact_sum");
    expect_all(messages_of(3,
                           [&](thread_communicator& comm) {
                               const auto on = host{1}.over(comm);
                               if (comm.rank() == 2) {
                                   (void)reduce(on, numbers);
                               } else {
                                   (void)reduce(on, floats);
                               }
                           }),
               "rank 2 has elements of int32, rank 0 of float");
    expect_all(messages_of(2,
                           [&](thread_communicator& comm) {
                               const auto on = host{1}.over(comm);
                               if (comm.rank() == 0) {
                                   (void)reduce(on, floats, maximum{});
                               } else {
                                   (void)reduce(on, floats, minimum{});
                               }
                           }),
               "rank 1 has another operation");
    expect_all(messages_of(2,
                           [&](thread_communicator& comm) {
                               const std::uint32_t bins = comm.rank() == 0 ? 100 : 200;
                               (void)histogram(host{1}.over(comm), floats, even_bins<float>{0, 1, bins});
                           }),
               "histogram: rank 1 has 200 bins, rank 0 has 100");
    expect_all(messages_of(2,
                           [&](thread_communicator& comm) {
                               const std::vector<float> mask(comm.rank() == 0 ? 1 : 2);
                               std::vector<float> out(2);
                               convolve(host{1}.over(comm), floats, mask, out);
                           }),
               "convolve: rank 1 has 2 mask values, rank 0 has 1");
    expect_all(
        messages_of(2,
                    [&](thread_communicator& comm) { (void)reduce(host{1}.over(comm).at_root(comm.rank()), floats); }),
        "rank 1 has another root");
    expect_all(messages_of(2, [&](thread_communicator& comm) { (void)reduce(host{1}.over(comm).at_root(2), floats); }),
               "there is no rank 2");
}

TEST(Faults, ACommunicatorThatWasGivenUpSaysWhy) {
    std::atomic<int> given_up{0};
    const auto said = messages_of(
        3,
        [&](thread_communicator& comm) {
            if (comm.rank() != 1) {
                EXPECT_THROW((void)reduce(host{1}.over(comm), numbers),
                             communicator_error); // time_limit_error at the first to give up
                ++given_up;
            } else {
                while (given_up != 2) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
            }
            (void)reduce(host{1}.over(comm), numbers);
        },
        std::chrono::milliseconds(50));
    expect_all(said, "the communicator was given up: ");
}

// The limit is long enough for ranks that call, whenever the host runs them.
TEST(Faults, ARankThatDoesNotCallEndsTheOthersInTime) {
    std::barrier callers(2); // begin together
    std::atomic<int> ended{0};
    const auto said = messages_of(
        3,
        [&](thread_communicator& comm) {
            if (comm.rank() != 1) {
                callers.arrive_and_wait();
                try {
                    (void)reduce(host{1}.over(comm), numbers);
                } catch (...) {
                    ++ended;
                    throw;
                }
            }
            while (ended != 2) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        },
        std::chrono::milliseconds(2000));
    EXPECT_EQ(said[1], "");
    expect_all({said[0], said[2]}, "after 2000 ms, the time limit, of rank 1 nothing was heard");
    EXPECT_THROW(thread_ranks(0), invalid_argument);
    thread_ranks one(1);
    EXPECT_THROW(thread_communicator(one, 1), invalid_argument);
}

// Without a time limit.
TEST(Faults, ARankWhoseWorkHasEndedEndsTheOthers) {
    for (const bool throws : {true, false}) {
        for (const int calls : {0, 2}) {
            thread_ranks group(3);
            std::atomic<int> told{0};
            const auto work = [&](thread_communicator& comm) {
                for (int k = 0; k < calls; ++k) {
                    EXPECT_EQ(reduce(host{1}.over(comm), numbers), 30);
                }
                if (comm.rank() == 1) {
                    if (throws) {
                        throw std::out_of_range("of rank 1");
                    }
                    return;
                }
                try {
                    (void)reduce(host{1}.over(comm), numbers);
                } catch (const communicator_error& e) {
                    told += std::string(e.what()).find("the work of rank 1 has ended") != std::string::npos ? 1 : 0;
                    throw;
                }
            };
            if (throws) { // not what rank 0 threw because of it
                EXPECT_THROW(group.run(work), std::out_of_range);
            } else {
                EXPECT_THROW(group.run(work), communicator_error);
            }
            EXPECT_EQ(told, 2);
            group.run([](thread_communicator& comm) { EXPECT_EQ(reduce(host{1}.over(comm), numbers), 30); });
        }
    }
    // A rank that has made all calls may end before the others.
    thread_ranks group(3);
    for (int run = 0; run < 100; ++run) {
        group.run([](thread_communicator& comm) { EXPECT_EQ(reduce(host{1}.over(comm), numbers), 30); });
    }
}

} // namespace

} // namespace warpfold
