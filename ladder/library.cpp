// SPDX-License-Identifier: MIT
// The shared library's one way in: describes the device, lists the steps, and runs them.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>

#include "ladder/frame/runner.hpp"
#include "ladder/ladder.hpp"
#include "ladder/observe.hpp"
#include "ladder/reduce/runner.hpp"
#include "ladder/visit.hpp"
#include "measure/ceilings.hpp"
#include "measure/facts.hpp"

namespace warpfold::ladder {

namespace {

device_description describe(const measure::device_facts& facts) {
    device_description device;
    device.name = facts.name;
    device.software = on_software_gpu();
    device.compute_major = facts.compute_major;
    device.compute_minor = facts.compute_minor;
    device.multiprocessors = static_cast<int>(facts.multiprocessors);
    device.memory_bytes = facts.memory_bytes;
    device.l2_bytes = facts.l2_bytes;
    device.threads_per_block = facts.threads_per_block;
    device.driver = facts.driver;
    device.runtime = facts.runtime;
    return device;
}

// The steps that the request names, in the ladder's order. Throws bad_request for an unknown name.
std::vector<const reduce::step_definition*> chosen(const std::vector<std::string>& ids) {
    const auto& all = reduce::steps();
    for (const std::string& id : ids) {
        if (std::none_of(all.begin(), all.end(), [&](const auto& step) { return step.about.id == id; })) {
            std::string known;
            for (const auto& step : all) {
                known += (known.empty() ? "" : ", ") + step.about.id;
            }
            throw bad_request("unknown step '" + id + "'; there are " + known);
        }
    }
    std::vector<const reduce::step_definition*> steps;
    for (const auto& step : all) {
        if (ids.empty() || std::find(ids.begin(), ids.end(), step.about.id) != ids.end()) {
            steps.push_back(&step);
        }
    }
    return steps;
}

constexpr unsigned most_offset = 64; // elements

std::uint64_t bytes_needed(const reduce_request& request) {
    const std::uint64_t each = bytes_of(request.type);
    if (request.n > std::numeric_limits<std::int64_t>::max() / each) {
        throw bad_request(std::to_string(request.n) + " elements are more than any device holds");
    }
    return request.n * each;
}

void check_request(const reduce_request& request, const measure::device_facts& facts) {
    if (request.block == 0 || request.block > facts.threads_per_block) {
        throw bad_request("a block of " + std::to_string(request.block) + " threads: " + facts.name + " takes 1 to " +
                          std::to_string(facts.threads_per_block));
    }
    if (request.offset > most_offset) {
        throw bad_request("an offset of more than 64 elements");
    }
    if (request.samples == 0) {
        throw bad_request("0 samples of each timing");
    }
    const std::uint64_t bytes = bytes_needed(request);
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    WARPFOLD_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    if (bytes > free_bytes) {
        throw bad_request(std::to_string(request.n) + " elements take " + std::to_string(bytes >> 20) + " MiB, and " +
                          facts.name + " has " + std::to_string(free_bytes >> 20) + " MiB free");
    }
}

reduce_step blank(const reduce::step_definition& step) {
    reduce_step out;
    static_cast<step_description&>(out) = step.about;
    out.caution = step.caution;
    out.on_device = step.on_device;
    return out;
}

// Runs one step; what goes wrong is in its `error`. False where the device is of no more use.
bool run_step(const reduce::bench& on, const reduce::step_definition& step, reduce_step& out) {
    out.expected = on.right.expected;
    out.skipped = reduce::runner::why_not(on, step);
    if (!out.skipped.empty()) {
        return true;
    }
    try {
        reduce::runner run(on, step);
        run.run_once(out);
        if (out.correct) {
            run.time(out);
        }
        return true;
    } catch (const std::exception& problem) {
        out.correct = false;
        out.error = problem.what();
        out.cold.reset();
        out.warm.reset();
        return cudaDeviceSynchronize() == cudaSuccess;
    }
}

void check_claims(reduce_report& report, const std::vector<const reduce::step_definition*>& steps,
                  const reduce::shape& device) {
    for (std::size_t k = 0; k < steps.size(); ++k) {
        reduce_step& step = report.steps[k];
        if (!step.skipped.empty()) {
            continue;
        }
        const evidence seen_here{report, step, report.device.software && report.request.count,
                                 [&](std::uint64_t n) { return steps[k]->blocks(device, n, 0); }, &step.missing};
        for (const claim_check& one : steps[k]->claims) {
            const verdict v = step.correct ? one.check(seen_here) : unseen("the step did not give the right result");
            step.claims.push_back({one.text, one.lecture, v.holds, v.figure});
        }
    }
}

class library final : public ladder_library {
public:
    [[nodiscard]] device_description device() const override { return describe(measure::current_device()); }

