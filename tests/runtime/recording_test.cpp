// SPDX-License-Identifier: MIT
// The header for users' own tests, and its calls: counters, findings and schedules of a part of a program.
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/observe/counters.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/embedded.hpp"
#include "warpfold/testing/counters.hpp"

namespace softgpu::runtime {
namespace {

using warpfold::testing::count;
using warpfold::testing::options;
using warpfold::testing::record;
using warpfold::testing::recorder;
using namespace std::string_literals;

// ns::turn<2>(p): a block stores words two apart, meets, and each warp loads one of them. ticket(p): p[tid] is the thread's
// place in the order of arrival.
constexpr std::string_view ptx = PTX_HEAD R"(.global .align 4 .u32 next;
.visible .entry _ZN2ns4turnILi2EEEvPj(.param .u64 out)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 words[512];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, words;
    shl.b32 %r3, %r1, 3;
    add.s32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;
    bar.sync 0;
    and.b32 %r5, %r3, 256;
    add.s32 %r6, %r2, %r5;
    ld.shared.u32 %r7, [%r6];
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r7;
    ret;
}
.visible .entry _Z6ticketPj(.param .u64 p)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    atom.global.add.u32 %r2, [next], 1;
    st.global.u32 [%rd3], %r2;
    ret;
}
)";

class recording_test : public testing::Test {
protected:
    recording_test() : program_(ptx) {
        program_.kernel(&turn_, "_ZN2ns4turnILi2EEEvPj");
        program_.kernel(&ticket_, "_Z6ticketPj");
        program_.variable(&next_, "next", 4);
    }
    void SetUp() override {
        (void)cudaGetLastError();
        ASSERT_EQ(cudaMalloc(&data_, 1024), error::success);
        ASSERT_EQ(cudaMemset(data_, 0, 1024), error::success);
    }
    void TearDown() override { EXPECT_EQ(cudaDeviceReset(), error::success); }

    error launch(const void* kernel, void* p, unsigned blocks = 1) { return runtime::launch(kernel, blocks, 64, p); }
    error launch(const void* kernel) { return launch(kernel, data_); }

    // The order of arrival.
    std::vector<std::uint32_t> tickets() {
        const std::uint32_t zero = 0;
        std::vector<std::uint32_t> got(64);
        EXPECT_EQ(cudaMemcpyToSymbol(&next_, &zero, 4, 0, copy_kind::host_to_device), error::success);
        EXPECT_EQ(launch(&ticket_), error::success);
        EXPECT_EQ(cudaMemcpy(got.data(), data_, 256, copy_kind::device_to_host), error::success);
        return got;
    }

    sample_program sample_;
    embedded_program program_;
    char turn_ = 0, ticket_ = 0;
    std::uint32_t next_ = 0;
    void* data_ = nullptr;
};

std::string what_of(const auto& body) { return warpfold::tests::message_of<warpfold::testing::error>(body); }

TEST_F(recording_test, names_and_meanings_are_those_of_the_table) {
    std::vector<std::array<std::string, 2>> ours;
    observe::for_each_counter(observe::counters{}, [&](std::string_view name, std::uint64_t, std::string_view meaning) {
        ours.push_back({std::string(name), std::string(meaning)});
    });
    std::vector<std::array<std::string, 2>> headers;
    warpfold::testing::for_each_counter(warpfold::testing::counters{},
                                        [&](const char* name, std::int64_t, const char* meaning) {
                                            headers.push_back({name, meaning});
                                        });
    EXPECT_EQ(headers, ours);
    std::vector<std::size_t> in_order(ours.size());
    for (std::size_t n = 0; n < in_order.size(); ++n) {
        in_order[n] = n;
    }
    EXPECT_EQ(warpfold::testing::detail::runtime::instance().numbers, in_order);
    EXPECT_TRUE(warpfold::testing::is_software_gpu());
}

TEST_F(recording_test, counts_what_is_launched_in_it_and_nothing_else) {
    ASSERT_EQ(launch(&turn_), error::success);
    const auto counters = count([&] { ASSERT_EQ(launch(&turn_, data_, 3), error::success); });
    ASSERT_EQ(launch(&turn_), error::success);
    EXPECT_EQ(counters.shared_store_requests, 6);
    EXPECT_EQ(counters.shared_store_bank_conflicts, 6);
    EXPECT_EQ(counters.shared_load_bank_conflicts, 0);
    EXPECT_EQ(counters.barriers, 6);
    EXPECT_EQ(counters.thread_instructions, 3 * 64 * 14);
    EXPECT_EQ(counters.average_active_lanes(), 32);
}

