// SPDX-License-Identifier: MIT
// The exported calls of libnccl.so.2 that make, describe and end communicators.
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
#include <vector>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/memory/allocations.hpp"
#include "softgpu/runtime/memory/copies.hpp"
#include "softgpu/runtime/nccl/comm.hpp"

namespace softgpu::runtime::nccl {
ncclResult_t result_of(const failure& f) {
    if (!f.message.empty()) {
        report(f.message);
    }
    return f.code == error::invalid_value || f.code == error::invalid_resource_handle || f.code == error::invalid_device
               ? ncclInvalidArgument
               : ncclUnhandledCudaError;
}

ncclResult_t wait_for_all(std::vector<waiting_call> calls) {
    ncclResult_t result = ncclSuccess;
    locked lock(all_devices().at(0).mutex());
    for (const waiting_call& c : calls) {
        const ncclResult_t one = c.all->wait(lock, c.at);
        result = result == ncclSuccess ? one : result;
    }
    return result;
}

// Whether the ranks are in other processes. Waits for that to show: until all ranks of the communicator have joined here, or
// one elsewhere.
bool is_of_processes(ncclComm& comm) {
    while (comm.others == nullptr && !comm.folder.empty()) {
        {
            const locked lock(all_devices().at(0).mutex());
            if (comm.all->is_complete() || comm.all->is_aborted() || comm.all->has_lost_device()) {
                comm.folder.clear();
                break;
            }
        }
        if (process_clique::has_begun(comm.folder)) {
            comm.others = std::make_unique<process_clique>(comm.folder, comm.all->ranks(), comm.rank);
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    return comm.others != nullptr;
}

void require_memory(context& gpu, const void* at, std::size_t bytes) {
    if (bytes != 0) {
        require_accessible(gpu, at, bytes, true);
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

constexpr unsigned config_magic = 0xcafebeef; // of NCCL_CONFIG_INITIALIZER

std::string host_name() {
    char name[64] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

} // namespace
} // namespace softgpu::runtime::nccl

using namespace softgpu::runtime;
using namespace softgpu::runtime::nccl;

#pragma GCC visibility push(default)
extern "C" {

ncclResult_t ncclGetVersion(int* out) { return out == nullptr ? ncclInvalidArgument : (*out = version, ncclSuccess); }

const char* ncclGetErrorString(ncclResult_t code) {
    switch (code) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error";
    case ncclSystemError: return "unhandled system error";
    case ncclInternalError: return "internal error";
    case ncclInvalidArgument: return "invalid argument";
    case ncclInvalidUsage: return "invalid usage";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "operation in progress";
    }
    return "unknown result code";
}

const char* ncclGetLastError(ncclComm_t) { return ""; } // they are printed

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
        if (all->ranks() != ranks || !all->take(rank, all_devices().at(device))) {
            return ncclInvalidArgument;
        }
        *comm = make(std::move(all), rank, device);
        (*comm)->folder = of.folder();
        return ncclSuccess;
    });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
    if (config != nullptr && config->magic != config_magic) {
        return ncclInvalidArgument;
    }
    return ncclCommInitRank(comm, ranks, id, rank); // calls never return ncclInProgress: `blocking` changes nothing
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* out, ncclConfig_t* config) {
    return guarded([&] {
        if (comm == nullptr || out == nullptr || (color < 0 && color != NCCL_SPLIT_NOCOLOR) ||
            (config != nullptr && config->magic != config_magic)) {
            return ncclInvalidArgument;
        }
        *out = nullptr;
        if (is_of_processes(*comm)) {
            report("ncclCommSplit: not of a communicator whose ranks are processes");
            return ncclInvalidUsage;
        }
        waiting_call made{comm->all, nullptr};
        {
            const locked lock(all_devices().at(0).mutex());
            if (comm->all->is_aborted() || comm->all->has_lost_device()) {
                return comm->all->is_aborted() ? ncclInvalidUsage : ncclRemoteError;
            }
            made.at = comm->all->split(comm->rank, {color, key, [out, device = comm->device](auto all, int rank) {
                                                        *out = make(std::move(all), rank, device);
                                                    }});
        }
        if (group.depth != 0) {
            group.calls.push_back(std::move(made));
            return ncclSuccess;
        }
        return wait_for_all({made});
    });
}

ncclResult_t ncclMemAlloc(void** pointer, size_t bytes) {
    return guarded([&] {
        if (pointer == nullptr || bytes == 0) {
            return ncclInvalidArgument;
        }
        context& gpu = current_context();
        locked lock(gpu.mutex());
        gpu.require_usable();
        *pointer = reinterpret_cast<void*>(allocate_after_pending_frees(
            gpu, lock, [&] { return gpu.memory().allocate(bytes, softgpu::memory::allocation_kind::device); }));
        return ncclSuccess;
    });
}

ncclResult_t ncclMemFree(void* pointer) {
    return guarded([&] {
        if (pointer != nullptr) {
            context& gpu = current_context();
            locked lock(gpu.mutex());
            context& home = home_of(gpu, reinterpret_cast<softgpu::memory::address>(pointer));
            require_freeable(home, reinterpret_cast<softgpu::memory::address>(pointer));
            home.wait_until_idle(lock);
            release(home, reinterpret_cast<softgpu::memory::address>(pointer));
        }
        return ncclSuccess;
    });
}

// Registered memory is used as any other.
ncclResult_t ncclCommRegister(ncclComm_t comm, void* data, size_t bytes, void** handle) {
    return guarded([&] {
        if (comm == nullptr || data == nullptr || bytes == 0 || handle == nullptr) {
            return ncclInvalidArgument;
        }
        context& gpu = all_devices().at(comm->device);
        const locked lock(gpu.mutex());
        require_memory(gpu, data, bytes);
        *handle = data;
        return ncclSuccess;
    });
}

ncclResult_t ncclCommDeregister(ncclComm_t comm, void* handle) {
    return comm == nullptr || handle == nullptr ? ncclInvalidArgument : ncclSuccess;
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
            const locked lock(all_devices().at(0).mutex());
            c.all->abort();
        }
        if (c.others != nullptr) {
            c.others->abort();
        }
        delete &c;
    });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
    if (error == nullptr) {
        return ncclInvalidArgument;
    }
    return with(comm, [&](const ncclComm& c) {
        const locked lock(all_devices().at(0).mutex());
        if (c.others != nullptr) {
            *error = c.others->result();
            return;
        }
        *error = c.all->is_aborted() ? ncclInternalError : c.all->has_lost_device() ? ncclRemoteError : ncclSuccess;
    });
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
    if (count == nullptr) {
        return ncclInvalidArgument;
    }
    return with(comm, [&](const ncclComm& c) { *count = c.all->ranks(); });
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
    if (device == nullptr) {
        return ncclInvalidArgument;
    }
    return with(comm, [&](const ncclComm& c) { *device = c.device; });
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
    if (rank == nullptr) {
        return ncclInvalidArgument;
    }
    return with(comm, [&](const ncclComm& c) { *rank = c.rank; });
}

} // extern "C"
#pragma GCC visibility pop
