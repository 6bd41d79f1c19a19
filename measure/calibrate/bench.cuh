// SPDX-License-Identifier: MIT
// What all measurements of a card share: a clock for kernels, and the list of figures.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "measure/calibrate/arithmetic.cuh"
#include "measure/check.hpp"
#include "measure/device.hpp"

namespace warpfold::measure::calibrate {

struct figure {
    double value = 0;
    const char* how = "measured";
};

// One card, that of the calling thread.
class bench {
public:
    explicit bench(bool brief) : rounds_(brief ? 4 : 2048), brief_(brief) {
        WARPFOLD_CUDA_CHECK(cudaGetDevice(&device_));
        multiprocessors_ = attribute(cudaDevAttrMultiProcessorCount);
    }

    [[nodiscard]] const std::map<std::string, figure>& figures() const { return figures_; }
    [[nodiscard]] const std::map<std::string, double>& beside() const { return beside_; }

protected:
    [[nodiscard]] int attribute(cudaDeviceAttr what) const {
        int value = 0;
        WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&value, what, device_));
        return value;
    }
    void add(const char* name, double value) { figures_[name] = {value}; }
    void read(const char* name, double value) { figures_[name] = {value, "read from the driver"}; }

    // Cycles of the kernel that `launch` starts: the fewest of several times, the first of which brings the code.
    double cycles(const std::function<void(interval*)>& launch) {
        double best = 0;
        for (int turn = 0; turn < (brief_ ? 1 : 5); ++turn) {
            interval zero;
            WARPFOLD_CUDA_CHECK(cudaMemcpy(interval_.data(), &zero, sizeof zero, cudaMemcpyHostToDevice));
            launch(static_cast<interval*>(interval_.data()));
            WARPFOLD_CUDA_CHECK(cudaGetLastError());
            interval seen;
            WARPFOLD_CUDA_CHECK(cudaMemcpy(&seen, interval_.data(), sizeof seen, cudaMemcpyDeviceToHost));
            const auto took = static_cast<double>(seen.last - seen.first);
            best = turn < 2 ? took : std::min(best, took);
        }
        return std::max(best, 1.0);
    }
    // Seconds of what `work` enqueues, likewise.
    double seconds(const std::function<void()>& work) {
        double best = 0;
        for (int turn = 0; turn < (brief_ ? 1 : 5); ++turn) {
            begin_.record(stream_.handle());
            work();
            end_.record(stream_.handle());
            end_.synchronize();
            WARPFOLD_CUDA_CHECK(cudaGetLastError());
            const double took = end_.seconds_since(begin_);
            best = turn < 2 ? took : std::min(best, took);
        }
        return std::max(best, 1e-9);
    }
    template <class T>
    T* sink() {
        return static_cast<T*>(sink_.data());
    }

    unsigned rounds_;
    bool brief_;
    int device_ = 0;
    int multiprocessors_ = 1;
    double giga_hertz_ = 1;
    stream stream_;
    event begin_, end_;
    device_memory interval_{sizeof(interval)};
    device_memory sink_{64};
    std::map<std::string, figure> figures_;
    std::map<std::string, double> beside_; // to judge the others by
};

} // namespace warpfold::measure::calibrate
