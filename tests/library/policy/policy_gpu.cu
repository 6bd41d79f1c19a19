// SPDX-License-Identifier: MIT
// Policies: the defaults of architectures, other policies for single calls, two of them in one program, and what is
// refused.
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/policy/policy_other.hpp"
#include "warpfold/chunked.cuh"
#include "warpfold/convolve.cuh"
#include "warpfold/exact_accumulator.cuh"
#include "warpfold/segmented_reduce.cuh"

using namespace warpfold;

namespace {

using tests::on_device;

constexpr std::uint64_t n = 100003;

constexpr tuning::reduce_kernels narrow{.max_block_threads = 96, .resident_blocks = 3, .vector_loads_in_flight = 1};
constexpr tuning::reduce_policy<narrow> narrow_blocks{.one_block_max_vectors = 64};

static_assert(tuning::policy<tuning::reduce_policy<>> && tuning::policy<tuning::exact_sum_policy<>> &&
              tuning::policy<tuning::histogram_policy<>> && tuning::policy<tuning::convolve_policy<>>);
static_assert(sizeof(gpu) == sizeof(cudaStream_t) + sizeof(workspace*) + sizeof(detail::resource_ref),
              "a target without a policy carries none");

TEST(policy, defaults_of_architectures) {
    using reduce = tuning::reduce_policy<>;
    EXPECT_EQ(reduce::of(75).block_threads, 512u); // 1,024 threads of a multiprocessor, in two blocks
    EXPECT_EQ(reduce::of(80).block_threads, 1024u);
    EXPECT_EQ(reduce::of(86).block_threads, 768u); // 1,536
    EXPECT_EQ(reduce::of(89).block_threads, 768u);
    EXPECT_EQ(reduce::of(90).block_threads, 1024u);
    EXPECT_EQ(reduce::of(100).block_threads, 1024u);
    EXPECT_EQ(reduce::of(120).block_threads, 768u);
    EXPECT_EQ(tuning::reduce_policy<narrow>::of(75).block_threads, 96u);
    EXPECT_EQ(tuning::histogram_policy<>::of(75).direct_blocks_per_multiprocessor, 1u);
    EXPECT_EQ(tuning::histogram_policy<>::of(90).direct_blocks_per_multiprocessor, 2u);
    EXPECT_EQ(tuning::convolve_policy<>::of(75).few_max_results, 40000);
    EXPECT_EQ(tuning::convolve_policy<>::of(90).few_max_results, 131072);
    for (const unsigned capability : {75u, 80u, 86u, 87u, 89u, 90u, 100u, 103u, 110u, 120u, 121u}) {
        EXPECT_NO_THROW(tuning::reduce_policy<>::of(capability).check());
        EXPECT_NO_THROW(tuning::exact_sum_policy<>::of(capability).check());
        EXPECT_NO_THROW(tuning::histogram_policy<>::of(capability).check());
        EXPECT_NO_THROW(tuning::convolve_policy<>::of(capability).check());
    }
}

// The values by which the results in docs/results were taken.
TEST(policy, values_of_9_0) {
    const auto reduce = tuning::reduce_policy<>::of(90);
    EXPECT_EQ(reduce.kernels, (tuning::reduce_kernels{1024, 2, 2, 4}));
    EXPECT_EQ(reduce.one_block_max_vectors, 4096u);
    EXPECT_EQ(reduce.one_block_max_elements, 20000u);
    EXPECT_EQ(reduce.blocks_per_multiprocessor, 2u);
    EXPECT_EQ(reduce.short_block_threads, 256u);
    EXPECT_EQ(reduce.longest_min_bytes, std::uint64_t{1} << 30);
    EXPECT_EQ(tuning::exact_sum_policy<>::kernels, (tuning::exact_sum_kernels{512, 2, 3}));
    EXPECT_EQ(tuning::histogram_policy<>::kernels, (tuning::histogram_kernels{1024, 1, 1, 4, 6, 4, 512}));
    EXPECT_EQ(tuning::convolve_policy<>::kernels, (tuning::convolve_kernels{256, 2, 128, 128, 4, 9, 15}));
}

TEST(policy, default_is_that_of_the_device) {
    int device = 0, major = 0, minor = 0;
    CUDA(cudaGetDevice(&device));
    CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    const auto capability = static_cast<unsigned>(10 * major + minor);
    EXPECT_EQ(device_compute_capability(), capability);
    const auto of_device = detail::policy_of<tuning::reduce_policy<>>(gpu{});
    EXPECT_EQ(of_device.block_threads, tuning::reduce_policy<>::of(capability).block_threads);
    const auto shape = detail::shape_of_reduce<float, float>(of_device, std::uint64_t{1} << 26, 1);
    EXPECT_EQ(shape.threads, of_device.block_threads);
}

TEST(policy, a_target_carries_its_own) {
    const auto on = gpu{}.with(narrow_blocks);
    const auto mine = detail::policy_of<tuning::reduce_policy<>>(on);
    EXPECT_EQ(mine.one_block_max_vectors, 64u);
    const auto shape = detail::shape_of_reduce<float, float>(mine, std::uint64_t{1} << 26, 1);
    EXPECT_EQ(shape.threads, 96u);
    EXPECT_EQ(shape.blocks % 3, 0u);
    // Of another primitive it has none.
    EXPECT_EQ(detail::policy_of<tuning::exact_sum_policy<>>(on).one_block_max_vectors,
              tuning::exact_sum_policy<>{}.one_block_max_vectors);
    // The last one counts, and those of other primitives stay.
    const auto more = on.with(tuning::exact_sum_policy<>{.one_block_max_vectors = 7})
                          .with(tuning::reduce_policy<>{.one_block_max_vectors = 8});
    EXPECT_EQ(detail::policy_of<tuning::reduce_policy<>>(more).one_block_max_vectors, 8u);
    EXPECT_EQ(detail::policy_of<tuning::exact_sum_policy<>>(more).one_block_max_vectors, 7u);
}

// Run-time values alone need no kernel of their own.
TEST(policy, equal_kernels_are_one_type) {
    using plain = detail::kernels_of<detail::policy_t<tuning::reduce_policy<>, gpu>>;
    [[maybe_unused]] const auto on = gpu{}.with(tuning::reduce_policy<>{.one_block_max_elements = 3});
    using other = detail::kernels_of<detail::policy_t<tuning::reduce_policy<>, std::remove_const_t<decltype(on)>>>;
    static_assert(std::is_same_v<plain, other>);
    static_assert(!std::is_same_v<plain, detail::kernels_of<tuning::reduce_policy<narrow>>>);
}

TEST(policy, results_of_every_primitive) {
    const auto ints = tests::small_numbers<std::int32_t>(n, 3);
    const auto floats = tests::any_numbers<float>(n, 4);
    const on_device<std::int32_t> ints_there(ints);
    const on_device<float> floats_there(floats);
    EXPECT_EQ(reduce(gpu{}.with(narrow_blocks), ints_there.data(), n), reduce(host{1}, ints));
    EXPECT_EQ(arg_max(gpu{}.with(narrow_blocks), floats_there.data(), n).index, arg_max(host{1}, floats).index);

    constexpr tuning::exact_sum_kernels small{.max_block_threads = 64, .vector_loads_in_flight = 2};
    const auto exact = gpu{}.with(tuning::exact_sum_policy<small>{.one_block_max_vectors = 1});
    EXPECT_TRUE(tests::same_bits(exact_sum(exact, floats_there.data(), n), exact_sum(host{1}, floats)));
    EXPECT_TRUE(tests::same_bits(exact_dot(exact, floats_there.data(), floats_there.data(), n),
                                 exact_dot(host{1}, floats, floats)));
    exact_accumulator<float> total;
    total.add(exact, floats_there.data(), n);
    EXPECT_TRUE(tests::same_bits(total.value(), exact_sum(host{1}, floats)));

    constexpr tuning::histogram_kernels counting{.block_threads = 256, .few_bytes_block_threads = 256};
    const auto counts = gpu{}.with(tuning::histogram_policy<counting>{.copies_max_bytes = 4096});
    const auto bins = even_bins<std::int32_t>(-100, 100, 50);
    EXPECT_EQ(histogram(counts, ints_there.data(), n, bins), histogram(host{1}, ints, bins));
    const auto none_private =
        gpu{}.with(tuning::histogram_policy<>{.full_counters_max_blocks = 0, .packed_counters_max_blocks = 0});
    EXPECT_EQ(histogram(none_private, ints_there.data(), n, bins), histogram(host{1}, ints, bins));

    constexpr tuning::convolve_kernels lines{.line_block_threads = 64, .line_groups_per_thread = 1};
    const std::vector<float> mask{1, 2, 1};
    const on_device<float> out(std::vector<float>(n, 0.0f)), again(std::vector<float>(n, 0.0f));
    convolve(gpu{}.with(tuning::convolve_policy<lines>{}), floats_there.data(), n, mask.data(), 3, out.data());
    convolve(gpu{}, floats_there.data(), n, mask.data(), 3, again.data());
    const std::vector<float> results = out.read(), same_results = again.read();
    EXPECT_EQ(std::memcmp(results.data(), same_results.data(), n * sizeof(float)), 0);

    chunked_options options;
    options.policy = {.chunk_bytes = 10000, .piece_bytes = 1000, .host_buffers = 3, .device_buffers = 2};
    EXPECT_EQ(chunked_reduce(gpu{}.with(narrow_blocks), ints, sum{}, options), reduce(host{1}, ints));
    EXPECT_EQ(chunked_reduce(host{2}, ints, sum{}, options), reduce(host{1}, ints));
    EXPECT_EQ(chunked_histogram(counts, ints, bins, options), histogram(host{1}, ints, bins));
}

TEST(policy, order_is_kept) {
    std::vector<tests::affine> maps(20011);
    for (std::uint32_t k = 0; k < maps.size(); ++k) {
        maps[k] = {2 * k + 1, k * k + 1};
    }
    const on_device<tests::affine> there(maps);
    const tests::affine first{3, 4};
    EXPECT_EQ(reduce(gpu{}.with(narrow_blocks), there.data(), maps.size(), tests::then{}, first),
              reduce(host{1}, maps, tests::then{}, first));
}

// policy_other.cu has another policy for the same call on the same types.
TEST(policy, translation_units_have_their_own) {
    const auto floats = tests::any_numbers<float>(n, 5);
    const on_device<float> there(floats);
    const float mine = reduce(gpu{}, there.data(), n), other = tests::sum_in_one_block(there.data(), n);
    const float again = reduce(gpu{}, there.data(), n), mine_in_one_block = tests::sum_in_one_block(there.data(), n);
    EXPECT_TRUE(tests::same_bits(mine, again));
    EXPECT_TRUE(tests::same_bits(other, mine_in_one_block));
    EXPECT_EQ(tests::blocks_of_sum(n), 1u);
    EXPECT_GT((detail::shape_of_reduce<float, float>(detail::policy_of<tuning::reduce_policy<>>(gpu{}), n, 1).blocks),
              1u);
}

TEST(policy, workspaces) {
    const auto on = gpu{}.with(tuning::reduce_policy<>{.blocks_per_multiprocessor = 8, .block_threads = 64});
    EXPECT_GT(reduce_workspace(8, on), 3 * reduce_workspace(8));
    const auto ints = tests::small_numbers<std::int32_t>(n, 6);
    const on_device<std::int32_t> there(ints);
    workspace memory(reduce_workspace(sizeof(std::int64_t), on));
    EXPECT_EQ(reduce(gpu{nullptr, &memory}.with(on.policy), there.data(), n), reduce(host{1}, ints));
    tests::expect_zero(memory);
    EXPECT_GT(exact_sum_workspace(gpu{}.with(tuning::exact_sum_policy<>{.blocks_per_multiprocessor = 8})),
              exact_sum_workspace());
}

TEST(policy, refused) {
    tests::expect_invalid_argument([] { (void)gpu{}.with(tuning::reduce_policy<>{.block_threads = 100}); },
                                   "reduce_policy: block_threads is 100, not a multiple of 32 from 32 to 1024");
    tests::expect_invalid_argument([] { (void)gpu{}.with(tuning::reduce_policy<narrow>{.block_threads = 128}); },
                                   "reduce_policy: block_threads is 128, not a multiple of 32 from 32 to 96");
    tests::expect_invalid_argument([] { (void)gpu{}.with(tuning::reduce_policy<>{.blocks_per_multiprocessor = 0}); },
                                   "reduce_policy: blocks_per_multiprocessor is 0, not at least 1");
    tests::expect_invalid_argument(
        [] { (void)gpu{}.with(narrow_blocks).with(tuning::histogram_policy<>{.block_min_samples = 0}); },
        "histogram_policy: block_min_samples is 0, not at least 1");
    tests::expect_invalid_argument([] { (void)gpu{}.with(tuning::convolve_policy<>{.slide_waves = -1}); },
                                   "convolve_policy: slide_waves is 0, not at least 1");
    chunked_options options;
    options.policy.host_buffers = 2;
    const std::vector<int> ints(10);
    tests::expect_invalid_argument([&] { (void)chunked_reduce(host{}, ints, sum{}, options); },
                                   "chunked_policy: host_buffers is 2, not at least 3");
}

} // namespace
