// SPDX-License-Identifier: MIT
// Ranks of NCCL of which only some gather twice, or gather different sizes.
#include "tests/many/nccl/faults.cuh"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "warpfold/exact_moments.cuh"
#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/scan.cuh"

namespace warpfold::tests {
namespace {

template <class On>
void call_of_one_gather(const On& on, bench& of, int which) {
    switch (which) {
    case 0: reduce(on, of.doubles.data(), n, of.total.data()); break;
    case 1: (void)reduce(on, of.doubles.data(), n); break;
    case 2: exact_sum(on, of.doubles.data(), n, of.total.data()); break;
    case 3: (void)exact_dot(on, of.doubles.data(), of.doubles.data(), n); break; // without mailboxes of two, too
    case 4: (void)histogram(on, of.doubles.data(), n, even_bins<double>{0, 2, 5000}); break; // the host waits
    default: (void)histogram(on, of.doubles.data(), n, even_bins<double>{0, 2, 4}); // without mailboxes of two, too
    }
}
template <class On>
void call_of_two_gathers(const On& on, bench& of, int which) {
    switch (which) {
    case 0: reduce(on.reproducible(), of.doubles.data(), n, of.total.data()); break;
    case 1: (void)reduce(on.reproducible(), of.floats.data(), n); break;
    default: transform_reduce(on, of.ints.data(), n, of.place.data(), times_index{});
    }
}

// The rank of one gather takes part in the second one of the others, whichever of them it is.
TEST(NcclFaults, ACallOfTwoGathersMeetsCallsOfOne) {
    for (int one = 0; one < 6; ++one) {
        const int calls = one == 3 || one == 5 ? 2 : 3; // a map's second gather is not that of long values
        for (int two = 0; two < calls; ++two) {
            const bool last_has_two = (one + two) % 2 == 0;
            expect_named(": rank 2 ", [&](const auto& on, bench& of, bool differs) {
                if (differs == last_has_two) {
                    call_of_two_gathers(on, of, two);
                } else {
                    call_of_one_gather(on, of, one);
                }
            });
        }
    }
}

// How many ranks have enqueued their calls.
using rank_count = std::shared_ptr<std::atomic<int>>;

// Holds the stream up until all ranks have, or for three seconds: a rank whose gather NCCL refuses waits for its stream before.
void hold_until_enqueued(cudaStream_t stream, const rank_count& enqueued) {
    const auto hold = [](void* user) {
        const std::unique_ptr<rank_count> there(static_cast<rank_count*>(user));
        for (int k = 0; k < 300 && **there < ranks; ++k) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    };
    ASSERT_EQ(cudaLaunchHostFunc(stream, hold, new rank_count(enqueued)), cudaSuccess);
}

struct counted_at_the_end {
    const rank_count& count;
    ~counted_at_the_end() { ++*count; }
};

// Other second gathers, or a second gather that meets the next call: no rank can be in step. The streams are held up until all
// is enqueued, as on a device that is slower than the host. A rank in NCCL's gather is there until its time limit.
TEST(NcclFaults, RanksOutOfStepSaySoAndGiveUp) {
    const auto check = [](const char* difference, const auto& call) {
        const auto enqueued = std::make_shared<std::atomic<int>>(0);
        with_nccl_ranks(
            ranks,
            [&](thread_communicator& threads, nccl_communicator& comm, cudaStream_t stream) {
                bench of;
                // Freed at the end: a device whose gather never ends holds that up.
                const on_device<large> four_each{std::vector<large>(n + 1)};
                const auto on = gpu{stream}.over(comm);
                hold_until_enqueued(stream, enqueued);
                const thrown got = what_throws([&] {
                    {
                        const counted_at_the_end counts{enqueued};
                        call(on, of, four_each, comm.rank() == 2);
                    }
                    comm.check_enqueued(stream);
                });
                EXPECT_TRUE(got.is_of_rank);
                expect_words(got, difference);
                std::array<char, ranks> all{};
                threads.all_gather("x", all.data(), 1, "barrier");
                const thrown then = what_throws([&] { (void)reduce(on, of.doubles.data(), n); });
                EXPECT_TRUE(then.is_of_communicator);
                expect_words(then, "the communicator was given up: ");
                expect_words(then, difference);
                EXPECT_EQ(of.total.read()[0], -1.0);
            },
            std::chrono::seconds(20));
    };
    check("rank 2 has another operation", [](const auto& on, bench& of, const auto& /*four_each*/, bool differs) {
        if (differs) {
            reduce(on.reproducible(), of.doubles.data(), n, of.total.data());
        } else {
            reduce(on, of.doubles.data(), n, of.total.data());
            reduce(on, of.doubles.data(), n, of.total.data());
        }
    });
    check("rank 2 has elements of a type of 32 bytes, rank 0 of double",
          [](const auto& on, bench& of, const on_device<large>& four_each, bool differs) {
              differs ? reduce(on.reproducible(), four_each.data(), n, four_each.data() + n, first_of_all{}, large{})
                      : reduce(on.reproducible(), of.doubles.data(), n, of.total.data());
          });
}

} // namespace
} // namespace warpfold::tests
