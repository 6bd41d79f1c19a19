// SPDX-License-Identifier: MIT
// The read-only path: restricted pointers, __ldg, texture objects; and what goes wrong where a kernel writes what it reads
// that way. (380 "Read-only Data Cache", "Read-Only Cache", "Access Path", "Read-Only Cache Operation".)
#include <cstdint>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/steps.hpp"

namespace warpfold::ladder::memory {

namespace {

__device__ std::uint64_t index() { return threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x; }

// The slides' two kernels.
__global__ void copy_restricted(int* __restrict__ output, const int* __restrict__ input, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        output[i] = input[i];
    }
}
__global__ void copy_by_ldg(int* output, const int* input, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        output[i] = __ldg(&input[i]);
    }
}

// Structures of 12 bytes, each word fetched from a texture of floats.
__global__ void of_texture(float* sums, cudaTextureObject_t words, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        const int first = static_cast<int>(3 * i);
        sums[i] =
            tex1Dfetch<float>(words, first) + tex1Dfetch<float>(words, first + 1) + tex1Dfetch<float>(words, first + 2);
    }
}

engine::sample positions(std::uint64_t n, std::uint64_t seed) {
    const auto words = engine::numbers<float>(3 * n, seed);
    std::vector<float> sums;
    for (std::uint64_t i = 0; i < n; ++i) {
        sums.push_back(words[3 * i] + words[3 * i + 1] + words[3 * i + 2]);
    }
    return {n, {engine::bytes_of(words)}, engine::bytes_of(sums), engine::value_type::float32};
}

// Destroyed once the stream has come to its end.
class texture {
public:
    texture(const cudaResourceDesc& what, const cudaTextureDesc& how) {
        WARPFOLD_CUDA_CHECK(cudaCreateTextureObject(&handle_, &what, &how, nullptr));
    }
    texture(const texture&) = delete;
    texture& operator=(const texture&) = delete;
    ~texture() { (void)cudaDestroyTextureObject(handle_); }

    [[nodiscard]] cudaTextureObject_t handle() const { return handle_; }

private:
    cudaTextureObject_t handle_ = 0;
};

constexpr std::uintptr_t texture_alignment = 512; // a texture begins at such an address on every device

void run_texture(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const void* data = on.in[0];
    if (on.software || reinterpret_cast<std::uintptr_t>(data) % texture_alignment != 0) {
        data = on.scratch; // the beginning of an allocation, which is aligned for textures
        WARPFOLD_CUDA_CHECK(
            cudaMemcpyAsync(on.scratch, on.in[0], 3 * on.n * sizeof(float), cudaMemcpyDeviceToDevice, on.stream));
    }
    cudaResourceDesc what{};
    what.resType = cudaResourceTypeLinear;
    what.res.linear.devPtr = const_cast<void*>(data);
    what.res.linear.desc = cudaCreateChannelDesc<float>();
    what.res.linear.sizeInBytes = 3 * on.n * sizeof(float);
    cudaTextureDesc how{};
    how.readMode = cudaReadModeElementType;
    const texture words(what, how);
    engine::launch(on, "of_texture", of_texture, blocks_for(on.n), threads, 0, on.output<float>(), words.handle(),
                   on.n);
    WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream));
}

// Bytes as numbers between 0 and 1, half-way between each two neighbours, and far outside on both sides; to a quarter, since
// texture units filter bytes to 16 bits.
__device__ float to_a_quarter(float x) { return rintf(4 * x) / 4; }
__global__ void sample_between(float* out, cudaTextureObject_t line, int n) {
    const int i = static_cast<int>(index());
    if (i < n) {
        out[i] = to_a_quarter(tex2D<float>(line, static_cast<float>(i + 1), 0.5f));
        out[n + i] = to_a_quarter(tex2D<float>(line, static_cast<float>(i % 2 == 0 ? -100 - i : n + 100 + i), 0.5f));
    }
}

engine::sample black_and_white(std::uint64_t n, std::uint64_t seed) {
    const auto random = engine::numbers(n, seed);
    std::vector<std::uint8_t> in;
    for (const std::int32_t x : random) {
        in.push_back(x > 0 ? 255 : 0);
    }
    const auto value = [&](std::uint64_t i) { return in[i] == 255 ? 1.0f : 0.0f; };
    std::vector<float> right(2 * n);
    for (std::uint64_t i = 0; i < n; ++i) {
        right[i] = (value(i) + value(i + 1 < n ? i + 1 : n - 1)) / 2;
        right[n + i] = value(i % 2 == 0 ? 0 : n - 1);
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right), engine::value_type::float32};
}

void run_sampler(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const auto format = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t line = nullptr;
    WARPFOLD_CUDA_CHECK(cudaMallocArray(&line, &format, on.n, 1));
    cudaResourceDesc what{};
    what.resType = cudaResourceTypeArray;
    what.res.array.array = line;
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    WARPFOLD_CUDA_CHECK(
        cudaMemcpy2DToArrayAsync(line, 0, 0, on.in[0], on.n, on.n, 1, cudaMemcpyDeviceToDevice, on.stream));
    {
        const texture bytes(what, how);
        engine::launch(on, "sample_between", sample_between, blocks_for(on.n), threads, 0, on.output<float>(),
                       bytes.handle(), static_cast<int>(on.n));
        WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream));
    }
    WARPFOLD_CUDA_CHECK(cudaFreeArray(line));
}

