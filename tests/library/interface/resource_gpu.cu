// SPDX-License-Identifier: MIT
// A user's memory resource: every call takes its memory from it and gives it back, also where it throws.
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/along_axis.cuh"
#include "warpfold/by_key.cuh"
#include "warpfold/chunked.cuh"
#include "warpfold/convolve.cuh"
#include "warpfold/exact_accumulator.cuh"
#include "warpfold/exact_histogram.cuh"
#include "warpfold/exact_moments.cuh"
#include "warpfold/exact_sum.cuh"
#include "warpfold/exact_sum_along.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_exact_sum.cuh"
#include "warpfold/segmented_reduce.cuh"
#include "warpfold/select.cuh"

using namespace warpfold;

namespace {

unsigned from_pool = 0;

} // namespace

// In the place of the runtime's own.
extern "C" cudaError_t CUDARTAPI cudaMallocAsync(void**, size_t, cudaStream_t) {
    ++from_pool;
    return cudaErrorNotSupported;
}

namespace warpfold::tests {

// Not stream-ordered.
struct only_synchronous {
    void* allocate(std::size_t, std::size_t) { return nullptr; }
    void deallocate(void*, std::size_t, std::size_t) {}
};

} // namespace warpfold::tests

namespace {

using tests::on_device;
using tests::only_synchronous;

constexpr std::uint64_t n = 150001;

// Memory by cudaMalloc. Every deallocation names the stream and the bytes of its allocation.
struct counts_of_resource {
    struct block {
        std::size_t bytes;
        cudaStream_t stream;
    };

    void* take(cudaStream_t stream, std::size_t bytes, std::size_t alignment) {
        EXPECT_EQ(alignment, 256u);
        EXPECT_GT(bytes, 0u);
        if (allocations == fails_at) {
            throw std::bad_alloc();
        }
        ++allocations;
        void* memory = nullptr;
        CUDA(cudaMalloc(&memory, bytes));
        CUDA(cudaMemset(memory, 0x77, bytes)); // calls clear what has to be zero
        there[memory] = {bytes, stream};
        return memory;
    }
    void give(cudaStream_t stream, void* memory, std::size_t bytes, std::size_t alignment) noexcept {
        EXPECT_EQ(alignment, 256u);
        ASSERT_EQ(there.count(memory), 1u);
        EXPECT_EQ(there[memory].bytes, bytes);
        EXPECT_EQ(there[memory].stream, stream);
        there.erase(memory);
        (void)cudaStreamSynchronize(stream);
        (void)cudaFree(memory);
    }

    std::map<void*, block> there;
    unsigned allocations = 0, fails_at = ~0u;
};

// As cuda::stream_ref and rmm::cuda_stream_view are made.
struct stream_view {
    stream_view(cudaStream_t handle_) : handle(handle_) {} // NOLINT: converts
    cudaStream_t handle;
};

// As resources of cuda::mr and RMM are.
struct stream_first : counts_of_resource {
    void* allocate(stream_view stream, std::size_t bytes, std::size_t alignment) {
        return take(stream.handle, bytes, alignment);
    }
    void deallocate(stream_view stream, void* memory, std::size_t bytes, std::size_t alignment) noexcept {
        give(stream.handle, memory, bytes, alignment);
    }
};
// As they were.
struct stream_last : counts_of_resource, tests::only_synchronous {
    void* allocate_async(std::size_t bytes, std::size_t alignment, stream_view stream) {
        return take(stream.handle, bytes, alignment);
    }
    void deallocate_async(void* memory, std::size_t bytes, std::size_t alignment, stream_view stream) {
        give(stream.handle, memory, bytes, alignment);
    }
};
// A reference to another one, as RMM's are.
struct reference {
    void* allocate(stream_view stream, std::size_t bytes, std::size_t alignment) const {
        return to.allocate(stream, bytes, alignment);
    }
    void deallocate(stream_view stream, void* memory, std::size_t bytes, std::size_t alignment) const noexcept {
        to.deallocate(stream, memory, bytes, alignment);
    }

    stream_first& to;
};
static_assert(stream_ordered_resource<stream_first> && stream_ordered_resource<stream_last>);
static_assert(!stream_ordered_resource<only_synchronous> && !stream_ordered_resource<workspace>);
template <class R>
concept taken = requires(R&& resource) {
    gpu{}.with(std::forward<R>(resource));
};
static_assert(taken<stream_first&> && taken<stream_first*> && !taken<stream_first> && !taken<only_synchronous&>);

struct is_positive {
    __host__ __device__ bool operator()(float x) const { return x > 0; }
};

// One call of each kind that takes memory.
class calls {
public:
    calls() : ones(std::vector<float>(n, 1)), floats(n), more(n), numbers(n), count(1) {
        std::vector<std::uint64_t> bounds;
        for (std::uint64_t k = 0; k <= n; k += 50000) {
            bounds.push_back(k);
        }
        offsets = bounds;
        segments = bounds.size() - 1;
    }

