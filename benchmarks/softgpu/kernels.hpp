// SPDX-License-Identifier: MIT
// The kernels of kernels.ptx, with launch shapes and data.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/check/session.hpp"
#include "softgpu/machine/launch.hpp"
#include "softgpu/machine/texture.hpp"

namespace softgpu::bench {

// A device memory with the kernels and their data.
class gpu {
public:
    static constexpr std::size_t n = 1u << 20;

    // checks: what is looked at (softgpu/check/findings/checks.hpp), 0: nothing.
    explicit gpu(check::check_set checks = 0) : checks_(checks) {
        if (checks != 0) {
            session_.emplace(checks, found_, memory_);
        }
        std::ifstream file(SOFTGPU_KERNELS_PTX);
        kernels_.emplace(std::string(std::istreambuf_iterator<char>(file), {}), memory_);
        for (std::uint64_t& b : buffer) {
            b = memory_.allocate(n * 4, memory::allocation_kind::device);
            auto* const words = reinterpret_cast<std::uint32_t*>(b);
            for (std::size_t i = 0; i < n; ++i) {
                // Floats in [0.5, 1): subnormal numbers would take the processor's slow path.
                words[i] = 0x3F000000u | static_cast<std::uint32_t>(i * 2654435761u) >> 9;
            }
            if (session_) {
                session_->written(b, n * 4);
            }
        }
    }

    // The handle of the first buffer as a texture of 2^20 / channels floats or vectors of floats, filtered where linear.
    std::uint64_t image(std::uint8_t channels, bool linear) {
        auto& handle = images_[channels == 4 ? 1 : 0][linear ? 1 : 0];
        if (handle == 0) {
            handle = memory_.allocate(sizeof(machine::texture_descriptor), memory::allocation_kind::texture);
            auto* const t = new (reinterpret_cast<void*>(handle)) machine::texture_descriptor;
            t->data = buffer[0];
            t->width = channels == 4 ? 512 : 1024;
            t->height = t->width;
            t->row_bytes = std::uint64_t{t->width} * channels * 4;
            t->channels = channels;
            t->linear = linear;
            if (session_) {
                session_->written(handle, sizeof(machine::texture_descriptor));
            }
        }
        return handle;
    }

    struct shape {
        machine::extent grid, block;
        std::uint32_t shared = 0;
        unsigned workers = 1;
        bool count = true;
    };
    template <class... Arguments>
    machine::launch_result launch(const char* name, const shape& how, Arguments... arguments) {
        const machine::kernel* const k = kernels_->find_kernel(name);
        if (k == nullptr) {
            machine::launch_result none;
            none.error = {machine::fault_kind::unsupported, "no such kernel"};
            return none;
        }
        const machine::kernel_facts& facts = kernels_->facts(*k);
        std::vector<std::byte> parameters(facts.parameter_bytes);
        std::size_t at = 0;
        const auto put = [&](const auto& argument) {
            std::memcpy(parameters.data() + facts.parameter_offsets[at], &argument, facts.parameter_sizes[at]);
            ++at;
        };
        (put(arguments), ...);
        machine::launch_request request;
        request.grid = how.grid;
        request.block = how.block;
        request.dynamic_shared_bytes = how.shared;
        request.parameters = parameters.data();
        request.workers = how.workers;
        request.count = how.count;
        request.checks = session_ ? &*session_ : nullptr;
        return machine::launch(*kernels_, *k, request);
    }
    // Discards the findings so far.
    [[nodiscard]] std::vector<check::finding> findings() { return found_.take(); }

