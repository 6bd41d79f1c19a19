// SPDX-License-Identifier: MIT
// The shared library's ways in.
#include <exception>

#include "tool/arrays/gpu/calls.hpp"
#include "tool/arrays/run_extremes.hpp"
#include "warpfold/any_communicator.hpp"

namespace warpfold::calls {
namespace {

class on_gpu final : public target {
public:
    explicit on_gpu(const rank_setup& rank) : rank_(rank) {}
    std::string device() const override { return gpu_name(rank_); }
    bool has_results() const override { return rank_.comm.rank() == 0; }
    std::string sum(const sum_request& q) override { return gpu_sum(rank_, q); }
    std::string reduce(const reduce_request& q) override { return gpu_reduce(rank_, q); }
    void scan(const scan_request& q) override { gpu_scan(rank_, q); }
    number_range extremes(const extremes_request& q) override { return run_extremes(rank_, q); }
    void histogram(const histogram_request& q) override { gpu_histogram(rank_, q); }
    void convolve(const convolve_request& q) override { gpu_convolve(rank_, q); }

private:
    rank_setup rank_;
};

} // namespace
} // namespace warpfold::calls

extern "C" __attribute__((visibility("default"))) warpfold::calls::target*
warpfold_calls(const warpfold::calls::rank_setup* rank) {
    return new warpfold::calls::on_gpu(*rank);
}

extern "C" __attribute__((visibility("default"))) int warpfold_gpus() {
    try {
        return warpfold::calls::gpu_count();
    } catch (const std::exception&) {
        return 0;
    }
}
