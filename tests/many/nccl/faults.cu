// SPDX-License-Identifier: MIT
// Ranks of NCCL that fail, are late or have gone: the others learn of it.
#include "tests/many/nccl/faults.cuh"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "warpfold/scan.cuh"
#include "warpfold/segmented_reduce.cuh"

namespace warpfold::tests {
namespace {

struct plus_its_index {
    WARPFOLD_HD double operator()(double x, std::uint64_t index) const { return x + static_cast<double>(index); }
};

// Device memory, and action() before an allocation between the gathers of a call. With mailboxes a call may need none there.
struct memory_between_gathers {
    void* allocate(cudaStream_t stream, std::size_t bytes, std::size_t /*alignment*/) {
        if (!done && comm.gathers() == first + 1) {
            done = true;
            action();
        }
        void* memory = nullptr;
        if (cudaMallocAsync(&memory, bytes, stream) != cudaSuccess) {
            throw std::bad_alloc();
        }
        return memory;
    }
    void deallocate(cudaStream_t stream, void* memory, std::size_t /*bytes*/, std::size_t /*alignment*/) noexcept {
        (void)cudaFreeAsync(memory, stream);
    }

    nccl_communicator& comm;
    std::function<void()> action;
    std::uint64_t first = comm.gathers();
    bool done = false;
};

TEST(NcclFaults, AFailureBetweenTheGathersReachesAll) {
    with_nccl_ranks(
        ranks,
        [](thread_communicator& threads, nccl_communicator& comm, cudaStream_t stream) {
            bench of;
            const on_device<std::uint64_t> offsets(std::vector<std::uint64_t>{0, n});
            const on_device<located<std::int64_t>> least(1);
            const auto check = [&](const auto& call) {
                memory_between_gathers memory{comm, [] { throw std::runtime_error("no memory"); }};
                const gpu plain{stream};
                const thrown got = what_throws([&] {
                    comm.rank() == 1 ? call(plain.with(memory).over(comm)) : call(plain.over(comm));
                    comm.check_enqueued(stream);
                });
                std::array<bool, ranks> done{};
                threads.all_gather(&memory.done, done.data(), sizeof(bool), "done");
                EXPECT_TRUE(done[1] || comm.boxes().is_open());
                EXPECT_EQ(got.is_of_rank, done[1] && comm.rank() != 1);
                expect_words(got, !done[1] ? "" : comm.rank() == 1 ? "no memory" : "rank 1 failed: no memory");
                of.expect_usable(plain.over(comm));
            };
            check([&](const auto& on) { transform_reduce(on, of.ints.data(), n, of.place.data(), times_index{}); });
            check([&](const auto& on) {
                transform_inclusive_scan(on, of.doubles.data(), n, of.scanned.data(), plus_its_index{});
            });
            check([&](const auto& on) { segmented_arg_min(on, of.ints.data(), offsets.data(), 1, least.data()); });
            check([&](const auto& on) {
                segmented_transform_reduce(on, of.ints.data(), offsets.data(), 1, of.place.data(), times_index{});
            });
        },
        std::chrono::seconds(60));
}

// Also where the host sees the fault before the second gather.
TEST(NcclFaults, ADifferenceIsReportedOnce) {
    with_nccl_ranks(
        ranks,
        [](thread_communicator& /*threads*/, nccl_communicator& comm, cudaStream_t stream) {
            bench of;
            thrown between;
            memory_between_gathers memory{comm, [&] { between = what_throws([&] { comm.check_enqueued(stream); }); }};
            const gpu plain{stream};
            const auto on = plain.with(memory).over(comm);
            const auto call = [&](auto op) {
                transform_reduce(on, of.ints.data(), n, of.place.data(), times_index{}, op);
            };
            comm.rank() == 2 ? call(maximum{}) : call(sum{});
            if (!memory.done) {
                EXPECT_TRUE(comm.boxes().is_open());
                between = what_throws([&] { comm.check_enqueued(stream); });
            }
            EXPECT_TRUE(between.is_of_rank);
            expect_words(between, "rank 2 has another operation");
            EXPECT_EQ(what_throws([&] { comm.check_enqueued(stream); }).message, "");
            EXPECT_EQ(of.place.read()[0], 7u);
            of.expect_usable(plain.over(comm));
        },
        std::chrono::seconds(60));
}

// Graphs of a call.
struct captured {
    template <class Call>
    captured(cudaStream_t stream, const Call& call) {
        cudaGraph_t graph = nullptr;
        EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        call();
        EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
        EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
        EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
    captured(const captured&) = delete;
    captured& operator=(const captured&) = delete;
    ~captured() { (void)cudaGraphExecDestroy(executable); }

    cudaGraphExec_t executable = nullptr;
};

TEST(NcclFaults, EachLaunchOfAGraphReportsWhatDiffers) {
    with_nccl_ranks(
        ranks,
        [](thread_communicator& /*threads*/, nccl_communicator& comm, cudaStream_t stream) {
            bench of;
            const auto on = gpu{stream}.over(comm);
            const auto call = [&](auto op) { reduce(on, of.doubles.data(), n, of.total.data(), op); };
            const captured graph(stream, [&] { comm.rank() == 2 ? call(maximum{}) : call(sum{}); });
            for (int round = 0; round < 2; ++round) {
                EXPECT_EQ(cudaGraphLaunch(graph.executable, stream), cudaSuccess);
                const thrown got = what_throws([&] { comm.check_enqueued(stream); });
                EXPECT_TRUE(got.is_of_rank);
                expect_words(got, "reduce: rank 2 has another operation");
                EXPECT_EQ(of.total.read()[0], -1.0);
                of.expect_usable(on);
            }
        },
        std::chrono::seconds(60));
}

// Rank 1's stream is held up until all have given up, or for a minute: NCCL's abort waits for the streams of its device. The
// limit is long enough for the others, whenever the host runs them.
TEST(NcclFaults, ARankThatIsLateEndsTheOthersInTime) {
    with_nccl_ranks(
        ranks,
        [](thread_communicator& threads, nccl_communicator& comm, cudaStream_t stream) {
            bench of;
            const auto on = gpu{stream}.over(comm);
            const bool comm_has_boxes = comm.boxes().is_open();
            std::atomic<bool> open{false};
            if (comm.rank() == 1) {
                ASSERT_EQ(cudaLaunchHostFunc(
                              stream,
                              [](void* user) {
                                  const auto& is_open = *static_cast<std::atomic<bool>*>(user);
                                  for (int k = 0; k < 6000 && !is_open; ++k) {
                                      std::this_thread::sleep_for(std::chrono::milliseconds(10));
                                  }
                              },
                              &open),
                          cudaSuccess);
            }
            std::array<char, ranks> all{};
            threads.all_gather("x", all.data(), 1, "barrier"); // all begin together
            const thrown got = what_throws([&] {
                reduce(on, of.doubles.data(), n, of.total.data());
                comm.check_enqueued(stream);
            });
            // The first rank whose time is over aborts; others may learn of that first.
            EXPECT_TRUE(got.is_late || got.is_of_communicator) << got.message;
            if (comm_has_boxes) { // they say who is missing
                expect_words(got, comm.rank() == 1 ? "the stream waits for other work" : "of rank 1 nothing was heard");
            }
            const thrown then = what_throws([&] { (void)reduce(on, of.doubles.data(), n); });
            EXPECT_TRUE(then.is_of_communicator) << then.message;
            threads.all_gather("x", all.data(), 1, "barrier");
            open = true;
            EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        },
        std::chrono::seconds(6));
}

ncclComm_t comm_of_threads(thread_communicator& threads) {
    ncclUniqueId id{};
    if (threads.rank() == 0) {
        EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    }
    std::array<ncclUniqueId, ranks> ids{};
    threads.all_gather(&id, ids.data(), sizeof(id), "id");
    ncclComm_t comm = nullptr;
    EXPECT_EQ(ncclCommInitRank(&comm, ranks, ids[0], threads.rank()), ncclSuccess);
    return comm;
}

// Rank 1 aborts its communicator, or ends by an exception, while the others are in a call, or in a graph with one. The stand-in
// tells them; NCCL does not, so that their time limit passes.
TEST(NcclFaults, ARankThatHasGoneEndsTheOthers) {
    constexpr std::chrono::seconds limit(10);
    for (const bool aborts : {false, true}) {
        for (const bool in_graph : {false, true}) {
            with_gpu_ranks(ranks, [&](thread_communicator& threads, cudaStream_t stream) {
                bench of;
                const thrown got = what_throws([&] {
                    std::optional<nccl_communicator> made;
                    if (aborts) {
                        made.emplace(comm_of_threads(threads), stream, limit);
                    } else {
                        made.emplace(threads, stream, limit);
                    }
                    nccl_communicator& comm = *made;
                    const auto on = gpu{stream}.over(comm);
                    of.expect_usable(on);
                    const auto call = [&] { reduce(on, of.doubles.data(), n, of.total.data()); };
                    const std::function<void()> nothing = [] {};
                    const captured graph(stream, in_graph ? std::function<void()>(call) : nothing);
                    if (comm.rank() == 1) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(100));
                        if (aborts) {
                            comm.abort();
                            const thrown then = what_throws(call);
                            EXPECT_TRUE(then.is_of_communicator);
                            expect_words(then, "the communicator was given up: its user has aborted it");
                        } else {
                            throw std::runtime_error("the rank's own");
                        }
                    } else if (in_graph) {
                        EXPECT_EQ(cudaGraphLaunch(graph.executable, stream), cudaSuccess);
                        comm.check_enqueued(stream);
                    } else {
                        call();
                        comm.check_enqueued(stream);
                    }
                });
                EXPECT_EQ(got.is_of_communicator || got.is_late, threads.rank() != 1) << got.message;
                if (!in_graph) { // what follows in a graph runs on what is in the memory
                    EXPECT_EQ(of.total.read()[0], -1.0);
                }
            });
        }
    }
}

} // namespace
} // namespace warpfold::tests
