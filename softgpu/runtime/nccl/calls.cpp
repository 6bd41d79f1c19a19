// SPDX-License-Identifier: MIT
// The exported calls of libnccl.so.2 that move data, their operations and groups.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/memory/copies.hpp"
#include "softgpu/runtime/nccl/comm.hpp"
#include "softgpu/runtime/nccl/data.hpp"
#include "softgpu/runtime/nccl/reduction.hpp"

namespace softgpu::runtime::nccl {
namespace {

// Whether the elements of all ranks have a number of bytes.
bool has_size(std::size_t count, ncclDataType_t type, int ranks) {
    std::size_t bytes = 0;
    return !__builtin_mul_overflow(count, bytes_of(type) * static_cast<std::size_t>(ranks), &bytes);
}

// post(clique, call): a call of a rank with its stream, unless its other arguments are not `valid`. Waits for the others here,
// or at the end of the group.
template <class Post>
ncclResult_t posted(ncclComm_t comm, bool valid, cudaStream_t stream_handle, std::size_t count, ncclDataType_t type,
                    Post&& post, bool receives = false) {
    return guarded([&] {
        if (comm == nullptr || !valid || static_cast<unsigned>(type) >= ncclNumTypes ||
            !has_size(count, type, comm->all->ranks())) {
            return ncclInvalidArgument;
        }
        waiting_call made{comm->all, nullptr};
        const bool of_processes = is_of_processes(*comm);
        {
            context& gpu = all_devices().at(comm->device);
            const locked lock(gpu.mutex());
            if (of_processes && comm->others->result() != ncclSuccess) {
                return comm->others->result();
            }
            gpu.require_usable();
            if (comm->all->is_aborted()) {
                return ncclInvalidUsage;
            }
            if (comm->all->has_lost_device()) {
                return gpu.has_failed() ? ncclUnhandledCudaError : ncclRemoteError;
            }
            rank_call call{.count = count, .type = type, .gpu = &gpu};
            call.on = &gpu.checked(reinterpret_cast<stream*>(stream_handle));
            if (of_processes) {
                if (group.depth == 0) {
                    (void)post(call);
                } else {
                    group.of_processes.push_back({[post, call] { (void)post(call); }, receives});
                }
                return ncclSuccess;
            }
            made.at = post(call);
        }
        if (group.depth != 0) {
            group.calls.push_back(std::move(made));
            return ncclSuccess;
        }
        return wait_for_all({made});
    });
}

// Operations of ncclRedOpCreatePreMulSum.
struct scale_table {
    std::mutex mutex;
    int last = ncclNumOps; // one less than the next one
    std::map<int, std::shared_ptr<const input_scale>> by_number;
};

scale_table& scales() {
    static scale_table& only = *new scale_table;
    return only;
}

std::shared_ptr<const input_scale> scale_of(ncclRedOp_t op) {
    const std::lock_guard lock(scales().mutex);
    const auto at = scales().by_number.find(op);
    return at == scales().by_number.end() ? nullptr : at->second;
}

bool is_operation(ncclRedOp_t op, ncclDataType_t type) {
    if (op >= 0 && op < ncclNumOps) {
        return true;
    }
    const auto scaled = scale_of(op);
    return scaled != nullptr && scaled->type == type;
}

bool is_rank(ncclComm_t comm, int rank) { return comm != nullptr && rank >= 0 && rank < comm->all->ranks(); }

ncclResult_t collective_call(collective what, const char* name, const void* in, void* out, std::size_t count,
                             ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t on) {
    const bool valid = is_operation(op, type) && is_rank(comm, root);
    return posted(comm, valid, on, count, type, [=](rank_call call) -> std::shared_ptr<meeting> {
        const sizes used = sizes_of(what, call, comm->rank, root, static_cast<std::size_t>(comm->all->ranks()));
        require_memory(*call.gpu, in, used.in);
        require_memory(*call.gpu, out, used.out);
        call.in = in;
        call.out = out;
        call.scale = scale_of(op);
        const ncclRedOp_t kind = call.scale == nullptr ? op : scaled_sum;
        if (comm->others != nullptr) {
            comm->others->join(what, name, kind, root, call);
            return nullptr;
        }
        return comm->all->join(what, name, kind, root, comm->rank, call);
    });
}

} // namespace
} // namespace softgpu::runtime::nccl

using namespace softgpu::runtime;
using namespace softgpu::runtime::nccl;

#pragma GCC visibility push(default)
extern "C" {

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type, ncclScalarResidence_t where,
                                      ncclComm_t comm) {
    return guarded([&] {
        if (op == nullptr || scalar == nullptr || comm == nullptr || static_cast<unsigned>(type) >= ncclNumTypes ||
            (where != ncclScalarDevice && where != ncclScalarHostImmediate)) {
            return ncclInvalidArgument;
        }
        auto made = std::make_shared<input_scale>();
        made->type = type;
        if (where == ncclScalarDevice) {
            context& gpu = all_devices().at(comm->device);
            const locked lock(gpu.mutex());
            require_memory(gpu, scalar, bytes_of(type));
            made->on_device = scalar;
        } else {
            std::memcpy(made->value, scalar, bytes_of(type));
        }
        const std::lock_guard lock(scales().mutex);
        const int number = ++scales().last;
        scales().by_number[number] = std::move(made);
        *op = static_cast<ncclRedOp_t>(number);
        return ncclSuccess;
    });
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
    const std::lock_guard lock(scales().mutex);
    return comm != nullptr && scales().by_number.erase(op) == 1 ? ncclSuccess : ncclInvalidArgument;
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
    return posted(comm, is_rank(comm, peer), on, count, type, [=](rank_call call) -> std::shared_ptr<meeting> {
        call.in = data;
        require_memory(*call.gpu, data, call.count * bytes_of(type));
        if (comm->others != nullptr) {
            comm->others->send(peer, call);
            return nullptr;
        }
        return comm->all->send(comm->rank, peer, call);
    });
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t on) {
    const auto post = [=](rank_call call) -> std::shared_ptr<meeting> {
        call.out = data;
        require_memory(*call.gpu, data, call.count * bytes_of(type));
        if (comm->others != nullptr) {
            comm->others->receive(peer, call);
            return nullptr;
        }
        return comm->all->receive(peer, comm->rank, call);
    };
    return posted(comm, is_rank(comm, peer), on, count, type, post, true);
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
    std::vector<process_call> of_processes = std::exchange(group.of_processes, {});
    const ncclResult_t before = std::exchange(group.result, ncclSuccess);
    return guarded([&] {
        if (before == ncclSuccess && !of_processes.empty()) {
            std::ranges::stable_partition(of_processes, [](const process_call& c) { return !c.receives; });
            const locked lock(all_devices().at(0).mutex());
            for (const process_call& c : of_processes) {
                c.issue();
            }
        }
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
