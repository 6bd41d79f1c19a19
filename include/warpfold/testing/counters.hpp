// SPDX-License-Identifier: MIT
// Tests of what a kernel does, without a GPU: launch it on the software GPU, read its counters, assert.
//
//     const auto counters = warpfold::testing::count([&] { my_kernel<<<grid, block>>>(data); });
//     EXPECT_EQ(counters.shared_load_bank_conflicts, 0);
//
// C++17, no dependency but dlopen. The program is linked with the shared CUDA runtime and needs nothing of the software
// GPU to link; it runs with NVIDIA's runtime too, where is_software_gpu() is false and everything else throws error.
// What is recorded is the whole process's, whichever thread launches. docs/testing.md has more.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "warpfold/testing/counter_values.hpp"
#include "warpfold/testing/kernel_name.hpp"
#include "warpfold/testing/prediction.hpp"
#include "warpfold/testing/runtime.hpp"

namespace warpfold::testing {

struct extent {
    std::uint32_t x = 1, y = 1, z = 1;

    std::int64_t count() const noexcept { return static_cast<std::int64_t>(x) * y * z; }
    friend bool operator==(const extent& a, const extent& b) noexcept { return a.x == b.x && a.y == b.y && a.z == b.z; }
    friend bool operator!=(const extent& a, const extent& b) noexcept { return !(a == b); }
    friend std::ostream& operator<<(std::ostream& out, const extent& e) {
        return out << '(' << e.x << ',' << e.y << ',' << e.z << ')';
    }
};

struct launch {
    std::string kernel; // demangled, with its parameters: "void ns::scale<float>(float*, int)"
    std::string symbol; // as in the PTX
    extent grid;
    extent block;
    std::int64_t dynamic_shared_bytes = 0;
    std::int64_t static_shared_bytes = 0;
    double seconds = 0; // on this host
    std::string fault;  // empty: it ran to its end
    counters total;
    // [0] is what warps did before their first barrier of the block, [1] between the first and the second, ... summed
    // over all blocks; at most 64, later ones count in the last. Instruction counts are in `total` only.
    std::vector<counters> by_interval;
    predictions predicted; // empty: nothing is predicted, it failed, or it ran beside another launch
};

// A mistake that the checks have found: docs/checks.md says which there are.
struct finding {
    std::string check;   // "race"
    std::string kind;    // "race in shared memory"
    std::string message; // one sentence
    std::string kernel;  // empty: the host's own doing
    std::string file;    // of the first access, where -lineinfo gave it; else empty
    std::int64_t line = 0;
    std::int64_t times = 0;
    std::string text; // all of it, as a report has it

    friend std::ostream& operator<<(std::ostream& out, const finding& f) { return out << '\n' << f.text; }
};

// What happened between a recorder's begin and its end.
class recording {
public:
    recording() = default;
    recording(std::vector<launch> launches, std::vector<finding> findings)
        : launches_(std::move(launches)), findings_(std::move(findings)) {}

    const std::vector<launch>& launches() const noexcept { return launches_; } // in the order of issue
    // Of the checks that the recorder asked for; notes, which are no mistakes, are left out.
    const std::vector<finding>& findings() const noexcept { return findings_; }

    // The launches of one kernel, and what was found in it. By its name as in the source ("scale"), with as much of its
    // namespaces and template arguments as tell it apart ("ns::scale<float>"), all of it, or its symbol. Throws error,
    // with the kernels that there are, where there is none.
    recording of(const std::string& kernel) const {
        std::vector<launch> chosen;
        std::string others;
        for (const launch& l : launches_) {
            if (l.symbol == kernel || detail::names(kernel, l.kernel)) {
                chosen.push_back(l);
            } else if (others.find(l.kernel) == std::string::npos) {
                others += (others.empty() ? "" : ", ") + l.kernel;
            }
        }
        if (chosen.empty()) {
            throw error("warpfold: no launch of a kernel '" + kernel + "' was recorded; there are " +
                        (others.empty() ? "none at all" : others));
        }
        std::vector<finding> found;
        for (const finding& f : findings_) {
            if (f.kernel == chosen.front().kernel || detail::names(kernel, f.kernel)) {
                found.push_back(f);
            }
        }
        return recording(std::move(chosen), std::move(found));
    }

    // Summed over all launches.
    counters total() const noexcept {
        counters sum;
        for (const launch& l : launches_) {
            sum += l.total;
        }
        return sum;
    }

    // Each barrier interval summed over all launches.
    std::vector<counters> by_interval() const {
        std::vector<counters> sums;
        for (const launch& l : launches_) {
            sums.resize(sums.size() < l.by_interval.size() ? l.by_interval.size() : sums.size());
            for (std::size_t n = 0; n < l.by_interval.size(); ++n) {
                sums[n] += l.by_interval[n];
            }
        }
        return sums;
    }