    [[nodiscard]] std::map<std::string, std::function<void(const gpu&)>> all() {
        const float* const in = ones.data();
        const on_device<std::uint64_t>* const at = &bounds();
        const is_positive positive;
        const even_bins<float> bins(0, 2, 1000);
        const strided_view<const float> columns(in, {n / 5, 5}); // which blocks share
        return {
            {"reduce", [=](const gpu& on) { EXPECT_EQ(reduce(on, in, n), n); }},
            {"reduce into", [=, this](const gpu& on) { reduce(on, in, n, floats.data()); }},
            {"arg_max", [=](const gpu& on) { EXPECT_EQ(arg_max(on, in, n).index, 0u); }},
            {"min_max", [=](const gpu& on) { EXPECT_EQ(min_max(on, in, n).largest, 1.0f); }},
            {"scan", [=, this](const gpu& on) { inclusive_scan(on, in, n, floats.data()); }},
            {"select", [=, this](const gpu& on) { EXPECT_EQ(select(on, in, n, floats.data(), positive), n); }},
            {"unique", [=, this](const gpu& on) { EXPECT_EQ(unique(on, in, n, floats.data()), 1u); }},
            {"partition into",
             [=, this](const gpu& on) { partition(on, in, n, floats.data(), more.data(), count.data(), positive); }},
            {"reduce_by_key",
             [=, this](const gpu& on) { EXPECT_EQ(reduce_by_key(on, in, n, in, floats.data(), more.data()), 1u); }},
            {"run_length_encode",
             [=, this](const gpu& on) { EXPECT_EQ(run_length_encode(on, in, n, floats.data(), numbers.data()), 1u); }},
            {"scan by key", [=, this](const gpu& on) { inclusive_scan_by_key(on, in, n, in, floats.data()); }},
            {"segmented_reduce",
             [=, this](const gpu& on) { segmented_reduce(on, in, at->data(), segments, floats.data()); }},
            {"segmented_exact_sum",
             [=, this](const gpu& on) { segmented_exact_sum(on, in, at->data(), segments, floats.data()); }},
            {"reduce_along", [=, this](const gpu& on) { reduce_along(on, columns, axes{0}, floats.data()); }},
            {"scan_along", [=, this](const gpu& on) { inclusive_scan_along(on, columns, 0, floats.data()); }},
            {"exact_sum_along",
             [=, this](const gpu& on) {
                 exact_sum_along(on, strided_view<const float>(in, {2, n / 2}), axes{1}, floats.data());
             }},
            {"histogram", [=](const gpu& on) { EXPECT_EQ(histogram(on, in, n, bins)[500], n); }},
            {"exact_weighted_histogram",
             [=, this](const gpu& on) { exact_weighted_histogram(on, in, in, n, floats.data(), bins); }},
            {"exact_sum", [=](const gpu& on) { EXPECT_EQ(exact_sum(on, in, n), n); }},
            {"exact_sum into", [=, this](const gpu& on) { exact_sum(on, in, n, floats.data()); }},
            {"exact_dot", [=](const gpu& on) { EXPECT_EQ(exact_dot(on, in, in, n), n); }},
            {"exact_mean", [=](const gpu& on) { EXPECT_EQ(exact_mean(on, in, n), 1.0f); }},
            {"exact_variance", [=](const gpu& on) { EXPECT_EQ(exact_variance(on, in, n), 0.0f); }},
            {"exact_norm into", [=, this](const gpu& on) { exact_norm(on, in, n, floats.data()); }},
            {"exact_accumulator",
             [=](const gpu& on) {
                 exact_accumulator<float> sum;
                 sum.add(on, in, n);
                 EXPECT_EQ(sum.value(), n);
             }},
            {"convolve", [=, this](const gpu& on) { convolve(on, in, 1000, mask.data(), mask.size(), floats.data()); }},
            {"convolve_separable",
             [=, this](const gpu& on) {
                 convolve_separable(on, image<const float>{in, 300, 300}, mask.data(), 101, mask.data(), 101,
                                    image<float>{floats.data(), 300, 300});
             }},
            {"chunked_reduce",
             [=, this](const gpu& on) { EXPECT_EQ(chunked_reduce(on, mask, sum{}, chunks()), mask.size()); }},
            {"chunked_exact_sum",
             [=, this](const gpu& on) { EXPECT_EQ(chunked_exact_sum(on, mask, chunks()), mask.size()); }},
            {"chunked_histogram",
             [=, this](const gpu& on) { EXPECT_EQ(chunked_histogram(on, mask, bins, chunks())[500], mask.size()); }},
            {"chunked_inclusive_scan",
             [=, this](const gpu& on) {
                 std::vector<float> sums(mask.size());
                 chunked_inclusive_scan(on, mask, sums, sum{}, chunks());
                 EXPECT_EQ(sums.back(), mask.size());
             }},
        };
    }

private:
    const on_device<std::uint64_t>& bounds() {
        static const on_device<std::uint64_t> there(offsets);
        return there;
    }
    static chunked_options chunks() {
        chunked_options options;
        options.policy = {.chunk_bytes = 4096, .piece_bytes = 1024, .host_buffers = 3, .device_buffers = 2};
        return options;
    }

