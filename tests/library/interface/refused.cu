// SPDX-License-Identifier: MIT
// Calls on a GPU that must not compile, one for each macro: functions that are the host's alone, kernels that cannot be.
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"

namespace {

struct bigger {
    int operator()(int a, int b) const { return a < b ? b : a; }
};
struct odd {
    int operator()(int x) const { return x % 2; }
};
[[maybe_unused]] int larger(int a, int b) { return a < b ? b : a; }

} // namespace

int main() {
    using namespace warpfold;
    [[maybe_unused]] const int* const in = nullptr;
#if defined(REFUSED_host_operation)
    return reduce(gpu{}, in, 3, bigger{}, 0);
#elif defined(REFUSED_host_predicate)
    return static_cast<int>(count_if(gpu{}, in, 3, odd{}));
#elif defined(REFUSED_host_bin)
    return static_cast<int>(histogram(gpu{}, in, 3, function_bins(odd{}, 2))[0]);
#elif defined(REFUSED_kernels)
    constexpr tuning::reduce_kernels odd_blocks{.max_block_threads = 100};
    return reduce(gpu{}.with(tuning::reduce_policy<odd_blocks>{}), in, 3);
#elif defined(REFUSED_function)
    return reduce(gpu{}, in, 3, larger, 0);
#endif
}
