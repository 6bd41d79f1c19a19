// SPDX-License-Identifier: MIT
// What the tool asks of the ladder's shared library and what it gets back: plain C++20, no CUDA header. The library
// holds the kernels and is linked with the shared CUDA runtime; the tool loads it after it has chosen which runtime
// that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ladder/report.hpp"
#include "ladder/sources.hpp"
#include "ladder/study.hpp"
#include "softgpu/observe/launch_record.hpp"

namespace warpfold::ladder {

enum class element_type { int32, int64, float32, float64 };
enum class operation { sum, minimum, maximum, product, largest_magnitude }; // the last: the user-defined one
enum class finish { device, host };

// A value of any element_type.
struct scalar {
    element_type type = element_type::int32;
    std::int64_t integer = 0; // of int32, int64
    double real = 0;          // of float32 (exactly), float64
};

struct reduce_request {
    std::uint64_t n = 1u << 22;
    unsigned block = 256;
    element_type type = element_type::int32;
    operation op = operation::sum;
    finish finish_on = finish::device;
    std::vector<std::string> steps; // ids; empty: all
    const void* data = nullptr;     // n elements on the host; nullptr: made from `seed`
    std::uint64_t seed = 587;
    unsigned offset = 0;   // elements (64 at most) between a 256-byte boundary and the array on the device
    bool time = false;     // on a GPU only
    bool count = false;    // on the software GPU only
    unsigned samples = 31; // of each timing
    std::function<void(const std::string& what, std::size_t done, std::size_t of)> progress; // may be empty
};

struct reduce_step : step_description {
    std::string caution; // empty, or why the step is right only by luck
    bool on_device = true;
    std::string skipped; // empty: it ran; else why not
    bool correct = false;
    std::string error; // what the device said, where it failed
    scalar result;
    scalar expected;
    double tolerance = 0;                                  // absolute, of float types; 0: exact
    std::vector<softgpu::observe::launch_record> launches; // of one reduction; counters zero on a GPU
    std::optional<timing> cold;                            // L2 flushed before each sample
    std::optional<timing> warm;
    std::vector<claim> claims;
    std::vector<std::string> missing; // steps that its claims would be compared with, and that did not run
};

struct reduce_report {
    device_description device;
    reduce_request request;
    std::vector<reduce_step> steps;
};

class ladder_library {
public:
    virtual ~ladder_library() = default;
    [[nodiscard]] virtual device_description device() const = 0;
    [[nodiscard]] virtual std::vector<step_description> reduce_steps() const = 0;
    // Throws bad_request for an unknown step, a block of
    // more threads than the device takes, n the device cannot hold, an offset of more than 64; std::runtime_error for a
    // CUDA error outside a step.
    // n = 0 is no error: the result is the operation's identity.
    [[nodiscard]] virtual reduce_report reduce(const reduce_request& request) = 0;

    // The same for the ladders and laboratories of the catalogue, by name. Throw bad_request for a name that is not
    // there, and as above.
    [[nodiscard]] virtual std::vector<step_description> study_steps(const std::string& name) const = 0;
    [[nodiscard]] virtual study_report study(const study_request& request) = 0;

    [[nodiscard]] virtual std::span<const source_file> sources() const = 0;
};

} // namespace warpfold::ladder

// The one symbol that the shared library exports.
extern "C" warpfold::ladder::ladder_library* warpfold_ladder();
