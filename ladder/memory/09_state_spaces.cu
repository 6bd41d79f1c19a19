// SPDX-License-Identifier: MIT
// The state spaces of PTX: which are there before a kernel begins, who shares them, what can be written; and memory of the
// host that the device reads in place. (380 "PTX State Spaces", "Access Path", "Memory and Cache Types".)
#include <algorithm>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/steps.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::memory {

namespace {

constexpr unsigned words = 64;
__device__ int global_words[words];     // no initialiser
__constant__ int constant_words[words]; // none either
__device__ int global_given = 587;
__constant__ int constant_given = 759;

// out[0 .. words): the sum of unwritten words in .global and .const; then the four others below.
__global__ void look(int* out) {
    if (threadIdx.x < words) {
        out[threadIdx.x] = global_words[threadIdx.x] + constant_words[threadIdx.x];
    }
    if (threadIdx.x == 0) {
        out[words] = global_given;
        out[words + 1] = constant_given;
    }
}

// A parameter whose address is taken: each thread writes to a copy of its own.
struct parameter {
    int values[8];
};
__device__ __noinline__ int write_through(int* values, unsigned at) {
    values[at % 8] += 1;
    return values[at % 8] + values[(at + 1) % 8];
}
__global__ void take_address(int* out, parameter p, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        out[i] = write_through(p.values, static_cast<unsigned>(i));
    }
}

constexpr parameter given{{1, 2, 3, 4, 5, 6, 7, 8}};

engine::sample spaces(std::uint64_t n, std::uint64_t /*seed*/) {
    std::vector<std::int32_t> right(words, 0);
    right.push_back(587);
    right.push_back(759);
    for (std::uint64_t i = 0; i < n; ++i) {
        right.push_back(given.values[i % 8] + 1 + given.values[(i + 1) % 8]);
    }
    return {n, {}, engine::bytes_of(right)};
}

void run_spaces(const engine::stage& on) {
    engine::launch(on, "look", look, 1, words, 0, on.output<int>());
    if (on.n != 0) {
        engine::launch(on, "take_address", take_address, blocks_for(on.n), threads, 0, on.output<int>() + words + 2,
                       given, on.n);
    }
}

verdict begin_as_zero(const engine::evidence& e) {
    const auto all = engine::view<std::int32_t>(e.result);
    const bool zero = std::all_of(all.begin(), all.begin() + words, [](std::int32_t x) { return x == 0; });
    return seen(zero, std::to_string(words) + " words of each that nothing is said of: " +
                          (zero ? "all 0" : "not all 0") + "; " + std::to_string(all[words]) + " and " +
                          std::to_string(all[words + 1]) + " where an initialiser stands");
}

verdict in_local_memory(const engine::evidence& e) {
    if (e.step.launches.size() < 2) {
        return unseen("needs an element");
    }
    const auto& c = e.step.launches[1].total;
    return seen(c.local_load_requests > 0 && c.local_store_requests > 0,
                std::to_string(c.local_load_requests) + " loads and " + std::to_string(c.local_store_requests) +
                    " stores of local memory: every thread writes to its own copy");
}

// Memory of the host, mapped: read where it lies.
__global__ void copy_mapped(int* out, const int* in, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        out[i] = in[i];
    }
}

struct mapped_memory {
    explicit mapped_memory(std::size_t bytes) {
        WARPFOLD_CUDA_CHECK(cudaHostAlloc(&host, bytes, cudaHostAllocMapped));
        WARPFOLD_CUDA_CHECK(cudaHostGetDevicePointer(&device, host, 0));
    }
    mapped_memory(const mapped_memory&) = delete;
    mapped_memory& operator=(const mapped_memory&) = delete;
    ~mapped_memory() { (void)cudaFreeHost(host); }
    void* host = nullptr;
    void* device = nullptr;
};

std::shared_ptr<void> make_mapped(const engine::stage& on) {
    auto memory = std::make_shared<mapped_memory>(std::max<std::size_t>(on.n * sizeof(int), sizeof(int)));
    if (on.n != 0) {
        std::memcpy(memory->host, on.data->in[0].data(), on.n * sizeof(int));
    }
    return memory;
}

void run_mapped(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "copy_mapped", copy_mapped, blocks_for(on.n), threads, 0, on.output<int>(),
                       static_cast<const int*>(static_cast<mapped_memory*>(on.kept)->device), on.n);
    }
}

struct managed_memory {
    explicit managed_memory(std::size_t bytes) { WARPFOLD_CUDA_CHECK(cudaMallocManaged(&both, bytes)); }
    managed_memory(const managed_memory&) = delete;
    managed_memory& operator=(const managed_memory&) = delete;
    ~managed_memory() { (void)cudaFree(both); }
    void* both = nullptr;
};

