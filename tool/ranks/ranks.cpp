// SPDX-License-Identifier: MIT
#include "tool/ranks/ranks.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tool/error.hpp"
#include "tool/run/locate.hpp"
#include "warpfold/any_communicator.hpp"
#include "warpfold/thread_communicator.hpp"

namespace warpfold::tool {
namespace {

// Results behind the first `first` bytes of another sink.
class later_results final : public calls::result_sink {
public:
    later_results(calls::result_sink& all, std::uint64_t first) : all_(all), first_(first) {}
    void write(std::uint64_t first, const void* from, std::uint64_t bytes) override {
        all_.write(first_ + first, from, bytes);
    }

private:
    calls::result_sink& all_;
    std::uint64_t first_;
};

// All ranks write to one sink.
class shared_results final : public calls::result_route {
public:
    void pass(calls::result_sink& all, std::uint64_t first,
              const std::function<void(calls::result_sink&)>& work) override {
        later_results out(all, first);
        work(out);
    }
};

// Calls of all ranks of this process, a thread each.
class over_threads final : public calls::target {
public:
    over_threads(const calls_library& library, int ranks) : library_(library), ranks_(ranks) {}

    [[nodiscard]] std::string device() const override {
        std::string name;
        each_rank([&](calls::target& at, bool first) {
            if (first) {
                name = at.device();
            }
        });
        return ranks_.size() == 1 ? name : fmt::format("{} GPUs, the first is {}", ranks_.size(), name);
    }
    [[nodiscard]] bool has_results() const override { return true; }
    [[nodiscard]] std::string sum(const calls::sum_request& q) override {
        return first_of<std::string>([&](calls::target& at) { return at.sum(q); });
    }
    [[nodiscard]] std::string reduce(const calls::reduce_request& q) override {
        return first_of<std::string>([&](calls::target& at) { return at.reduce(q); });
    }
    void scan(const calls::scan_request& q) override {
        each_rank([&](calls::target& at, bool) { at.scan(q); });
    }
    [[nodiscard]] calls::number_range extremes(const calls::extremes_request& q) override {
        return first_of<calls::number_range>([&](calls::target& at) { return at.extremes(q); });
    }
    void histogram(const calls::histogram_request& q) override {
        each_rank([&](calls::target& at, bool) { at.histogram(q); });
    }
    void convolve(const calls::convolve_request& q) override {
        each_rank([&](calls::target& at, bool) { at.convolve(q); });
    }

private:
    template <class Work>
    void each_rank(const Work& work) const {
        const auto one_rank = [&](thread_communicator& comm) {
            as_any any(comm);
            shared_results results;
            const calls::rank_setup setup{any, results, comm.rank()};
            const std::unique_ptr<calls::target> at(library_.calls(&setup));
            work(*at, comm.rank() == 0);
        };
        if (ranks_.size() == 1) {
            thread_communicator alone(ranks_, 0);
            one_rank(alone);
        } else {
            ranks_.run(one_rank);
        }
    }
    // What call(target) returns at the first rank.
    template <class Result, class Call>
    Result first_of(const Call& call) {
        Result result{};
        each_rank([&](calls::target& at, bool first) {
            Result mine = call(at);
            if (first) {
                result = std::move(mine);
            }
        });
        return result;
    }

    calls_library library_;
    mutable thread_ranks ranks_;
};

void (*abort_mpi)(int) = nullptr; // once it has started

} // namespace

bool started_as_ranks() {
    for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
        const char* const value = std::getenv(name);
        if (value != nullptr && std::atoi(value) > 1) {
            return true;
        }
    }
    return false;
}

int rank_of_process() {
    for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
        if (const char* const value = std::getenv(name); value != nullptr && started_as_ranks()) {
            return std::atoi(value);
        }
    }
    return 0;
}

void let_first_rank_fail() {
    if (rank_of_process() != 0) {
        // mpirun takes one to end them, and on a busy host the first may be several later.
        std::this_thread::sleep_for(std::chrono::seconds(20));
    }
}

std::unique_ptr<calls::target> target_alone(const calls_library& library) {
    return std::make_unique<over_threads>(library, 1);
}

std::unique_ptr<calls::target> target_over_ranks(const calls_library& library) {
    const std::string path = find_mpi_library();
    void* const mpi = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL); // MPI loads parts of itself
    if (mpi == nullptr) {
        throw failure(fmt::format("{} cannot be loaded: {}", path, dlerror()));
    }
    const auto start = reinterpret_cast<const calls::rank_setup* (*)()>(dlsym(mpi, "warpfold_mpi_rank"));
    if (start == nullptr) {
        throw failure(fmt::format("{} is not this command's library", path));
    }
    abort_mpi = reinterpret_cast<void (*)(int)>(dlsym(mpi, "warpfold_mpi_abort"));
    const calls::rank_setup* const setup = start();
    if (setup->comm.rank() != 0) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0) {
            dup2(nowhere, STDOUT_FILENO);
            close(nowhere);
        }
    }
    return std::unique_ptr<calls::target>(library.calls(setup));
}

void end_all_ranks(int status) {
    if (abort_mpi != nullptr) {
        abort_mpi(status);
    }
}

std::unique_ptr<calls::target> target_over_gpus(const calls_library& library, std::optional<int> gpus) {
    const int there = library.gpus();
    if (there == 0) {
        throw failure("--gpus: there is no GPU");
    }
    if (gpus.value_or(1) > there) {
        throw failure(
            fmt::format("--gpus: {} are asked for, and there {} {}", *gpus, there == 1 ? "is" : "are", there));
    }
    return std::make_unique<over_threads>(library, gpus.value_or(there));
}

} // namespace warpfold::tool