TEST_F(recording_test, predicts_nothing_where_no_card_is_named) {
    const auto all = record([&] { ASSERT_EQ(launch(&turn_), error::success); });
    EXPECT_TRUE(all.launches()[0].predicted.empty());
    const std::string what =
        what_of([&] { (void)warpfold::testing::predict([&] { ASSERT_EQ(launch(&turn_), error::success); }); });
    EXPECT_NE(what.find("void ns::turn<2>(unsigned int*) is not predicted"), std::string::npos) << what;
    EXPECT_NE(what_of([&] { (void)all.launches()[0].predicted.on("h100"); }).find("PREDICT h100"), std::string::npos);
    EXPECT_EQ(what_of([] { (void)warpfold::testing::predict([] {}); }), "warpfold: nothing was launched");
}

TEST_F(recording_test, launches_have_their_names_shapes_and_intervals) {
    const auto all = record([&] {
        ASSERT_EQ(launch(&turn_, data_, 3), error::success);
        ASSERT_EQ(launch(&sample_.copy), error::success);
        ASSERT_EQ(launch(&turn_), error::success);
    });
    ASSERT_EQ(all.launches().size(), 3u);
    const auto& first = all.launches()[0];
    EXPECT_EQ(first.kernel, "void ns::turn<2>(unsigned int*)");
    EXPECT_EQ(first.symbol, "_ZN2ns4turnILi2EEEvPj");
    EXPECT_EQ(first.grid, (warpfold::testing::extent{3, 1, 1}));
    EXPECT_EQ(first.block.count(), 64);
    EXPECT_EQ(first.static_shared_bytes, 512);
    EXPECT_EQ(first.fault, "");
    ASSERT_EQ(first.by_interval.size(), 2u);
    EXPECT_EQ(first.by_interval[0].shared_store_requests, 6);
    EXPECT_EQ(first.by_interval[0].shared_load_requests, 0);
    EXPECT_EQ(first.by_interval[1].shared_load_requests, 6);
    for (const char* const name :
         {"turn", "ns::turn", "turn<2>", "ns::turn<2>", "_ZN2ns4turnILi2EEEvPj", "void ns::turn<2>(unsigned int*)"}) {
        const auto turns = all.of(name);
        EXPECT_EQ(turns.launches().size(), 2u) << name;
        EXPECT_EQ(turns.total().shared_store_requests, 8) << name;
        ASSERT_EQ(turns.by_interval().size(), 2u) << name;
        EXPECT_EQ(turns.by_interval()[1].shared_load_requests, 8) << name;
    }
    auto sum = all.of("turn").total();
    sum += all.of("copy").total();
    EXPECT_EQ(sum, all.total());
    EXPECT_NE(sum, all.of("turn").total());
    EXPECT_EQ(what_of([&] { (void)all.of("urn"); }),
              "warpfold: no launch of a kernel 'urn' was recorded; there are void ns::turn<2>(unsigned int*), "
              "copy(unsigned int*)");
}

TEST_F(recording_test, counters_that_would_hold_nothing_are_an_error) {
    EXPECT_EQ(what_of([] { (void)count([] {}); }), "warpfold: nothing was launched");
    EXPECT_EQ(
        what_of([&] { (void)count([&] { (void)launch(&sample_.copy, data_, 0); }); }),
        "warpfold: a launch failed: kernel copy(unsigned int*): the launch was refused: cudaErrorInvalidValue (invalid "
        "argument)");
    (void)cudaGetLastError();
    // A good one beside it does not hide it.
    const auto both = [&] {
        (void)launch(&sample_.copy, data_);
        (void)launch(&sample_.copy, data_, 0);
    };
    EXPECT_NE(what_of([&] { (void)count(both); }).find("the launch was refused"), std::string::npos);
    (void)cudaGetLastError();
    const auto recorded = record(both);
    ASSERT_EQ(recorded.launches().size(), 2u);
    EXPECT_EQ(recorded.launches()[0].fault, "");
    EXPECT_NE(recorded.launches()[1].fault.find("refused"), std::string::npos);
    EXPECT_EQ(recorded.launches()[1].grid.x, 0u);
    (void)cudaGetLastError();
    testing::internal::CaptureStderr();
    EXPECT_NE(what_of([&] {
                  (void)count([&] { (void)launch(&sample_.copy, nullptr); });
              }).find("a launch failed: kernel copy("),
              std::string::npos);
    testing::internal::GetCapturedStderr();
}

