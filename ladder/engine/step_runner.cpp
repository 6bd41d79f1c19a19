// SPDX-License-Identifier: MIT
#include "ladder/engine/step_runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ladder/engine/child_process.hpp"
#include "ladder/engine/operation_timer.hpp"
#include "ladder/engine/software_gpu.hpp"
#include "measure/ceilings.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::engine {

namespace {

constexpr measure::effort host_effort{.samples = 9, .least = 3, .seconds = 2.0};
constexpr std::size_t evicted_bytes = std::size_t{512} << 20; // more than the caches of today's hosts hold

measure::effort device_effort(unsigned samples) { return {.samples = samples, .least = 5, .seconds = 2.0}; }

// Device memory that begins `offset` bytes after its allocation.
void* take(std::vector<measure::device_memory>& memory, std::size_t bytes, unsigned offset) {
    memory.emplace_back(offset + std::max<std::size_t>(bytes, 16));
    return static_cast<std::byte*>(memory.back().data()) + offset;
}

// The arrays of one step on the device, each an allocation of its own, so that the checks see its bounds.
class arrays {
public:
    arrays(const step_definition& step, const sample& data, unsigned offset, stage where) : where_(std::move(where)) {
        for (const bytes& in : data.in) {
            void* const at = take(memory_, in.size(), offset);
            if (!in.empty()) {
                WARPFOLD_CUDA_CHECK(cudaMemcpy(at, in.data(), in.size(), cudaMemcpyHostToDevice));
            }
            where_.in.push_back(at);
        }
        where_.out = take(memory_, data.right.size(), offset);
        where_.scratch_bytes = step.scratch_bytes ? step.scratch_bytes(data.n) : 0;
        if (where_.scratch_bytes != 0) {
            memory_.emplace_back(where_.scratch_bytes);
            where_.scratch = memory_.back().data();
        }
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

void compare(step_result& out, const sample& data, const bytes& result) {
    out.correct = result == data.right;
    if (!out.correct) {
        out.difference = data.type == value_type::float32 ? difference_of<float>(result, data.right)
                                                          : difference_of<std::int32_t>(result, data.right);
    }
}

void judge(const step_definition& step, const stage& where, step_result& out, const bytes& result) {
    if (!step.judge) {
        return compare(out, *where.data, result);
    }
    judgement j = step.judge(where, result);
    out.correct = j.correct;
    out.difference = std::move(j.difference);
    out.value = j.value;
}

timing as_timing(const measure::summary& s) { return {s.median, s.low, s.high, static_cast<unsigned>(s.samples)}; }

} // namespace

step_runner::step_runner(const ladder_definition& ladder, ladder_report& report, unsigned resident_blocks)
    : ladder_(ladder), report_(report), resident_blocks_(resident_blocks) {}

std::size_t step_runner::element_bytes() const {
    return ladder_.takes.type ? ladder::bytes_of(report_.request.parameters.type) : 0;
}

problem step_runner::problem_of(std::uint64_t n) const {
    const void* const given = n == report_.n ? report_.request.data : nullptr;
    return {n, report_.request.seed, report_.request.parameters, given};
}

const sample& step_runner::data_of(const step_definition& step, std::uint64_t n) {
    for (const kept_sample& kept : kept_) {
        if (kept.source == step.data && kept.n == n) {
            return *kept.data;
        }
    }
    kept_.push_back({step.data, n, std::make_unique<sample>(step.data(problem_of(n)))});
    return *kept_.back().data;
}

void step_runner::measure_ceilings() {
    clock_.emplace(stream_, report_.device.l2_bytes);
    const std::size_t over = std::max<std::size_t>(report_.n * element_bytes(), std::size_t{1} << 30);
    try {
        const auto best =
            measure::measure_ceilings(stream_, *clock_, static_cast<unsigned>(report_.device.multiprocessors), over,
                                      device_effort(report_.request.samples));
        report_.device.read_gb_per_s = best.read_gb_per_s;
        report_.device.copy_gb_per_s = best.copy_gb_per_s;
    } catch (const measure::cuda_error& problem) {
        if (problem.code != cudaErrorMemoryAllocation) {
            throw;
        }
    }
}

stage step_runner::empty_stage(const sample& data) const {
    stage where;
    where.n = data.n;
    where.stream = stream_.handle();
    where.parameters = report_.request.parameters;
    where.multiprocessors = static_cast<unsigned>(std::max(report_.device.multiprocessors, 1));
    where.resident_blocks = resident_blocks_;
    where.software = report_.device.software;
    where.data = &data;
    return where;
}

void step_runner::on_device(const step_definition& step, const sample& data, step_result& out, bytes& result) {
    arrays memory(step, data, report_.request.offset, empty_stage(data));
    stage& where = memory.where();
    // A right result that another step has left there must not count.
    WARPFOLD_CUDA_CHECK(cudaMemset(where.out, 0x5a, std::max<std::size_t>(data.right.size(), 16)));
    std::vector<softgpu::observe::launch_record> launches;
    where.launches = where.software ? nullptr : &launches;
    softgpu::observe::operation_log operations;
    {
        const launch_watch watch(where.software ? &launches : nullptr);
        const operation_watch watch_operations(where.software ? &operations : nullptr);
        step.run(where);
        stream_.synchronize();
    }
    where.launches = nullptr;
    if (where.software) {
        add_predicted(std::move(operations), out);
    } else if (ladder_.machine) {
        operation_timer timer(report_.device.name);
        where.timer = &timer;
        step.run(where);
        where.timer = nullptr;
        out.timeline = timer.timeline();
    }
    if (step.collect) {
        result = step.collect(where);
    } else {
        result.resize(data.right.size());
        if (!result.empty()) {
            WARPFOLD_CUDA_CHECK(cudaMemcpy(result.data(), where.out, result.size(), cudaMemcpyDeviceToHost));
        }
    }
    if (where.software && !report_.request.count) {
        for (auto& launch : launches) {
            launch.total = {};
            launch.by_interval.clear();
        }
    }
    out.launches = std::move(launches);
    judge(step, where, out, result);
    if (clock_ && data.n != 0 && (out.correct || step.expected != outcome::right)) {
        const measure::effort how = device_effort(report_.request.samples);
        out.cold = as_timing(clock_->cold([&] { step.run(where); }, how));
        out.warm = as_timing(clock_->warm([&] { step.run(where); }, how));
    }
}

// The timeline that is shown is the first predicted card's; without one it is that of the ladder's machine.
void step_runner::add_predicted(softgpu::observe::operation_log operations, step_result& out) const {
    std::vector<softgpu::observe::timeline> timelines;
    for (const auto& m : predicted_machines()) {
        out.on_cards.push_back({m.card, softgpu::observe::seconds_of_moves(operations, m)});
        if (ladder_.machine) {
            timelines.push_back(softgpu::observe::model_of(operations, m));
            out.on_cards.back().timeline = timelines.back().seconds();
        }
    }
    if (ladder_.machine) {
        out.timeline = timelines.empty() ? softgpu::observe::model_of(operations, *ladder_.machine) : timelines.front();
        out.operations = std::move(operations);
    }
}

void step_runner::on_host(const step_definition& step, const sample& data, step_result& out, bytes& result) const {
    using clock = std::chrono::steady_clock;
    stage where = empty_stage(data);
    result.assign(data.right.size(), std::byte{0x5a});
    const auto run = [&] {
        where.out = result.data();
        if (bytes made = step.on_host(where); !made.empty() || data.n == 0) {
            result = std::move(made);
        }
    };
    run();
    judge(step, where, out, result);
    if (!clock_ || data.n == 0) {
        return;
    }
    std::vector<unsigned char> evictor(step.evicts_host_caches ? evicted_bytes : 0);
    const auto time = [&](bool evict) {
        std::vector<double> samples;
        const auto begin = clock::now();
        while (samples.size() < host_effort.samples) {
            if (samples.size() >= host_effort.least &&
                std::chrono::duration<double>(clock::now() - begin).count() > host_effort.seconds) {
                break;
            }
            if (evict) {
                std::fill(evictor.begin(), evictor.end(), static_cast<unsigned char>(samples.size() + 1));
            }
            const auto start = clock::now();
            run();
            samples.push_back(std::chrono::duration<double>(clock::now() - start).count());
        }
        return as_timing(measure::summarize(samples));
    };
    out.warm = time(false);
    out.cold = step.evicts_host_caches ? time(true) : out.warm;
}

std::string step_runner::in_child_processes(const step_definition& step, const sample& data, step_result& out,
                                            bytes& result) const {
    const child_outcome& left = run_child_processes(ladder_.name, step.child_programs, false);
    result = bytes_of(left.codes);
    if (result.size() != data.right.size()) {
        throw std::runtime_error("it returned " + count_of(left.codes.size(), "code", "codes") + ", not " +
                                 std::to_string(data.right.size() / sizeof(std::int32_t)));
    }
    compare(out, data, result);
    return left.said;
}

findings step_runner::check(const step_definition& step) {
    if (!step.child_programs.empty()) {
        return run_child_processes(ladder_.name, step.child_programs, true).found;
    }
    const std::uint64_t n = step.size ? step.size(step.check_n) : step.check_n;
    const sample& data = data_of(step, n);
    return under_all_checks([&] {
        const measure::stream on;
        stage where = empty_stage(data);
        where.stream = on.handle();
        arrays memory(step, data, report_.request.offset, std::move(where));
        step.run(memory.where());
        on.synchronize();
    });
}

namespace {

// With fewer elements, a figure that contradicts a claim says nothing: there are too few blocks and launches.
constexpr std::uint64_t least_refuting_n = 4096;

constexpr const char* planted_faults = "the planted faults of the checks' own tests";

// The findings of the checks, as a claim of its own. A step that is right by luck may come out without a finding.
claim claim_of(const step_definition& step, const findings& found) {
    if (step.finds.empty()) {
        return {"no access out of bounds, no race, no read of unwritten memory, no barrier missed",
                "the checks",
                found.none(),
                found.in_words(),
                "",
                planted_faults,
                std::nullopt};
    }
    const bool nothing = step.expected == outcome::by_luck && found.none();
    return {"the checks find the fault: " + step.finds,
            "the checks",
            nothing ? std::nullopt : std::optional(found.has(step.finds)),
            found.in_words(),
            "",
            planted_faults,
            std::nullopt};
}

} // namespace

step_runner::performed step_runner::perform(const step_definition& step, std::uint64_t n) {
    performed all;
    step_result& out = all.step;
    static_cast<step_description&>(out) = step.about;
    out.on_device = !step.on_host;
    out.in_child_process = !step.child_programs.empty();
    out.expected = step.expected;
    out.lesson = step.lesson;
    out.n = step.size ? step.size(n) : n;
    out.least_bytes = step.least_bytes ? step.least_bytes(out.n) : out.n * element_bytes();
    all.data = &data_of(step, out.n);
    if (step.cannot_run) {
        out.skipped = step.cannot_run(empty_stage(*all.data));
        if (!out.skipped.empty()) {
            return all;
        }
    }
    bool usable = true;
    try {
        if (out.in_child_process) {
            all.said = in_child_processes(step, *all.data, out, all.result);
        } else {
            out.on_device ? on_device(step, *all.data, out, all.result) : on_host(step, *all.data, out, all.result);
        }
    } catch (const std::exception& problem) {
        out.correct = false;
        out.error = problem.what();
        out.cold.reset();
        out.warm.reset();
        usable = cudaDeviceSynchronize() == cudaSuccess;
    }
    if (report_.request.check && report_.device.software && out.on_device && !out.peer && usable) {
        all.found = check(step);
    }
    all.device_usable = usable;
    return all;
}

bool step_runner::run(const step_definition& step) {
    performed here = perform(step, report_.n);
    if (here.step.skipped.empty()) {
        const bool shown = here.step.error.empty() && (here.step.correct || step.expected != outcome::right);
        const evidence seen_here = evidence_of(report_, here, &here.step.missing);
        for (const claim_check& one : step.claims) {
            verdict v = shown ? one.holds(seen_here) : unseen("the step did not give the expected result");
            if (v.holds == false && report_.n < std::min(least_refuting_n, ladder_.n_counted)) {
                v = unseen("n = " + std::to_string(report_.n) + " is too small to refute it: " + v.figure);
            }
            const auto& against = one.holds.against();
            if (!against) {
                v.holds.reset(); // a remark
            }
            here.step.claims.push_back({one.text, one.lecture, v.holds, std::move(v.figure), std::move(v.qualified),
                                        against ? against->what : "", std::nullopt});
        }
        if (here.found) {
            here.step.claims.push_back(claim_of(step, *here.found));
        }
    }
    report_.steps.push_back(here.step);
    const bool usable = here.device_usable;
    if (report_.request.counterexamples) {
        performed_.push_back(std::move(here));
    }
    return usable;
}

evidence step_runner::evidence_of(const ladder_report& report, const performed& of,
                                  std::vector<std::string>* missing) const {
    return {report,
            of.step,
            *of.data,
            of.result,
            report_.device.software && report_.request.count,
            of.found ? &*of.found : nullptr,
            of.said,
            missing,
            resident_blocks_};
}

std::optional<double> step_runner::seconds_of(const std::string& id, std::uint64_t n) {
    const auto found =
        std::find_if(ladder_.steps.begin(), ladder_.steps.end(), [&](const auto& s) { return s.about.id == id; });
    if (!clock_ || found == ladder_.steps.end() || !found->child_programs.empty() ||
        (ladder_.most != 0 && n > ladder_.most)) {
        return std::nullopt;
    }
    step_result out;
    bytes result;
    const sample data = found->data(problem_of(n));
    found->on_host ? on_host(*found, data, out, result) : on_device(*found, data, out, result);
    return out.correct && out.cold ? std::optional(out.cold->median) : std::nullopt;
}

} // namespace warpfold::ladder::engine
