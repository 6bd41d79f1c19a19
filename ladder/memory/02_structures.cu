// SPDX-License-Identifier: MIT
// Structures of 12 bytes: as they are; as three arrays; staged in shared memory; through the read-only cache; padded to 16.
// (380 "Structures of Non-Native Size", "Performance and Solutions", "Read-only Data Cache".)
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/elements.cuh"
#include "ladder/memory/steps.hpp"

namespace warpfold::ladder::memory {

namespace {

struct position {
    float x, y, z;
};
struct alignas(16) padded_position {
    float x, y, z, unused;
};

__global__ void of_structures(float* sums, const position* data, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        const position temp = data[i];
        sums[i] = temp.x + temp.y + temp.z;
    }
}

__global__ void of_arrays(float* sums, const float* x, const float* y, const float* z, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        sums[i] = x[i] + y[i] + z[i];
    }
}

// A block's structures come in as words in order; lane k then reads the three words from Stride k on.
template <unsigned Stride>
__global__ void of_staged(float* sums, const float* words, std::uint64_t n) {
    __shared__ float staged[Stride * threads];
    const std::uint64_t first = std::uint64_t{blockIdx.x} * 3 * threads;
    for (unsigned k = threadIdx.x; k < 3 * threads; k += threads) {
        if (first + k < 3 * n) {
            staged[Stride * (k / 3) + k % 3] = words[first + k];
        }
    }
    __syncthreads();
    const std::uint64_t i = index();
    if (i < n) {
        const float* const own = staged + Stride * threadIdx.x;
        sums[i] = own[0] + own[1] + own[2];
    }
}

__global__ void of_read_only(float* __restrict__ sums, const float* __restrict__ words, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        sums[i] = __ldg(&words[3 * i]) + __ldg(&words[3 * i + 1]) + __ldg(&words[3 * i + 2]);
    }
}

__global__ void of_padded(float* sums, const padded_position* data, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        const padded_position temp = data[i];
        sums[i] = temp.x + temp.y + temp.z;
    }
}

// Inputs: structures, x, y, z, padded structures. The sum of each.
engine::sample positions(std::uint64_t n, std::uint64_t seed) {
    const auto values = engine::numbers(3 * n, seed);
    std::vector<float> words(values.begin(), values.end());
    std::vector<float> each[3];
    std::vector<float> padded;
    std::vector<float> sums;
    for (std::uint64_t i = 0; i < n; ++i) {
        for (unsigned k = 0; k < 3; ++k) {
            each[k].push_back(words[3 * i + k]);
            padded.push_back(words[3 * i + k]);
        }
        padded.push_back(0);
        sums.push_back(words[3 * i] + words[3 * i + 1] + words[3 * i + 2]);
    }
    return {n,
            {engine::bytes_of(words), engine::bytes_of(each[0]), engine::bytes_of(each[1]), engine::bytes_of(each[2]),
             engine::bytes_of(padded)},
            engine::bytes_of(sums),
            engine::value_type::float32};
}

template <class... Parameters, class... Arguments>
void run_one(const engine::stage& on, const char* name, void (*kernel)(float*, Parameters...), Arguments... arguments) {
    if (on.n != 0) {
        engine::launch(on, name, kernel, blocks_for(on.n), threads, 0, on.output<float>(), arguments...);
    }
}

template <unsigned Stride>
void run_staged(const engine::stage& on) {
    run_one(on, "of_staged", of_staged<Stride>, on.input<float>(), on.n);
}

std::uint64_t needed(std::uint64_t n) { return 4 * n * sizeof(float); }

verdict three_loads(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    const double bytes = static_cast<double>(c.global_load_bytes) / static_cast<double>(32 * c.global_load_requests);
    return seen(c.global_load_requests == 3 * warps_of(e.n()) && bytes == 4,
                std::to_string(c.global_load_requests / warps_of(e.n())) + " loads a warp, of " + number(bytes, 0) +
                    " bytes a lane");
}

verdict at_a_stride_of_12(const engine::evidence& e) {
    const double here = engine::sectors_a_load(e.step.launches[0].total);
    return seen(here == 12,
                number(here, 0) + " segments of 32 bytes a load: addresses of " + number(32 * here, 0) + " bytes");
}

engine::check moved(double expected) {
    return full_warps([expected](const engine::evidence& e) {
        const double here = moved_for_each(e.step.launches[0].total);
        return seen(here == expected, number(here, 2) + " bytes moved for each that is loaded");
    });
}

