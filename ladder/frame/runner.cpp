// SPDX-License-Identifier: MIT
#include "ladder/frame/runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "ladder/frame/apart.hpp"
#include "ladder/frame/findings.hpp"
#include "ladder/frame/operation_notes.hpp"
#include "ladder/observe.hpp"
#include "measure/ceilings.hpp"
#include "measure/check.hpp"
#include "measure/device.hpp"
#include "measure/timer.hpp"

namespace warpfold::ladder::frame {

namespace {

constexpr unsigned most_offset = 256; // bytes
constexpr measure::effort device_effort{.samples = 31, .least = 5, .seconds = 1.0};
constexpr measure::effort host_effort{.samples = 9, .least = 3, .seconds = 1.0};

// The arrays of one step on the device, each between two borders of its own.
class arrays {
public:
    arrays(const step_definition& step, const sample& data, const study_report& report, const measure::stream& on) {
        const unsigned offset = report.request.offset;
        for (const bytes& in : data.in) {
            memory_.emplace_back(offset + std::max<std::size_t>(in.size(), 16));
            void* const at = static_cast<std::byte*>(memory_.back().data()) + offset;
            if (!in.empty()) {
                WARPFOLD_CUDA_CHECK(cudaMemcpy(at, in.data(), in.size(), cudaMemcpyHostToDevice));
            }
            where_.in.push_back(at);
        }
        memory_.emplace_back(offset + std::max<std::size_t>(data.right.size(), 16));
        where_.out = static_cast<std::byte*>(memory_.back().data()) + offset;
        where_.scratch_bytes = step.scratch_bytes ? step.scratch_bytes(data.n) : 0;
        if (where_.scratch_bytes != 0) {
            memory_.emplace_back(where_.scratch_bytes);
            where_.scratch = memory_.back().data();
        }
        where_.n = data.n;
        where_.stream = on.handle();
        where_.multiprocessors = static_cast<unsigned>(std::max(report.device.multiprocessors, 1));
        where_.software = report.device.software;
        where_.data = &data;
        if (step.prepare) {
            kept_ = step.prepare(where_);
            where_.kept = kept_.get();
        }
    }

    [[nodiscard]] stage& where() { return where_; }

private:
    std::vector<measure::device_memory> memory_;
    stage where_;
    std::shared_ptr<void> kept_;
};

template <class T>
std::string difference_of(const bytes& got, const bytes& right) {
    const auto a = view<T>(got);
    const auto b = view<T>(right);
    std::uint64_t wrong = 0;
    std::size_t first = 0;
    for (std::size_t k = 0; k < b.size(); ++k) {
        if (std::memcmp(&a[k], &b[k], sizeof(T)) != 0) {
            first = wrong++ == 0 ? k : first;
        }
    }
    const auto text = [](T value) {
        if constexpr (std::is_floating_point_v<T>) {
            return number(value, value == static_cast<T>(static_cast<long>(value)) ? 0 : 3);
        } else {
            return std::to_string(value);
        }
    };
    return std::to_string(wrong) + " of " + std::to_string(b.size()) + " values are wrong; the first is number " +
           std::to_string(first) + ": " + text(a[first]) + ", not " + text(b[first]);
}

void compare(study_step& out, const sample& data, const bytes& result) {
    out.correct = result == data.right;
    if (!out.correct) {
        out.difference = data.type == value_type::float32 ? difference_of<float>(result, data.right)
                                                          : difference_of<std::int32_t>(result, data.right);
    }
}

timing as_timing(const measure::summary& s) { return {s.median, s.low, s.high, static_cast<unsigned>(s.samples)}; }

class runner {
public:
    runner(const study_definition& study, study_report& report) : study_(study), report_(report) {}

    // False where the device is of no more use.
    bool step(const step_definition& step);
    void measure_ceilings();
    // The cold median of a step on n elements; nothing without a clock or where the result is not right.
    [[nodiscard]] std::optional<double> seconds_of(const std::string& id, std::uint64_t n);

private:
    const sample& data_of(const step_definition& step, std::uint64_t n);
    void on_device(const step_definition& step, const sample& data, study_step& out, bytes& result);
    void add_timeline(const step_definition& step, stage& where, study_step& out) const;
    void on_host(const step_definition& step, const sample& data, study_step& out, bytes& result) const;
    // What the process said on standard error.
    static std::string apart(const step_definition& step, const sample& data, study_step& out, bytes& result);
    findings check(const step_definition& step);

