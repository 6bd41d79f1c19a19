// SPDX-License-Identifier: MIT
// The GPU as a target.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "warpfold/detail/check.hpp"
#include "warpfold/gpu/core/call_device.hpp"
#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/gpu/core/workspace.hpp"
#include "warpfold/tuning/policy.hpp"

namespace warpfold {

template <tuning::policy Policy, class Target>
struct tuned_gpu;
template <class On, class Comm>
struct over_ranks;

namespace detail {

template <class On, class Resource>
constexpr On with_resource(On on, Resource* resource) {
    if (resource == nullptr) {
        throw invalid_argument("warpfold: with: the memory resource is a null pointer");
    }
    on.resource = resource_ref(*resource);
    return on;
}

} // namespace detail

// A call on the current device, in the order of `stream`. Without a workspace the call allocates memory in stream
// order, from the device's memory pool or from the resource that with() got; with one, of the same device, it allocates
// nothing. Calls that return a value wait for it; the others only enqueue and, with a workspace, can be captured in a
// graph. Chunked calls (chunked.hpp) always allocate and wait.
struct gpu {
    cudaStream_t stream = nullptr;
    workspace* memory = nullptr;
    detail::resource_ref resource{};

    // The same target with another policy for the calls of one primitive, in place of the device's default
    // (tuning/policy.hpp). Throws invalid_argument if the policy is not valid.
    template <tuning::policy Policy>
    [[nodiscard]] constexpr tuned_gpu<Policy, gpu> with(const Policy& policy) const;

    // The same target with another source of memory: a resource that outlives the target's calls, or a pointer to one.
    template <stream_ordered_resource Resource>
    [[nodiscard]] constexpr gpu with(Resource& from) const {
        return detail::with_resource(*this, &from);
    }
    template <stream_ordered_resource Resource>
    [[nodiscard]] constexpr gpu with(Resource* from) const {
        return detail::with_resource(*this, from);
    }
    template <stream_ordered_resource Resource>
    void with(const Resource&& temporary) const = delete; // the target would outlive it

    // The same on every rank of a communicator, each with its part of the arrays (mpi.cuh, nccl.cuh).
    template <class Comm>
    [[nodiscard]] constexpr over_ranks<gpu, Comm> over(Comm& comm) const {
        return {*this, &comm};
    }
};

// A target with a policy. The last policy for a primitive wins.
template <tuning::policy Policy, class Target>
struct tuned_gpu : Target {
    using untuned = Target;

    template <tuning::policy Next>
    [[nodiscard]] constexpr tuned_gpu<Next, tuned_gpu> with(const Next& next) const {
        next.check();
        return {*this, next};
    }
    template <stream_ordered_resource Resource>
    [[nodiscard]] constexpr tuned_gpu with(Resource& from) const {
        return detail::with_resource(*this, &from);
    }
    template <stream_ordered_resource Resource>
    [[nodiscard]] constexpr tuned_gpu with(Resource* from) const {
        return detail::with_resource(*this, from);
    }
    template <stream_ordered_resource Resource>
    void with(const Resource&& temporary) const = delete; // the target would outlive it
    template <class Comm>
    [[nodiscard]] constexpr over_ranks<tuned_gpu, Comm> over(Comm& comm) const {
        return {*this, &comm};
    }