    on_device<float> ones, floats, more;
    on_device<std::uint32_t> numbers;
    on_device<std::uint64_t> count;
    std::vector<std::uint64_t> offsets;
    std::uint64_t segments = 0;
    std::vector<float> mask = std::vector<float>(5000, 1);
};

template <class Resource>
void takes_and_gives_back() {
    cudaStream_t stream = nullptr;
    CUDA(cudaStreamCreate(&stream));
    calls of;
    for (const auto& [name, call] : of.all()) {
        SCOPED_TRACE(name);
        Resource resource;
        from_pool = 0;
        call(gpu{stream}.with(resource));
        CUDA(cudaStreamSynchronize(stream));
        EXPECT_GT(resource.allocations, 0u);
        EXPECT_TRUE(resource.there.empty());
        EXPECT_EQ(from_pool, 0u);
    }
    CUDA(cudaStreamDestroy(stream));
}

TEST(resource, allocate) { takes_and_gives_back<stream_first>(); }
TEST(resource, allocate_async) { takes_and_gives_back<stream_last>(); }

// At each allocation of each call.
TEST(resource, throws) {
    calls of;
    for (const auto& [name, call] : of.all()) {
        SCOPED_TRACE(name);
        stream_first resource;
        call(gpu{}.with(resource));
        const unsigned all = resource.allocations;
        for (unsigned k = 0; k < all; ++k) {
            resource.allocations = 0;
            resource.fails_at = k;
            EXPECT_THROW(call(gpu{}.with(resource)), std::bad_alloc);
            CUDA(cudaDeviceSynchronize());
            EXPECT_TRUE(resource.there.empty());
        }
        resource.fails_at = ~0u;
        call(gpu{}.with(resource));
    }
}

TEST(resource, pointer_policy_and_workspace) {
    stream_first resource;
    const on_device<float> in(std::vector<float>(n, 1));
    const auto policy = tuning::reduce_policy<>{.one_block_max_vectors = 64};
    EXPECT_EQ(reduce(gpu{}.with(&resource), in.data(), n), n);
    EXPECT_THROW((void)gpu{}.with(static_cast<stream_first*>(nullptr)), invalid_argument);
    EXPECT_EQ(reduce(gpu{}.with(policy).with(resource), in.data(), n), n);
    const reference named{resource};
    EXPECT_EQ(reduce(gpu{}.with(named), in.data(), n), n);
    EXPECT_EQ(reduce(gpu{}.with(resource).with(policy).with(tuning::scan_policy<>{}), in.data(), n), n);
    EXPECT_EQ(resource.allocations, 4u);
    workspace memory(reduce_workspace(sizeof(float), gpu{}.with(policy)));
    EXPECT_EQ(reduce(gpu{nullptr, &memory}.with(resource).with(policy), in.data(), n), n);
    EXPECT_EQ(resource.allocations, 4u); // the workspace is enough
    EXPECT_TRUE(resource.there.empty());
}

// What a resource may not do is one clear exception.
struct gives_null {
    void* allocate(cudaStream_t, std::size_t, std::size_t) { return nullptr; }
    void deallocate(cudaStream_t, void*, std::size_t, std::size_t) { ADD_FAILURE(); }
};
struct gives_misaligned {
    void* allocate(cudaStream_t stream, std::size_t bytes, std::size_t) {
        return static_cast<char*>(behind.take(stream, bytes + 8, 256)) + 8;
    }
    void deallocate(cudaStream_t stream, void* memory, std::size_t bytes, std::size_t) {
        behind.give(stream, static_cast<char*>(memory) - 8, bytes + 8, 256);
    }
    counts_of_resource behind;
};
TEST(resource, refused) {
    const on_device<float> in(std::vector<float>(n, 1));
    gives_null null;
    try {
        (void)reduce(gpu{}.with(null), in.data(), n);
        ADD_FAILURE();
    } catch (const out_of_memory& e) {
        EXPECT_NE(std::string(e.what()).find("gives a null pointer for"), std::string::npos) << e.what();
    }
    gives_misaligned misaligned;
    tests::expect_invalid_argument([&] { (void)reduce(gpu{}.with(misaligned), in.data(), n); },
                                   "gives memory that is not aligned to 256 bytes");
    EXPECT_EQ(misaligned.behind.allocations, 1u);
    EXPECT_TRUE(misaligned.behind.there.empty());
}

} // namespace
