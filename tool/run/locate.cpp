// SPDX-License-Identifier: MIT
// Finding the libraries that belong to this executable.
#include "tool/run/locate.hpp"

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <system_error>

#include <fmt/format.h>

#include "tool/error.hpp"

namespace warpfold::tool {
namespace {

namespace fs = std::filesystem;

// Where the command stands in a build tree or an installation, and from there to the libraries.
constexpr const char* installed = WARPFOLD_LIBRARIES_FROM_BINARY;

std::optional<std::string> beside_us(std::initializer_list<const char*> folders, const std::string& name) {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (error) {
        return std::nullopt;
    }
    for (const char* folder : folders) {
        const fs::path candidate = (self.parent_path() / folder / name).lexically_normal();
        if (fs::is_regular_file(candidate, error)) {
            return candidate.string();
        }
    }
    return std::nullopt;
}

std::optional<std::string> from_environment(const char* variable) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') {
        return std::nullopt;
    }
    std::error_code error;
    if (!fs::is_regular_file(value, error)) {
        throw failure(fmt::format("{} names no file: {}", variable, value));
    }
    return fs::absolute(value, error).string();
}

std::string find_kernels(const char* variable, const char* name, const char* what) {
    if (auto path = from_environment(variable)) {
        return *path;
    }
    if (auto path = beside_us({"../lib", installed}, name)) {
        return *path;
    }
    throw failure(fmt::format("{} ({}) were not built: build with nvcc of CUDA 12.4 or later on PATH, or with ./dev, "
                              "which gets one",
                              what, name));
}

} // namespace

std::optional<std::string> find_software_runtime(int cuda_major) {
    if (auto path = from_environment("WARPFOLD_SOFTGPU_RUNTIME")) {
        return cuda_major == 13 ? path : std::nullopt; // the one that is named stands alone
    }
    return beside_us({"../softgpu/lib", installed}, fmt::format("libcudart.so.{}", cuda_major));
}

std::optional<std::string> find_beside_runtime(const std::string& name) {
    if (from_environment("WARPFOLD_SOFTGPU_RUNTIME")) {
        return std::nullopt;
    }
    return beside_us({"../softgpu/lib", installed}, name);
}

std::string find_ladder_engine() {
    return find_kernels("WARPFOLD_LADDER_LIBRARY", "libwarpfold_ladder_engine.so", "the ladders");
}

std::string find_mpi_library() {
    if (auto path = from_environment("WARPFOLD_MPI_LIBRARY")) {
        return *path;
    }
    if (auto path = beside_us({"../lib", installed}, "libwarpfold_mpi.so")) {
        return *path;
    }
    throw failure("the calls over ranks (libwarpfold_mpi.so) were not built: build with MPI installed (Debian: "
                  "libopenmpi-dev openmpi-bin)");
}

std::string find_calls_library() {
    return find_kernels("WARPFOLD_CALLS_LIBRARY", "libwarpfold_calls.so", "the library's kernels");
}

std::string find_host_calls_library() {
    constexpr const char* name = "libwarpfold_host_calls.so";
    if (auto path = beside_us({"../lib", installed}, name)) {
        return *path;
    }
    throw failure(
        fmt::format("the library's calls on the host ({}) were not built: build the target warpfold_host_calls", name));
}

std::string find_cards_folder() {
    std::error_code error;
    const char* const wish = std::getenv("WARPFOLD_CARDS");
    if (wish != nullptr && *wish != '\0') {
        return wish;
    }
    if (const fs::path self = fs::read_symlink("/proc/self/exe", error); !error) {
        for (const char* folder : {"../softgpu/cards", WARPFOLD_CARDS_FROM_BINARY}) {
            const fs::path candidate = (self.parent_path() / folder).lexically_normal();
            if (fs::is_directory(candidate, error)) {
                return candidate.string();
            }
        }
    }
    throw failure("the cards' files for --predict are not where this command was built or installed");
}

} // namespace warpfold::tool
