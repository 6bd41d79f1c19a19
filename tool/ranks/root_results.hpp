// SPDX-License-Identifier: MIT
// Results of all ranks of MPI, which rank 0 writes: the others send it theirs.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "tool/arrays/calls.hpp"
#include "warpfold/mpi.hpp"

namespace warpfold::calls {

class root_results final : public result_sink {
public:
    // This rank's results begin at byte `first` of all.
    root_results(mpi_communicator& comm, result_sink& out, std::uint64_t first)
        : comm_(comm), out_(out), first_(first) {}

    void write(std::uint64_t first, const void* from, std::uint64_t bytes) override {
        const std::lock_guard lock(guard_);
        if (comm_.rank() == 0) {
            out_.write(first_ + first, from, bytes);
            return;
        }
        std::array<std::uint64_t, 2> head{first_ + first, bytes};
        const std::array<message, 2> sent{{{0, head.data(), sizeof(head)}, {0, const_cast<void*>(from), bytes}}};
        comm_.exchange(sent, {}, "results");
    }

    // By another rank: there are no more.
    void end() {
        const std::lock_guard lock(guard_);
        std::array<std::uint64_t, 2> head{no_more, 0};
        const std::array<message, 1> sent{{{0, head.data(), sizeof(head)}}};
        comm_.exchange(sent, {}, "results");
    }
    // By rank 0 behind its own results: those of `rank`, up to its end().
    void receive(int rank) {
        std::vector<unsigned char> data;
        for (;;) {
            std::array<std::uint64_t, 2> head{};
            const std::array<message, 1> first{{{rank, head.data(), sizeof(head)}}};
            comm_.exchange({}, first, "results");
            if (head[0] == no_more) {
                return;
            }
            data.resize(head[1]);
            const std::array<message, 1> second{{{rank, data.data(), data.size()}}};
            comm_.exchange({}, second, "results");
            out_.write(head[0], data.data(), data.size());
        }
    }

private:
    static constexpr std::uint64_t no_more = ~std::uint64_t{0};

    mpi_communicator& comm_;
    result_sink& out_;
    std::uint64_t first_;
    std::mutex guard_;
};

} // namespace warpfold::calls