TEST_F(recording_test, checks_hold_for_its_time_and_their_findings_are_its_own) {
    ASSERT_EQ(launch(&sample_.swap), error::success);
    const auto checked = record([&] { ASSERT_EQ(launch(&sample_.swap), error::success); }, options().check("race"));
    ASSERT_EQ(checked.findings().size(), 1u);
    EXPECT_EQ(checked.findings()[0].check, "race");
    EXPECT_EQ(checked.findings()[0].kind, "race in shared memory");
    EXPECT_EQ(checked.findings()[0].kernel, "swap(unsigned int*)");
    EXPECT_NE(checked.findings()[0].text.find("write of 4 bytes by block (0,0,0)"), std::string::npos);
    EXPECT_EQ(checked.of("swap").findings().size(), 1u);

    const auto others =
        record([&] { ASSERT_EQ(launch(&sample_.swap), error::success); }, options().check("memory,sync"));
    EXPECT_TRUE(others.findings().empty()) << testing::PrintToString(others.findings());
    const auto unchecked = record([&] { ASSERT_EQ(launch(&sample_.swap), error::success); });
    EXPECT_TRUE(unchecked.findings().empty());
    const auto correct = record([&] { ASSERT_EQ(launch(&turn_), error::success); }, options().check("all"));
    EXPECT_TRUE(correct.findings().empty()) << testing::PrintToString(correct.findings());
    const auto again = record([&] { ASSERT_EQ(launch(&sample_.swap), error::success); }, options().check("all"));
    EXPECT_EQ(again.findings().size(), 1u) << "one that another recording has found";
}

TEST_F(recording_test, unwritten_memory_and_leaks_are_those_of_its_own_time) {
    void* before = nullptr;
    ASSERT_EQ(cudaMalloc(&before, 1024), error::success);
    void* within = nullptr;
    const auto found = record(
        [&] {
            ASSERT_EQ(launch(&sample_.copy, before), error::success); // it may have been written before
            ASSERT_EQ(cudaMalloc(&within, 1024), error::success);
            ASSERT_EQ(launch(&sample_.copy, within), error::success);
        },
        options().check("init,leak"));
    ASSERT_EQ(found.findings().size(), 2u) << testing::PrintToString(found.findings());
    EXPECT_EQ(found.findings()[0].kind, "read of unwritten memory");
    EXPECT_EQ(found.findings()[1].kind, "leak");
    EXPECT_NE(found.findings()[1].message.find("1024 bytes of device memory"), std::string::npos);
}

// A graph keeps its memory's address for the next launch. Memory that the graph has freed is no leak.
TEST_F(recording_test, memory_that_graphs_free_themselves_is_no_leak) {
    for (const bool freed : {true, false}) {
        const auto found = record(
            [&] {
                stream* s = nullptr;
                graph* g = nullptr;
                executable_graph* ready = nullptr;
                void* p = nullptr;
                ASSERT_EQ(cudaStreamCreate(&s), error::success);
                ASSERT_EQ(cudaStreamBeginCapture(s, capture_mode::global), error::success);
                ASSERT_EQ(cudaMallocAsync(&p, 400, s), error::success);
                ASSERT_EQ(cudaMemsetAsync(p, 0, 400, s), error::success);
                if (freed) {
                    ASSERT_EQ(cudaFreeAsync(p, s), error::success);
                }
                ASSERT_EQ(cudaStreamEndCapture(s, &g), error::success);
                ASSERT_EQ(cudaGraphInstantiate(&ready, g, 0), error::success);
                for (int round = 0; round < (freed ? 2 : 1); ++round) {
                    ASSERT_EQ(cudaGraphLaunch(ready, s), error::success);
                }
                ASSERT_EQ(cudaStreamDestroy(s), error::success);
            },
            options().check("leak"));
        ASSERT_EQ(found.findings().size(), freed ? 0u : 1u) << testing::PrintToString(found.findings());
        if (!freed) {
            EXPECT_NE(found.findings()[0].message.find("400 bytes"), std::string::npos);
        }
    }
}

TEST_F(recording_test, what_was_allocated_before_the_checks_began_is_given_back_whole) {
    std::array<void*, 8> before{};
    for (void*& p : before) {
        ASSERT_EQ(cudaMalloc(&p, 256), error::success);
    }
    const auto found = record(
        [&] {
            ASSERT_EQ(cudaFree(before[3]), error::success);
            void* after = nullptr;
            ASSERT_EQ(cudaMalloc(&after, 512), error::success);
            ASSERT_EQ(launch(&turn_, after), error::success);
            ASSERT_EQ(cudaFree(after), error::success);
        },
        options().check("memory"));
    EXPECT_TRUE(found.findings().empty());
    std::set<void*> live(before.begin(), before.end());
    live.erase(before[3]);
    for (int n = 0; n < 16; ++n) {
        void* p = nullptr;
        ASSERT_EQ(cudaMalloc(&p, 256), error::success);
        EXPECT_TRUE(live.insert(p).second) << "given twice";
    }
}

