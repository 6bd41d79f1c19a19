// SPDX-License-Identifier: MIT
// Loops whose threads stay ready between calls: every piece once, exceptions, nested loops, loops of several user
// threads at once, fork(), and calls after main().
#include "warpfold/detail/threads/parallel_for.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "warpfold/histogram.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"

namespace warpfold {
namespace {

// Long enough that sleeping threads are woken for the pieces that are left.
void take_time() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    while (std::chrono::steady_clock::now() < end) {
    }
}

TEST(thread_pool, each_piece_is_worked_on_once) {
    for (const unsigned threads : {0u, 1u, 2u, 7u}) {
        for (const std::uint64_t pieces : {0u, 1u, 2u, 3u, 64u, 1009u}) {
            std::vector<std::atomic<int>> times(pieces);
            detail::parallel_for(threads, pieces, [&](std::uint64_t k) { ++times[k]; });
            for (const auto& of_piece : times) {
                EXPECT_EQ(of_piece, 1);
            }
        }
    }
}

// Long loops: a thread takes 4 neighbours at a time, unless less are left.
TEST(thread_pool, neighbours_go_to_one_thread) {
    for (const std::uint64_t pieces : {256u, 301u, 1009u}) {
        std::vector<std::atomic<int>> times(pieces);
        std::vector<std::thread::id> by(pieces);
        const auto work = [&](std::uint64_t k) {
            ++times[k];
            by[k] = std::this_thread::get_id();
            take_time();
        };
        detail::parallel_for(2, pieces, work, 4);
        for (std::uint64_t k = 0; k < pieces; ++k) {
            EXPECT_EQ(times[k], 1) << k;
            EXPECT_EQ(by[k], by[k / 4 * 4]) << k;
        }
    }
}

// However late the others come: the caller goes on to its third piece, and they to their second, when all are there.
TEST(thread_pool, threads_join_long_loops_up_to_the_number_asked_for) {
    for (const unsigned threads : {2u, 5u}) {
        std::atomic<unsigned> there{0}, bodies{0};
        const auto caller = std::this_thread::get_id();
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        detail::parallel_claims(threads, 100, [&](auto&& claim) {
            ++bodies;
            bool asked = std::this_thread::get_id() != caller; // by the caller's second piece it has asked the others
            for (std::uint64_t k = 0; claim(k); asked = true) {
                there += k == 0 ? 1 : 0;
                take_time();
                while (asked && bodies < threads && std::chrono::steady_clock::now() < end) {
                    std::this_thread::yield();
                }
            }
        });
        EXPECT_EQ(there, 1);
        EXPECT_EQ(bodies, threads);
    }
}

TEST(thread_pool, the_first_exception_arrives_when_all_threads_have_stopped) {
    for (const std::uint64_t bad : {0u, 1u, 40u, 99u}) {
        std::atomic<int> inside{0};
        try {
            detail::parallel_for(4, 100, [&](std::uint64_t k) {
                ++inside;
                take_time();
                --inside;
                if (k == bad) {
                    throw std::runtime_error(std::to_string(k));
                }
            });
            ADD_FAILURE() << bad;
        } catch (const std::runtime_error& e) {
            EXPECT_EQ(inside, 0);
            EXPECT_EQ(e.what(), std::to_string(bad));
        }
    }
}

TEST(thread_pool, loops_are_nested) {
    std::atomic<std::uint64_t> total{0};
    detail::parallel_for(3, 20, [&](std::uint64_t outer) {
        detail::parallel_for(3, 20, [&](std::uint64_t inner) {
            take_time();
            total += 20 * outer + inner;
        });
    });
    EXPECT_EQ(total, 399u * 400u / 2u);
}

// Integers, so that any order gives the same values.
TEST(thread_pool, several_threads_call_at_once) {
    std::vector<std::int32_t> data(300007);
    std::iota(data.begin(), data.end(), -7);
    const std::int64_t sum_of_all = reduce(host{1}, data);
    std::vector<std::int64_t> sums(data.size());
    inclusive_scan(host{1}, data, sums);
    const auto bins = even_bins<std::int32_t>(0, 300000, 100);
    const auto counts = histogram(host{1}, data, bins);
    std::vector<std::jthread> users;
    users.reserve(4);
    for (unsigned user = 0; user < 4; ++user) {
        users.emplace_back([&] {
            std::vector<std::int64_t> got(data.size());
            for (unsigned k = 0; k < 5; ++k) {
                EXPECT_EQ(reduce(host{3}, data), sum_of_all);
                inclusive_scan(host{3}, data, got);
                EXPECT_EQ(got, sums);
                EXPECT_EQ(histogram(host{3}, data, bins), counts);
            }
        });
    }
}

std::uint64_t long_loop() {
    std::atomic<std::uint64_t> total{0};
    detail::parallel_for(3, 50, [&](std::uint64_t k) {
        take_time();
        total += k;
    });
    return total;
}

TEST(thread_pool, the_child_of_a_fork_has_threads_of_its_own) {
    EXPECT_EQ(long_loop(), 1225u);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::alarm(60); // a child that waits for threads that it does not have ends by this signal
        ::_exit(long_loop() == 1225 ? 17 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 17);
    EXPECT_EQ(long_loop(), 1225u);
}

TEST(thread_pool, a_loop_that_forks_ends_in_the_child) {
    const auto caller = std::this_thread::get_id();
    std::atomic<pid_t> child{-1};
    unsigned mine = 0;
    const auto loop = [&] {
        detail::parallel_for(3, 50, [&](std::uint64_t) {
            take_time();
            if (std::this_thread::get_id() != caller) {
                while (child == -1) {
                    std::this_thread::yield();
                }
            } else if (++mine == 2) { // threads have been asked for
                child = ::fork();
                ::alarm(child == 0 ? 60 : 0);
            }
        });
    };
    try {
        loop();
    } catch (const error&) {
        ::_exit(child == 0 ? 17 : 1);
    }
    if (child == 0) {
        ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 17);
}

struct calls_at_the_end {
    ~calls_at_the_end() {
        if (long_loop() != 1225) {
            std::_Exit(1);
        }
    }
};

TEST(thread_pool_death, destructors_of_static_objects_may_call) {
    EXPECT_EXIT(
        {
            ::alarm(60);
            static const calls_at_the_end last;
            (void)long_loop();
            std::exit(17);
        },
        testing::ExitedWithCode(17), "");
}

} // namespace
} // namespace warpfold
