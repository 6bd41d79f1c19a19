// SPDX-License-Identifier: MIT
// A communicator whose ranks are processes of one host, one rank each. They meet in a folder of /dev/shm: each rank writes what
// it gives to a call, reads what the others give, and reduces by itself, in rank order. A rank holds a lock of the kernel as
// long as it lives, so others find that it has ended. The rank that leaves last removes the folder.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/runtime/core/operation.hpp"
#include "softgpu/runtime/nccl/rank_call.hpp"

namespace softgpu::runtime::nccl {

class process_clique {
public:
    // Joins. Throws std::runtime_error if the folder or the rank's file cannot be made.
    process_clique(std::string folder, int ranks, int rank);
    // Leaves. Work that waits ends.
    ~process_clique();
    process_clique(const process_clique&) = delete;
    process_clique& operator=(const process_clique&) = delete;

    // Whether another process has made its rank's file in the folder.
    [[nodiscard]] static bool has_begun(const std::string& folder);

    // Appends the call to its stream, which waits for the other processes. The calls of a process run one after the other.
    // A call that cannot end, since a rank has ended or calls another function, makes a line on stderr, fails the device
    // and sets result(). Throw failure for a stream that cannot be used.
    void join(collective what, const char* name, ncclRedOp_t op, int root, const rank_call& with);
    void send(int to, const rank_call& with);
    void receive(int from, const rank_call& with);

    void abort() { aborted_ = true; }
    [[nodiscard]] ncclResult_t result() const { return result_; }

private:
    // What all ranks of a collective call, or both of a transfer, have to agree in.
    struct terms {
        std::int32_t what, op, root, type;
        std::uint64_t count;

        bool operator==(const terms&) const = default;
    };

    template <class Work>
    void issue(const char* name, const rank_call& with, Work work);
    void publish(const std::string& name, const terms& of, const void* data, std::size_t bytes) const;
    // What a rank has published under a name, which it may do later. Throws ended.
    std::vector<std::byte> await(int from, const std::string& name, const terms& of, const char* call);
    [[nodiscard]] bool has_ended(int rank);
    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

    std::string folder_;
    int ranks_, rank_;
    int lock_ = -1;
    std::mutex running_; // guards the following
    std::uint64_t calls_ = 0;
    std::map<std::pair<int, int>, std::uint64_t> transfers_; // by sender and receiver
    std::vector<bool> has_joined_;
    operation_pointer last_{}; // guarded by the devices' lock
    std::atomic<bool> aborted_{false};
    std::atomic<ncclResult_t> result_{ncclSuccess};
};

} // namespace softgpu::runtime::nccl
