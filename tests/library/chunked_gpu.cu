// SPDX-License-Identifier: MIT
// Reductions of streams on a GPU: exits with 1 where they differ from the host's.
#include "tests/library/chunked_gpu.hpp"

using namespace warpfold;

namespace {

// Copied from where it is, and with buffers that are used again.
void pinned_memory() {
    transfer_buffers buffers;
    for (const std::uint64_t n : {0u, 1u, 4099u, 20011u}) {
        const auto data = tests::any_numbers<std::int32_t>(n, static_cast<unsigned>(n));
        const std::int64_t right = reduce(host{1}, data);
        for (const std::size_t skip : {0u, 3u}) {
            const tests::pinned_copy<std::int32_t> pinned(data, skip);
            HOLDS(chunked_reduce(gpu{}, pinned, sum{}, tests::chunks_of_bytes(4096)) == right);
        }
        chunked_options options = tests::chunks_of_bytes(4096);
        options.buffers = &buffers;
        HOLDS(chunked_reduce(gpu{}, data, sum{}, options) == right);
    }
    HOLDS(buffers.bytes() >= 3 * 4096);
    transfer_buffers large;
    large.reserve(std::size_t{5} << 20); // pages that are pinned behind their allocation
    chunked_options options = tests::chunks_of_bytes(5000);
    options.buffers = &large;
    const auto data = tests::any_numbers<std::int32_t>(30011, 7);
    HOLDS(chunked_reduce(gpu{}, data, sum{}, options) == reduce(host{1}, data));
    buffers = std::move(large);
    options.buffers = &buffers;
    HOLDS(chunked_reduce(gpu{}, data, sum{}, options) == reduce(host{1}, data));
    HOLDS(buffers.bytes() >= std::size_t{5} << 20);
}

// In a stream and with a workspace, behind what is in the stream already.
void in_a_stream() {
    cudaStream_t stream = nullptr;
    CUDA(cudaStreamCreate(&stream));
    workspace memory(reduce_workspace(16));
    const auto data = tests::small_numbers<std::int32_t>(30001, 8);
    const std::int64_t right = reduce(host{1}, data);
    HOLDS(chunked_reduce(gpu{stream, &memory}, data, sum{}, tests::chunks_of_bytes(8192)) == right);
    CUDA(cudaStreamDestroy(stream));
}

} // namespace

int main() {
    return tests::run_stream_cases([] {
        tests::sums_of_integers(gpu{});
        tests::structures_in_order(gpu{});
        tests::places_and_counts(gpu{});
        tests::sums_of_numbers(gpu{});
        tests::stored_elements(gpu{});
        tests::failures(gpu{});
        pinned_memory();
        in_a_stream();
    });
}
