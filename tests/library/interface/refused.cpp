// SPDX-License-Identifier: MIT
// Calls that must not compile, one for each macro; the tests look at what the compiler says.
#include <vector>

#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"

int main() {
    using namespace warpfold;
    const std::vector<int> in(3, 1);
    std::vector<int> out(3);
    [[maybe_unused]] const auto larger = [](int a, int b) { return a < b ? b : a; };
#if defined(REFUSED_no_initial)
    return reduce(host{}, in, larger);
#elif defined(REFUSED_no_initial_of_scan)
    exclusive_scan(host{}, in, out, larger);
#elif defined(REFUSED_no_operation)
    inclusive_scan(host{}, in, out, reversed);
#elif defined(REFUSED_void_map)
    transform_reduce(host{}, in, [](int) {});
#elif defined(REFUSED_const_output)
    inclusive_scan(host{}, out, in);
#elif defined(REFUSED_long_double)
    (void)min_max(host{}, std::vector<long double>(3));
#endif
}
