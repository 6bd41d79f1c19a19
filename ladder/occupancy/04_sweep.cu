// SPDX-License-Identifier: MIT
// Copy bandwidth over occupancy: threads on a multiprocessor, limited by the shared memory that their blocks ask for, times
// loads of a thread, times bytes of a load. (Parallel patterns "It is a common belief that", "How Can You Get 100KB From
// Threads?".)
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ladder/occupancy/definition/sweep.hpp"
#include "ladder/occupancy/device/copies.cuh"
#include "measure/device.hpp"
#include "measure/timer.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr unsigned block = 128;
constexpr std::size_t bytes_each = std::size_t{1} << 27; // read, and as many written

struct place {
    const measure::stream& on;
    measure::timer& clock;
    void* out;
    const void* in;
    unsigned multiprocessors;
    unsigned shared_of_a_multiprocessor, shared_of_a_block, reserved;
};

// So many blocks on each multiprocessor and no more: each takes its share of shared memory.
template <class Vector, unsigned Loads>
std::optional<sweep_point> measured(const place& at, unsigned blocks) {
    const unsigned share = at.shared_of_a_multiprocessor / blocks - at.reserved;
    const unsigned shared = std::min(share / 1024 * 1024, at.shared_of_a_block);
    const auto kernel = copy_in_flight<Vector, Loads>;
    WARPFOLD_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    int there = 0;
    WARPFOLD_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&there, kernel, static_cast<int>(block), shared));
    if (there < static_cast<int>(blocks)) {
        return std::nullopt;
    }
    const auto run = [&] {
        kernel<<<at.multiprocessors * blocks, block, shared, at.on.handle()>>>(
            static_cast<Vector*>(at.out), static_cast<const Vector*>(at.in), bytes_each / sizeof(Vector));
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
    };
    const auto time = at.clock.cold(run, {.samples = 5, .least = 3, .seconds = 0.05});
    return sweep_point{blocks * block, Loads, sizeof(Vector), 2 * bytes_each / time.median * 1e-9};
}

template <class Vector>
void sweep_loads(const place& at, unsigned blocks, std::vector<sweep_point>& to) {
    for (const auto& one : {measured<Vector, 1>(at, blocks), measured<Vector, 2>(at, blocks),
                            measured<Vector, 4>(at, blocks), measured<Vector, 8>(at, blocks)}) {
        if (one) {
            to.push_back(*one);
        }
    }
}

unsigned attribute(cudaDeviceAttr which) {
    int value = 0;
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
    return static_cast<unsigned>(value);
}

std::vector<sweep_point> sweep(const device_description& device) {
    std::vector<sweep_point> all;
    const measure::stream on;
    measure::timer clock(on, device.l2_bytes);
    const measure::device_memory in(bytes_each);
    const measure::device_memory out(bytes_each);
    WARPFOLD_CUDA_CHECK(cudaMemset(in.data(), 0x5a, bytes_each));
    const place at{on,
                   clock,
                   out.data(),
                   in.data(),
                   static_cast<unsigned>(device.multiprocessors),
                   attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                   attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
                   attribute(cudaDevAttrReservedSharedMemoryPerBlock)};
    for (const unsigned blocks : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u}) {
        sweep_loads<int>(at, blocks, all);
        sweep_loads<int2>(at, blocks, all);
        sweep_loads<int4>(at, blocks, all);
    }
    return all;
}

std::string bar(double share) {
    constexpr int width = 40;
    const int full = std::clamp(static_cast<int>(share * width + 0.5), 0, width);
    std::string text;
    for (int k = 0; k < full; ++k) {
        text += "█";
    }
    return text;
}

} // namespace

const std::vector<sweep_point>& measured_sweep(const device_description& device) {
    static const std::vector<sweep_point> all = sweep(device);
    return all;
}

std::vector<extra_table> sweep_tables(const device_description& device) {
    const auto& points = measured_sweep(device);
    extra_table rates{"Copy bandwidth over occupancy, GB/s read and written: bytes of a load x loads of a thread",
                      {"threads on a\nmultiprocessor"},
                      {}};
    for (const unsigned bytes : {4u, 8u, 16u}) {
        for (const unsigned loads : {1u, 2u, 4u, 8u}) {
            rates.head.push_back(std::to_string(bytes) + " B\nx " + std::to_string(loads));
        }
    }
    double most = 0;
    for (const auto& p : points) {
        most = std::max(most, p.gb_per_s);
        const std::string threads = std::to_string(p.threads);
        if (rates.rows.empty() || rates.rows.back().front() != threads) {
            rates.rows.push_back({threads});
        }
        rates.rows.back().push_back(number(p.gb_per_s, 0));
    }
    // The same by what it comes to: bytes under way.
    extra_table flight{
        "Copy bandwidth over bytes in flight on a multiprocessor: the least and the best of the shapes that "
        "have so many, and the best as a bar",
        {"bytes in\nflight", "shapes", "least\nGB/s", "best\nGB/s", "of the best of all"},
        {}};
    std::vector<unsigned> sizes;
    for (const auto& p : points) {
        sizes.push_back(p.in_flight());
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    for (const unsigned size : sizes) {
        double least = most;
        double best = 0;
        unsigned shapes = 0;
        for (const auto& p : points) {
            if (p.in_flight() == size) {
                least = std::min(least, p.gb_per_s);
                best = std::max(best, p.gb_per_s);
                ++shapes;
            }
        }
        flight.rows.push_back(
            {std::to_string(size), std::to_string(shapes), number(least, 0), number(best, 0), bar(best / most)});
    }
    return {rates, flight};
}

std::vector<extra_table> latency_tables(const device_description& device) {
    const auto& memory = measured_memory(device.l2_bytes);
    extra_table chase{
        "Latency of dependent loads over the bytes that they go through, cycles", {"KiB", "cycles", ""}, {}};
    for (const auto& p : memory.by_footprint) {
        chase.rows.push_back({std::to_string(p.bytes / 1024), number(p.cycles, 1), bar(p.cycles / memory.dram)});
    }
    const auto& t = measured_throughput();
    extra_table rate{"Multiply-adds of float32 a cycle on one multiprocessor, by warps and by chains of a thread",
                     {"warps", "1 chain", "2 chains", "4 chains", "1 chain, of the best"},
                     {}};
    for (std::size_t k = 0; k < t.warps.size(); ++k) {
        rate.rows.push_back({std::to_string(t.warps[k]), number(t.float32[k][0], 1), number(t.float32[k][1], 1),
                             number(t.float32[k][2], 1), bar(t.float32[k][0] / t.best())});
    }
    return {chase, rate};
}

} // namespace warpfold::ladder::occupancy
