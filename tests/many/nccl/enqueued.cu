// SPDX-License-Identifier: MIT
// Calls over NCCL that stay on the devices: each is captured in a graph and replayed with other data, and returns while its
// stream is held up.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/device_array.hpp"
#include "tests/many/nccl/ranks.cuh"
#include "tests/many/primitives.hpp"
#include "tests/many/reproducible.hpp"
#include "warpfold/convolve.cuh"
#include "warpfold/exact_moments.cuh"
#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/nccl.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_reduce.cuh"
#include "warpfold/thread_communicator.hpp"

namespace warpfold {
namespace {

constexpr int ranks = 3;
constexpr std::uint64_t n = 1501;

// Where segments begin in the whole array, in increasing order; none begins in the part of rank 1.
const std::vector<std::uint64_t> begins{3, 70, 400, 1200, 1201, 1400};
const std::vector<std::uint64_t> split{0, 450, 1100, n};

std::vector<std::uint64_t> begins_of(int rank) {
    std::vector<std::uint64_t> mine;
    for (const std::uint64_t at : begins) {
        if (at >= split[static_cast<std::size_t>(rank)] && at < split[static_cast<std::size_t>(rank) + 1]) {
            mine.push_back(at - split[static_cast<std::size_t>(rank)]);
        }
    }
    return mine;
}

std::vector<std::int64_t> numbers(unsigned seed) {
    std::vector<std::int64_t> x(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        x[k] = static_cast<std::int64_t>((k * 2654435761u + seed * 40503u) >> 7 & 1023) - 500;
    }
    return x;
}

// A rank's arrays, the calls on them, and what they should have written.
struct bench {
    explicit bench(int rank_)
        : rank(rank_),
          size(split[static_cast<std::size_t>(rank_) + 1] - split[static_cast<std::size_t>(rank_)]),
          mine(begins_of(rank_)),
          bounds([&] {
              auto with_end = mine;
              with_end.push_back(size);
              return with_end;
          }()),
          in(std::size_t{size}),
          sums(size),
          firsts(size),
          places(size),
          without_identity(size),
          segments(mine.size() + 1),
          segment_places(mine.size() + 1),
          least(mine.size() + 1),
          one(2),
          by_heads(size),
          tree_scan(size),
          doubles(size),
          counts(std::vector<std::uint32_t>(std::size_t{bins}, 3)),
          weights(bins),
          samples(size),
          convolved(size),
          many_counts(many_bins) {}

