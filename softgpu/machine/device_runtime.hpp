// SPDX-License-Identifier: MIT
// The device runtime as kernels call it, to launch kernels among others. The machine finds the call's thread and memory; the
// runtime around it does the work.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "softgpu/machine/launch.hpp"

namespace softgpu::check {
struct launch_point;
}

namespace softgpu::machine {

// A kernel by its address in device memory. name: empty where there is none.
struct addressed_kernel {
    module* owner = nullptr;
    std::string_view name;
};

// A call by one thread of a kernel. What returns false or nullptr has raised a fault, and the call must end.
class device_call {
public:
    std::string_view function; // without "__cudaCDP2" or "cuda": "LaunchDeviceV2"
    std::uint64_t block = 0;   // in the launch
    std::uint32_t thread = 0;  // in the block

    // Argument `nth`: its first 8 bytes, and all of up to 32 bytes.
    [[nodiscard]] virtual std::uint64_t word(std::size_t nth) const = 0;
    using long_argument = std::array<std::uint32_t, 8>;
    [[nodiscard]] virtual long_argument argument(std::size_t nth) const = 0;
    [[nodiscard]] virtual const std::byte* read(std::uint64_t at, std::uint64_t bytes) = 0;
    [[nodiscard]] virtual std::byte* write(std::uint64_t at, std::uint64_t bytes) = 0;
    virtual void give_result(std::uint64_t value) = 0;
    virtual void fail(fault_kind kind, const std::string& what) = 0;

    [[nodiscard]] virtual addressed_kernel kernel_at(memory::address at) const = 0;
    // Whether it is a generic address of shared or of local memory, which no other kernel can use.
    [[nodiscard]] virtual bool is_of_own_block(std::uint64_t at) const = 0;
    // What the thread knows now; nullptr where races are not looked for.
    [[nodiscard]] virtual std::shared_ptr<const check::launch_point> launch_point() = 0;

protected:
    ~device_call() = default;
};

// Called by the threads that run the blocks of a launch, several at once.
class device_runtime {
public:
    // false: a fault was raised.
    virtual bool call(device_call& by) = 0;

protected:
    ~device_runtime() = default;
};

} // namespace softgpu::machine
