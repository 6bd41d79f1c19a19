// SPDX-License-Identifier: MIT
// The shared library's one way in.
#include "tool/arrays/gpu/calls.hpp"

namespace {

using namespace warpfold::calls;

class on_gpu final : public target {
public:
    std::string device() const override { return gpu_name(); }
    std::string sum(const sum_request& q) override { return gpu_sum(q); }
    std::string reduce(const reduce_request& q) override { return gpu_reduce(q); }
    void scan(const scan_request& q) override { gpu_scan(q); }
    void histogram(const histogram_request& q) override { gpu_histogram(q); }
    void convolve(const convolve_request& q) override { gpu_convolve(q); }
};

} // namespace

extern "C" __attribute__((visibility("default"))) target* warpfold_calls() {
    static on_gpu one;
    return &one;
}
