// SPDX-License-Identifier: MIT
// Reductions of the numbers 0, 1, ... 999,999 as floats, on the host's cores.
#include <cstdio>
#include <numeric>
#include <vector>

#include <warpfold/reduce.hpp>

int main() {
    std::vector<float> numbers(1'000'000);
    std::iota(numbers.begin(), numbers.end(), 0.0f);
    const warpfold::host cores;
    const auto [smallest, largest] = warpfold::min_max(cores, numbers);
    const auto even = warpfold::count_if(cores, numbers, [](float x) { return static_cast<long>(x) % 2 == 0; });
    const double sum = warpfold::transform_reduce(cores, numbers, [](float x) { return static_cast<double>(x); });
    std::printf("%g to %g, %llu even, sum %.0f\n", smallest, largest, static_cast<unsigned long long>(even), sum);
}
