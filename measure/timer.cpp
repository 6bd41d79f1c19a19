// SPDX-License-Identifier: MIT
// The loop behind measure/timer.hpp.
#include "measure/timer.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace warpfold::measure {

timer::timer(const stream& on, std::size_t l2_bytes)
    : stream_(on), flushed_(std::max<std::size_t>(2 * l2_bytes, std::size_t{64} << 20)) {}

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
            WARPFOLD_CUDA_CHECK(
                cudaMemsetAsync(flushed_.data(), ++pattern_ & 0xff, flushed_.bytes(), stream_.handle()));
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
