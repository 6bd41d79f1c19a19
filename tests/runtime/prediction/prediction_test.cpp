// SPDX-License-Identifier: MIT
// Predictions in the header for users' own tests. The process predicts four cards: h200, one whose DRAM is very slow,
// and those whose lanes meet by other rules.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/passing_folder.hpp"
#include "softgpu/machine/texture.hpp"
#include "tests/contents_of.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/prediction/predicted_launch.hpp"

namespace softgpu::runtime {
namespace {

using warpfold::testing::bound;
using warpfold::testing::predict;
using warpfold::testing::prediction;
using warpfold::testing::predictions;
using warpfold::testing::record;

// relay(p, waits, rounds): the first warp works and sets a flag; the others work at the same time, or wait for the flag first.
// All set it again in the end.
constexpr std::string_view relay_ptx =
    PTX_HEAD R"(.visible .entry _Z5relayPjii(.param .u64 p, .param .u32 waits, .param .u32 rounds)
{
    .reg .pred %p<5>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<2>;
    .shared .align 4 .b32 flag;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [waits];
    ld.param.u32 %r7, [rounds];
    mov.u32 %r3, 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 st.shared.u32 [flag], %r3;
    bar.sync 0;
    setp.lt.u32 %p2, %r1, 32;
    setp.eq.u32 %p3, %r2, 0;
    or.pred %p2, %p2, %p3;
    @%p2 bra WORK;
WAIT:
    ld.volatile.shared.u32 %r4, [flag];
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra WAIT;
WORK:
    cvt.rn.f32.u32 %f1, %r1;
)" WORK_OF_R7 R"(    ld.param.u64 %rd1, [p];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f1;
    membar.cta;
    mov.u32 %r6, 1;
    st.volatile.shared.u32 [flag], %r6;
    ret;
}
)";

// fetch(p, texture): p[tid] = texture[tid] + texture[tid], by two fetches.
constexpr std::string_view fetch_ptx = PTX_HEAD R"(.visible .entry _Z5fetchPjy(.param .u64 p, .param .u64 texture)
{
    .reg .b32 %r<10>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [texture];
    tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd2, {%r1}];
    tex.1d.v4.u32.s32 {%r6, %r7, %r8, %r9}, [%rd2, {%r1}];
    add.u32 %r2, %r2, %r6;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd3, %rd1, %rd3;
    st.global.u32 [%rd3], %r2;
    ret;
}
)";

// add(p, meets_last): work, then each thread counts in p[tid]; the block meets in front of the work, or between the two.
constexpr std::string_view add_ptx = PTX_HEAD R"(.visible .entry _Z3addPji(.param .u64 p, .param .u32 meets_last)
{
    .reg .pred %p<5>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    .reg .f32 %f<2>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r2, [meets_last];
    mov.u32 %r7, 200;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra WORK;
    bar.sync 0;
WORK:
    cvt.rn.f32.u32 %f1, %r1;
)" WORK_OF_R7 R"(    @!%p1 bra COUNT;
    bar.sync 0;
COUNT:
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd2, %rd1, %rd2;
    cvt.rzi.u32.f32 %r3, %f1;
    red.global.add.u32 [%rd2], %r3;
    ret;
}
)";

// move(p, step, offset): a word at p + tid * step + offset, by way of shared memory with 8 bytes a lane, to p[64 + tid].
constexpr std::string_view move_ptx =
    PTX_HEAD R"(.visible .entry _Z4movePjii(.param .u64 p, .param .u32 step, .param .u32 offset)
{
    .reg .b32 %r<7>;
    .reg .b64 %rd<6>;
    .shared .align 8 .b8 words[512];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r2, [step];
    ld.param.u32 %r3, [offset];
    mad.lo.u32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd2, %r4;
    add.s64 %rd2, %rd1, %rd2;
    ld.global.u32 %r5, [%rd2];
    mov.u32 %r6, words;
    mad.lo.u32 %r6, %r1, 8, %r6;
    st.shared.u32 [%r6], %r5;
    bar.sync 0;
    cvt.u64.u32 %rd4, %r6;
    cvta.shared.u64 %rd4, %rd4;
    ld.u32 %r5, [%rd4];
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd3, %rd1, %rd3;
    st.global.u32 [%rd3+256], %r5;
    ret;
}
)";