    // Summed over all launches. Throws error where a launch is not predicted, with its kernel.
    predictions predicted() const {
        predictions sum;
        for (const launch& l : launches_) {
            if (l.predicted.empty()) {
                throw error("warpfold: a launch of " + l.kernel +
                            " is not predicted: no card was named (PREDICT in warpfold_add_cuda_test, or `warpfold run "
                            "--predict`), or it failed or ran beside another launch");
            }
            sum += l.predicted;
        }
        return sum;
    }

private:
    std::vector<launch> launches_;
    std::vector<finding> findings_;
};

// What to do while something is recorded, instead of what `warpfold run` or the environment asks for:
//     record(f, options().check("race,sync").adversarial(seed))
class options {
public:
    // Checks to make: memory, race, init, sync, leak, several with commas between, or all; "" for none. What is
    // allocated before counts as written; leaks are allocations of the recorded part.
    options& check(std::string names) {
        checks_ = std::move(names);
        return *this;
    }
    // Lanes, warps, blocks and streams in any order that CUDA allows, drawn from the seed: the same order every time.
    options& adversarial(std::uint64_t seed) noexcept {
        schedule_ = 2;
        seed_ = seed;
        return *this;
    }
    options& fair() noexcept {
        schedule_ = 1;
        return *this;
    }

private:
    friend class recorder;
    std::optional<std::string> checks_;
    std::int32_t schedule_ = 0;
    std::uint64_t seed_ = 0;
};

// Records what is launched from its construction, which waits for all work, until stop(). Recorders may overlap: each
// has what happened in its own time, and the last one's options hold.
class recorder {
public:
    // Throws error: not on the software GPU, or options that name what there is not.
    explicit recorder(const options& o = {}) {
        const softgpu_recording_options asked{sizeof asked, o.checks_ ? o.checks_->c_str() : nullptr, o.schedule_,
                                              o.seed_};
        must_be_well(detail::runtime::instance().call.begin(&asked, &handle_));
    }
    ~recorder() {
        if (handle_ != nullptr) {
            detail::runtime::instance().call.free(handle_);
        }
    }
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;

    // Waits for all work of the device, as cudaDeviceSynchronize does, and ends the recording. Throws error where it
    // was stopped before, or in a host function, which must not wait.
    recording stop() {
        if (handle_ == nullptr) {
            throw error("warpfold: this recorder has been stopped");
        }
        const detail::runtime& gpu = detail::runtime::instance();
        must_be_well(gpu.call.end(handle_));
        std::vector<launch> launches;
        for (std::size_t n = 0; n < gpu.call.launches(handle_); ++n) {
            launches.push_back(read_launch(gpu, n));
        }
        std::vector<finding> findings;
        for (std::size_t n = 0; n < gpu.call.findings(handle_); ++n) {
            softgpu_recorded_finding f{};
            f.bytes = sizeof f;
            gpu.call.finding(handle_, n, &f);
            if (f.is_note == 0) {
                findings.push_back({f.check, f.kind, f.message, f.kernel, f.file, static_cast<std::int64_t>(f.line),
                                    static_cast<std::int64_t>(f.times), f.text});
            }
        }
        gpu.call.free(handle_);
        handle_ = nullptr;
        return recording(std::move(launches), std::move(findings));
    }

private:
    static void must_be_well(const char* wrong) {
        if (wrong != nullptr) {
            throw error(std::string("warpfold: ") + wrong);
        }
    }

    counters read_counters(const detail::runtime& gpu, std::size_t number, std::size_t interval) const {
        std::vector<std::uint64_t> values(gpu.values);
        gpu.call.counters(handle_, number, interval, values.data(), values.size());
        counters c;
        std::size_t at = 0;
#define SOFTGPU_COUNTER(name, combine, meaning) c.name = static_cast<std::int64_t>(values[gpu.numbers[at++]]);
#include "warpfold/testing/counters.def"
#undef SOFTGPU_COUNTER
        return c;
    }

    launch read_launch(const detail::runtime& gpu, std::size_t number) const {
        softgpu_recorded_launch l{};
        l.bytes = sizeof l;
        gpu.call.launch(handle_, number, &l);
        launch out;
        out.kernel = l.kernel;
        out.symbol = l.symbol;
        out.grid = {l.grid[0], l.grid[1], l.grid[2]};
        out.block = {l.block[0], l.block[1], l.block[2]};
        out.dynamic_shared_bytes = static_cast<std::int64_t>(l.dynamic_shared_bytes);
        out.static_shared_bytes = static_cast<std::int64_t>(l.static_shared_bytes);
        out.seconds = l.seconds;
        out.fault = l.fault;
        out.total = read_counters(gpu, number, l.intervals);
        for (std::size_t n = 0; n < l.intervals; ++n) {
            out.by_interval.push_back(read_counters(gpu, number, n));
        }
        out.predicted = detail::read_predictions(gpu, handle_, number);
        return out;
    }

    softgpu_recording* handle_ = nullptr;
};

// Runs body() and gives what it launched and what the checks found. Throws as a recorder does, and what body() throws.
template <class Body>
recording record(Body&& body, const options& o = {}) {
    recorder r(o);
    std::forward<Body>(body)();
    return r.stop();
}

// As record(), for what must not hold nothing: throws error too where nothing was launched, or a launch came to no good
// end.
template <class Body>
recording record_successful(Body&& body, const options& o = {}) {
    recording r = record(std::forward<Body>(body), o);
    if (r.launches().empty()) {
        const std::string last = detail::runtime::instance().call.last_error();
        throw error("warpfold: nothing was launched" + (last.empty() ? "" : "; the last CUDA error is " + last));
    }
    for (const launch& l : r.launches()) {
        if (!l.fault.empty()) {
            throw error("warpfold: a launch failed: " + l.fault.substr(0, l.fault.find('\n')));
        }
    }
    return r;
}

// Runs body() and gives the counters of all that it launched, which is something, and ran to its end: counters that hold
// nothing pass many a test. Throws error as record_successful() does.
template <class Body>
counters count(Body&& body, const options& o = {}) {
    return record_successful(std::forward<Body>(body), o).total();
}

// Runs body() and gives how long all that it launched takes on the cards that the process predicts, launch after launch:
//     EXPECT_LT(predict([&] { my_kernel<<<grid, block>>>(data); }).on("h100").microseconds, 40);
// Throws error as record_successful() does, and where a launch is not predicted.
template <class Body>
predictions predict(Body&& body, const options& o = {}) {
    return record_successful(std::forward<Body>(body), o).predicted();
}

} // namespace warpfold::testing
