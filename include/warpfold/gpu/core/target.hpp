// SPDX-License-Identifier: MIT
// The GPU as a target, and what a call asks of it.
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
#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/gpu/core/workspace.hpp"
#include "warpfold/tuning/policy.hpp"

namespace warpfold {

template <tuning::policy Policy, class Target>
struct tuned_gpu;

// A call on the current device, in the order of `stream`. Without a workspace the call allocates what it needs in the
// order of the stream; with one, of the same device, it does not. Forms that return a value wait for it; the others
// only enqueue, and with a workspace may be captured. Calls on streams of data (chunked.hpp) always allocate and wait.
struct gpu {
    cudaStream_t stream = nullptr;
    workspace* memory = nullptr;

    // The same target with another policy for the calls of one primitive, instead of the device's default: see
    // tuning/policy.hpp. Throws invalid_argument where the policy cannot work.
    template <tuning::policy Policy>
    [[nodiscard]] constexpr tuned_gpu<Policy, gpu> with(const Policy& policy) const;
};

// A target with a policy; of two policies for one primitive the last one counts.
template <tuning::policy Policy, class Target>
struct tuned_gpu : Target {
    using untuned = Target;

    template <tuning::policy Next>
    [[nodiscard]] constexpr tuned_gpu<Next, tuned_gpu> with(const Next& next) const {
        next.check();
        return {*this, next};
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

[[nodiscard]] inline unsigned device_attribute(cudaDeviceAttr which) {
    int device = 0;
    int value = 0;
    WARPFOLD_CHECK_CUDA(cudaGetDevice(&device));
    WARPFOLD_CHECK_CUDA(cudaDeviceGetAttribute(&value, which, device));
    return static_cast<unsigned>(value);
}

} // namespace detail

// The current device's, 10 times the major number plus the minor one: 75, 80, 90. Policies have an of() that takes it.
// Asked of the runtime once for each device.
[[nodiscard]] inline unsigned device_compute_capability() {
    static std::array<std::atomic<unsigned>, 64> known{};
    int device = 0;
    WARPFOLD_CHECK_CUDA(cudaGetDevice(&device));
    const bool kept = device >= 0 && device < 64;
    unsigned found = kept ? known[static_cast<unsigned>(device)].load(std::memory_order_relaxed) : 0;
    if (found == 0) {
        found = 10 * detail::device_attribute(cudaDevAttrComputeCapabilityMajor) +
                detail::device_attribute(cudaDevAttrComputeCapabilityMinor);
        if (kept) {
            known[static_cast<unsigned>(device)].store(found, std::memory_order_relaxed);
        }
    }
    return found;
}

namespace detail {

// The target's policy for the primitive of `Default`: its own one, or else that of the current device's architecture.
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

// Memory for one call: of the target's workspace, or taken and given back in the order of the stream. First boxes,
// which are zero and have to be left so, and behind them data, zero as well and aligned to `alignment`.
class call_memory {
public:
    call_memory(const gpu& on, std::size_t box_bytes, std::size_t data_bytes, const char* call,
                std::size_t alignment = 16)
        : stream_(on.stream), box_bytes_((box_bytes + alignment - 1) / alignment * alignment), data_bytes_(data_bytes) {
        const std::size_t bytes = box_bytes_ + data_bytes_;
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
        owned_.emplace(stream_, bytes);
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

    [[nodiscard]] void* boxes() const noexcept { return memory_; }
    [[nodiscard]] void* data() const noexcept { return memory_ == nullptr ? nullptr : memory_ + box_bytes_; }

private:
    static void check_device(const workspace& memory, const char* call) {
        int device = 0;
        WARPFOLD_CHECK_CUDA(cudaGetDevice(&device));
        if (device != memory.device()) {
            throw invalid_argument(std::string("warpfold: ") + call + ": the workspace is memory of device " +
                                   std::to_string(memory.device()) + ", and the current device is " +
                                   std::to_string(device));
        }
    }

    cudaStream_t stream_;
    std::size_t box_bytes_, data_bytes_;
    unsigned char* memory_ = nullptr;
    std::optional<stream_ordered_memory> owned_;
};

} // namespace detail
} // namespace warpfold