    [[nodiscard]] std::vector<step_description> reduce_steps() const override {
        std::vector<step_description> all;
        for (const auto& step : reduce::steps()) {
            all.push_back(step.about);
        }
        return all;
    }

    [[nodiscard]] reduce_report reduce(const reduce_request& request) override;

    [[nodiscard]] std::vector<step_description> study_steps(const std::string& name) const override {
        std::vector<step_description> all;
        for (const auto& step : frame::find_study(name).steps) {
            all.push_back(step.about);
        }
        return all;
    }

    [[nodiscard]] study_report study(const study_request& request) override {
        return frame::run_study(request, device());
    }

    [[nodiscard]] std::span<const source_file> sources() const override { return source_files(); }
};

reduce_report library::reduce(const reduce_request& request) {
    const auto steps = chosen(request.steps);
    const auto facts = measure::current_device();
    check_request(request, facts);
    reduce_report report{describe(facts), request, {}};
    const auto progress = [&](const std::string& what, std::size_t done) {
        if (request.progress) {
            request.progress(what, done, steps.size());
        }
    };

    progress("data and reference", 0);
    std::unique_ptr<std::byte[]> made;
    const void* data = request.data;
    if (data == nullptr) {
        made = reduce::make_data(request.type, request.op, request.n, request.seed);
        data = made.get();
    }
    const std::uint64_t bytes = bytes_needed(request);
    const measure::stream stream;
    const std::uint64_t skipped_bytes = request.offset * bytes_of(request.type);
    const measure::device_memory on_device(skipped_bytes + std::max<std::uint64_t>(bytes, 16));
    void* const device_data = static_cast<std::byte*>(on_device.data()) + skipped_bytes;
    if (bytes != 0) {
        WARPFOLD_CUDA_CHECK(cudaMemcpy(device_data, data, bytes, cudaMemcpyHostToDevice));
    }

    std::optional<measure::timer> clock;
    const bool timed = request.time && !report.device.software;
    if (timed) {
        progress("ceilings", 0);
        clock.emplace(stream, facts.l2_bytes);
        const std::size_t over = std::max<std::uint64_t>(bytes, std::uint64_t{1} << 30);
        const measure::effort how{.samples = request.samples, .least = 5, .seconds = 2.0};
        try {
            const auto best = measure::measure_ceilings(stream, *clock, facts.multiprocessors, over, how);
            report.device.read_gb_per_s = best.read_gb_per_s;
            report.device.copy_gb_per_s = best.copy_gb_per_s;
        } catch (const measure::cuda_error& problem) {
            if (problem.code != cudaErrorMemoryAllocation) {
                throw;
            }
        }
    }

    const reduce::shape shape{request.block, std::max(facts.multiprocessors, 1u),
                              measure::resident_blocks(facts, request.block)};
    reduce::reference right = reduce::reference_of(request.type, request.op, data, request.n);
    right.exact = right.exact || (request.data == nullptr && reduce::sums_exactly(request.type, request.op, request.n));
    const reduce::bench bench{report.request,
                              shape,
                              report.device.software,
                              stream,
                              data,
                              device_data,
                              right,
                              clock ? &*clock : nullptr};
    bool usable = true;
    for (const auto* const step : steps) {
        progress(step->about.id + " " + step->about.title, report.steps.size());
        reduce_step out = blank(*step);
        if (usable || !step->on_device) {
            usable = run_step(bench, *step, out) && usable;
        } else {
            out.skipped = "an earlier step left the device in an error";
        }
        report.steps.push_back(std::move(out));
    }
    check_claims(report, steps, shape);
    progress("done", steps.size());
    return report;
}

} // namespace

} // namespace warpfold::ladder

extern "C" __attribute__((visibility("default"))) warpfold::ladder::ladder_library* warpfold_ladder() {
    static warpfold::ladder::library the_library;
    return &the_library;
}