// Three times the bytes in the time that was taken would be more than the memory can move: then caches keep what the first
// load of a segment has fetched for the other two.
verdict three_times_the_bytes(const engine::evidence& e) {
    if (!e.step.cold || !e.report.device.copy_gb_per_s) {
        return unseen("needs the caches and the clock of a GPU" +
                      (e.counted ? "; without caches " + number(moved_for_each(e.step.launches[0].total), 2) + "x"
                                 : std::string()));
    }
    const double rate = static_cast<double>(e.n()) * (3 * 12 + 4) / e.step.cold->high * 1e-9;
    return seen(rate < *e.report.device.copy_gb_per_s, "3x the bytes in the time taken would be " + number(rate, 0) +
                                                           " GB/s; this memory moves " +
                                                           number(*e.report.device.copy_gb_per_s, 0));
}

const auto time_of_an_h200 = engine::planted("an H200's time", [](engine::altered_evidence& e) {
    e.step.n = 1u << 24;
    e.report.device.copy_gb_per_s = 4257;
    e.step.cold = timing{.median = 69.6e-6, .low = 69e-6, .high = 71e-6, .samples = 31};
});

verdict one_load(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    return seen(c.global_load_requests == warps_of(e.n()), std::to_string(c.global_load_requests / warps_of(e.n())) +
                                                               " loads a warp, of " +
                                                               number(engine::sectors_a_load(c), 0) + " segments each");
}

verdict no_conflict(const engine::evidence& e) {
    const auto conflicts = engine::bank_conflicts(e.step.launches[0].total);
    return seen(conflicts == 0, std::to_string(conflicts) + " bank conflicts");
}

constexpr const char* source = "ladder/memory/02_structures.cu";
constexpr const char* section = "380, Performance and Solutions";
constexpr const char* native = "380, Structure of Non-Native Size";
constexpr const char* beyond = "beyond the lectures";
const auto structures_instead = engine::step_in_place("structures");

} // namespace

engine::step_definition structures() {
    return {.about = {"structures", "12-byte structures", source, "a structure of three floats for each thread",
                      "380, Structures of Non-Native Size"},
            .data = positions,
            .run =
                [](const engine::stage& on) {
                    run_one(on, "of_structures", of_structures, static_cast<const position*>(on.in[0]), on.n);
                },
            .least_bytes = needed,
            .claims = {{"the compiler converts it into 3 loads: each loads 4 bytes", native,
                        full_warps(three_loads).refuted_by(engine::step_in_place("padded"))},
                       {"successive threads read 4 bytes at 12-byte stride", native,
                        full_warps(at_a_stride_of_12).refuted_by(engine::step_in_place("arrays"))},
                       {"we end up moving 3x more bytes than the application requests", section,
                        engine::launched(three_times_the_bytes).refuted_by(time_of_an_h200)}}};
}

engine::step_definition structure_of_arrays() {
    return {.about = {"arrays", "structure of arrays", source, "three arrays of floats", section},
            .data = positions,
            .run =
                [](const engine::stage& on) {
                    run_one(on, "of_arrays", of_arrays, on.input<float>(1), on.input<float>(2), on.input<float>(3),
                            on.n);
                },
            .least_bytes = needed,
            .claims = {{"structure of arrays, the most reliable approach: every byte moved is used", section,
                        moved(1).refuted_by(structures_instead)},
                       {"faster than the structures", section, engine::faster_than("structures")}}};
}

engine::step_definition staged() {
    return {.about = {"staged", "staged in shared memory", source,
                      "the block loads words in order, threads pick theirs", section},
            .data = positions,
            .run = run_staged<3>,
            .least_bytes = needed,
            .claims = {{"stage loads via shared memory: every byte moved is used", section,
                        moved(1).refuted_by(structures_instead)},
                       {"you are fine if s is odd: a stride of 3 words has no bank conflicts", "759, Linear Addressing",
                        full_warps(no_conflict).refuted_by(engine::mutant("a stride of 4 words", run_staged<4>))},
                       {"faster than the structures", section, engine::faster_than("structures")}}};
}

engine::step_definition read_only() {
    return {.about = {"read-only", "through the read-only cache", source, "__ldg, const and __restrict__",
                      "380, Read-only Data Cache"},
            .data = positions,
            .run = [](const engine::stage& on) { run_one(on, "of_read_only", of_read_only, on.input<float>(), on.n); },
            .least_bytes = needed,
            .claims = {{"as long as lines survive in the cache, performance will be nearly optimal", section,
                        engine::at_most_times(1.2, "arrays")},
                       {"faster than the structures", section, engine::faster_than("structures")}}};
}

engine::step_definition padded_structures() {
    return {.about = {"padded", "structures padded to 16 bytes", source, "one load of 16 bytes, an unused word in each",
                      beyond},
            .data = positions,
            .run =
                [](const engine::stage& on) {
                    run_one(on, "of_padded", of_padded, static_cast<const padded_position*>(on.in[4]), on.n);
                },
            .least_bytes = needed,
            .claims = {{"a structure padded to 16 bytes is one load", beyond,
                        full_warps(one_load).refuted_by(structures_instead)},
                       {"faster than the structures", beyond, engine::faster_than("structures")}}};
}

} // namespace warpfold::ladder::memory
