// SPDX-License-Identifier: MIT
// Reductions of streams on a GPU.
#include "tests/library/chunked/chunked_gpu.hpp"

using namespace warpfold;

namespace {

// Copied from where it is, and with buffers that are used again.
TEST(chunked, pinned_memory) {
    transfer_buffers buffers;
    for (const std::uint64_t n : {0u, 1u, 4099u, 20011u}) {
        const auto data = tests::any_numbers<std::int32_t>(n, static_cast<unsigned>(n));
        const std::int64_t right = reduce(host{1}, data);
        for (const std::size_t skip : {0u, 3u}) {
            const tests::pinned_copy<std::int32_t> pinned(data, skip);
            EXPECT_EQ(chunked_reduce(gpu{}, pinned, sum{}, tests::chunks_of_bytes(4096)), right);
        }
        chunked_options options = tests::chunks_of_bytes(4096);
        options.buffers = &buffers;
        EXPECT_EQ(chunked_reduce(gpu{}, data, sum{}, options), right);
    }
    EXPECT_TRUE(buffers.bytes() >= 3 * 4096);
    transfer_buffers large;
    large.reserve(std::size_t{5} << 20); // pages that are pinned behind their allocation
    chunked_options options = tests::chunks_of_bytes(5000);
    options.buffers = &large;
    const auto data = tests::any_numbers<std::int32_t>(30011, 7);
    EXPECT_EQ(chunked_reduce(gpu{}, data, sum{}, options), reduce(host{1}, data));
    buffers = std::move(large);
    options.buffers = &buffers;
    EXPECT_EQ(chunked_reduce(gpu{}, data, sum{}, options), reduce(host{1}, data));
    EXPECT_TRUE(buffers.bytes() >= std::size_t{5} << 20);
}

// In a stream and with a workspace, behind what is in the stream already.
TEST(chunked, in_a_stream) {
    cudaStream_t stream = nullptr;
    CUDA(cudaStreamCreate(&stream));
    workspace memory(reduce_workspace(16));
    const auto data = tests::small_numbers<std::int32_t>(30001, 8);
    const std::int64_t right = reduce(host{1}, data);
    EXPECT_EQ(chunked_reduce(gpu{stream, &memory}, data, sum{}, tests::chunks_of_bytes(8192)), right);
    CUDA(cudaStreamDestroy(stream));
}

TEST(chunked, sums_of_integers) { tests::sums_of_integers(gpu{}); }
TEST(chunked, structures_in_order) { tests::structures_in_order(gpu{}); }
TEST(chunked, places_and_counts) { tests::places_and_counts(gpu{}); }
TEST(chunked, sums_of_numbers) { tests::sums_of_numbers(gpu{}); }
TEST(chunked, stored_elements) { tests::stored_elements(gpu{}); }
TEST(chunked, failures) { tests::failures(gpu{}); }

} // namespace