// Settings are read at the first call of CUDA.
[[maybe_unused]] const bool named = [] {
    const std::string h200 = CARDS_FOLDER "/h200.json";
    nlohmann::json card = nlohmann::json::parse(warpfold::tests::contents_of(h200));
    card["key"] = "slow";
    for (const auto& [figure, value] :
         {std::pair{"launch", 0.0}, {"dram_bandwidth", 1.0}, {"dram_efficiency", 0.05}, {"shared_wavefronts", 0.01}}) {
        card["figures"][figure]["value"] = value;
    }
    static const warpfold::report::passing_folder folder("softgpu-cards");
    const auto stored = [&] {
        std::string path = folder.path() + "/" + card["key"].get<std::string>() + ".json";
        std::ofstream(path) << card;
        return path;
    };
    std::string files = h200 + "," + stored();
    // A wavefront of shared memory takes long on these.
    for (const char* const key : {"g80", "k40m"}) {
        card = nlohmann::json::parse(warpfold::tests::contents_of(std::string(CARDS_FOLDER "/") + key + ".json"));
        for (auto&& [name, figure] : card["figures"].items()) {
            figure["value"] = name.starts_with("latency_") ? nlohmann::json(1) : figure["value"];
        }
        for (const auto& [figure, value] : {std::pair{"launch", 0.0},
                                            {"launch_next", 0.0},
                                            {"clock", 1.0},
                                            {"dram_bandwidth", 10'000.0},
                                            {"shared_wavefronts", 0.01}}) {
            card["figures"][figure]["value"] = value;
        }
        files += "," + stored();
    }
    ::setenv("SOFTGPU_PREDICT", files.c_str(), 1);
    return true;
}();

class prediction_test : public testing::Test {
protected:
    void copy(unsigned blocks = 1) { ASSERT_EQ(launch(&sample_.copy, blocks, 64, data_.get()), error::success); }

    const sample_program sample_;
    const device_bytes data_{512};
};

std::string what_of(const auto& body) { return warpfold::tests::message_of<warpfold::testing::error>(body); }

TEST_F(prediction_test, of_each_launch_and_card) {
    const auto all = record([&] {
        copy();
        copy();
    });
    ASSERT_EQ(all.launches().size(), 2u);
    const prediction first = all.launches()[0].predicted.on("slow");
    const prediction second = all.launches()[1].predicted.on("slow");
    EXPECT_EQ(first.card, "slow");
    EXPECT_EQ(first.cold_dram_read_bytes, 256);
    EXPECT_DOUBLE_EQ(first.l1_load_hit_rate, 0);
    // 256 bytes at 0.05 GB/s, and what the launch waits for the first of them.
    EXPECT_GT(first.cold_microseconds, 5.12);
    EXPECT_LT(first.cold_microseconds, 6);
    EXPECT_EQ(second.dram_read_bytes, 0); // L2 has them from the first launch
    EXPECT_EQ(second.cold_dram_read_bytes, 256);
    EXPECT_DOUBLE_EQ(second.l2_read_hit_rate, 1);
    EXPECT_EQ(second.bound, bound::launch); // launches in a row take longer than 64 threads that wait for L2
    EXPECT_LT(second.microseconds, first.cold_microseconds / 2);

    const prediction fast = all.launches()[1].predicted.on("h200");
    EXPECT_EQ(fast.bound, bound::launch); // 64 threads take less than the launch itself
    EXPECT_EQ(fast.next_bound, bound::latency);
    EXPECT_GT(fast.share_of_roof, 0.5);
    EXPECT_LT(fast.cold_microseconds, first.cold_microseconds);
}

// Waiting takes as long as what it waits for, and no longer: how often a loop looks says nothing.
TEST_F(prediction_test, a_warp_that_waits_goes_on_when_the_flag_is_set) {
    const embedded_kernel relay(relay_ptx, "_Z5relayPjii");
    const device_bytes out(4096);
    const auto launched = [&](unsigned threads, int waits, int rounds) {
        const auto all =
            record([&] { ASSERT_EQ(launch(&relay, 1, threads, out.get(), waits, rounds), error::success); });
        return all.launches().at(0);
    };
    const auto microseconds = [](const auto& launch, const char* card) {
        return launch.predicted.on(card).microseconds;
    };
    const auto together = launched(64, 0, 4000);
    const auto waiting = launched(64, 1, 4000);
    EXPECT_GT(microseconds(together, "h200"), 20);
    EXPECT_NEAR(microseconds(waiting, "h200") / microseconds(together, "h200"), 2, 0.2);
    // A wavefront of shared memory takes the slow card 100 cycles.
    const auto briefly = launched(1024, 1, 20);
    const auto polls = briefly.total.shared_load_wavefronts;
    EXPECT_GT(polls, 60);
    EXPECT_LT(microseconds(briefly, "slow") - microseconds(launched(1024, 0, 20), "slow"),
              0.5 * 100 * static_cast<double>(polls) / 1980);
}

// Blocks of the first kernel end all the time, for more than a second in all.
TEST_F(prediction_test, a_launch_of_another_stream_waits_for_a_long_one) {
    const embedded_kernel add(add_ptx, "_Z3addPji");
    std::array<stream*, 2> streams{};
    for (stream*& s : streams) {
        ASSERT_EQ(cudaStreamCreateWithFlags(&s, 1), error::success);
    }
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    ASSERT_EQ(launch_in(streams[0], &add, 10'000, 64, data_.get(), 0), error::success);
    ASSERT_EQ(cudaStreamSynchronize(streams[0]), error::success);
    const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
    const auto blocks = static_cast<unsigned>(10'000 * 2 / seconds); // two seconds of them
    const auto all = record([&] {
        ASSERT_EQ(launch_in(streams[0], &add, blocks, 64, data_.get(), 0), error::success);
        std::this_thread::sleep_for(std::chrono::milliseconds(100)); // it has begun
        ASSERT_EQ(launch_in(streams[1], &add, 1, 64, data_.get(), 0), error::success);
    });
    for (stream* const s : streams) {
        ASSERT_EQ(cudaStreamDestroy(s), error::success);
    }
    ASSERT_EQ(all.launches().size(), 2u);
    for (const auto& launch : all.launches()) {
        EXPECT_GT(launch.predicted.on("h200").microseconds, 0);
    }
}

// A texture's elements come through L1: the second fetch finds them there.
TEST_F(prediction_test, textures_go_through_the_caches) {
    const embedded_kernel fetch(fetch_ptx, "_Z5fetchPjy");
    machine::texture_descriptor texture;
    texture.data = reinterpret_cast<std::uint64_t>(data_.get());
    texture.width = 64;
    texture.kind = machine::channel_kind::unsigned_integer;
    const device_bytes handle(sizeof texture);
    const device_bytes out(256);
    ASSERT_EQ(cudaMemcpy(handle.get(), &texture, sizeof texture, copy_kind::automatic), error::success);
    const auto sum = predicted(&fetch, 1, 64, out.get(), handle.get());
    EXPECT_EQ(sum.on("slow").cold_dram_read_bytes, 256);
    EXPECT_DOUBLE_EQ(sum.on("slow").l1_load_hit_rate, 0.5);
    EXPECT_GT(sum.on("slow").cold_microseconds, 5.12); // 256 bytes at 0.05 GB/s
}

// All blocks are on the device at once. What stands behind the last barrier with the atomics passes meanwhile.
TEST_F(prediction_test, nothing_hides_atomics_behind_the_last_barrier) {
    const embedded_kernel add(add_ptx, "_Z3addPji");
    const auto microseconds = [&](int meets_last) {
        return predicted(&add, 500, 64, data_.get(), meets_last).on("h200").microseconds;
    };
    const double work = 200 * (4.2 + 13.9 + 5.2) / 1980; // a count, a comparison and a branch; four fma take less
    const double atomics = 500 * 2 * 4 / 0.69 / 1980;
    EXPECT_NEAR(microseconds(0) - 2.6, std::max(work, atomics), 0.8);
    EXPECT_NEAR(microseconds(1) - 2.6, work + atomics, 0.8);
}

// 32 lanes, each with 4 bytes: two segments of 64 in order, else 32 transactions. Eight bytes apart in shared memory they are
// four turns of half warps, and one of Kepler's banks; a store and a load, by a generic address.
TEST_F(prediction_test, cards_have_rules_of_their_own_for_lanes_that_access_together) {
    const embedded_kernel move(move_ptx, "_Z4movePjii");
    const auto launched = [&](int step, int offset) { return predicted(&move, 1, 32, data_.get(), step, offset); };
    const auto in_order = launched(4, 0);
    EXPECT_EQ(in_order.on("g80").cold_dram_read_bytes, 128);
    EXPECT_EQ(in_order.on("g80").dram_read_bytes, 128); // no cache
    EXPECT_EQ(in_order.on("g80").dram_write_bytes, 128);
    EXPECT_EQ(in_order.on("h200").cold_dram_read_bytes, 128);
    EXPECT_EQ(in_order.on("k40m").cold_dram_read_bytes, 128);
    EXPECT_DOUBLE_EQ(in_order.on("k40m").l1_load_hit_rate, 0);
    EXPECT_EQ(launched(4, 4).on("g80").dram_read_bytes, 32 * 32);
    EXPECT_EQ(launched(0, 0).on("g80").dram_read_bytes, 32 * 32);
    EXPECT_EQ(launched(4, 4).on("k40m").cold_dram_read_bytes, 160);
    EXPECT_EQ(launched(0, 0).on("h200").cold_dram_read_bytes, 64); // and its neighbour
    const auto shared_cycles = [&](const char* card) {
        const prediction p = in_order.on(card);
        EXPECT_EQ(p.bound, bound::shared) << card;
        return p.share_of_roof * p.microseconds * 1000;
    };
    EXPECT_NEAR(shared_cycles("g80"), 8 * 100, 1);
    EXPECT_NEAR(shared_cycles("k40m"), 2 * 100, 1);
}

TEST_F(prediction_test, sums_launches_and_names_the_bound_of_the_longest) {
    const auto sum = predict([&] {
        copy();
        copy(200000); // starting so many blocks takes longest
        copy();
    });
    ASSERT_EQ(sum.all().size(), 4u);
    const auto parts = record([&] {
        copy();
        copy(200000);
        copy();
    });
    double microseconds = 0;
    for (const auto& l : parts.launches()) {
        microseconds += l.predicted.on("h200").microseconds;
    }
    EXPECT_DOUBLE_EQ(parts.predicted().on("h200").microseconds, microseconds);
    EXPECT_EQ(parts.predicted().on("h200").bound, parts.launches()[1].predicted.on("h200").bound);
    EXPECT_EQ(sum.on("h200").bound, bound::blocks);
    EXPECT_EQ(sum.on("h200").cold_dram_read_bytes, 3 * 256);
    EXPECT_EQ(parts.of("copy").predicted().on("slow").cold_dram_read_bytes, 3 * 256);
}

TEST_F(prediction_test, errors_say_what_there_is) {
    const auto all = predict([&] { copy(); });
    EXPECT_EQ(what_of([&] { (void)all.on("t4"); }),
              "warpfold: there is no prediction for 't4'; there are h200, slow, g80, k40m");
    EXPECT_EQ(what_of([] { (void)predict([] {}); }), "warpfold: nothing was launched");
    EXPECT_TRUE(predictions().empty());
    std::ostringstream text;
    text << all.on("slow") << bound::dram;
    EXPECT_EQ(text.str().substr(0, 7), "{slow: ");
    EXPECT_EQ(text.str().substr(text.str().size() - 5), "}dram");
}

// The enumeration has the bounds of the model, and each stands in the page's table.
TEST(Bounds, AreThoseOfThePage) {
    std::ifstream in(MODEL_PAGE);
    std::set<std::string> on_page{"launch"};
    bool in_table = false;
    for (std::string line; std::getline(in, line);) {
        in_table = (in_table || line == "| bound | cycles |") && line.rfind("| ", 0) == 0;
        const std::string names = in_table ? line.substr(0, line.find('|', 1)) : std::string();
        for (std::size_t at = names.find('`'); at != std::string::npos;) {
            const std::size_t end = names.find('`', at + 1);
            on_page.insert(names.substr(at + 1, end - at - 1));
            at = names.find('`', end + 1);
        }
    }
    namespace detail = warpfold::testing::detail;
    EXPECT_EQ(std::set<std::string>(std::begin(detail::bound_names), std::end(detail::bound_names)), on_page);
    EXPECT_EQ(detail::bound_named("l2"), bound::l2);
    EXPECT_EQ(detail::bound_named("blocks"), bound::blocks);
    EXPECT_EQ(detail::bound_named("of a later version"), bound::other);
}

} // namespace
} // namespace softgpu::runtime
