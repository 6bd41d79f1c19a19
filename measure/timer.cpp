// SPDX-License-Identifier: MIT
// The loop behind measure/timer.hpp.
#include "measure/timer.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace warpfold::measure {

summary timer::sample(const std::function<void()>& work, const effort& how, bool flush) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    std::vector<double> samples;
    begin_.record(stream_.handle());
    work();
    end_.record(stream_.handle());
    end_.synchronize();
    const double once = std::max(end_.seconds_since(begin_), 1e-7);
    const unsigned runs = flush ? 1 : static_cast<unsigned>(std::clamp(200e-6 / once, 1.0, 64.0));
    while (samples.size() < std::max(how.samples, 1u)) {
        const std::chrono::duration<double> spent = clock::now() - begin;
        if (samples.size() >= std::max(how.least, 1u) && spent.count() > how.seconds) {
            break;
        }
        if (flush) {
            flush_.run(stream_);
        }
        begin_.record(stream_.handle());
        for (unsigned k = 0; k < runs; ++k) {
            work();
        }
        end_.record(stream_.handle());
        end_.synchronize();
        samples.push_back(end_.seconds_since(begin_) / runs);
    }
    return summarize(samples);
}

} // namespace warpfold::measure
