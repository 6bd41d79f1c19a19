// SPDX-License-Identifier: MIT
// The read-only path: restricted pointers, __ldg, texture objects; and what goes wrong where a kernel writes what it reads
// that way. (380 "Read-only Data Cache", "Read-Only Cache", "Access Path", "Read-Only Cache Operation".)
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ladder/engine/command.hpp"
#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/elements.cuh"
#include "ladder/memory/steps.hpp"

namespace warpfold::ladder::memory {

namespace {

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

    // Whether the device takes it; a texture of memory has to begin at an aligned address.
    [[nodiscard]] static bool is_possible(const cudaResourceDesc& what, const cudaTextureDesc& how) {
        cudaTextureObject_t handle = 0;
        const bool is_made = cudaCreateTextureObject(&handle, &what, &how, nullptr) == cudaSuccess;
        (void)(is_made ? cudaDestroyTextureObject(handle) : cudaGetLastError());
        return is_made;
    }

private:
    cudaTextureObject_t handle_ = 0;
};

void run_texture(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    cudaResourceDesc what{};
    what.resType = cudaResourceTypeLinear;
    what.res.linear.devPtr = const_cast<void*>(on.in[0]);
    what.res.linear.desc = cudaCreateChannelDesc<float>();
    what.res.linear.sizeInBytes = 3 * on.n * sizeof(float);
    cudaTextureDesc how{};
    how.readMode = cudaReadModeElementType;
    if (!texture::is_possible(what, how)) {
        what.res.linear.devPtr = on.scratch; // the beginning of an allocation
        WARPFOLD_CUDA_CHECK(
            cudaMemcpyAsync(on.scratch, on.in[0], what.res.linear.sizeInBytes, cudaMemcpyDeviceToDevice, on.stream));
    }
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

template <cudaTextureFilterMode Filter, cudaTextureAddressMode Outside>
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
    how.addressMode[0] = how.addressMode[1] = Outside;
    how.filterMode = Filter;
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

template <bool ReadOnly>
__device__ int read_of(const int* at) {
    return ReadOnly ? __ldg(at) : *at;
}

// Reads by __ldg what it has just written itself: the value of before, or its own. ptxas takes memory that is read so for
// unchanging: in the machine code of sm_75 to sm_90 both reads are one LDG.CONSTANT before the stores, also of volatile asm.
template <bool ReadOnly>
__global__ void read_what_is_written(int* out, int* values, const int* in, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        values[i] = in[i];
        const int before = read_of<ReadOnly>(&values[i]);
        values[i] = before + 1;
        out[i] = read_of<ReadOnly>(&values[i]);
    }
}

// The same in an order that ptxas has to keep: the store's address depends on the first load, that of the second load on a clock
// that is read after the store. `none` is 0. Then an old value can only come from a cache.
template <bool ReadOnly>
__global__ void read_in_order(int* out, int* values, const int* in, std::uint64_t n, unsigned none) {
    const std::uint64_t i = index();
    if (i < n) {
        const int before = read_of<ReadOnly>(&values[i]);
        int* const at = &values[i + (static_cast<unsigned>(before) & none)];
        asm volatile("st.global.s32 [%0], %1;" : : "l"(at), "r"(in[i] + 1) : "memory");
        unsigned time = 0;
        asm volatile("mov.u32 %0, %%clock;" : "=r"(time) : : "memory");
        out[i] = read_of<ReadOnly>(&values[i + (time & none)]);
    }
}

engine::sample one_more_twice(std::uint64_t n, std::uint64_t seed) {
    auto s = one_more(n, seed);
    const auto again = s.right;
    s.right.insert(s.right.end(), again.begin(), again.end());
    return s;
}

template <bool ReadOnly>
void run_stale(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    engine::launch(on, "read_what_is_written", read_what_is_written<ReadOnly>, blocks_for(on.n), threads, 0,
                   on.output<int>(), on.temporary<int>(), on.input<int>(), on.n);
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(on.scratch, 0, on.n * sizeof(int), on.stream));
    engine::launch(on, "read_in_order", read_in_order<ReadOnly>, blocks_for(on.n), threads, 0, on.output<int>() + on.n,
                   on.temporary<int>(), on.input<int>(), on.n, 0);
}

