// SPDX-License-Identifier: MIT
// Which device a command works on; loads the CUDA runtime for it, and the library with the kernels.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "ladder/engine/engine.hpp"
#include "tool/arrays/calls.hpp"
#include "tool/ranks/ranks.hpp"

namespace warpfold::tool {

enum class device_kind { gpu, software };

struct device_options {
    std::string device = "auto";        // auto, gpu, softgpu
    std::optional<std::string> card;    // that the software GPU is to be; else as SOFTGPU_DEVICE says, or its default
    std::optional<std::string> workers; // threads of the host for the software GPU; else all cores
};

// --device, --card and --workers.
void add_device_options(CLI::App& app, device_options& options);
// --card and --workers alone.
void add_software_options(CLI::App& app, device_options& options);

// auto is the GPU if the driver reports one. Throws usage_error for what is no device or does not go together, failure
// where a GPU is asked for and there is none.
[[nodiscard]] device_kind choose_device(const device_options& options);

// Checks --card and --workers and puts them into the environment (SOFTGPU_DEVICE, SOFTGPU_WORKERS), where the software
// GPU finds them. Throws usage_error.
void set_software_environment(const device_options& options);

// Whether the driver reports a GPU.
[[nodiscard]] bool has_gpu();

// Loads the CUDA runtime for the device, then the ladders' engine, which loads the ladders. Once in a process; the library
// stays loaded. Throws failure.
[[nodiscard]] ladder::ladder_engine& load_ladder_engine(device_kind kind, const device_options& options);

// The same for the library's calls on a GPU.
[[nodiscard]] calls_library load_calls(device_kind kind, const device_options& options);

// The library's calls on the host's cores.
[[nodiscard]] calls_library load_host_calls();

} // namespace warpfold::tool
