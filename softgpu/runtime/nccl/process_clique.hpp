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
    void post(const call_terms& terms, const rank_call& with);

    void abort() { aborted_ = true; }
    [[nodiscard]] ncclResult_t result() const { return result_; }

private:
    // These run in the call's operation.
    void meet(const call_terms& terms, const rank_call& with);
    void send(const call_terms& terms, const rank_call& with);
    void receive(const call_terms& terms, const rank_call& with);
    void publish(const std::string& name, const call_terms& terms, const void* data, std::size_t bytes) const;
    // What a rank has published under a name, which it may do later. Throws ended.
    std::vector<std::byte> await(int from, const std::string& name, const call_terms& terms);
    [[nodiscard]] std::string next_transfer(int from, int to);
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
