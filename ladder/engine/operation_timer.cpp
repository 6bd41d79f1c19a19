// SPDX-License-Identifier: MIT
#include "ladder/engine/operation_timer.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <sstream>
#include <thread>
#include <utility>

#include "measure/check.hpp"

namespace warpfold::ladder::engine {

namespace {

// The position of a value in a list, from 1; a new value is appended.
template <class T>
std::size_t place_in(std::vector<T>& list, const T& value) {
    const auto at = std::find(list.begin(), list.end(), value);
    const auto place = static_cast<std::size_t>(at - list.begin()) + 1;
    if (at == list.end()) {
        list.push_back(value);
    }
    return place;
}

} // namespace

operation_timer::operation_timer(std::string device) : device_(std::move(device)) {
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    const measure::stream alone;
    origin_.record(alone.handle());
    origin_.synchronize();
    began_ = std::chrono::steady_clock::now();
}

std::string operation_timer::name_of(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy) {
        return "default stream";
    }
    if (stream == cudaStreamPerThread) {
        std::ostringstream thread;
        thread << std::this_thread::get_id();
        return "default stream of thread " + std::to_string(place_in(threads_, thread.str()));
    }
    return "stream " + std::to_string(place_in(streams_, stream));
}

void operation_timer::around(cudaStream_t stream, timed_operation what, const std::function<void()>& issue) {
    auto made = std::make_unique<recorded>();
    made->what = std::move(what);
    recorded& mine = *made;
    {
        const std::lock_guard lock(mutex_);
        mine.stream = name_of(stream);
        all_.push_back(std::move(made));
    }
    mine.begin.record(stream);
    issue();
    mine.issued = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    mine.end.record(stream);
}

softgpu::observe::timeline operation_timer::timeline() {
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    softgpu::observe::timeline out;
    out.machine = device_ + ", measured with device events";
    for (std::size_t k = 0; k < all_.size(); ++k) {
        const recorded& o = *all_[k];
        out.events.push_back({.name = o.what.name,
                              .on = o.what.on,
                              .stream = o.stream,
                              .issued = o.issued,
                              .start = o.begin.seconds_since(origin_),
                              .end = o.end.seconds_since(origin_),
                              .bytes = o.what.bytes,
                              .pageable = o.what.pageable});
        for (std::size_t before = k; before-- != 0;) {
            if (all_[before]->stream == o.stream) {
                out.events.back().after.push_back(before);
                break;
            }
        }
    }
    std::vector<std::size_t> by_end(out.events.size());
    std::iota(by_end.begin(), by_end.end(), std::size_t{0});
    std::sort(by_end.begin(), by_end.end(),
              [&](std::size_t a, std::size_t b) { return out.events[a].end < out.events[b].end; });
    std::array<double, softgpu::observe::engines> free_at{};
    for (const std::size_t k : by_end) {
        auto& e = out.events[k];
        double& engine_is_free = free_at[static_cast<std::size_t>(e.on)];
        e.start = std::min(std::max(e.start, engine_is_free), e.end);
        engine_is_free = e.end;
    }
    return out;
}

void operate(const stage& on, cudaStream_t stream, timed_operation what, const std::function<void()>& issue) {
    if (on.timer == nullptr) {
        issue();
    } else {
        on.timer->around(stream, std::move(what), issue);
    }
}

} // namespace warpfold::ladder::engine
