// SPDX-License-Identifier: MIT
#include "nccl.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace {

// What a thread receives at the end of its group.
struct reception {
    void* data;
    std::size_t bytes;
    int peer;
    ncclComm_t comm;
};

// What the ranks of a communicator share.
struct shared_ranks {
    explicit shared_ranks(int count) : step(static_cast<std::size_t>(count)), data(step.size()) {}

    // False if a rank does not come within a minute.
    bool meet(int rank) {
        std::unique_lock lock(guard);
        const std::uint64_t mine = ++step[static_cast<std::size_t>(rank)];
        changed.notify_all();
        return changed.wait_for(lock, std::chrono::minutes(1), [&] {
            for (const std::uint64_t one : step) {
                if (one < mine) {
                    return false;
                }
            }
            return true;
        });
    }

    std::mutex guard;
    std::condition_variable changed;
    std::vector<std::uint64_t> step;
    std::vector<const void*> data;
    std::map<std::pair<int, int>, std::deque<std::vector<char>>> sent; // from a rank to another
};

std::mutex registry_guard;
std::map<std::uint64_t, std::pair<std::shared_ptr<shared_ranks>, std::shared_ptr<shared_ranks>>> registry;
std::uint64_t next_id = 1;

std::size_t bytes_of(std::size_t count, ncclDataType_t type) {
    return count * (type == ncclUint8 ? 1 : type == ncclUint32 ? 4 : 8);
}

template <class Word>
void add_all(const shared_ranks& ranks, std::size_t count, void* out) {
    std::vector<Word> total(count), one(count);
    for (const void* const data : ranks.data) {
        (void)cudaMemcpy(one.data(), data, count * sizeof(Word), cudaMemcpyDeviceToHost);
        for (std::size_t k = 0; k < count; ++k) {
            total[k] += one[k];
        }
    }
    std::memcpy(out, total.data(), count * sizeof(Word));
}

thread_local std::vector<reception> group_received;

} // namespace

struct ncclComm {
    std::shared_ptr<shared_ranks> ranks, launched; // `launched`: ranks meet there in graphs
    int rank;
};

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    const std::lock_guard lock(registry_guard);
    *id = {};
    std::memcpy(id->internal, &next_id, sizeof(next_id));
    ++next_id;
    return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
    std::uint64_t key = 0;
    std::memcpy(&key, id.internal, sizeof(key));
    const std::lock_guard lock(registry_guard);
    auto& shared = registry[key];
    if (!shared.first) {
        shared = {std::make_shared<shared_ranks>(ranks), std::make_shared<shared_ranks>(ranks)};
    }
    *comm = new ncclComm{shared.first, shared.second, rank};
    return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    delete comm;
    return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) { return ncclCommDestroy(comm); }
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
    *rank = comm->rank;
    return ncclSuccess;
}
ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
    *count = static_cast<int>(comm->ranks->step.size());
    return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t /*comm*/, ncclResult_t* error) {
    *error = ncclSuccess;
    return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t /*code*/) { return "an error of the stand-in"; }

ncclResult_t ncclAllGather(const void* mine, void* all, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    (void)cudaStreamIsCapturing(stream, &status);
    const bool captured = status == cudaStreamCaptureStatusActive;
    shared_ranks& ranks = *comm->ranks;
    const std::size_t bytes = bytes_of(count, type);
    const auto ranks_meet = [&] { // all ranks capture together
        if (captured) {
            (void)cudaLaunchHostFunc(
                stream,
                [](void* of) { (void)static_cast<ncclComm*>(of)->launched->meet(static_cast<ncclComm*>(of)->rank); },
                comm);
        } else {
            (void)cudaStreamSynchronize(stream);
        }
        return ranks.meet(comm->rank);
    };
    ranks.data[static_cast<std::size_t>(comm->rank)] = mine;
    if (!ranks_meet()) {
        return ncclInternalError;
    }
    for (std::size_t r = 0; r < ranks.data.size(); ++r) {
        (void)cudaMemcpyAsync(static_cast<char*>(all) + r * bytes, ranks.data[r], bytes, cudaMemcpyDeviceToDevice,
                              stream);
    }
    return ranks_meet() ? ncclSuccess : ncclInternalError;
}

ncclResult_t ncclReduce(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t /*op*/, int root,
                        ncclComm_t comm, cudaStream_t stream) {
    (void)cudaStreamSynchronize(stream);
    shared_ranks& ranks = *comm->ranks;
    ranks.data[static_cast<std::size_t>(comm->rank)] = in;
    if (!ranks.meet(comm->rank)) {
        return ncclInternalError;
    }
    std::vector<char> total(bytes_of(count, type));
    if (type == ncclUint64) {
        add_all<std::uint64_t>(ranks, count, total.data());
    } else {
        add_all<std::uint32_t>(ranks, count, total.data());
    }
    if (!ranks.meet(comm->rank)) {
        return ncclInternalError;
    }
    if (root < 0 || root == comm->rank) {
        (void)cudaMemcpy(out, total.data(), total.size(), cudaMemcpyHostToDevice);
    }
    return ncclSuccess;
}
ncclResult_t ncclAllReduce(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
    return ncclReduce(in, out, count, type, op, -1, comm, stream);
}

// Sent data are kept until they are received.
ncclResult_t ncclSend(const void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    (void)cudaStreamSynchronize(stream);
    std::vector<char> bytes(bytes_of(count, type));
    (void)cudaMemcpy(bytes.data(), data, bytes.size(), cudaMemcpyDeviceToHost);
    const std::lock_guard lock(comm->ranks->guard);
    comm->ranks->sent[{comm->rank, peer}].push_back(std::move(bytes));
    comm->ranks->changed.notify_all();
    return ncclSuccess;
}
ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    (void)cudaStreamSynchronize(stream);
    group_received.push_back({data, bytes_of(count, type), peer, comm});
    return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
    group_received.clear();
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    for (const reception& to : group_received) {
        std::unique_lock lock(to.comm->ranks->guard);
        auto& queue = to.comm->ranks->sent[{to.peer, to.comm->rank}];
        if (!to.comm->ranks->changed.wait_for(lock, std::chrono::minutes(1), [&] { return !queue.empty(); }) ||
            queue.front().size() != to.bytes) {
            return ncclInternalError;
        }
        (void)cudaMemcpy(to.data, queue.front().data(), to.bytes, cudaMemcpyHostToDevice);
        queue.pop_front();
    }
    group_received.clear();
    return ncclSuccess;
}