TEST_F(recording_test, checks_of_the_order_of_operations_begin_anew) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "streams fill the same memory here without an order, on purpose";
#endif
    std::array<stream*, 4> streams{};
    const auto on_all = [&] {
        for (stream* const s : streams) {
            ASSERT_EQ(cudaMemsetAsync(data_, 0, 64, s), error::success);
        }
    };
    for (stream*& s : streams) {
        ASSERT_EQ(cudaStreamCreate(&s), error::success);
    }
    for (int n = 0; n < 3; ++n) {
        const auto found = record(on_all, options().check("race"));
        EXPECT_FALSE(found.findings().empty());
        const auto waiting = record(
            [&] {
                ASSERT_EQ(cudaMemsetAsync(data_, 0, 64, streams[3]), error::success);
                ASSERT_EQ(cudaStreamSynchronize(streams[3]), error::success);
                ASSERT_EQ(cudaMemsetAsync(data_, 0, 64, streams[0]), error::success);
            },
            options().check("race"));
        EXPECT_TRUE(waiting.findings().empty()) << testing::PrintToString(waiting.findings());
    }
    for (stream* const s : streams) {
        EXPECT_EQ(cudaStreamDestroy(s), error::success);
    }
}

TEST_F(recording_test, an_order_is_drawn_from_the_seed_and_ends_with_the_recording) {
    std::set<std::vector<std::uint32_t>> seen;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        std::array<std::vector<std::uint32_t>, 2> got;
        for (auto& one : got) {
            record([&] { one = tickets(); }, options().adversarial(seed));
        }
        EXPECT_EQ(got[0], got[1]) << "seed " << seed;
        seen.insert(got[0]);
    }
    EXPECT_GT(seen.size(), 1u);
    std::vector<std::uint32_t> in_order(64);
    for (std::uint32_t n = 0; n < 64; ++n) {
        in_order[n] = n;
    }
    EXPECT_EQ(tickets(), in_order);
    record(
        [&] {
            recorder inner(options().fair());
            EXPECT_EQ(tickets(), in_order);
        },
        options().adversarial(1));
}

TEST_F(recording_test, recorders_may_overlap) {
    recorder outer(options().check("race"));
    ASSERT_EQ(launch(&sample_.swap), error::success);
    recorder inner(options().check(""));
    ASSERT_EQ(launch(&sample_.swap), error::success);
    const auto of_outer = outer.stop();
    ASSERT_EQ(launch(&sample_.copy), error::success);
    const auto of_inner = inner.stop();
    EXPECT_EQ(of_outer.launches().size(), 2u);
    ASSERT_EQ(of_outer.findings().size(), 1u);
    EXPECT_EQ(of_outer.findings()[0].times, 64);
    EXPECT_EQ(of_inner.launches().size(), 2u);
    EXPECT_TRUE(of_inner.findings().empty());
    EXPECT_EQ(of_inner.of("copy").launches().size(), 1u);
    EXPECT_EQ(what_of([&] { (void)inner.stop(); }), "warpfold: this recorder has been stopped");
}

TEST_F(recording_test, what_the_body_throws_ends_it) {
    EXPECT_THROW(record([] { throw 1; }, options().check("race")), int);
    const auto after = record([&] { ASSERT_EQ(launch(&sample_.swap), error::success); });
    EXPECT_EQ(after.launches().size(), 1u);
    EXPECT_TRUE(after.findings().empty());
}

TEST_F(recording_test, bad_options_are_refused) {
    EXPECT_EQ(what_of([] { recorder r(options().check("races")); }),
              "warpfold: 'races' is no check; there are memory, race, init, sync, leak and all");
    softgpu_recording* recording = nullptr;
    const softgpu_recording_options odd{sizeof odd, nullptr, 3, 0};
    EXPECT_EQ(warpfold::testing::detail::runtime::instance().call.begin(&odd, &recording),
              "a recording's schedule is none of 0, 1, 2"s);
    EXPECT_EQ(recording, nullptr);
}

TEST(kernel_names, are_told_apart) {
    using warpfold::testing::detail::names;
    const std::string kernel = "void a::(anonymous namespace)::scale<float, a::pair<int> >(float*, void (*)(int))";
    for (const char* const name : {"scale", "(anonymous namespace)::scale", "a::(anonymous namespace)::scale",
                                   "scale<float, a::pair<int>>", "scale<float,a::pair<int> >"}) {
        EXPECT_TRUE(names(name, kernel)) << name;
    }
    for (const char* const name : {"", "cale", "a::scale", "scale<int>", "pair", "void", "scale<", "float"}) {
        EXPECT_FALSE(names(name, kernel)) << name;
    }
}

} // namespace
} // namespace softgpu::runtime
