// SPDX-License-Identifier: MIT
// The rounds of a step, one launch after the other, until one value is left.
#include "ladder/reduce/runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ladder/observe.hpp"
#include "ladder/visit.hpp"

namespace warpfold::ladder::reduce {

namespace {

constexpr measure::effort host_effort{.samples = 9, .least = 3, .seconds = 2.0};

std::uint64_t blocks_of(const step_definition& step, const bench& on, std::uint64_t n, unsigned round) {
    return std::max<std::uint64_t>(step.blocks(on.device, n, round), 1);
}

} // namespace

std::string runner::why_not(const bench& on, const step_definition& step) {
    const std::uint64_t n = on.request.n;
    if (!step.on_device || n == 0) {
        return {};
    }
    const std::uint64_t blocks = blocks_of(step, on, n, 0);
    if (blocks > most_blocks) {
        return "needs " + std::to_string(blocks) + " blocks, and a grid takes 2147483647";
    }
    if (!step.one_launch && on.request.finish_on == finish::device && n > 1 && blocks >= n) {
        return "blocks of one thread leave as many values as they take";
    }
    return {};
}

runner::runner(const bench& on, const step_definition& step) : bench_(on), step_(step) {
    const std::uint64_t n = on.request.n;
    context_.stream = on.stream.handle();
    context_.device = on.device;
    if (!step.on_device || n == 0) {
        return;
    }
    const auto type = static_cast<std::size_t>(on.request.type);
    const auto op = static_cast<std::size_t>(on.request.op);
    if (const workspace_function needed = step.workspace[type][op]; needed != nullptr) {
        workspace_ = measure::device_memory(std::max<std::size_t>(needed(on.device, n), 1));
        WARPFOLD_CUDA_CHECK(cudaMemsetAsync(workspace_.data(), 0, workspace_.bytes(), context_.stream));
        context_.workspace = workspace_.data();
        context_.workspace_bytes = workspace_.bytes();
    }
    const std::uint64_t left = step.one_launch ? 1 : blocks_of(step, on, n, 0);
    partial_[0] = measure::device_memory(left * bytes_of(on.request.type));
    if (left > 1) {
        partial_[1] = measure::device_memory(blocks_of(step, on, left, 1) * bytes_of(on.request.type));
    }
}

runner::outcome runner::enqueue() {
    const auto& request = bench_.request;
    const round_function round_of =
        step_.rounds[static_cast<std::size_t>(request.type)][static_cast<std::size_t>(request.op)];
    outcome at{step_.on_device ? bench_.device_data : bench_.host_data, request.n, 0};
    if (request.n == 0) {
        return {nullptr, 0, 0};
    }
    unsigned round = 0;
    do {
        context_.blocks = blocks_of(step_, bench_, at.count, round);
        void* const out = step_.delivers_on_host ? &host_value_ : partial_[round % 2].data();
        round_of(context_, at.values, at.count, out);
        at.height += step_.height(bench_.device, at.count, round);
        at.count = step_.one_launch ? 1 : context_.blocks;
        at.values = out;
        ++round;
    } while (at.count > 1 && request.finish_on == finish::device);
    return at;
}

void runner::run_once(reduce_step& out) {
    const auto& request = bench_.request;
    std::vector<softgpu::observe::launch_record> noted;
    context_.launches = bench_.software ? nullptr : &noted;
    outcome at;
    std::vector<std::byte> values;
    {
        const launch_watch watch(bench_.software ? &noted : nullptr);
        at = enqueue();
        values.resize(std::max<std::uint64_t>(at.count, 1) * bytes_of(request.type));
        bench_.stream.synchronize();
    }
    context_.launches = nullptr;
    if (at.count != 0 && step_.delivers_on_host) {
        std::memcpy(values.data(), at.values, bytes_of(request.type));
    } else if (at.count != 0) {
        WARPFOLD_CUDA_CHECK(
            cudaMemcpy(values.data(), at.values, at.count * bytes_of(request.type), cudaMemcpyDeviceToHost));
    }
    if (bench_.software && !request.count) {
        for (auto& launch : noted) {
            launch.total = {};
            launch.by_interval.clear();
        }
    }
    out.launches = std::move(noted);
    out.result = fold_on_host(request.type, request.op, values.data(), at.count);
    out.expected = bench_.right.expected;
    // What the host still had to fold, in long double; see fold_on_host.
    if (at.count > 1) {
        at.height += 2 + at.count / 1024;
    }
    out.tolerance = tolerance_of(bench_.right, at.height, step_.accumulates_in_double);
    out.correct = agrees(bench_.right, out.result, out.tolerance);
}

void runner::time(reduce_step& out) {
    if (bench_.clock == nullptr || bench_.request.n == 0) {
        return;
    }
    if (!step_.on_device) {
        return time_on_host(out);
    }
    const measure::effort how{.samples = bench_.request.samples, .least = 5, .seconds = 2.0};
    const auto as_timing = [](const measure::summary& s) {
        return timing{s.median, s.low, s.high, static_cast<unsigned>(s.samples)};
    };
    out.cold = as_timing(bench_.clock->cold([&] { enqueue(); }, how));
    out.warm = as_timing(bench_.clock->warm([&] { enqueue(); }, how));
}

void runner::time_on_host(reduce_step& out) {
    using clock = std::chrono::steady_clock;
    // More than the last-level caches of today's hosts hold.
    std::vector<unsigned char> evictor(std::size_t{512} << 20);
    const auto measure_with = [&](bool evict) {
        std::vector<double> samples;
        const auto begin = clock::now();
        enqueue();
        while (samples.size() < host_effort.samples) {
            if (samples.size() >= host_effort.least &&
                std::chrono::duration<double>(clock::now() - begin).count() > host_effort.seconds) {
                break;
            }
            if (evict) {
                std::fill(evictor.begin(), evictor.end(), static_cast<unsigned char>(samples.size() + 1));
            }
            const auto start = clock::now();
            enqueue();
            samples.push_back(std::chrono::duration<double>(clock::now() - start).count());
        }
        const auto s = measure::summarize(samples);
        return timing{s.median, s.low, s.high, static_cast<unsigned>(s.samples)};
    };
    out.cold = measure_with(true);
    out.warm = measure_with(false);
}

} // namespace warpfold::ladder::reduce
