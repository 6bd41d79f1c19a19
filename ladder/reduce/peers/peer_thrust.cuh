// SPDX-License-Identifier: MIT
// The peer that most people call: thrust::reduce on device pointers, on the ladder's stream, with an allocator that
// hands out memory kept from call to call (as it is, Thrust allocates and frees at every call). Its value comes back on
// the host, so that each call also waits and copies.
#pragma once

// One kernel for each type and operation, not another for short arrays.
#define THRUST_FORCE_64_BIT_OFFSET_TYPE

#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#include <cstdint>
#include <new>

#include "ladder/reduce/definition/operations.hpp"
#include "ladder/reduce/definition/reduction.hpp"
#include "ladder/reduce/definition/table.hpp"

namespace warpfold::ladder::reduce::thrust_peer {

// Hands out the step's workspace, one block at a time.
class kept_memory {
public:
    using value_type = char;

    explicit kept_memory(const launch_context& from)
        : data_(static_cast<char*>(from.workspace)), bytes_(from.workspace_bytes) {}

    char* allocate(std::ptrdiff_t bytes) {
        const auto rounded = (static_cast<std::size_t>(bytes) + 255) / 256 * 256;
        if (rounded > bytes_ - used_) {
            throw std::bad_alloc();
        }
        used_ += rounded;
        return data_ + used_ - rounded;
    }
    void deallocate(char*, std::size_t) {}

private:
    char* data_;
    std::size_t bytes_;
    std::size_t used_ = 0;
};

struct step {
    template <class T, class Op>
    static std::size_t workspace(const shape& device, std::uint64_t /*n*/) {
        return (std::size_t{1} << 20) + device.resident_blocks * 64 * sizeof(T);
    }
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        kept_memory kept(c);
        *out = thrust::reduce(thrust::cuda::par(kept).on(c.on.stream), in, in + n, Op::identity(), Op{});
    }
};

} // namespace warpfold::ladder::reduce::thrust_peer

#define WARPFOLD_THRUST_PEER(name, type)                                                                               \
    namespace warpfold::ladder::reduce::thrust_peer {                                                                  \
    std::array<round_function, operation_count> rounds_##name() { return rounds_of_type<step, type>(); }               \
    std::array<workspace_function, operation_count> workspace_##name() { return workspace_of_type<step, type>(); }     \
    }
