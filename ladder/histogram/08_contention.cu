// SPDX-License-Identifier: MIT
// Histogram, contention: three ways to count bytes (global atomics, private copies, warp-aggregated), each on five mixtures
// from uniform bytes to all the same, a step each, so that each has a time. (Parallel patterns "Implementation 3": "All
// threads perform their atomic operations serially on the same location".)
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "ladder/histogram/aggregated.cuh"
#include "ladder/histogram/private.cuh"

namespace warpfold::ladder::histogram {

namespace {

__global__ void count_bytes_globally(const unsigned char* buffer, std::uint64_t size, int* histo) {
    const std::uint64_t stride = std::uint64_t{blockDim.x} * gridDim.x;
    for (std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x; i < size; i += stride) {
        atomicAdd(&histo[buffer[i]], 1);
    }
}

using counters = engine::counters;
using kernel = void (*)(const unsigned char*, std::uint64_t, int*);

struct way_to_count {
    const char* letter; // of the steps' ids
    const char* name;
    const char* kernel_name;
    kernel count;
};
const way_to_count ways[] = {{"g", "global atomics", "count_bytes_globally", count_bytes_globally},
                             {"p", "private copies", "count_bytes_privately", count_bytes_privately},
                             {"a", "warp-aggregated", "count_bytes_aggregated", count_bytes_aggregated}};

template <unsigned Percent>
engine::sample mixed(std::uint64_t n, std::uint64_t seed) {
    return mixed_bytes(n, seed, Percent);
}

struct mixture_of_bytes {
    const char* percent; // of bytes that are the same
    engine::data_function make;
};
constexpr mixture_of_bytes mixtures[] = {
    {"0", mixed<0>}, {"25", mixed<25>}, {"50", mixed<50>}, {"75", mixed<75>}, {"100", mixed<100>}};
constexpr std::size_t few = 1000;

// What `of` gives of each mixture before this step's, the way with that letter, and of this step; empty where one is missing.
std::vector<double> from_uniform_on(const engine::evidence& e, const std::string& letter,
                                    const std::function<double(const step_result&)>& of) {
    std::vector<double> values;
    for (const auto& m : mixtures) {
        if (std::string(m.percent) == "100") {
            values.push_back(of(e.step));
        } else if (const step_result* const other = e.other(letter + m.percent); other != nullptr) {
            values.push_back(of(*other));
        } else {
            return {};
        }
    }
    return values;
}

engine::check by_mixture(const char* letter, double (*of)(const step_result&),
                         bool (*holds)(const std::vector<double>&), std::string what, int decimals) {
    return engine::counted([=, what = std::move(what)](const engine::evidence& e) {
        if (e.n() < few) {
            return unseen("needs many bytes");
        }
        const auto values = from_uniform_on(e, letter, of);
        return values.empty() ? unseen("needs the other mixtures in the same run")
                              : seen(holds(values), what + ": " + list(values, decimals) +
                                                        ", with 0, 25, 50, 75 and 100 % of the bytes the same");
    });
}

double most_at_one_bin(const step_result& s) {
    return static_cast<double>(s.launches[0].total.atomic_worst_multiplicity);
}
double passes(const step_result& s) {
    return static_cast<double>(s.launches[0].total.shared_atomic_wavefronts) / static_cast<double>(s.n);
}
double atomics(const step_result& s) {
    return static_cast<double>(s.launches[0].total.shared_atomic_lanes) / static_cast<double>(s.n);
}

// Slower than uniform bytes.
verdict loses_time(const engine::evidence& e) {
    const step_result* const uniform = e.other("g0");
    if (!e.step.cold || uniform == nullptr || !uniform->cold) {
        return unseen("needs times, so a GPU");
    }
    const auto times = from_uniform_on(e, "g", [](const step_result& s) { return s.cold ? s.cold->median * 1e6 : 0; });
    return engine::shorter(*uniform->cold, *e.step.cold,
                           list(times, 1) + " µs with 0, 25, 50, 75 and 100 % of the bytes the same: " +
                               number(e.step.cold->median / uniform->cold->median, 2) + "x from the first to the last");
}

engine::counterexample half_the_time() {
    return engine::planted("half the time of uniform bytes", [](engine::altered_evidence& e) {
        for (const auto& m : mixtures) {
            e.other(std::string("g") + m.percent).cold = timing{.median = 2, .low = 1.9, .high = 2.1, .samples = 31};
        }
        e.step.cold = timing{.median = 1, .low = 0.9, .high = 1.1, .samples = 31};
    });
}

// Against the mixture before: `of` is larger here, or smaller where the way gains by equal bytes.
engine::claim_check against(const std::string& before, const std::string& what, double (*of)(const step_result&),
                            bool larger) {
    const auto differs = [=](const engine::evidence& e, const step_result& other) {
        if (e.n() < few) {
            return unseen("needs many bytes");
        }
        return seen(larger ? of(e.step) > of(other) : of(e.step) < of(other),
                    number(of(e.step), 3) + " " + what + ", " + number(of(other), 3) + " in step " + before);
    };
    return {(larger ? "more " : "fewer ") + what + " than in step " + before, "beyond the lectures",
            engine::compared(before, differs)};
}

// The claim of every mixture but the first.
engine::claim_check more_than_before(const std::string& letter, const std::string& before) {
    if (letter == "g") {
        return against(before, "lanes at one bin", most_at_one_bin, true);
    }
    return letter == "p" ? against(before, "passes of shared memory a byte", passes, true)
                         : against(before, "atomic operations a byte", atomics, false);
}

std::vector<engine::claim_check> claims_of(const std::string& id) {
    constexpr const char* section = "Parallel patterns, Implementation 3";
    if (id == "g100") {
        return {{"any other threads that attempt an atomic operation on the same location will typically be held in a "
                 "queue",
                 section,
                 by_mixture(
                     "g", most_at_one_bin, [](const auto& v) { return v.back() == 32 && v.front() < 32; },
                     "most lanes of a warp at one bin", 0)
                     .refuted_by(engine::step_in_place("g0"))},
                {"performance loss due to serialization", "Parallel patterns, Evaluation of Implementation 3",
                 engine::check(loses_time).refuted_by(half_the_time())}};
    }
    if (id == "p100") {
        return {{"all threads perform their atomic operations serially on the same location: in shared memory too",
                 section,
                 by_mixture(
                     "p", passes,
                     [](const auto& v) { return std::is_sorted(v.begin(), v.end()) && v.back() > 4 * v.front(); },
                     "passes of shared memory for each byte", 3)
                     .refuted_by(engine::step_in_place("p0"))},
                {"faster than global atomics on the same bytes", "beyond the lectures", engine::faster_than("g100")}};
    }
    if (id == "a100") {
        return {{"warp aggregation turns the worst case into the best", "beyond the lectures",
                 by_mixture(
                     "a", atomics, [](const auto& v) { return v.back() < 0.05 && v.back() < v.front(); },
                     "atomic operations for each byte", 3)
                     .refuted_by(engine::step_in_place("p100"))},
                {"faster than private copies on the same bytes", "beyond the lectures", engine::faster_than("p100")}};
    }
    return {};
}

} // namespace

std::vector<engine::step_definition> contention() {
    std::vector<engine::step_definition> steps;
    for (const way_to_count& way : ways) {
        std::string before;
        for (const mixture_of_bytes& m : mixtures) {
            const std::string id = std::string(way.letter) + m.percent;
            auto claims = claims_of(id);
            if (!before.empty()) {
                claims.push_back(more_than_before(way.letter, before));
            }
            before = id;
            engine::step_definition& step = steps.emplace_back();
            step.about.id = id;
            step.about.title = std::string(way.name) + ", " + m.percent + " % the same";
            step.about.source = "ladder/histogram/08_contention.cu";
            step.about.idea = "the more bytes are the same, the longer the queue at their bin";
            step.about.lecture = "Parallel patterns, Implementation 3";
            step.about.follows = id == "g0" ? "5" : "";
            step.data = m.make;
            step.run = [way](const engine::stage& on) {
                clear(on, byte_bins);
                engine::launch(on, way.kernel_name, way.count, blocks_of(on), threads, 0, on.input<unsigned char>(),
                               on.n, on.output<int>());
            };
            step.least_bytes = [](std::uint64_t n) { return n; };
            step.claims = std::move(claims);
        }
    }
    return steps;
}

} // namespace warpfold::ladder::histogram
