// SPDX-License-Identifier: MIT
#include "ladder/engine/run_ladder.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ladder/engine/installed.hpp"
#include "ladder/engine/software_gpu.hpp"
#include "ladder/engine/step_runner.hpp"
#include "measure/check.hpp"
#include "measure/facts.hpp"

namespace warpfold::ladder::engine {

namespace {

constexpr unsigned most_offset = 256; // bytes

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

// The steps that the request names, in the ladder's order.
std::vector<const step_definition*> chosen(const ladder_definition& ladder, const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
        if (std::none_of(ladder.steps.begin(), ladder.steps.end(), [&](const auto& s) { return s.about.id == id; })) {
            std::string known;
            for (const auto& step : ladder.steps) {
                known += (known.empty() ? "" : ", ") + step.about.id;
            }
            throw bad_request("unknown step '" + id + "'; there are " + known);
        }
    }
    std::vector<const step_definition*> steps;
    for (const auto& step : ladder.steps) {
        if (ids.empty() || std::find(ids.begin(), ids.end(), step.about.id) != ids.end()) {
            steps.push_back(&step);
        }
    }
    return steps;
}

// n elements of the ladder's type have to fit into the device's free memory.
void check_memory(std::uint64_t n, std::size_t element_bytes, const std::string& device) {
    if (n > std::numeric_limits<std::int64_t>::max() / element_bytes) {
        throw bad_request(std::to_string(n) + " elements are more than any device holds");
    }
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    WARPFOLD_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    if (const std::uint64_t bytes = n * element_bytes; bytes > free_bytes) {
        throw bad_request(std::to_string(n) + " elements take " + std::to_string(bytes >> 20) + " MiB, and " + device +
                          " has " + std::to_string(free_bytes >> 20) + " MiB free");
    }
}

void check_request(const ladder_definition& ladder, const ladder_report& report) {
    const ladder_request& q = report.request;
    const unsigned most_threads = report.device.threads_per_block;
    if (ladder.takes.block && (q.parameters.block == 0 || q.parameters.block > most_threads)) {
        throw bad_request("a block of " + std::to_string(q.parameters.block) + " threads: " + report.device.name +
                          " takes 1 to " + std::to_string(most_threads));
    }
    const std::size_t element_bytes = ladder::bytes_of(q.parameters.type);
    const std::size_t alignment = ladder.takes.type ? element_bytes : 16;
    if (q.offset > most_offset || q.offset % alignment != 0) {
        throw bad_request("an offset of " + std::to_string(q.offset) + " bytes: it has to be a multiple of " +
                          std::to_string(alignment) + " up to " + std::to_string(most_offset));
    }
    if (q.samples == 0) {
        throw bad_request("0 samples of each timing");
    }
    if (report.n < ladder.least) {
        throw bad_request("n = " + std::to_string(report.n) + "; the ladder " + q.name + " takes " +
                          std::to_string(ladder.least) + " or more");
    }
    if (ladder.most == 0) {
        check_memory(report.n, element_bytes, report.device.name);
    } else if (report.n > ladder.most) {
        throw bad_request(std::to_string(report.n) + " is more than the ladder " + q.name + " takes, which is " +
                          std::to_string(ladder.most));
    }
}

} // namespace

device_description describe_device() { return describe(measure::current_device()); }

ladder_report run_ladder(const ladder_request& request) {
    const ladder_definition& ladder = find_ladder(request.name);
    const auto steps = chosen(ladder, request.steps);
    const measure::device_facts facts = measure::current_device();
    ladder_report report;
    report.device = describe(facts);
    report.request = request;
    report.n = request.n.value_or(report.device.software ? ladder.n_counted : ladder.n_timed);
    report.n_timed = ladder.n_timed;
    report.data = ladder.data_with != nullptr ? ladder.data_with(request.parameters) : ladder.data;
    report.takes = ladder.takes;
    report.one_problem = ladder.one_problem;
    check_request(ladder, report);
    const auto progress = [&](const std::string& what) {
        if (request.progress) {
            request.progress(what, report.steps.size(), steps.size());
        }
    };
    step_runner runner(ladder, report, measure::resident_blocks(facts, request.parameters.block));
    if (request.time && !report.device.software) {
        progress("ceilings");
        runner.measure_ceilings();
    }
    bool usable = true;
    for (const step_definition* const step : steps) {
        progress(step->about.id + " " + step->about.title);
        if (usable || step->on_host) {
            usable = runner.run(*step) && usable;
        } else {
            step_result out;
            static_cast<step_description&>(out) = step->about;
            out.skipped = "an earlier step left the device in an error";
            report.steps.push_back(std::move(out));
        }
    }
    if (request.counterexamples && usable) {
        progress("counter-examples");
        runner.run_counterexamples();
    }
    if (ladder.tables && request.steps.empty() && usable) {
        progress("tables");
        report.tables =
            ladder.tables(report, [&](const std::string& id, std::uint64_t n) { return runner.seconds_of(id, n); });
    }
    progress("done");
    return report;
}

} // namespace warpfold::ladder::engine
