// SPDX-License-Identifier: MIT
// The library's calls on the host's cores.
#include "tool/arrays/host_memory.hpp"
#include "tool/arrays/run_convolve.hpp"
#include "tool/arrays/run_histogram.hpp"
#include "tool/arrays/run_reduce.hpp"
#include "tool/arrays/run_scan.hpp"
#include "tool/arrays/run_sum.hpp"

namespace warpfold::calls {
namespace {

class on_host final : public target {
public:
    std::string device() const override { return "host"; }
    std::string sum(const sum_request& q) override { return run_sum(host{}, q); }
    std::string reduce(const reduce_request& q) override { return run_reduce(memory_, q); }
    void scan(const scan_request& q) override { run_scan(host{}, q); }
    void histogram(const histogram_request& q) override { run_histogram(memory_, q); }
    void convolve(const convolve_request& q) override { run_convolve(memory_, q); }

private:
    host_memory memory_;
};

} // namespace
} // namespace warpfold::calls

extern "C" __attribute__((visibility("default"))) warpfold::calls::target* warpfold_calls() {
    static warpfold::calls::on_host one;
    return &one;
}
