// SPDX-License-Identifier: MIT
// The calls that move data.
#include "softgpu/runtime/memory/copies/copies.hpp"
#include "softgpu/runtime/nccl/comm.hpp"
#include "softgpu/runtime/nccl/group.hpp"
#include "softgpu/runtime/nccl/operations.hpp"
#include "softgpu/runtime/nccl/reduction.hpp"

namespace softgpu::runtime::nccl {
namespace {

// Whether one rank alone can say that it is right.
bool is_valid(const call_terms& terms, int ranks) {
    std::size_t bytes = 0;
    return static_cast<unsigned>(terms.type) < ncclNumTypes && is_operation(terms.op, terms.type) && terms.root >= 0 &&
           terms.root < ranks &&
           !__builtin_mul_overflow(terms.count, bytes_of(terms.type) * static_cast<std::size_t>(ranks), &bytes);
}

// A rank's call. Waits for the others here, or at the end of the group.
ncclResult_t post(call_terms terms, const void* in, void* out, ncclComm_t comm, cudaStream_t on) {
    return guarded([&] {
        if (comm == nullptr || !is_valid(terms, comm->all->ranks())) {
            return ncclInvalidArgument;
        }
        waiting_call made{comm->all, nullptr};
        const bool of_processes = is_of_processes(*comm);
        {
            const locked lock = lock_devices();
            if (made.all->is_aborted()) { // there may be no communicator any more
                return ncclInvalidUsage;
            }
            if (of_processes && comm->others->result() != ncclSuccess) {
                return comm->others->result();
            }
            context& gpu = all_devices().at(comm->device);
            gpu.require_usable();
            if (made.all->has_lost_device()) {
                return gpu.has_failed() ? ncclUnhandledCudaError : ncclRemoteError;
            }
            rank_call call{.in = in, .out = out, .gpu = &gpu, .on = &gpu.checked(reinterpret_cast<stream*>(on))};
            const sizes used = sizes_of(terms, comm->rank, comm->all->ranks());
            require_memory(gpu, in, used.in);
            require_memory(gpu, out, used.out);
            call.scale = scale_of(terms.op);
            terms.op = call.scale == nullptr ? terms.op : scaled_sum;
            if (!of_processes) {
                made.at = made.all->post(terms, comm->rank, call);
            } else if (group.depth == 0) {
                comm->others->post(terms, call);
            } else {
                group.of_processes.push_back(
                    {[=, &others = *comm->others] { others.post(terms, call); }, terms.what == call_kind::receive});
            }
        }
        return of_processes ? ncclSuccess : wait_for_ranks(std::move(made));
    });
}

} // namespace
} // namespace softgpu::runtime::nccl

using namespace softgpu::runtime::nccl;

ncclResult_t ncclAllReduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t on) {
    return post({.what = call_kind::all_reduce, .op = op, .count = count, .type = type}, in, out, comm, on);
}

ncclResult_t ncclReduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t on) {
    return post({call_kind::reduce, op, root, count, type}, in, out, comm, on);
}

ncclResult_t ncclReduceScatter(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t on) {
    return post({.what = call_kind::reduce_scatter, .op = op, .count = count, .type = type}, in, out, comm, on);
}

ncclResult_t ncclBroadcast(const void* in, void* out, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t on) {
    return post({.what = call_kind::broadcast, .root = root, .count = count, .type = type}, in, out, comm, on);
}

ncclResult_t ncclBcast(void* data, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t on) {
    return ncclBroadcast(data, data, count, type, root, comm, on);
}

ncclResult_t ncclAllGather(const void* in, void* out, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t on) {
    return post({.what = call_kind::all_gather, .count = count, .type = type}, in, out, comm, on);
}

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t on) {
    return post({.what = call_kind::send, .root = peer, .count = count, .type = type}, data, nullptr, comm, on);
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t on) {
    return post({.what = call_kind::receive, .root = peer, .count = count, .type = type}, nullptr, data, comm, on);
}
