// SPDX-License-Identifier: MIT
// The counters of a launch, of a barrier interval or of several: sums, comparison, text.
#pragma once

#include <cstdint>
#include <ostream>

namespace warpfold::testing {

// Everything that is counted, with the names and meanings of counters.def; signed, so that they compare with literals.
struct counters {
#define SOFTGPU_COUNTER(name, combine, meaning) std::int64_t name = 0;
#include "warpfold/testing/counters.def"
#undef SOFTGPU_COUNTER

    // Active lanes of 32, on average over the instructions executed; 0 where nothing was.
    double average_active_lanes() const noexcept {
        return warp_instructions == 0
                   ? 0.0
                   : static_cast<double>(thread_instructions) / static_cast<double>(warp_instructions);
    }

    // As two launches, or two barrier intervals, add up.
    counters& operator+=(const counters& other) noexcept {
        const auto sum = [](std::int64_t a, std::int64_t b) { return a + b; };
        const auto max = [](std::int64_t a, std::int64_t b) { return a < b ? b : a; };
        static_cast<void>(max);
#define SOFTGPU_COUNTER(name, combine, meaning) name = combine(name, other.name);
#include "warpfold/testing/counters.def"
#undef SOFTGPU_COUNTER
        return *this;
    }
};

// Calls visit(name, value, meaning) for every counter, in the order of the table.
template <class Visitor>
void for_each_counter(const counters& c, Visitor&& visit) {
#define SOFTGPU_COUNTER(name, combine, meaning) visit(#name, c.name, meaning);
#include "warpfold/testing/counters.def"
#undef SOFTGPU_COUNTER
}

inline bool operator==(const counters& a, const counters& b) noexcept {
#define SOFTGPU_COUNTER(name, combine, meaning)                                                                        \
    if (a.name != b.name) {                                                                                            \
        return false;                                                                                                  \
    }
#include "warpfold/testing/counters.def"
#undef SOFTGPU_COUNTER
    return true;
}
inline bool operator!=(const counters& a, const counters& b) noexcept { return !(a == b); }

// Those that are not 0.
inline std::ostream& operator<<(std::ostream& out, const counters& c) {
    out << '{';
    const char* between = "";
    for_each_counter(c, [&](const char* name, std::int64_t value, const char*) {
        if (value != 0) {
            out << between << name << ' ' << value;
            between = ", ";
        }
    });
    return out << '}';
}

} // namespace warpfold::testing
