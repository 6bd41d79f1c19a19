// SPDX-License-Identifier: MIT
// The calls that make, describe and end communicators.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "softgpu/runtime/nccl/comm.hpp"

namespace softgpu::runtime::nccl {

bool is_of_processes(ncclComm& comm) {
    if (comm.others != nullptr || comm.folder.empty()) {
        return comm.others != nullptr;
    }
    const std::shared_ptr<clique> all = comm.all;
    const std::string folder = comm.folder;
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
        const bool has_begun = process_clique::has_begun(folder);
        const locked lock = lock_devices();
        if (all->is_aborted()) { // there may be no communicator any more
            return false;
        }
        if (all->is_complete() || all->has_lost_device()) {
            comm.folder.clear();
            return false;
        }
        if (has_begun) {
            comm.others = std::make_unique<process_clique>(folder, all->ranks(), comm.rank);
            return true;
        }
    }
}

namespace {

constexpr int version = 22703; // 2.27.3

// What ncclUniqueId holds.
struct clique_id {
    char mark[8] = "softgpu";
    std::uint64_t process = 0;
    std::uint64_t number = 0;
    std::uint64_t time = 0; // process ids come again
    char host[64] = {};

    [[nodiscard]] std::string folder() const {
        return "/dev/shm/softgpu-nccl-" + std::to_string(process) + "-" + std::to_string(number) + "-" +
               std::to_string(time);
    }
};
static_assert(sizeof(clique_id) <= sizeof(ncclUniqueId));

struct clique_table {
    std::mutex mutex;
    std::uint64_t last = 0;
    std::map<std::uint64_t, std::weak_ptr<clique>> by_number;
};

clique_table& table() {
    static clique_table& only = *new clique_table;
    return only;
}

ncclComm_t make(std::shared_ptr<clique> all, int rank, int device) {
    return new ncclComm{std::move(all), rank, device};
}

// nullptr: the default.
bool is_valid(const ncclConfig_t* config) {
    const ncclConfig_t made = NCCL_CONFIG_INITIALIZER;
    return config == nullptr || config->magic == made.magic;
}

// *out = what(*comm)
template <class T, class What>
ncclResult_t tell(ncclComm_t comm, T* out, What&& what) {
    return out == nullptr ? ncclInvalidArgument : with(comm, [&](const ncclComm& c) { *out = what(c); });
}

std::string host_name() {
    char name[64] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

} // namespace
} // namespace softgpu::runtime::nccl

using namespace softgpu::runtime;
using namespace softgpu::runtime::nccl;

ncclResult_t ncclGetVersion(int* out) { return out == nullptr ? ncclInvalidArgument : (*out = version, ncclSuccess); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    if (id == nullptr) {
        return ncclInvalidArgument;
    }
    const std::lock_guard lock(table().mutex);
    clique_id made;
    made.process = static_cast<std::uint64_t>(::getpid());
    made.number = ++table().last;
    made.time = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    std::strncpy(made.host, host_name().data(), sizeof made.host - 1);
    *id = {};
    std::memcpy(id->internal, &made, sizeof made);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
    return guarded([&] {
        if (comm == nullptr || ranks < 1 || rank < 0 || rank >= ranks) {
            return ncclInvalidArgument;
        }
        clique_id of;
        std::memcpy(&of, id.internal, sizeof of);
        if (std::memcmp(of.mark, clique_id{}.mark, sizeof of.mark) != 0) {
            return ncclInvalidArgument;
        }
        const int device = current_context().number();
        if (std::strncmp(of.host, host_name().data(), sizeof of.host) != 0) {
            report("ncclCommInitRank: the id is of another host; the software GPU's ranks are on one host");
            return ncclInvalidUsage;
        }
        if (of.process != static_cast<std::uint64_t>(::getpid())) {
            auto all = std::make_shared<clique>(ranks);
            (void)all->take(rank, all_devices().at(device));
            auto others = std::make_unique<process_clique>(of.folder(), ranks, rank);
            *comm = new ncclComm{std::move(all), rank, device, of.folder(), std::move(others)};
            return ncclSuccess;
        }
        const std::lock_guard lock(table().mutex);
        std::shared_ptr<clique> all = table().by_number[of.number].lock();
        if (all == nullptr) {
            all = std::make_shared<clique>(ranks);
            table().by_number[of.number] = all;
        }
        const locked devices = lock_devices(); // of the ranks that call already
        if (all->ranks() != ranks || !all->take(rank, all_devices().at(device))) {
            return ncclInvalidArgument;
        }
        *comm = make(std::move(all), rank, device);
        (*comm)->folder = of.folder();
        return ncclSuccess;
    });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
    // Calls never return ncclInProgress: `blocking` changes nothing.
    return is_valid(config) ? ncclCommInitRank(comm, ranks, id, rank) : ncclInvalidArgument;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* out, ncclConfig_t* config) {
    return guarded([&] {
        if (comm == nullptr || out == nullptr || (color < 0 && color != NCCL_SPLIT_NOCOLOR) || !is_valid(config)) {
            return ncclInvalidArgument;
        }
        *out = nullptr;
        waiting_call made{comm->all, nullptr};
        if (is_of_processes(*comm)) {
            report("ncclCommSplit: not of a communicator whose ranks are processes");
            return ncclInvalidUsage;
        }
        {
            const locked lock = lock_devices();
            if (made.all->is_aborted() || made.all->has_lost_device()) {
                return made.all->is_aborted() ? ncclInvalidUsage : ncclRemoteError;
            }
            made.at = made.all->split(comm->rank, {color, key, [out, device = comm->device](auto all, int rank) {
                                                       *out = make(std::move(all), rank, device);
                                                   }});
        }
        return wait_for_ranks(std::move(made));
    });
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
    return guarded([&] {
        if (comms == nullptr || count < 1) {
            return ncclInvalidArgument;
        }
        const auto all = std::make_shared<clique>(count);
        for (int rank = 0; rank < count; ++rank) {
            const int device = devices == nullptr ? rank : devices[rank];
            (void)all->take(rank, all_devices().at(device));
        }
        for (int rank = 0; rank < count; ++rank) {
            comms[rank] = make(all, rank, devices == nullptr ? rank : devices[rank]);
        }
        return ncclSuccess;
    });
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
    return with(comm, [](const ncclComm&) {});
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    return with(comm, [](const ncclComm& c) { delete &c; });
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
    return with(comm, [](const ncclComm& c) {
        {
            const locked lock = lock_devices();
            c.all->abort();
        }
        if (c.others != nullptr) {
            c.others->abort();
        }
        delete &c;
    });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
    return tell(comm, error, [](const ncclComm& c) {
        const locked lock = lock_devices();
        return c.others != nullptr        ? c.others->result()
               : c.all->is_aborted()      ? ncclInternalError
               : c.all->has_lost_device() ? ncclRemoteError
                                          : ncclSuccess;
    });
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
    return tell(comm, count, [](const ncclComm& c) { return c.all->ranks(); });
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
    return tell(comm, device, [](const ncclComm& c) { return c.device; });
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
    return tell(comm, rank, [](const ncclComm& c) { return c.rank; });
}
