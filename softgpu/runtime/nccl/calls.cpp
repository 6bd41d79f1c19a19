// SPDX-License-Identifier: MIT
// The exported calls of libnccl.so.2.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/memory/copies.hpp"
#include "softgpu/runtime/nccl/clique.hpp"
#include "softgpu/runtime/nccl/data.hpp"
#include "softgpu/runtime/nccl/reduction.hpp"

struct ncclComm {
    std::shared_ptr<softgpu::runtime::nccl::clique> all;
    int rank = 0;
    int device = 0;
};

namespace softgpu::runtime::nccl {
namespace {

constexpr int version = 22703; // 2.27.3

// What ncclUniqueId holds.
struct clique_id {
    char mark[8] = "softgpu";
    std::uint64_t process = 0;
    std::uint64_t number = 0;
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

// Calls of this thread's group that wait for other ranks.
struct waiting_call {
    std::shared_ptr<clique> all; // its communicator may be aborted meanwhile
    std::shared_ptr<meeting> at;
};
struct thread_group {
    int depth = 0;
    ncclResult_t result = ncclSuccess; // the first error in it
    std::vector<waiting_call> calls;
};
thread_local thread_group group;

ncclResult_t result_of(const failure& f) {
    if (!f.message.empty()) {
        report(f.message);
    }
    return f.code == error::invalid_value || f.code == error::invalid_resource_handle || f.code == error::invalid_device
               ? ncclInvalidArgument
               : ncclUnhandledCudaError;
}

// Runs body(), which may throw failure.
template <class Body>
ncclResult_t guarded(Body&& body) noexcept {
    ncclResult_t result = ncclSystemError;
    try {
        result = body();
    } catch (const failure& f) {
        result = result_of(f);
    } catch (const std::exception& e) {
        report(e.what());
    }
    if (group.depth != 0 && group.result == ncclSuccess) {
        group.result = result;
    }
    return result;
}

template <class Body>
ncclResult_t with(ncclComm_t comm, Body&& body) noexcept {
    return guarded([&] { return comm == nullptr ? ncclInvalidArgument : (body(*comm), ncclSuccess); });
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

// Whether the elements of all ranks have a number of bytes.
bool has_size(std::size_t count, ncclDataType_t type, int ranks) {
    std::size_t bytes = 0;
    return !__builtin_mul_overflow(count, bytes_of(type) * static_cast<std::size_t>(ranks), &bytes);
}

// post(clique, call): a call of a rank with its stream, unless its other arguments are not `valid`. Waits for the others here,
// or at the end of the group.
template <class Post>
ncclResult_t posted(ncclComm_t comm, bool valid, cudaStream_t stream_handle, std::size_t count, ncclDataType_t type,
                    Post&& post) {
    return guarded([&] {
        if (comm == nullptr || !valid || static_cast<unsigned>(type) >= ncclNumTypes ||
            !has_size(count, type, comm->all->ranks())) {
            return ncclInvalidArgument;
        }
        waiting_call made{comm->all, nullptr};
        {
            context& gpu = all_devices().at(comm->device);
            const locked lock(gpu.mutex());
            gpu.require_usable();
            if (comm->all->is_aborted()) {
                return ncclInvalidUsage;
            }
            if (comm->all->has_lost_device()) {
                return gpu.has_failed() ? ncclUnhandledCudaError : ncclRemoteError;
            }
            rank_call call{.count = count, .type = type, .gpu = &gpu};
            call.on = &gpu.checked(reinterpret_cast<stream*>(stream_handle));
            made.at = post(*comm->all, call);
        }
        if (group.depth != 0) {
            group.calls.push_back(std::move(made));
            return ncclSuccess;
        }
        return wait_for_all({made});
    });
}

void require_memory(context& gpu, const void* at, std::size_t bytes) {
    if (bytes != 0) {
        require_accessible(gpu, at, bytes, true);
    }
}

bool is_rank(ncclComm_t comm, int rank) { return comm != nullptr && rank >= 0 && rank < comm->all->ranks(); }

ncclResult_t collective_call(collective what, const char* name, const void* in, void* out, std::size_t count,
                             ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t on) {
    const bool valid = static_cast<unsigned>(op) < ncclNumOps && is_rank(comm, root);
    return posted(comm, valid, on, count, type, [&](clique& all, rank_call call) {
        const sizes used = sizes_of(what, call, comm->rank, root, static_cast<std::size_t>(all.ranks()));
        require_memory(*call.gpu, in, used.in);
        require_memory(*call.gpu, out, used.out);
        call.in = in;
        call.out = out;
        return all.join(what, name, op, root, comm->rank, call);
    });
}

ncclComm_t make(std::shared_ptr<clique> all, int rank, int device) {
    return new ncclComm{std::move(all), rank, device};
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
        if (of.process != static_cast<std::uint64_t>(::getpid())) {
            report("ncclCommInitRank: the id is of another process; on the software GPU all ranks are in one process, "
                   "each "
                   "with a device of SOFTGPU_DEVICES");
            return ncclInvalidUsage;
        }
        const int device = current_context().number();
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
        return ncclSuccess;
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
            const locked lock(all_devices().at(0).mutex());
            c.all->abort();
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

ncclResult_t ncclAllReduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t on) {
    return collective_call(collective::all_reduce, "ncclAllReduce", in, out, count, type, op, 0, comm, on);
}

ncclResult_t ncclReduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t on) {
    return collective_call(collective::reduce, "ncclReduce", in, out, count, type, op, root, comm, on);
}

ncclResult_t ncclReduceScatter(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t on) {
    return collective_call(collective::reduce_scatter, "ncclReduceScatter", in, out, count, type, op, 0, comm, on);
}

ncclResult_t ncclBroadcast(const void* in, void* out, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t on) {
    return collective_call(collective::broadcast, "ncclBroadcast", in, out, count, type, ncclSum, root, comm, on);
}

ncclResult_t ncclBcast(void* data, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t on) {
    return ncclBroadcast(data, data, count, type, root, comm, on);
}

ncclResult_t ncclAllGather(const void* in, void* out, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t on) {
    return collective_call(collective::all_gather, "ncclAllGather", in, out, count, type, ncclSum, 0, comm, on);
}

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t on) {
    return posted(comm, is_rank(comm, peer), on, count, type, [&](clique& all, rank_call call) {
        call.in = data;
        require_memory(*call.gpu, data, call.count * bytes_of(type));
        return all.send(comm->rank, peer, call);
    });
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t on) {
    return posted(comm, is_rank(comm, peer), on, count, type, [&](clique& all, rank_call call) {
        call.out = data;
        require_memory(*call.gpu, data, call.count * bytes_of(type));
        return all.receive(peer, comm->rank, call);
    });
}

ncclResult_t ncclGroupStart() {
    ++group.depth;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
    if (group.depth == 0) {
        return ncclInvalidUsage;
    }
    if (--group.depth != 0) {
        return ncclSuccess;
    }
    std::vector<waiting_call> calls = std::exchange(group.calls, {});
    const ncclResult_t before = std::exchange(group.result, ncclSuccess);
    return guarded([&] {
        if (before == ncclSuccess || calls.empty()) {
            return before == ncclSuccess ? wait_for_all(std::move(calls)) : before;
        }
        const locked lock(
            all_devices().at(0).mutex()); // nobody shall wait for the rest of the group, nor use its streams
        for (const waiting_call& c : calls) {
            clique::give_up(*c.at, before);
        }
        return before;
    });
}

} // extern "C"
#pragma GCC visibility pop