template <class Kernel>
auto copied_by(const char* name, Kernel kernel) {
    return [=](const engine::stage& on) {
        if (on.n != 0) {
            engine::launch(on, name, kernel, blocks_for(on.n), threads, 0, on.output<int>(), on.input<int>(), on.n);
        }
    };
}

// The load of each of the slides' kernels, as nvcc takes them: "ld.global.nc.u32".
struct loads_of_slides {
    std::string plain, restricted, by_ldg;
};
loads_of_slides compiled_loads() {
    const std::string& ptx = engine::ptx_of(R"(
extern "C" __global__ void plain(int* output, const int* input) { output[threadIdx.x] = input[threadIdx.x]; }
extern "C" __global__ void marked(int* __restrict__ output, const int* __restrict__ input) {
    output[threadIdx.x] = input[threadIdx.x];
}
extern "C" __global__ void intrinsic(int* output, int* input) { output[threadIdx.x] = __ldg(&input[threadIdx.x]); }
)");
    const auto load_of = [&](const char* kernel) {
        const auto at = ptx.find("ld.global", ptx.find(std::string("entry ") + kernel));
        return at == std::string::npos ? "" : ptx.substr(at, ptx.find_first_of(" \t", at) - at);
    };
    return {load_of("plain"), load_of("marked"), load_of("intrinsic")};
}

// `inner` with the loads that nvcc makes here. Refuted by plain pointers' load in every place.
engine::check compiled(verdict (*inner)(const loads_of_slides&)) {
    const engine::check check = [inner](const engine::evidence& e) {
        const auto* const given = e.given<loads_of_slides>();
        const auto loads = given != nullptr ? *given : compiled_loads();
        return loads.plain.empty() ? unseen("needs nvcc") : inner(loads);
    };
    return check.refuted_by(engine::planted("pointers that nothing is said of", [](engine::altered_evidence& e) {
        const std::string plain = compiled_loads().plain;
        e.figures = loads_of_slides{plain, plain, plain};
    }));
}

bool non_coherent(const std::string& load) { return load.find(".nc") != std::string::npos; }

verdict by_decoration(const loads_of_slides& loads) {
    return seen(non_coherent(loads.restricted) && !non_coherent(loads.plain),
                "plain pointers: " + loads.plain + "; const and __restrict__: " + loads.restricted);
}

verdict by_intrinsic(const loads_of_slides& loads) {
    return seen(non_coherent(loads.by_ldg), "__ldg() of a pointer without decoration: " + loads.by_ldg);
}

verdict texture_path(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    return seen(c.global_load_requests == 0,
                std::to_string(c.global_load_requests) + " loads of warps from global memory");
}

// Outputs of sample_between(): between two neighbours, then outside on both sides.
verdict interpolates(const engine::evidence& e) {
    const auto got = engine::view<float>(e.result);
    const auto in = engine::view<std::uint8_t>(e.data.in[0]);
    std::uint64_t between = 0;
    std::uint64_t halves = 0;
    std::uint64_t clamped = 0;
    for (std::uint64_t i = 0; i + 1 < e.n(); ++i) {
        between += in[i] != in[i + 1] ? 1 : 0;
        halves += in[i] != in[i + 1] && got[i] == 0.5f ? 1 : 0;
    }
    for (std::uint64_t i = 0; i < e.n(); ++i) {
        clamped += got[e.n() + i] == (in[i % 2 == 0 ? 0 : e.n() - 1] == 255 ? 1.0f : 0.0f) ? 1 : 0;
    }
    if (between == 0) {
        return unseen("needs neighbours that differ");
    }
    return seen(halves == between && clamped == e.n(),
                "bytes as 0 to 1: " + std::to_string(halves) + " of " + std::to_string(between) +
                    " reads between 0 and 255 give 1/2, " + std::to_string(clamped) + " of " + std::to_string(e.n()) +
                    " outside the nearest byte");
}