    template <class On>
    void enqueue(const On& on) {
        const auto heads_at = offsets(static_cast<const std::uint64_t*>(bounds.data()), mine.size());
        inclusive_scan(on, in.data(), size, sums.data(), sum{}, heads_at);
        exclusive_scan(on, in.data(), size, firsts.data(), maximum{}, std::int64_t{7}, heads_at, reversed);
        transform_inclusive_scan(on, in.data(), size, places.data(), tests::times_index{});
        inclusive_scan(on, in.data(), size, without_identity.data(), first_of{}, heads_at);
        segmented_reduce(on, in.data(), bounds.data(), mine.size(), segments.data(), sum{}, std::int64_t{5});
        segmented_transform_reduce(on, in.data(), bounds.data(), mine.size(), segment_places.data(),
                                   tests::times_index{});
        segmented_arg_min(on, in.data(), bounds.data(), mine.size(), least.data());
        transform_reduce(on, in.data(), size, one.data(), tests::times_index{});
        reduce(on.reproducible(), doubles.data(), size, total.data(), tests::half_and_twice{}, 0.5);
        inclusive_scan(on.reproducible(), doubles.data(), size, tree_scan.data(), tests::half_and_twice{});
        inclusive_scan(on.reproducible(), doubles.data(), size, by_heads.data(), sum{}, heads_at, reversed);
        const even_bins<std::int64_t> of{-500, 524, bins};
        histogram(on, in.data(), size, counts.data(), of);
        histogram(on, in.data(), size, counts.data(), of, update::add);
        weighted_histogram(on, in.data(), in.data(), size, weights.data(), of);
        exact_dot(on, doubles.data(), doubles.data(), size, exact.data());
        exact_variance(on, doubles.data(), size, exact.data() + 1);
    }
    // Calls that wait for the other ranks, in a capture at once.
    template <class On>
    void enqueue_agreed(const On& on) {
        convolve(on, samples.data(), size, mask.data(), mask.size(), convolved.data(), convolve_options{});
        histogram(on, in.data(), size, many_counts.data(), even_bins<std::int64_t>{-500, 524, many_bins});
    }
    void fill(unsigned seed) {
        const auto first = static_cast<std::ptrdiff_t>(split[static_cast<std::size_t>(rank)]);
        const auto whole = numbers(seed);
        const auto part =
            std::vector<std::int64_t>(whole.begin() + first, whole.begin() + first + static_cast<std::ptrdiff_t>(size));
        write(in, part);
        write(samples, std::vector<float>(part.begin(), part.end()));
        const auto all = tests::awkward_numbers<double>(n, 3 * seed);
        write(doubles,
              std::vector<double>(all.begin() + first, all.begin() + first + static_cast<std::ptrdiff_t>(size)));
    }
    template <class T>
    static void write(const tests::on_device<T>& to, const std::vector<T>& data) {
        ASSERT_EQ(cudaMemcpy(to.data(), data.data(), data.size() * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
    }
    void expect(unsigned seed) {
        const auto whole = numbers(seed);
        const auto part_is = [&](const auto& got, const auto& all, const char* what) {
            EXPECT_EQ(got.read(), tests::part_of(all, split, rank)) << what;
        };
        std::vector<std::int64_t> all(n);
        inclusive_scan(host{1}, whole, all, sum{}, offsets(begins));
        part_is(sums, all, "inclusive scan of segments");
        exclusive_scan(host{1}, whole, all, maximum{}, std::int64_t{7}, offsets(begins), reversed);
        part_is(firsts, all, "reversed exclusive scan of segments");
        std::vector<std::uint64_t> placed(n);
        transform_inclusive_scan(host{1}, whole, placed, tests::times_index{});
        part_is(places, placed, "scan of a map with an index");
        inclusive_scan(host{1}, whole, all, first_of{}, offsets(begins));
        part_is(without_identity, all, "scan of an operation without identity");
        auto ends = begins;
        ends.push_back(n);
        const auto given = [&](const auto& expected, const auto& got, const auto& equal) {
            std::size_t before = 0;
            while (before < begins.size() && begins[before] < split[static_cast<std::size_t>(rank)]) {
                ++before;
            }
            for (std::size_t s = 0; s < mine.size(); ++s) {
                EXPECT_TRUE(equal(got[s], expected[before + s])) << s;
            }
        };
        const auto same = [](const auto& a, const auto& b) { return a == b; };
        std::vector<std::int64_t> totals(begins.size());
        segmented_reduce(host{1}, whole, ends, totals, sum{}, std::int64_t{5});
        given(totals, segments.read(), same);
        std::vector<std::uint64_t> of_places(begins.size());
        segmented_transform_reduce(host{1}, whole, ends, of_places, tests::times_index{});
        given(of_places, segment_places.read(), same);
        std::vector<located<std::int64_t>> smallest(begins.size());
        segmented_arg_min(host{1}, whole, ends, smallest);
        given(smallest, least.read(),
              [](const auto& a, const auto& b) { return a.value == b.value && a.index == b.index; });
        EXPECT_EQ(one.read()[0], transform_reduce(host{1}, whole.data(), n, tests::times_index{}));
        const even_bins<std::int64_t> of{-500, 524, bins};
        std::vector<std::uint32_t> counted(bins);
        histogram(host{1}, whole, counted, of);
        histogram(host{1}, whole, counted, of, update::add);
        EXPECT_EQ(counts.read(), counted);
        std::vector<double> weighed(bins); // sums of integers: exact in any order
        weighted_histogram(host{1}, whole, whole, weighed, of);
        EXPECT_EQ(weights.read(), weighed);

        const auto all_doubles = tests::awkward_numbers<double>(n, 3 * seed);
        EXPECT_TRUE(tests::same_bits(exact.read(),
                                     std::vector<double>{exact_dot(host{1}, all_doubles, all_doubles),
                                                         static_cast<double>(exact_variance(host{1}, all_doubles))}));
        thread_ranks alone(1);
        thread_communicator comm(alone, 0);
        const auto on = host{1}.over(comm).reproducible();
        EXPECT_TRUE(tests::same_bits(total.read()[0], reduce(on, all_doubles, tests::half_and_twice{}, 0.5)));
        std::vector<double> scanned(n);
        inclusive_scan(on, all_doubles, scanned, tests::half_and_twice{});
        EXPECT_TRUE(tests::same_bits(tree_scan.read(), tests::part_of(scanned, split, rank)));
        inclusive_scan(on, all_doubles, scanned, sum{}, offsets(begins), reversed);
        EXPECT_TRUE(tests::same_bits(by_heads.read(), tests::part_of(scanned, split, rank)));
    }

    void expect_agreed(unsigned seed) {
        const auto whole = numbers(seed);
        std::vector<float> all(whole.begin(), whole.end()), results(n); // of integers: exact in any order
        convolve(host{1}, all.data(), n, mask.data(), mask.size(), results.data(), convolve_options{});
        EXPECT_EQ(convolved.read(), tests::part_of(results, split, rank));
        std::vector<std::uint32_t> counted(many_bins);
        histogram(host{1}, whole, counted, even_bins<std::int64_t>{-500, 524, many_bins});
        EXPECT_EQ(many_counts.read(), counted);
    }

    // Not commutative, and without an identity.
    struct first_of {
        WARPFOLD_HD std::int64_t operator()(std::int64_t a, std::int64_t /*b*/) const { return a; }
    };
    static constexpr std::uint32_t bins = 256, many_bins = 5000; // more than are enqueued without a wait
    const std::vector<double> mask{1, 2, -3, 4, 5};
    int rank;
    std::uint64_t size;
    std::vector<std::uint64_t> mine;
    tests::on_device<std::uint64_t> bounds;
    tests::on_device<std::int64_t> in, sums, firsts;
    tests::on_device<std::uint64_t> places;
    tests::on_device<std::int64_t> without_identity, segments;
    tests::on_device<std::uint64_t> segment_places;
    tests::on_device<located<std::int64_t>> least;
    tests::on_device<std::uint64_t> one;
    tests::on_device<double> by_heads, tree_scan, doubles, total{std::vector<double>(1)};
    tests::on_device<std::uint32_t> counts;
    tests::on_device<double> weights;
    tests::on_device<float> samples, convolved;
    tests::on_device<std::uint32_t> many_counts;
    tests::on_device<double> exact{std::vector<double>(2)};
};

template <class Work>
void with_streams(const Work& work) {
    tests::with_nccl_ranks(ranks, work);
}

TEST(NcclEnqueued, EveryCallIsCapturedAndReplayed) {
    with_streams([](thread_communicator& /*threads*/, nccl_communicator& comm, cudaStream_t stream) {
        bench of(comm.rank());
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t executable = nullptr;
        ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        of.enqueue(gpu{stream}.over(comm));
        of.enqueue_agreed(gpu{stream}.over(comm));
        ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
        ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
        for (unsigned seed = 1; seed < 4; ++seed) {
            of.fill(seed);
            ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
            comm.check_enqueued(stream);
            of.expect(seed);
            of.expect_agreed(seed);
        }
        EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
        EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    });
}

// What differs between the ranks is known at the capture, and what returns a value is refused there.
TEST(NcclEnqueued, ACaptureFindsWhatDiffersAndRefusesValues) {
    with_streams([](thread_communicator& /*threads*/, nccl_communicator& comm, cudaStream_t stream) {
        bench of(comm.rank());
        const auto on = gpu{stream}.over(comm);
        const auto what_is_thrown = [&](const auto& call) -> std::string {
            std::string what;
            cudaGraph_t graph = nullptr;
            EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
            try {
                call();
            } catch (const error& e) {
                what = e.what();
            }
            (void)cudaStreamEndCapture(stream, &graph);
            (void)cudaGetLastError();
            return what;
        };
        const std::string differs = what_is_thrown([&] {
            const std::vector<double> mask(comm.rank() == 2 ? 3 : 5, 1.0);
            convolve(on, of.samples.data(), of.size, mask.data(), mask.size(), of.convolved.data(), convolve_options{});
        });
        EXPECT_NE(differs.find("convolve: rank 2 has 3 mask values, rank 0 has 5"), std::string::npos) << differs;
        const std::string refused = what_is_thrown([&] { (void)reduce(on, of.in.data(), of.size); });
        EXPECT_NE(refused.find("reduce: the host waits for a result here"), std::string::npos) << refused;
        of.fill(4);
        of.enqueue(on);
        of.enqueue_agreed(on);
        comm.check_enqueued(stream);
        of.expect(4);
        of.expect_agreed(4);
    });
}

TEST(NcclEnqueued, NoCallWaits) {
    with_streams([](thread_communicator& threads, nccl_communicator& comm, cudaStream_t stream) {
        bench of(comm.rank());
        of.fill(6);
        of.enqueue(gpu{stream}.over(comm)); // the first launch of a kernel may wait for the device
        comm.check_enqueued(stream);
        of.fill(5);
        struct gate {
            std::atomic<bool> open{false}, gave_up{false};
        } held;
        const auto hold = [](void* user) {
            auto& at = *static_cast<gate*>(user);
            const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(40);
            while (!at.open && !at.gave_up) {
                at.gave_up = std::chrono::steady_clock::now() > end;
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        };
        ASSERT_EQ(cudaLaunchHostFunc(stream, hold, &held), cudaSuccess);
        of.enqueue(gpu{stream}.over(comm)); // returns, though nothing in the stream can run
        std::vector<char> all(ranks);
        threads.all_gather("x", all.data(), 1, "barrier");
        held.open = true;
        comm.check_enqueued(stream);
        EXPECT_FALSE(held.gave_up);
        of.expect(5);
    });
}

// Pieces of many blocks, and groups of many pieces; parts of any length.
TEST(NcclEnqueued, LongReproducibleCallsHaveTheBitsOfOneHost) {
    constexpr std::uint64_t many = (1u << 17) + 77;
    const auto whole = tests::awkward_numbers<double>(many, 3);
    thread_ranks alone(1);
    thread_communicator one(alone, 0);
    const auto on_host = host{1}.over(one).reproducible();
    const double total = reduce(on_host, whole, tests::half_and_twice{}, 0.5);
    std::vector<double> scanned(many), reversed_scan(many);
    inclusive_scan(on_host, whole, scanned);
    exclusive_scan(on_host, whole, reversed_scan, sum{}, 3.0, reversed);
    for (unsigned seed = 0; seed < 3; ++seed) {
        with_streams([&](thread_communicator& /*threads*/, nccl_communicator& comm, cudaStream_t stream) {
            const auto on = gpu{stream}.over(comm).reproducible();
            const auto parts = tests::random_split(many, ranks, seed);
            const auto part = tests::part_of(whole, parts, comm.rank());
            const tests::on_device<double> data(part), out(part);
            EXPECT_TRUE(tests::same_bits(reduce(on, data.data(), part.size(), tests::half_and_twice{}, 0.5), total));
            inclusive_scan(on, data.data(), part.size(), out.data());
            comm.check_enqueued(stream);
            EXPECT_TRUE(tests::same_bits(out.read(), tests::part_of(scanned, parts, comm.rank())));
            exclusive_scan(on, data.data(), part.size(), data.data(), sum{}, 3.0, reversed);
            comm.check_enqueued(stream);
            EXPECT_TRUE(tests::same_bits(data.read(), tests::part_of(reversed_scan, parts, comm.rank())));
        });
    }
}

// Every rank learns of it at check_enqueued(), and the communicator can be used after it.
TEST(NcclEnqueued, ADifferenceIsNamedAtEveryRank) {
    with_streams([](thread_communicator& /*threads*/, nccl_communicator& comm, cudaStream_t stream) {
        bench of(comm.rank());
        of.fill(7);
        const auto on = gpu{stream}.over(comm);
        const bool differs = comm.rank() == 2;
        const auto expect_named = [&](const std::string& words, const auto& call) {
            try {
                call();
                comm.check_enqueued(stream);
                ADD_FAILURE() << "nothing was thrown: " << words;
            } catch (const rank_error& e) {
                EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
            }
            of.enqueue(on);
            comm.check_enqueued(stream);
            of.expect(7);
        };
        expect_named("segmented_reduce: rank 2 has another operation", [&] {
            const auto fold = [&](auto op) {
                segmented_reduce(on, of.in.data(), of.bounds.data(), of.mine.size(), of.segments.data(), op,
                                 std::int64_t{5});
            };
            differs ? fold(maximum{}) : fold(sum{});
        });
        expect_named("reduce: rank 2 has another operation", [&] {
            const auto fold = [&](auto op) {
                reduce(on.reproducible(), of.doubles.data(), of.size, of.total.data(), op, 0.5);
            };
            differs ? fold(maximum{}) : fold(sum{});
        });
        expect_named("rank 2 has elements of int64, rank 0 of double", [&] {
            differs ? inclusive_scan(on, of.in.data(), of.size, of.sums.data())
                    : inclusive_scan(on, of.doubles.data(), of.size, of.tree_scan.data());
        });
    });
}

// A rank that fails takes part in both gathers of a call of two.
TEST(NcclEnqueued, AfterAFailureTheRanksAreInStep) {
    with_streams([](thread_communicator& /*threads*/, nccl_communicator& comm, cudaStream_t stream) {
        bench of(comm.rank());
        of.fill(6);
        const auto on = gpu{stream}.over(comm);
        for (const bool reproducible : {false, true}) {
            double* const out = comm.rank() == 1 ? nullptr : of.tree_scan.data();
            const auto call = [&] {
                if (reproducible) {
                    inclusive_scan(on.reproducible(), of.doubles.data(), of.size, out);
                } else {
                    transform_inclusive_scan(on, of.doubles.data(), of.size, out, tests::plus_index{});
                }
                comm.check_enqueued(stream);
            };
            try {
                call();
                ADD_FAILURE() << "nothing was thrown";
            } catch (const rank_error& e) {
                EXPECT_NE(comm.rank(), 1);
                EXPECT_NE(std::string(e.what()).find("rank 1 failed"), std::string::npos) << e.what();
            } catch (const invalid_argument&) {
                EXPECT_EQ(comm.rank(), 1);
            }
            of.enqueue(on);
            comm.check_enqueued(stream);
            of.expect(6);
        }
    });
}

} // namespace
} // namespace warpfold