__global__ void add_one(int* values, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        values[i] += 1;
    }
}

std::shared_ptr<void> make_managed(const engine::stage& on) {
    return std::make_shared<managed_memory>(std::max<std::size_t>(on.n * sizeof(int), sizeof(int)));
}

// The host writes, the device adds 1, the host reads, by the same pointer.
template <bool Shared> // by host and device
void run_managed(const engine::stage& on) {
    if (on.n != 0) {
        int* const values = static_cast<int*>(static_cast<managed_memory*>(on.kept)->both);
        WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream)); // an earlier run may be at it
        std::memcpy(values, on.data->in[0].data(), on.n * sizeof(int));
        engine::launch(on, "add_one", add_one, blocks_for(on.n), threads, 0, Shared ? values : on.output<int>(), on.n);
    }
}

engine::bytes read_managed(const engine::stage& on) {
    engine::bytes out(on.n * sizeof(int));
    if (on.n != 0) {
        std::memcpy(out.data(), static_cast<managed_memory*>(on.kept)->both, out.size());
    }
    return out;
}

verdict shared_by_both(const engine::evidence& e) {
    const auto in = engine::view<std::int32_t>(e.data.in[0]);
    const auto got = engine::view<std::int32_t>(e.result);
    std::uint64_t added = 0;
    for (std::uint64_t i = 0; i < e.n(); ++i) {
        added += got[i] == in[i] + 1 ? 1 : 0;
    }
    return seen(added == e.n(), "the host finds " + std::to_string(added) + " of " + std::to_string(e.n()) +
                                    " words that it wrote with the device's 1 added, without a copy");
}

verdict by_the_bus(const engine::evidence& e) {
    const step_result* const other = e.other("aligned");
    if (!e.step.cold || other == nullptr || !other->cold) {
        return unseen("needs times, so a GPU");
    }
    const double here = static_cast<double>(e.n() * sizeof(int)) / e.step.cold->median * 1e-9;
    const double there = static_cast<double>(other->n * sizeof(int)) / other->cold->median * 1e-9;
    return seen(here < there / 4,
                number(here, 1) + " GB/s read from the host's memory, " + number(there, 0) + " GB/s in step aligned");
}

constexpr const char* source = "ladder/memory/09_state_spaces.cu";
constexpr const char* section = "380, PTX State Spaces (2)";
const auto word_not_zero = engine::planted(
    "a word that is not 0", [](engine::altered_evidence& e) { e.result[3 * sizeof(int)] = std::byte{7}; });
const auto as_fast_as_memory = engine::planted("the rate of step aligned", [](engine::altered_evidence& e) {
    e.other("aligned").cold = e.step.cold = timing{.median = 1e-5, .low = 0.9e-5, .high = 1.1e-5, .samples = 31};
    e.step.n = e.other("aligned").n;
});

} // namespace

engine::step_definition state_spaces() {
    return {.about = {"state spaces", "the state spaces of PTX", source,
                      ".global and .const without and with initialisers, .param whose address is taken", section},
            .data = spaces,
            .run = run_spaces,
            .claims = {{"variables in .const and .global state spaces are initialized to zero by default", section,
                        engine::check(begin_as_zero).refuted_by(word_not_zero)},
                       {"a parameter whose address is taken is in the .local state space", section,
                        engine::counted(in_local_memory).refuted_by(engine::step_in_place("misaligned"))}}};
}

engine::step_definition managed_memory_shared() {
    return {.about = {"managed", "unified memory", source, "host and device use one pointer",
                      "380, Memory and Cache Types"},
            .data = one_more,
            .run = run_managed<true>,
            .prepare = make_managed,
            .collect = read_managed,
            .size = engine::at_most(1u << 20),
            .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
            .claims = {{"unified memory programming: device/host memory sharing", "380, Memory and Cache Types",
                        engine::launched(shared_by_both)
                            .refuted_by(engine::mutant("a kernel that gets other memory", run_managed<false>))}}};
}

engine::step_definition mapped_host_memory() {
    return {
        .about = {"mapped", "mapped memory of the host", source, "a kernel reads the host's memory in place",
                  "380, Access Path"},
        .data = copy_of,
        .run = run_mapped,
        .prepare = make_mapped,
        .size = engine::at_most(1u << 20),
        .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
        .claims = {{"minimize data transfers with low bandwidth: host and device",
                    "Parallel patterns, How about memory?", engine::check(by_the_bus).refuted_by(as_fast_as_memory)}}};
}

} // namespace warpfold::ladder::memory