// Values of one of the two kernels that are not the ones just written.
engine::check old_values(std::size_t launch, std::string how) {
    const engine::check check = [=](const engine::evidence& e) {
        if (e.report.device.software) {
            return unseen("the software GPU has no caches, and no ptxas");
        }
        const auto got = engine::view<std::int32_t>(e.result).subspan(launch * e.n(), e.n());
        const auto right = engine::view<std::int32_t>(e.data.right).subspan(launch * e.n(), e.n());
        std::uint64_t old = 0;
        for (std::uint64_t i = 0; i < e.n(); ++i) {
            old += got[i] != right[i] ? 1 : 0;
        }
        return seen(old != 0, std::to_string(old) + " of " + std::to_string(e.n()) + " reads give an old value" + how);
    };
    return engine::launched(check).refuted_by(
        {.what = "ordinary loads in their place", .run = run_stale<false>, .change = [](engine::altered_evidence& e) {
             e.report.device.software = false;
         }});
}

constexpr const char* source = "ladder/memory/06_read_only.cu";
constexpr const char* slides = "380, Read-only Data Cache";

} // namespace

engine::step_definition restricted() {
    return {
        .about = {"restrict", "const and __restrict__", source, "pointers that promise the compiler no aliasing",
                  slides, false, "aligned"},
        .data = copy_of,
        .run = copied_by("copy_restricted", copy_restricted),
        .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
        .claims = {{"the compiler uses __ldg() where it detects that data is read-only: const and __restrict__ make "
                    "that likelier",
                    "380, Compute Capab. 3.x (Kepler, Part 2)", compiled(by_decoration)},
                   {"as fast as plain loads", "beyond the lectures", engine::at_most_times(1.05, "aligned")}}};
}

engine::step_definition by_ldg() {
    return {.about = {"ldg", "the __ldg() intrinsic", source, "requires no pointer decoration", slides},
            .data = copy_of,
            .run = copied_by("copy_by_ldg", copy_by_ldg),
            .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
            .claims = {{"using __ldg() intrinsic: requires no pointer decoration", slides, compiled(by_intrinsic)},
                       {"as fast as plain loads", "beyond the lectures", engine::at_most_times(1.05, "aligned")}}};
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
                        engine::counted(texture_path).refuted_by(engine::step_in_place("structures"))},
                       {"as long as lines survive in the cache, performance will be nearly optimal",
                        "380, Performance and Solutions", engine::at_most_times(1.2, "arrays")},
                       {"faster than the structures", "380, Performance and Solutions",
                        engine::faster_than("structures")}}};
}

engine::step_definition sampler() {
    return {.about = {"sampler", "what a texture does besides", source,
                      "bytes read as floats, between two of them, and outside", "380, Read-Only Cache Operation"},
            .data = black_and_white,
            .run = run_sampler<cudaFilterModeLinear, cudaAddressModeClamp>,
            .size = engine::at_most(4096),
            .claims = {{"additional functionality for texture objects: interpolation, clamping, type conversion",
                        "380, Read-Only Cache Operation",
                        engine::check(interpolates)
                            .refuted_by(engine::mutant("the nearest byte, and 0 outside",
                                                       run_sampler<cudaFilterModePoint, cudaAddressModeBorder>))}}};
}

engine::step_definition stale() {
    return {
        .about = {"stale", "__ldg of what the kernel writes", source, "a thread reads its own store that way", slides},
        .data = one_more_twice,
        .run = run_stale<true>,
        .scratch_bytes = [](std::uint64_t n) { return n * sizeof(int); },
        .expected = outcome::by_luck,
        .lesson = "ptxas may read before the store what the kernel writes, and a cache may keep the old value",
        .claims = {{"addresses must not be written by the same kernel", slides,
                    old_values(0, ": ptxas makes one load of both, before the stores")},
                   {"not coherent with writes", slides, old_values(1, " where the load has to follow the store")}}};
}

} // namespace warpfold::ladder::memory
