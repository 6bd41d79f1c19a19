// SPDX-License-Identifier: MIT
// Times work on a stream by device events, cold (the L2 cache flushed before each sample) or warm.
#pragma once

#include <cstddef>
#include <functional>

#include "measure/device.hpp"
#include "measure/flush.hpp"
#include "measure/statistics.hpp"

namespace warpfold::measure {

// When to stop: after this many samples, or after `seconds` once `least` samples are taken.
struct effort {
    unsigned samples = 31;
    unsigned least = 5;
    double seconds = 2.0;
};

class timer {
public:
    timer(const stream& on, std::size_t l2_bytes) : stream_(on), flush_(l2_bytes) {}

    // `work` only enqueues on the stream. One run before the samples is not counted.
    [[nodiscard]] summary cold(const std::function<void()>& work, const effort& how) { return sample(work, how, true); }
    // Warm: a sample is the mean of back-to-back runs that take 200 us, so that the host does not limit short work.
    [[nodiscard]] summary warm(const std::function<void()>& work, const effort& how) {
        return sample(work, how, false);
    }

private:
    [[nodiscard]] summary sample(const std::function<void()>& work, const effort& how, bool flush);

    const stream& stream_;
    l2_flush flush_;
    event begin_, end_;
};

} // namespace warpfold::measure