    std::uint64_t buffer[3] = {};

private:
    check::check_set checks_;
    memory::device_memory memory_{1ull << 32};
    check::findings found_;
    std::optional<check::session> session_;
    std::optional<machine::module> kernels_;
    std::uint64_t images_[2][2] = {};
};

// One of the kernels on a gpu.
struct workload {
    std::string name;
    machine::launch_result (*run)(gpu& g, unsigned workers, bool count);
};

template <unsigned Block>
machine::launch_result run_tree(const char* kernel, gpu& g, unsigned workers, bool count) {
    return g.launch(kernel, {{static_cast<std::uint32_t>(gpu::n / Block)}, {Block}, Block * 4, workers, count},
                    g.buffer[0], g.buffer[1], std::uint64_t{gpu::n});
}
template <unsigned Stride>
machine::launch_result run_gather(gpu& g, unsigned workers, bool count) {
    return g.launch("gather", {{gpu::n / 256}, {256}, 0, workers, count}, g.buffer[0], g.buffer[1],
                    std::uint64_t{gpu::n}, Stride);
}

template <std::uint8_t Channels, bool Linear>
machine::launch_result run_texture(gpu& g, unsigned workers, bool count) {
    return g.launch(Channels == 4 ? "texture_four" : "texture_one", {{256}, {256}, 0, workers, count},
                    g.image(Channels, Linear), g.buffer[1]);
}

inline const std::vector<workload>& workloads() {
    using result = machine::launch_result;
    static const std::vector<workload> all{
        {"tree/modulo_128", [](gpu& g, unsigned w, bool c) -> result { return run_tree<128>("tree_modulo", g, w, c); }},
        {"tree/strided_128",
         [](gpu& g, unsigned w, bool c) -> result { return run_tree<128>("tree_strided", g, w, c); }},
        {"tree/sequential_128",
         [](gpu& g, unsigned w, bool c) -> result { return run_tree<128>("tree_sequential", g, w, c); }},
        {"tree/modulo_1024",
         [](gpu& g, unsigned w, bool c) -> result { return run_tree<1024>("tree_modulo", g, w, c); }},
        {"tree/sequential_1024",
         [](gpu& g, unsigned w, bool c) -> result { return run_tree<1024>("tree_sequential", g, w, c); }},
        {"shuffles",
         [](gpu& g, unsigned w, bool c) -> result {
             return g.launch("shuffles", {{64}, {256}, 0, w, c}, g.buffer[0], g.buffer[1], std::uint64_t{gpu::n});
         }},
        {"polynomial",
         [](gpu& g, unsigned w, bool c) -> result {
             return g.launch("polynomial", {{gpu::n / 256}, {256}, 0, w, c}, g.buffer[0], g.buffer[1],
                             std::uint64_t{gpu::n});
         }},
        {"gather/stride_1", run_gather<1>},
        {"gather/stride_33", run_gather<33>},
        {"matmul",
         [](gpu& g, unsigned w, bool c) -> result {
             return g.launch("matmul", {{16, 16}, {16, 16}, 0, w, c}, g.buffer[0], g.buffer[1], g.buffer[2], 256);
         }},
        {"structures",
         [](gpu& g, unsigned w, bool c) -> result {
             return g.launch("structures", {{gpu::n / 256}, {256}, 0, w, c}, g.buffer[0], g.buffer[1],
                             std::uint64_t{gpu::n});
         }},
        {"byte_counters",
         [](gpu& g, unsigned w, bool c) -> result {
             return g.launch("byte_counters", {{256}, {64}, 0, w, c}, g.buffer[0], g.buffer[1], 64u);
         }},
        {"scatter",
         [](gpu& g, unsigned w, bool c) -> result {
             return g.launch("scatter", {{gpu::n / 2048}, {1024}, 0, w, c}, g.buffer[0], g.buffer[1],
                             std::uint64_t{gpu::n});
         }},
        {"directed",
         [](gpu& g, unsigned w, bool c) -> result {
             return g.launch("directed", {{gpu::n / 1024}, {256}, 0, w, c}, g.buffer[0], g.buffer[1],
                             std::uint64_t{gpu::n});
         }},
        {"barrier/arrive_wait",
         [](gpu& g, unsigned w, bool c) -> result {
             return g.launch("arrive_wait", {{32}, {256}, 0, w, c}, g.buffer[0], g.buffer[1], 128u);
         }},
        {"barrier/producer_consumer",
         [](gpu& g, unsigned w, bool c) -> result {
             return g.launch("producer_consumer", {{32}, {256}, 0, w, c}, g.buffer[0], g.buffer[1], 200u);
         }},
        {"texture/nearest", run_texture<1, false>},
        {"texture/linear", run_texture<1, true>},
        {"texture/nearest_4", run_texture<4, false>},
        {"texture/linear_4", run_texture<4, true>},
    };
    return all;
}

} // namespace softgpu::bench