    Policy policy;
};

template <tuning::policy Policy>
constexpr tuned_gpu<Policy, gpu> gpu::with(const Policy& policy) const {
    policy.check();
    return {*this, policy};
}

namespace detail {

// A GPU as a target, with policies or without.
template <class On>
concept gpu_target = std::derived_from<On, gpu>;

// A number of the current device, by `query(device)`, which is called once per device; its type makes the store.
template <class Query>
[[nodiscard]] unsigned cached_per_device(const Query& query) {
    static std::array<std::atomic<unsigned>, 64> known{}; // the number plus 1
    const int device = current_device();
    if (device < 0 || device >= 64) {
        return query(device);
    }
    std::atomic<unsigned>& one = known[static_cast<unsigned>(device)];
    unsigned found = one.load(std::memory_order_relaxed);
    if (found == 0) {
        found = query(device) + 1;
        one.store(found, std::memory_order_relaxed);
    }
    return found - 1;
}

[[nodiscard]] inline unsigned query_attribute(cudaDeviceAttr which, int device) {
    int value = 0;
    WARPFOLD_CHECK_CUDA(cudaDeviceGetAttribute(&value, which, device));
    return static_cast<unsigned>(value);
}

template <cudaDeviceAttr Which>
[[nodiscard]] unsigned device_attribute() {
    return cached_per_device([](int device) { return query_attribute(Which, device); });
}

} // namespace detail

// Of the current device, 10 times the major number plus the minor one: 75, 80, 90. Policies have an of() that takes it.
[[nodiscard]] inline unsigned device_compute_capability() {
    return detail::cached_per_device([](int device) {
        return 10 * detail::query_attribute(cudaDevAttrComputeCapabilityMajor, device) +
               detail::query_attribute(cudaDevAttrComputeCapabilityMinor, device);
    });
}

namespace detail {

// The target's policy for the primitive of `Default`; the default of the current device's architecture if it has none.
template <tuning::policy Default, gpu_target On>
[[nodiscard]] auto policy_of(const On& on) {
    if constexpr (requires { on.policy; }) {
        if constexpr (std::remove_cvref_t<decltype(on.policy)>::calls == Default::calls) {
            return on.policy;
        } else {
            return detail::policy_of<Default>(static_cast<const typename On::untuned&>(on));
        }
    } else {
        return Default::of(device_compute_capability());
    }
}
template <class Default, class On>
using policy_t = decltype(detail::policy_of<Default>(std::declval<const On&>()));

// The target for memory that is not part of the workspace.
[[nodiscard]] inline gpu without_workspace(const gpu& on) { return {on.stream, nullptr, on.resource}; }

// Memory of one call: from the target's workspace, or allocated in stream order. First slots, zero before and after the
// call; then data, zero before the call and aligned to `alignment`. Throws invalid_argument if the workspace is too
// small or on another device, and what resource_ref::allocate() throws.
class call_memory {
public:
    call_memory(const gpu& on, std::size_t slot_bytes, std::size_t data_bytes, const char* call,
                std::size_t alignment = 16)
        : stream_(on.stream),
          slot_bytes_((slot_bytes + alignment - 1) / alignment * alignment),
          data_bytes_(data_bytes) {
        const std::size_t bytes = slot_bytes_ + data_bytes_;
        if (bytes == 0) {
            return;
        }
        if (on.memory != nullptr) {
            check_device(*on.memory, call);
            if (on.memory->bytes() < bytes) {
                throw invalid_argument(std::string("warpfold: ") + call + ": the workspace has " +
                                       std::to_string(on.memory->bytes()) + " bytes, and " + std::to_string(bytes) +
                                       " are needed");
            }
            memory_ = static_cast<unsigned char*>(on.memory->memory());
            return;
        }
        owned_.emplace(stream_, bytes, on.resource);
        memory_ = static_cast<unsigned char*>(owned_->data());
        WARPFOLD_CHECK_CUDA(cudaMemsetAsync(memory_, 0, bytes, stream_));
    }
    call_memory(const call_memory&) = delete;
    call_memory& operator=(const call_memory&) = delete;
    ~call_memory() {
        if (!owned_ && data_bytes_ != 0) {
            (void)cudaMemsetAsync(data(), 0, data_bytes_, stream_);
        }
    }

    [[nodiscard]] void* slots() const noexcept { return memory_; }
    [[nodiscard]] void* data() const noexcept { return memory_ == nullptr ? nullptr : memory_ + slot_bytes_; }

private:
    static void check_device(const workspace& memory, const char* call) {
        const int device = current_device();
        if (device != memory.device()) {
            throw invalid_argument(std::string("warpfold: ") + call + ": the workspace is memory of device " +
                                   std::to_string(memory.device()) + ", and the current device is " +
                                   std::to_string(device));
        }
    }

    cudaStream_t stream_;
    std::size_t slot_bytes_, data_bytes_;
    unsigned char* memory_ = nullptr;
    std::optional<stream_ordered_memory> owned_;
};

} // namespace detail
} // namespace warpfold
