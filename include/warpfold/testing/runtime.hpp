// SPDX-License-Identifier: MIT
// The software GPU's functions for tests (abi.h), found in the CUDA runtime of the program.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "warpfold/testing/abi.h"

namespace warpfold::testing {

// Something cannot be counted; what() says why, in one line.
class error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

namespace detail {

inline constexpr const char* counter_names[] = {
#define SOFTGPU_COUNTER(name, combine, meaning) #name,
#include "warpfold/testing/counters.def"
#undef SOFTGPU_COUNTER
};

struct functions {
    softgpu_testing_version_function* version = nullptr;
    softgpu_testing_in_use_function* in_use = nullptr;
    softgpu_testing_last_error_function* last_error = nullptr;
    softgpu_counter_name_function* counter_name = nullptr;
    softgpu_recording_begin_function* begin = nullptr;
    softgpu_recording_end_function* end = nullptr;
    softgpu_recording_launches_function* launches = nullptr;
    softgpu_recording_launch_function* launch = nullptr;
    softgpu_recording_counters_function* counters = nullptr;
    softgpu_recording_findings_function* findings = nullptr;
    softgpu_recording_finding_function* finding = nullptr;
    softgpu_recording_prediction_function* prediction = nullptr; // since version 2
    softgpu_recording_free_function* free = nullptr;
};

// Finds functions of one version of the CUDA runtime, linked or loaded.
class library {
public:
    explicit library(const char* name) : name_(name) {}

    template <class Function>
    bool find(const char* function, Function*& out) const {
        void* at = ::dlvsym(RTLD_DEFAULT, function, name_);
        if (at == nullptr) {
            if (void* const loaded = ::dlopen(name_, RTLD_LAZY | RTLD_NOLOAD)) {
                at = ::dlvsym(loaded, function, name_);
                ::dlclose(loaded); // another owner keeps it loaded
            }
        }
        out = reinterpret_cast<Function*>(at);
        return at != nullptr;
    }

    // Returns false if a function of version 1 is missing: the runtime is not the software GPU's.
    bool find_all(functions& f) const {
        find("softgpu_recording_prediction", f.prediction);
        return find("softgpu_testing_version", f.version) && find("softgpu_testing_in_use", f.in_use) &&
               find("softgpu_testing_last_error", f.last_error) && find("softgpu_counter_name", f.counter_name) &&
               find("softgpu_recording_begin", f.begin) && find("softgpu_recording_end", f.end) &&
               find("softgpu_recording_launches", f.launches) && find("softgpu_recording_launch", f.launch) &&
               find("softgpu_recording_counters", f.counters) && find("softgpu_recording_findings", f.findings) &&
               find("softgpu_recording_finding", f.finding) && find("softgpu_recording_free", f.free);
    }

private:
    const char* name_;
};

// `warpfold run` loads the runtimes of CUDA 12 and 13; the program's is the one with registered kernels. version is
// nullptr if neither is the software GPU's.
inline functions find_functions() {
    functions first;
    for (const char* const name : {"libcudart.so.13", "libcudart.so.12"}) {
        functions f;
        if (library(name).find_all(f)) {
            if (f.in_use() != 0) {
                return f;
            }
            first = first.version == nullptr ? f : first;
        }
    }
    return first;
}

// The software GPU of this process, with the library's number of each counter in counters.def. Throws error.
struct runtime {
    functions call = find_functions();
    std::vector<std::size_t> numbers;

    runtime() {
        if (call.version == nullptr) {
            throw error(
                "warpfold: not on the software GPU: build with the shared CUDA runtime (nvcc -cudart shared) and "
                "run the program with `warpfold run -- PROGRAM`");
        }
        if (call.version() < SOFTGPU_TESTING_VERSION) {
            throw error("warpfold: the software GPU is older than these headers: its version for tests is " +
                        std::to_string(call.version()) + ", not " + std::to_string(SOFTGPU_TESTING_VERSION));
        }
        std::vector<std::string> there;
        for (std::uint32_t n = 0; call.counter_name(n) != nullptr; ++n) {
            there.emplace_back(call.counter_name(n));
        }
        for (const char* const wanted : counter_names) {
            std::size_t at = 0;
            while (at < there.size() && there[at] != wanted) {
                ++at;
            }
            if (at == there.size()) {
                throw error(std::string("warpfold: the software GPU does not count ") + wanted +
                            ": it is of another version than these headers");
            }
            numbers.push_back(at);
        }
        values = there.size();
    }

    std::size_t values = 0; // of one launch, in the library

    static const runtime& instance() {
        static const runtime only;
        return only;
    }
};

} // namespace detail

// Whether the CUDA runtime of this process is the software GPU's. A test that needs it says
//     if (!warpfold::testing::is_software_gpu()) GTEST_SKIP() << "counters need the software GPU";
inline bool is_software_gpu() noexcept { return detail::find_functions().version != nullptr; }

} // namespace warpfold::testing