    const study_definition& study_;
    study_report& report_;
    measure::stream stream_;
    std::optional<measure::timer> clock_;
    std::map<std::pair<data_function, std::uint64_t>, std::unique_ptr<sample>> data_;
};

const sample& runner::data_of(const step_definition& step, std::uint64_t n) {
    auto& kept = data_[{step.data, n}];
    if (!kept) {
        kept = std::make_unique<sample>(step.data(n, report_.request.seed));
    }
    return *kept;
}

void runner::measure_ceilings() {
    clock_.emplace(stream_, report_.device.l2_bytes);
    const measure::effort how{.samples = report_.request.samples, .least = 5, .seconds = 1.0};
    try {
        const auto best = measure::measure_ceilings(
            stream_, *clock_, static_cast<unsigned>(report_.device.multiprocessors), std::size_t{1} << 30, how);
        report_.device.read_gb_per_s = best.read_gb_per_s;
        report_.device.copy_gb_per_s = best.copy_gb_per_s;
    } catch (const measure::cuda_error& problem) {
        if (problem.code != cudaErrorMemoryAllocation) {
            throw;
        }
    }
}

void runner::on_device(const step_definition& step, const sample& data, study_step& out, bytes& result) {
    arrays memory(step, data, report_, stream_);
    stage& where = memory.where();
    // So that nothing is right that another step has left there.
    WARPFOLD_CUDA_CHECK(cudaMemset(where.out, 0x5a, std::max<std::size_t>(data.right.size(), 16)));
    std::vector<softgpu::observe::launch_record> noted;
    where.launches = where.software ? nullptr : &noted;
    {
        const launch_watch watch(where.software ? &noted : nullptr);
        const operation_watch operations(study_.machine && where.software ? &out.operations.emplace() : nullptr);
        step.run(where);
        stream_.synchronize();
    }
    where.launches = nullptr;
    if (study_.machine) {
        add_timeline(step, where, out);
    }
    result.resize(data.right.size());
    if (step.collect) {
        result = step.collect(where);
    } else if (!result.empty()) {
        WARPFOLD_CUDA_CHECK(cudaMemcpy(result.data(), where.out, result.size(), cudaMemcpyDeviceToHost));
    }
    if (where.software && !report_.request.count) {
        for (auto& launch : noted) {
            launch.total = {};
            launch.by_interval.clear();
        }
    }
    out.launches = std::move(noted);
    compare(out, data, result);
    if (clock_ && data.n != 0 && (out.correct || step.ought != fate::right)) {
        measure::effort how = device_effort;
        how.samples = report_.request.samples;
        out.cold = as_timing(clock_->cold([&] { step.run(where); }, how));
        out.warm = as_timing(clock_->warm([&] { step.run(where); }, how));
    }
}

// On a GPU from a run of its own.
void runner::add_timeline(const step_definition& step, stage& where, study_step& out) const {
    if (out.operations) {
        out.timeline = softgpu::observe::model_of(*out.operations, *study_.machine);
    } else if (!where.software) {
        operation_notes notes(report_.device.name);
        where.notes = &notes;
        step.run(where);
        where.notes = nullptr;
        out.timeline = notes.timeline();
    }
}

void runner::on_host(const step_definition& step, const sample& data, study_step& out, bytes& result) const {
    using clock = std::chrono::steady_clock;
    result = step.on_host(data);
    compare(out, data, result);
    if (!clock_ || data.n == 0) {
        return;
    }
    std::vector<double> samples;
    const auto begin = clock::now();
    while (samples.size() < host_effort.samples) {
        const auto start = clock::now();
        if (samples.size() >= host_effort.least &&
            std::chrono::duration<double>(start - begin).count() > host_effort.seconds) {
            break;
        }
        result = step.on_host(data);
        samples.push_back(std::chrono::duration<double>(clock::now() - start).count());
    }
    out.cold = out.warm = as_timing(measure::summarize(samples));
}

std::string runner::apart(const step_definition& step, const sample& data, study_step& out, bytes& result) {
    const apart_outcome& left = run_apart(step.apart, false);
    result = bytes_of(left.codes);
    if (result.size() != data.right.size()) {
        throw std::runtime_error("it left " + std::to_string(left.codes.size()) + " values, not " +
                                 std::to_string(data.right.size() / sizeof(std::int32_t)));
    }
    compare(out, data, result);
    return left.said;
}

// The step once more, small, under all checks.
findings runner::check(const step_definition& step) {
    if (!step.apart.empty()) {
        return run_apart(step.apart, true).found;
    }
    const std::uint64_t n = step.size ? step.size(step.check_n) : step.check_n;
    const sample& data = data_of(step, n);
    return under_all_checks([&] {
        const measure::stream on;
        arrays memory(step, data, report_, on);
        step.run(memory.where());
        on.synchronize();
    });
}

// What the checks found, as a claim of its own.
claim claim_of(const step_definition& step, const findings& found) {
    const bool expected = !step.finds.empty();
    return {expected ? "the checks find the fault: " + step.finds
                     : "no access out of bounds, no race, no read of unwritten memory, no barrier missed",
            "the checks", expected ? found.has(step.finds) : found.none(), found.in_words()};
}

bool runner::step(const step_definition& step) {
    study_step out;
    static_cast<step_description&>(out) = step.about;
    out.on_device = !step.on_host;
    out.apart = !step.apart.empty();
    out.ought = step.ought;
    out.lesson = step.lesson;
    out.n = step.size ? step.size(report_.request.n) : report_.request.n;
    out.least_bytes = step.least_bytes ? step.least_bytes(out.n) : 0;
    const sample& data = data_of(step, out.n);
    bytes result;
    std::string said;
    bool usable = true;
    try {
        if (out.apart) {
            said = apart(step, data, out, result);
        } else {
            out.on_device ? on_device(step, data, out, result) : on_host(step, data, out, result);
        }
    } catch (const std::exception& problem) {
        out.correct = false;
        out.error = problem.what();
        out.cold.reset();
        out.warm.reset();
        usable = cudaDeviceSynchronize() == cudaSuccess;
    }
    std::optional<findings> found;
    if (report_.request.check && report_.device.software && out.on_device && !out.peer && usable) {
        found = check(step);
    }
    const evidence here{report_, out, data, result, report_.device.software && report_.request.count,
                        found ? &*found : nullptr, said, &out.missing};
    for (const claim_check& one : step.claims) {
        const bool told = out.error.empty() && (out.correct || step.ought != fate::right);
        const verdict v = told ? one.holds(here) : unseen("the step did not come out as it ought to");
        out.claims.push_back({one.text, one.lecture, v.holds, v.figure});
    }
    if (found) {
        out.claims.push_back(claim_of(step, *found));
    }
    report_.steps.push_back(std::move(out));
    return usable;
}

std::optional<double> runner::seconds_of(const std::string& id, std::uint64_t n) {
    const auto found =
        std::find_if(study_.steps.begin(), study_.steps.end(), [&](const auto& s) { return s.about.id == id; });
    if (!clock_ || found == study_.steps.end() || !found->apart.empty() || n > study_.most) {
        return std::nullopt;
    }
    study_step out;
    bytes result;
    const sample data = found->data(n, report_.request.seed);
    found->on_host ? on_host(*found, data, out, result) : on_device(*found, data, out, result);
    return out.correct && out.cold ? std::optional(out.cold->median) : std::nullopt;
}

std::vector<const step_definition*> chosen(const study_definition& study, const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
        if (std::none_of(study.steps.begin(), study.steps.end(), [&](const auto& s) { return s.about.id == id; })) {
            std::string known;
            for (const auto& step : study.steps) {
                known += (known.empty() ? "" : ", ") + step.about.id;
            }
            throw bad_request("unknown step '" + id + "'; there are " + known);
        }
    }
    std::vector<const step_definition*> steps;
    for (const auto& step : study.steps) {
        if (ids.empty() || std::find(ids.begin(), ids.end(), step.about.id) != ids.end()) {
            steps.push_back(&step);
        }
    }
    return steps;
}

} // namespace