// Reads by __ldg what it has just written itself: the value of before, or its own.
__global__ void read_what_is_written(int* out, int* values, const int* in, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        values[i] = in[i];
        const int before = __ldg(&values[i]);
        values[i] = before + 1;
        out[i] = __ldg(&values[i]);
    }
}

void run_stale(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "read_what_is_written", read_what_is_written, blocks_for(on.n), threads, 0, on.output<int>(),
                       on.temporary<int>(), on.input<int>(), on.n);
    }
}

template <class Kernel>
auto copied_by(const char* name, Kernel kernel) {
    return [=](const engine::stage& on) {
        if (on.n != 0) {
            engine::launch(on, name, kernel, blocks_for(on.n), threads, 0, on.output<int>(), on.input<int>(), on.n);
        }
    };
}

verdict as_aligned(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    return seen(sectors_a_load(c) == 4 && c.global_load_requests == warps_of(e.n()),
                number(sectors_a_load(c), 0) + " segments a load, one load a warp");
}

verdict no_slower(const engine::evidence& e) {
    const step_result* const other = e.other("aligned");
    if (!e.step.cold || other == nullptr || !other->cold) {
        return unseen("needs times, so a GPU");
    }
    const double times = e.step.cold->median / other->cold->median;
    return seen(times < 1.05, number(times, 2) + "x the time of the plain loads of step aligned");
}

verdict texture_path(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    return seen(c.global_load_requests == 0, std::to_string(c.global_load_requests) +
                                                 " loads from global memory: all data comes by texture fetches");
}

verdict nearly_optimal(const engine::evidence& e) {
    const step_result* const other = e.other("arrays");
    if (!e.step.cold || other == nullptr || !other->cold || other->n != e.step.n) {
        return unseen("needs times, so a GPU");
    }
    const double times = e.step.cold->median / other->cold->median;
    return seen(times < 1.2, number(times, 2) + "x the time of the structure of arrays");
}

verdict interpolates(const engine::evidence& e) {
    return seen(e.step.correct, "bytes as 0 to 1, the mean of two neighbours, the nearest where there are none");
}

verdict not_coherent(const engine::evidence& e) {
    if (e.report.device.software) {
        return unseen("the software GPU has no caches");
    }
    return seen(!e.step.correct, e.step.correct ? "what the thread wrote was read, by luck" : e.step.difference);
}

constexpr const char* source = "ladder/memory/06_read_only.cu";
constexpr const char* slides = "380, Read-only Data Cache";

} // namespace

engine::step_definition restricted() {
    return {.about = {"restrict", "const and __restrict__", source, "pointers that promise the compiler no aliasing",
                      slides, false, "aligned"},
            .data = copy_of,
            .run = copied_by("copy_restricted", copy_restricted),
            .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
            .claims = {
                {"decorating pointers: the same accesses, through the read-only cache", slides, full_warps(as_aligned)},
                {"as fast as plain loads", slides, no_slower}}};
}

engine::step_definition by_ldg() {
    return {.about = {"ldg", "the __ldg() intrinsic", source, "requires no pointer decoration", slides},
            .data = copy_of,
            .run = copied_by("copy_by_ldg", copy_by_ldg),
            .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
            .claims = {{"using the __ldg() intrinsic: the same accesses", slides, full_warps(as_aligned)},
                       {"as fast as plain loads", slides, no_slower}}};
}

engine::step_definition through_texture() {
    return {.about = {"texture", "12-byte structures through a texture", source, "tex1Dfetch on linear memory",
                      "380, Read-Only Cache", false, "read-only"},
            .data = positions,
            .run = run_texture,
            .size = engine::at_most(1u << 24),
            .scratch_bytes = [](std::uint64_t n) { return 3 * n * sizeof(float); },
            .least_bytes = [](std::uint64_t n) { return 4 * n * sizeof(float); },
            .claims = {{"data in texture objects take the read-only/TEX path", "380, Access Path",
                        engine::counted(texture_path)},
                       {"as long as lines survive in the cache, performance will be nearly optimal",
                        "380, Performance and Solutions", nearly_optimal},
                       {"faster than the structures", "380, Performance and Solutions",
                        engine::faster_than("structures")}}};
}

engine::step_definition sampler() {
    return {.about = {"sampler", "what a texture does besides", source,
                      "bytes read as floats, between two of them, and outside", "380, Read-Only Cache Operation"},
            .data = black_and_white,
            .run = run_sampler,
            .size = engine::at_most(4096),
            .claims = {{"additional functionality for texture objects: interpolation, clamping, type conversion",
                        "380, Read-Only Cache Operation", interpolates}}};
}

engine::step_definition stale() {
    return {
        .about = {"stale", "__ldg of what the kernel writes", source, "a thread reads its own store that way", slides},
        .data = one_more,
        .run = run_stale,
        .scratch_bytes = [](std::uint64_t n) { return n * sizeof(int); },
        .expected = outcome::by_luck,
        .lesson = "the read-only cache is not coherent with writes: the old value may be read again",
        .claims = {
            {"not coherent with writes: addresses must not be written by the same kernel", slides, not_coherent}}};
}

} // namespace warpfold::ladder::memory
