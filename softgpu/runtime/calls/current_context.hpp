// SPDX-License-Identifier: MIT
// The devices of the process, put together from the core, the program's code and the accounts.
#pragma once

#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/core/device_group.hpp"

namespace softgpu::runtime {

// Created by the first call and never destroyed, because static constructors and destructors of the program make calls too.
// Throws failure if the environment asks for something that does not exist, and in a child forked from a process that has
// used CUDA.
device_group& all_devices();
// nullptr before the first call.
[[nodiscard]] device_group* existing_devices() noexcept;

// Sets the calling thread's current device, 0 at first, for the runtime. Throws invalid_device for a number that is none of a
// device.
void choose_device(int number);
// What the calling thread has chosen last.
struct runtime_choice {
    int number = 0;
    unsigned times = 0; // calls of choose_device()
};
const runtime_choice& device_of_runtime() noexcept;
// Sets it for the driver, whose current context has this device.
void follow_context(int device) noexcept;
// Its context: all_devices() creates it.
context& current_context();
// nullptr before the first call.
[[nodiscard]] context* existing_context() noexcept;

} // namespace softgpu::runtime
