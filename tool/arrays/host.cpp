// SPDX-License-Identifier: MIT
// The library's calls on the host's cores.
#include "tool/arrays/host_memory.hpp"
#include "tool/arrays/run_convolve.hpp"
#include "tool/arrays/run_extremes.hpp"
#include "tool/arrays/run_histogram.hpp"
#include "tool/arrays/run_reduce.hpp"
#include "tool/arrays/run_scan.hpp"
#include "tool/arrays/run_sum.hpp"

namespace warpfold::calls {
namespace {

class on_host final : public target {
public:
    explicit on_host(const rank_setup& rank) : rank_(rank), memory_(rank) {}
    std::string device() const override { return "host"; }
    bool has_results() const override { return memory_.is_first(); }
    std::string sum(const sum_request& q) override { return run_sum(memory_, q); }
    std::string reduce(const reduce_request& q) override { return run_reduce(memory_, q); }
    void scan(const scan_request& q) override { run_scan(memory_, q); }
    number_range extremes(const extremes_request& q) override { return run_extremes(rank_, q); }
    void histogram(const histogram_request& q) override { run_histogram(memory_, q); }
    void convolve(const convolve_request& q) override { run_convolve(memory_, q); }

private:
    rank_setup rank_;
    memory_over<host_memory> memory_;
};

} // namespace
} // namespace warpfold::calls

extern "C" __attribute__((visibility("default"))) warpfold::calls::target*
warpfold_calls(const warpfold::calls::rank_setup* rank) {
    return new warpfold::calls::on_host(*rank);
}

extern "C" __attribute__((visibility("default"))) int warpfold_gpus() { return 0; }
