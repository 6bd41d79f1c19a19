// SPDX-License-Identifier: MIT
// Steps and ladders as data: what the engine needs to make a step's arrays, run it, judge its result and check its claims.
#pragma once

#include <cuda_runtime_api.h>

#include <any>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ladder/engine/definition/findings.hpp"
#include "ladder/engine/definition/report.hpp"
#include "ladder/engine/definition/verdict.hpp"
#include "softgpu/observe/timeline.hpp"

namespace warpfold::ladder::engine {

using bytes = std::vector<std::byte>;

template <class T>
[[nodiscard]] bytes bytes_of(const std::vector<T>& values) {
    bytes out(values.size() * sizeof(T));
    if (!out.empty()) {
        std::memcpy(out.data(), values.data(), out.size());
    }
    return out;
}

template <class T>
[[nodiscard]] std::span<const T> view(const bytes& b) {
    return {reinterpret_cast<const T*>(b.data()), b.size() / sizeof(T)};
}

enum class value_type { int32, float32 };

// A step's input and its right result, known on the host to the last bit: data are integers, or floats with small whole
// values. A step with a `judge` may take other data.
struct sample {
    std::uint64_t n = 0;
    std::vector<bytes> in;
    bytes right;
    value_type type = value_type::int32;     // of `right`, for words about a difference
    std::shared_ptr<const void> reference{}; // for step_definition::judge
};

struct problem {
    std::uint64_t n = 0;
    std::uint64_t seed = 0;
    step_parameters parameters;
    const void* given = nullptr; // n elements on the host; nullptr: make them from the seed
};

using data_function = sample (*)(std::uint64_t n, std::uint64_t seed);

// Makes a step's sample, from n and the seed alone or from the whole problem.
class data_source {
public:
    data_source() = default;
    data_source(data_function make) : from_seed_(make) {}
    data_source(sample (*make)(const problem&)) : from_problem_(make) {}

    [[nodiscard]] sample operator()(const problem& p) const {
        return from_problem_ != nullptr ? from_problem_(p) : from_seed_(p.n, p.seed);
    }
    [[nodiscard]] bool operator==(const data_source&) const = default;

private:
    data_function from_seed_ = nullptr;
    sample (*from_problem_)(const problem&) = nullptr;
};

class operation_timer;

// Where a step works. Each array is a device allocation of its own. Neither outputs nor scratch are initialised.
struct stage {
    std::uint64_t n = 0;
    std::vector<const void*> in;
    void* out = nullptr;
    void* scratch = nullptr;
    std::size_t scratch_bytes = 0;
    cudaStream_t stream = nullptr;
    step_parameters parameters;
    unsigned multiprocessors = 1;
    unsigned resident_blocks = 1; // of parameters.block threads, on the whole device at once
    bool software = false;
    std::vector<softgpu::observe::launch_record>* launches = nullptr; // on a GPU: launch() records its launches here
    operation_timer* timer = nullptr; // on a GPU, in a laboratory with timelines: operate() times operations with it
    const sample* data = nullptr;     // on the host
    void* kept = nullptr;             // what step_definition::prepare has made

    template <class T>
    [[nodiscard]] const T* input(std::size_t k = 0) const {
        return static_cast<const T*>(in.at(k));
    }
    template <class T>
    [[nodiscard]] T* output() const {
        return static_cast<T*>(out);
    }
    template <class T>
    [[nodiscard]] T* temporary(std::size_t skipped_bytes = 0) const {
        return reinterpret_cast<T*>(static_cast<std::byte*>(scratch) + skipped_bytes);
    }
};

// What a claim's check looks at: the step's result, the steps before it, its data and output.
struct evidence {
    const ladder_report& report;
    const step_result& step;
    const sample& data;
    const bytes& result;
    bool counted = false;                        // the launches carry counters
    const findings* found = nullptr;             // of the checks; nullptr: they did not run
    std::string said{};                          // standard error of the child process of a step that runs in one
    std::vector<std::string>* missing = nullptr; // other() adds the ids that it does not find
    unsigned resident_blocks = 1;                // as in stage
    std::any figures{};                          // of a counter-example: what the check would measure itself

    [[nodiscard]] std::uint64_t n() const { return step.n; }
    [[nodiscard]] unsigned block() const { return report.request.parameters.block; }
    [[nodiscard]] unsigned warps() const { return (block() + 31) / 32; }
    [[nodiscard]] std::size_t element_bytes() const { return ladder::bytes_of(report.request.parameters.type); }
    [[nodiscard]] const softgpu::observe::launch_record& first() const { return step.launches.front(); }
    [[nodiscard]] std::uint64_t blocks() const { return first().grid[0]; }

    // The step of that id, if it ran before this one in the same report.
    [[nodiscard]] const step_result* other(const std::string& id) const;
    // The same evidence for another step.
    [[nodiscard]] evidence of(const step_result& another) const {
        return {report, another, data, result, counted, nullptr, {}, missing, resident_blocks, figures};
    }
    // Figures of that type that stand for those that the check would measure; nullptr: there are none.
    template <class Figures>
    [[nodiscard]] const Figures* given() const {
        return std::any_cast<Figures>(&figures);
    }
};

// A copy of what a check looks at, for a counter-example to change.
struct altered_evidence {
    ladder_report report;
    step_result step;
    bytes result;
    findings found;
    std::string said;
    std::any figures{};