const study_definition& find_study(const std::string& name) {
    const auto& all = all_studies();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto* s) { return s->name == name; });
    if (found == all.end()) {
        throw bad_request("there is no ladder '" + name + "'");
    }
    return **found;
}

study_report run_study(const study_request& request, const device_description& device) {
    const study_definition& study = find_study(request.name);
    const auto steps = chosen(study, request.steps);
    study_report report{device, request, study.data, {}, {}};
    if (report.request.n == 0) {
        report.request.n = device.software ? study.n_counted : study.n_timed;
    }
    if (report.request.n > study.most) {
        throw bad_request(std::to_string(report.request.n) + " is more than the ladder " + request.name +
                          " takes, which is " + std::to_string(study.most));
    }
    if (request.offset > most_offset || request.offset % 16 != 0) {
        throw bad_request("an offset of " + std::to_string(request.offset) +
                          " bytes, which is no multiple of 16 up to 256");
    }
    if (request.samples == 0) {
        throw bad_request("0 samples of each timing");
    }
    const auto progress = [&](const std::string& what) {
        if (request.progress) {
            request.progress(what, report.steps.size(), steps.size());
        }
    };
    runner run(study, report);
    if (request.time && !device.software) {
        progress("ceilings");
        run.measure_ceilings();
    }
    bool usable = true;
    for (const auto* const step : steps) {
        progress(step->about.id + " " + step->about.title);
        if (usable || step->on_host) {
            usable = run.step(*step) && usable;
        } else {
            study_step out;
            static_cast<step_description&>(out) = step->about;
            out.skipped = "an earlier step left the device in an error";
            report.steps.push_back(std::move(out));
        }
    }
    if (study.tables && request.steps.empty() && usable) {
        progress("tables");
        report.tables =
            study.tables(report, [&](const std::string& id, std::uint64_t n) { return run.seconds_of(id, n); });
    }
    progress("done");
    return report;
}

} // namespace warpfold::ladder::frame
