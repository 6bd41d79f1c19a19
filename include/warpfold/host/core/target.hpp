// SPDX-License-Identifier: MIT
// The host as a target.
#pragma once

namespace warpfold {

template <class On, class Comm>
struct over_ranks;

// A call on the host's cores. It begins on the caller's thread; others join while the time that is left pays for them.
// It returns when the work is done. Results do not depend on the number of threads.
struct host {
    unsigned threads = 0; // the most that work; 0: the machine's number

    // The same on every rank of a communicator, each with its part of the arrays (mpi.hpp, thread_communicator.hpp).
    template <class Comm>
    [[nodiscard]] constexpr over_ranks<host, Comm> over(Comm& comm) const {
        return {*this, &comm};
    }
};

} // namespace warpfold