    // Throws std::out_of_range where that step is not in the report.
    [[nodiscard]] step_result& other(const std::string& id);
};

// What a check is held against: for it, the same check has to say that the claim does not hold. The engine makes its
// evidence in this order, each part as far as it is given.
struct counterexample {
    std::string what;                                // in words: "step 2 in its place"
    std::string step{};                              // the results of this step stand for those of the claim's step
    std::uint64_t n = 0;                             // the step runs again on this size
    unsigned block = 0;                              // ... with blocks of so many threads
    std::function<void(const stage&)> run{};         // ... and this in place of its kernels
    std::function<void(altered_evidence&)> change{}; // what was recorded is changed
};

// Says whether a claim holds, and knows what refutes it.
class check {
public:
    template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, check> && std::is_invocable_r_v<verdict, F&, const evidence&>)
        check(F holds)
        : holds_(std::move(holds)) {}

    [[nodiscard]] verdict operator()(const evidence& e) const { return holds_(e); }
    [[nodiscard]] check refuted_by(counterexample against) const {
        check copy = *this;
        copy.against_ = std::move(against);
        return copy;
    }
    [[nodiscard]] const std::optional<counterexample>& against() const { return against_; }

private:
    std::function<verdict(const evidence&)> holds_;
    std::optional<counterexample> against_;
};

struct claim_check {
    std::string text;
    std::string lecture;
    check holds;
};

struct judgement {
    bool correct = false;
    std::string difference; // where it is not correct
    std::optional<single_value> value{};
};

// Bytes of n words, each read once and written once.
[[nodiscard]] constexpr std::uint64_t read_and_written(std::uint64_t n) { return 2 * n * 4; }

struct step_definition {
    step_description about;
    data_source data{};
    // Enqueues the whole step; every run starts anew, independent of earlier runs.
    std::function<void(const stage&)> run{};
    // Makes what the step needs besides, once before all runs: streams, memory of the host. It lives until they are over.
    std::function<std::shared_ptr<void>(const stage&)> prepare{};
    // The result, where it is not in stage::out; called when all work is over.
    std::function<bytes(const stage&)> collect{};
    // Runs the step instead, for a step on the host; its input is stage::data. The result is what it returns, or, where that
    // is empty, stage::out: memory of the host that is as large as the right result, and written before.
    std::function<bytes(const stage&)> on_host{};
    // Instead of `run`, for kernels that end their process's use of the device: names of the ladder's child_programs, with
    // commas between, whose codes (int32) are the result. Each runs in a process of its own; they are neither counted nor
    // timed.
    std::string child_programs{};
    // The size that it runs on when the request says n; empty: n.
    std::function<std::uint64_t(std::uint64_t n)> size{};
    std::function<std::size_t(std::uint64_t n)> scratch_bytes{};
    // That have to be read and written; empty: n elements in a ladder that takes an element type, else not said.
    std::function<std::uint64_t(std::uint64_t n)> least_bytes{};
    outcome expected = outcome::right;
    std::string lesson{};
    std::string finds{};          // what the checks find in it, a part of the kind's name; empty: nothing
    std::uint64_t check_n = 3000; // n of the run under the checks
    std::vector<claim_check> claims{};
    // Why the step cannot run; empty: it can. Asked before memory is taken.
    std::function<std::string(const stage&)> cannot_run{};
    // Judges the result; without it, it has to equal sample::right to the last bit.
    std::function<judgement(const stage&, const bytes& result)> judge{};
    // For a step on the host: its cold times are taken with the host's caches evicted before each sample.
    bool evicts_host_caches = false;
};

using stopwatch = std::function<std::optional<double>(const std::string& id, std::uint64_t n)>;

// A function that runs in a process of its own, and returns the codes of its calls to the runtime.
struct child_program {
    const char* name;
    std::vector<std::int32_t> (*run)();
};

struct ladder_definition {
    const char* name;            // of the catalogue
    std::string data;            // what the problem is, in words, after a number: "int32"
    std::uint64_t n_counted = 0; // default on the software GPU
    std::uint64_t n_timed = 0;   // default on a GPU
    std::uint64_t most = 0;      // the largest n; 0: as many elements as the device's free memory holds
    std::vector<step_definition> steps;
    // Steps have timelines, on the software GPU by the model of this machine.
    std::optional<softgpu::observe::timeline_machine> machine{};
    // Tables beside the steps; may be empty. `seconds_of` gives the cold median of a step on n elements, on a GPU.
    std::function<std::vector<extra_table>(const ladder_report&, const stopwatch& seconds_of)> tables{};
    std::vector<child_program> child_programs{};
    parameter_set takes{};                                      // as in the catalogue
    std::string (*data_with)(const step_parameters&) = nullptr; // instead of `data`, in a ladder with parameters
    std::uint64_t least = 1;                                    // the smallest n
    bool one_problem = false;                                   // as in ladder_report
};

// Sizes of steps that one block does.
[[nodiscard]] inline std::function<std::uint64_t(std::uint64_t)> at_most(std::uint64_t most) {
    return [most](std::uint64_t n) { return n < most ? n : most; };
}

} // namespace warpfold::ladder::engine

// Each ladder's library defines it: the one symbol that it exports.
extern "C" [[gnu::visibility("default")]] const warpfold::ladder::engine::ladder_definition*
warpfold_ladder_definition();
