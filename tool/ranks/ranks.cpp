// SPDX-License-Identifier: MIT
#include "tool/ranks/ranks.hpp"

#include <cstdlib>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tool/error.hpp"
#include "tool/run/locate.hpp"

namespace warpfold::tool {

bool started_as_ranks() {
    for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
        const char* const value = std::getenv(name);
        if (value != nullptr && std::atoi(value) > 1) {
            return true;
        }
    }
    return false;
}

calls::target& target_over_ranks() {
    const std::string path = find_mpi_library();
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL); // MPI loads parts of itself
    if (library == nullptr) {
        throw failure(fmt::format("{} cannot be loaded: {}", path, dlerror()));
    }
    const auto start = reinterpret_cast<calls::target* (*)(int*)>(dlsym(library, "warpfold_mpi_calls"));
    if (start == nullptr) {
        throw failure(fmt::format("{} is not this command's library", path));
    }
    int rank = 0;
    calls::target* const target = start(&rank);
    if (rank != 0) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0) {
            dup2(nowhere, STDOUT_FILENO);
            close(nowhere);
        }
    }
    return *target;
}

} // namespace warpfold::tool
