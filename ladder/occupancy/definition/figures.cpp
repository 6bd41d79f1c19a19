// SPDX-License-Identifier: MIT
#include "ladder/occupancy/definition/figures.hpp"

#include <utility>

#include "measure/check.hpp"

namespace warpfold::ladder::occupancy {

namespace {

const figures* given(const engine::evidence& e) { return e.given<figures>(); }

figures of_an_h200() {
    figures f;
    f.arithmetic = {.float32 = 4.1, .float64 = 8.1, .int32 = 4.2, .modulo = 59.3, .special = 17, .shuffle = 24};
    f.memory.l1 = 32;
    f.memory.l2 = 280;
    f.memory.dram = 652;
    f.memory.again = {32, 283, 32, 283, 283, 32};
    f.memory.after_a_copy = {374, 661};
    f.memory.large_l1 = 32;
    f.memory.small_l1 = 285;
    f.memory.large_read_only = 32;
    f.memory.written = 32;
    f.memory.mapped = 47;
    f.on_chip = {.shared = 23,
                 .shared_two_way = 25,
                 .shared_worst = 85,
                 .constant = 28,
                 .shared_atomic = 36,
                 .global_atomic = 283,
                 .shared_atomic_rate = 4161e9,
                 .global_atomic_rate = 409e9};
    f.rate.warps = {1, 2, 4, 8, 12, 16, 24, 32};
    f.rate.chains = {1, 2, 4};
    f.rate.float32 = {{7.8, 15.4, 30.2},  {15.5, 30.8, 60.5},  {31, 61.6, 118.5},     {61.5, 120.2, 125.7},
                      {91.1, 124, 125.9}, {118.4, 124, 126.2}, {118.5, 122.6, 125.7}, {119, 119.5, 125.7}};
    f.rate.int32 = f.rate.float64 = 64;
    f.rate.special = 16;
    f.rate.shuffle = 32;
    f.rate.shared_bytes = 127;
    f.launch = {4.3e-6, 4.3e-6};
    f.clock_hz = 1980e6;
    return f;
}

} // namespace

const arithmetic_latencies& arithmetic_of(const engine::evidence& e) {
    return given(e) != nullptr ? given(e)->arithmetic : measured_arithmetic();
}
const memory_latencies& memory_of(const engine::evidence& e) {
    return given(e) != nullptr ? given(e)->memory : measured_memory(e.report.device.l2_bytes);
}
const on_chip_latencies& on_chip_of(const engine::evidence& e) {
    return given(e) != nullptr ? given(e)->on_chip : measured_on_chip();
}
const throughput& rate_of(const engine::evidence& e) {
    return given(e) != nullptr ? given(e)->rate : measured_throughput();
}
const launch_overhead& launch_of(const engine::evidence& e) {
    return given(e) != nullptr ? given(e)->launch : measured_launch();
}

double clock_of(const engine::evidence& e) {
    if (given(e) != nullptr) {
        return given(e)->clock_hz;
    }
    int khz = 0;
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device));
    return khz * 1e3;
}

engine::counterexample h200_with(std::string what, void (*change)(figures&)) {
    return engine::planted(std::move(what), [change](engine::altered_evidence& e) {
        figures f = of_an_h200();
        change(f);
        e.figures = std::move(f);
        e.report.device.read_gb_per_s = 4558;
        e.report.device.multiprocessors = 132;
    });
}

engine::counterexample an_h200() {
    return h200_with("the figures of an H200", [](figures&) {});
}

} // namespace warpfold::ladder::occupancy
