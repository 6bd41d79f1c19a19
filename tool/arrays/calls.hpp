// SPDX-License-Identifier: MIT
// Calls of the library with types that are known only at run time. Those on the host's cores and those on a GPU are each in a
// shared library, which the command loads when it needs it. No CUDA header.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "report/array_file.hpp"

namespace warpfold {

class any_communicator;

} // namespace warpfold

namespace warpfold::calls {

using report::array_type;

// The type that elements are folded, counted and filtered in: int64 and uint64 for integers, else their own.
enum class family { int64, uint64, float32, float64 };
[[nodiscard]] family family_of(array_type type) noexcept;
[[nodiscard]] array_type type_of(family of) noexcept; // int64, uint64, float32, float64

// Elements that are read part by part, by several threads at the same time; it throws std::exception.
class array_source {
public:
    virtual ~array_source() = default;
    [[nodiscard]] virtual array_type type() const = 0;
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    virtual void read(std::uint64_t first, void* to, std::uint64_t count) const = 0;
};

// Where results go, likewise.
class result_sink {
public:
    virtual ~result_sink() = default;
    virtual void write(std::uint64_t first, const void* from, std::uint64_t bytes) = 0; // from byte `first` on
};

// How elements pass through.
struct passage {
    std::uint64_t chunk_bytes = 0; // 0: as the library chooses
    std::function<void(std::uint64_t done, std::uint64_t of)> progress;
};

// One value of any family.
union number {
    std::int64_t int64;
    std::uint64_t uint64;
    float float32;
    double float64;
};

// Of floating-point numbers the correctly rounded sum, as text that reads back to the same value; of integers all
// digits.
struct sum_request {
    const array_source& in;
    passage how;
};

enum class operation { sum, product, minimum, maximum, largest_magnitude };

// Elements of int32, int64, float or double, reduced in their own type; integers wrap.
struct reduce_request {
    const array_source& in;
    passage how;
    operation op = operation::sum;
};

// By sum, product, minimum or maximum.
struct scan_request {
    const array_source& in;
    result_sink& out; // as many elements of type_of(family_of(in.type())); integers wrap
    passage how;
    operation op = operation::sum;
    bool exclusive = false; // out[0] is then the operation's identity
    bool reverse = false;
};

// Of one element or more, as their family; both NaN if one of them is NaN.
struct extremes_request {
    const array_source& in;
    passage how;
};
struct number_range {
    number smallest, largest;
};

struct histogram_request {
    const array_source& in;
    passage how;
    std::uint64_t bins = 0; // even ones over [lower, upper), bounds of the samples' family,
    number lower{}, upper{};
    const void* edges = nullptr; // or, where this is not null, between bins + 1 sorted edges of the samples' family
    std::uint64_t* counts = nullptr;
};

// Images one behind the other, rows without gaps.
struct convolve_request {
    bool is_double = false; // else float
    const void* in = nullptr;
    std::uint64_t width = 0, height = 1, count = 1;
    const double* mask = nullptr;
    std::uint64_t mask_width = 0, mask_height = 1;
    bool turned = true; // convolve; else correlate
    int border = 0;     // of warpfold::border
    int which = 0;      // of warpfold::outputs
    void* out = nullptr;
    std::uint64_t out_width = 0, out_height = 1;
};

// Every call returns when the work is done, and throws std::exception with one line where it cannot be done.
class target {
public:
    virtual ~target() = default;
    [[nodiscard]] virtual std::string device() const = 0; // its name
    // False at a process that takes part in calls and has no results to write or print.
    [[nodiscard]] virtual bool has_results() const = 0;
    [[nodiscard]] virtual std::string sum(const sum_request& request) = 0;
    // As text that reads back to the same value.
    [[nodiscard]] virtual std::string reduce(const reduce_request& request) = 0;
    virtual void scan(const scan_request& request) = 0;
    [[nodiscard]] virtual number_range extremes(const extremes_request& request) = 0;
    virtual void histogram(const histogram_request& request) = 0;
    virtual void convolve(const convolve_request& request) = 0;
};

// How the results of a rank's part come to the sink of all.
class result_route {
public:
    virtual ~result_route() = default;
    // Calls work(sink), which writes the rank's results from byte 0 on; they begin at byte `first` of `all`. Throws what work()
    // throws, or results_lost.
    virtual void pass(result_sink& all, std::uint64_t first, const std::function<void(result_sink&)>& work) = 0;
};

// The rank that takes the results of all has failed: the others cannot go on, and it ends them.
struct results_lost : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A call is made by one rank or several, each in its own process or thread.
struct rank_setup {
    any_communicator& comm;
    result_route& results;
    int place; // among the ranks of the host
};

} // namespace warpfold::calls

// What the shared library of either target exports: the calls at one rank, which the caller deletes; and how many GPUs there
// are. The ranks of a host take the GPUs in turn.
extern "C" warpfold::calls::target* warpfold_calls(const warpfold::calls::rank_setup* rank);
extern "C" int warpfold_gpus();
