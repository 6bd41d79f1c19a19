// SPDX-License-Identifier: MIT
// Choosing the device and loading what runs on it.
#include "tool/run/runtime_choice.hpp"

#include <cstdint>
#include <cstdlib>

#include <dlfcn.h>

#include <fmt/format.h>

#include "report/number.hpp"
#include "tool/error.hpp"
#include "tool/run/gpu_driver.hpp"
#include "tool/run/locate.hpp"
#include "tool/run/software_gpu.hpp"

namespace warpfold::tool {
namespace {

constexpr std::uint64_t most_workers = 4096;

void* load(const std::string& path, int flags) {
    void* handle = ::dlopen(path.c_str(), flags);
    if (handle == nullptr) {
        const char* why = ::dlerror();
        throw failure(fmt::format("cannot load {}", why != nullptr ? why : path.c_str()));
    }
    return handle;
}

template <class Function>
Function* function_of(void* library, const std::string& path, const char* symbol, const char* what) {
    const auto found = reinterpret_cast<Function*>(::dlsym(library, symbol));
    if (found == nullptr) {
        throw failure(fmt::format("{} is no library of {}", path, what));
    }
    return found;
}

calls_library calls_of(void* library, const std::string& path) {
    return {function_of<calls::target*(const calls::rank_setup*)>(library, path, "warpfold_calls", "calls"),
            function_of<int()>(library, path, "warpfold_gpus", "calls")};
}

// The CUDA runtime of the device, and then the library that needs it.
void* load_with_runtime(device_kind kind, const device_options& options, const std::string& path) {
    if (kind == device_kind::software) {
        set_software_environment(options);
        const auto runtime = find_software_runtime();
        if (!runtime) {
            throw failure("the software GPU (libcudart.so.13) is not where this command was built or installed");
        }
        // First and with global symbols: the library then loads no other runtime.
        load(*runtime, RTLD_NOW | RTLD_GLOBAL);
    }
    return load(path, RTLD_NOW | RTLD_LOCAL);
}

} // namespace

void add_software_options(CLI::App& app, device_options& options) {
    app.add_option("--card", options.card, fmt::format("the card that the software GPU is: {}", card_names()))
        ->type_name("NAME");
    app.add_option("--workers", options.workers, "threads of the host for the software GPU (default: all cores)")
        ->type_name("N");
}

void add_device_options(CLI::App& app, device_options& options) {
    app.add_option("--device", options.device, "auto (the GPU if there is one), gpu or softgpu")
        ->type_name("DEVICE")
        ->capture_default_str();
    add_software_options(app, options);
}

device_kind choose_device(const device_options& options) {
    device_kind kind = device_kind::software;
    if (options.device == "auto") {
        // A card is only of use to the software GPU.
        const bool software = options.card || options.workers || installed_gpus().gpus.empty();
        kind = software ? device_kind::software : device_kind::gpu;
    } else if (options.device == "gpu") {
        kind = device_kind::gpu;
    } else if (options.device != "softgpu") {
        throw usage_error(fmt::format("--device: '{}' is none of auto, gpu, softgpu", options.device));
    }
    if (kind == device_kind::gpu) {
        if (options.card || options.workers) {
            throw usage_error("--card and --workers are for the software GPU, not for --device gpu");
        }
        if (installed_gpus().gpus.empty()) {
            throw failure(
                fmt::format("there is no GPU: {} (--device softgpu runs without one)", installed_gpus().why_none));
        }
    }
    return kind;
}

void set_software_environment(const device_options& options) {
    if (options.card) {
        if (softgpu::runtime::find_card(*options.card) == nullptr) {
            throw usage_error(fmt::format("--card: '{}' is none of {}", *options.card, card_names()));
        }
        ::setenv("SOFTGPU_DEVICE", options.card->c_str(), 1);
    } else if (chosen_card() == nullptr) {
        throw usage_error(
            fmt::format("SOFTGPU_DEVICE: '{}' is none of {}", std::getenv("SOFTGPU_DEVICE"), card_names()));
    }
    if (options.workers) {
        std::uint64_t workers = 0;
        try {
            workers = report::parse_count(*options.workers);
        } catch (const report::bad_number& error) {
            throw usage_error(fmt::format("--workers: {}", error.what()));
        }
        if (workers == 0 || workers > most_workers) {
            throw usage_error(fmt::format("--workers: {} is not between 1 and {}", workers, most_workers));
        }
        ::setenv("SOFTGPU_WORKERS", std::to_string(workers).c_str(), 1);
    }
}

bool has_gpu() { return !installed_gpus().gpus.empty(); }

ladder::ladder_engine& load_ladder_engine(device_kind kind, const device_options& options) {
    const std::string path = find_ladder_engine();
    void* const library = load_with_runtime(kind, options, path);
    return *function_of<ladder::ladder_engine*()>(library, path, "warpfold_ladder_engine", "ladders")();
}

calls_library load_calls(device_kind kind, const device_options& options) {
    const std::string path = find_calls_library();
    return calls_of(load_with_runtime(kind, options, path), path);
}

calls_library load_host_calls() {
    const std::string path = find_host_calls_library();
    return calls_of(load(path, RTLD_NOW | RTLD_LOCAL), path);
}

} // namespace warpfold::tool
