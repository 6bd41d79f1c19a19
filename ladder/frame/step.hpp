// SPDX-License-Identifier: MIT
// What a step of a ladder or laboratory is to its runner. A step works on a few arrays and leaves one; what is right is
// known on the host to the last bit, since data are integers, or floats with small whole values.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ladder/frame/findings.hpp"
#include "ladder/study.hpp"
#include "ladder/verdict.hpp"
#include "softgpu/observe/timeline.hpp"

namespace warpfold::ladder::frame {

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

// What a step is given and what it ought to leave.
struct sample {
    std::uint64_t n = 0;
    std::vector<bytes> in;
    bytes right;
    value_type type = value_type::int32; // of `right`, for words about a difference
};
class operation_notes;

using data_function = sample (*)(std::uint64_t n, std::uint64_t seed);

// Where a step works. Device memory comes from an allocation of its own each, not initialised; scratch neither.
struct stage {
    std::uint64_t n = 0;
    std::vector<const void*> in;
    void* out = nullptr;
    void* scratch = nullptr;
    std::size_t scratch_bytes = 0;
    cudaStream_t stream = nullptr;
    unsigned multiprocessors = 1;
    bool software = false;
    std::vector<softgpu::observe::launch_record>* launches = nullptr; // on a GPU: where launch() notes them
    operation_notes* notes = nullptr; // on a GPU, of a laboratory with timelines: where operations are noted
    const sample* data = nullptr;           // on the host
    void* kept = nullptr;                   // what step_definition::prepare has made

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

// What a claim's check may look at: the step as it came out, those before it, its data and what it left.
struct evidence {
    const study_report& report;
    const study_step& step;
    const sample& data;
    const bytes& result;
    bool counted = false;            // the launches carry counters
    const findings* found = nullptr; // what the checks said of it; nullptr: they were not asked
    std::string said{};              // on standard error by the process of a step that runs apart
    std::vector<std::string>* missing = nullptr; // where to note whom other() did not find

    [[nodiscard]] std::uint64_t n() const { return step.n; }
    // The step of that id, if it ran in the same report before this one.
    [[nodiscard]] const study_step* other(const std::string& id) const;
};

using check = std::function<verdict(const evidence&)>;

struct claim_check {
    std::string text;
    std::string lecture;
    check holds;
};

struct step_definition {
    step_description about;
    data_function data = nullptr;
    // Enqueues the whole of it; every run from the beginning, whatever an earlier one left behind.
    std::function<void(const stage&)> run{};
    // What it needs besides, made once before all runs: streams, memory of the host. It lives until they are over.
    std::function<std::shared_ptr<void>(const stage&)> prepare{};
    // What it leaves, where that is not in stage::out; called when all work is over.
    std::function<bytes(const stage&)> collect{};
    // Instead, for a step on the host.
    std::function<bytes(const sample&)> on_host{};
    // Instead, for what leaves its process without a device: names of programs of frame/apart.hpp, whose codes (int32)
    // are the result. They are run in processes of their own, and neither counted nor timed.
    std::string apart{};
    // The size it takes when n are asked for; empty: n.
    std::function<std::uint64_t(std::uint64_t n)> size{};
    std::function<std::size_t(std::uint64_t n)> scratch_bytes{};
    std::function<std::uint64_t(std::uint64_t n)> least_bytes{};
    fate ought = fate::right;
    std::string lesson{};
    std::string finds{};          // what the checks find in it, a part of the kind's name; empty: nothing
    std::uint64_t check_n = 3000; // asked for when the checks run
    std::vector<claim_check> claims{};
};

using stopwatch = std::function<std::optional<double>(const std::string& id, std::uint64_t n)>;

struct study_definition {
    const char* name; // of the catalogue
    std::string data; // what the problem is, in words, behind a number: "int32"
    std::uint64_t n_counted = 0;
    std::uint64_t n_timed = 0;
    std::uint64_t most = 0; // the largest n
    std::vector<step_definition> steps;
    // Steps have timelines, on the software GPU by the model of this machine.
    std::optional<softgpu::observe::timeline_machine> machine{};
    // Tables beside the steps; may be empty. `seconds_of` gives the cold median of a step on n elements, on a GPU.
    std::function<std::vector<study_table>(const study_report&, const stopwatch& seconds_of)> tables{};
};

// Sizes of steps that one block does.
[[nodiscard]] inline std::function<std::uint64_t(std::uint64_t)> at_most(std::uint64_t most) {
    return [most](std::uint64_t n) { return n < most ? n : most; };
}

} // namespace warpfold::ladder::frame
