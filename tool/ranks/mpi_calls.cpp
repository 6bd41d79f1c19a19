// SPDX-License-Identifier: MIT
// The command's process as a rank of MPI: a shared library, so that the command itself needs no MPI.
#include "tool/ranks/mpi_calls.hpp"

#include <cstdlib>
#include <memory>

#include "tool/ranks/root_results.hpp"
#include "warpfold/any_communicator.hpp"
#include "warpfold/mpi.hpp"

namespace warpfold::calls {
namespace {

// The first rank writes the results of all; the others send it theirs.
class route_to_root final : public result_route {
public:
    explicit route_to_root(mpi_communicator& comm) : comm_(comm) {}

    void pass(result_sink& all, std::uint64_t first, const std::function<void(result_sink&)>& work) override {
        root_results out(comm_, all, first);
        comm_.rank() == 0 ? take(out, work) : give(out, work);
    }

private:
    void take(root_results& out, const std::function<void(result_sink&)>& work) {
        try {
            work(out);
            for (int r = 1; r < comm_.size(); ++r) {
                out.receive(r);
            }
        } catch (const rank_error&) { // the others have it, too
            throw;
        } catch (const std::exception& error) {
            throw results_lost(error.what());
        }
    }
    static void give(root_results& out, const std::function<void(result_sink&)>& work) {
        try {
            work(out);
        } catch (const rank_error&) {
            throw;
        } catch (...) {
            out.end(); // the first rank may wait for more
            throw;
        }
        out.end();
    }

    mpi_communicator& comm_;
};

int place_on_host() {
    MPI_Comm here = MPI_COMM_NULL;
    int place = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &place);
    MPI_Comm_free(&here);
    return place;
}

struct mpi_rank {
    mpi_communicator comm{MPI_COMM_WORLD};
    as_any<mpi_communicator> any{comm};
    route_to_root results{comm};
    rank_setup setup{any, results, place_on_host()};
};

std::unique_ptr<mpi_rank> one;

void end_mpi() {
    MPI_Barrier(MPI_COMM_WORLD); // a rank that has yet to fail by itself aborts: not while others are in MPI_Finalize
    one.reset();
    MPI_Finalize();
}

} // namespace
} // namespace warpfold::calls

extern "C" __attribute__((visibility("default"))) const warpfold::calls::rank_setup* warpfold_mpi_rank() {
    using namespace warpfold::calls;
    if (!one) {
        int given = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given); // results may come from other threads
        one = std::make_unique<mpi_rank>();
        (void)std::atexit(end_mpi);
    }
    return &one->setup;
}

extern "C" __attribute__((visibility("default"))) void warpfold_mpi_abort(int status) {
    if (warpfold::calls::one) {
        MPI_Abort(MPI_COMM_WORLD, status);
    }
}
