// SPDX-License-Identifier: MIT
// First the software GPU's runtime, for everyone to see; then the ladder, which finds it by its name.
#include "tests/ladder/loaded_ladder.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace warpfold::ladder::testing {

namespace {

void* open_library(const char* path, int how) {
    void* const handle = dlopen(path, RTLD_NOW | how);
    if (handle == nullptr) {
        throw std::runtime_error(dlerror());
    }
    return handle;
}

} // namespace

ladder_library& loaded_ladder() {
    static ladder_library* const the_library = [] {
        open_library(SOFTWARE_RUNTIME, RTLD_GLOBAL);
        void* const handle = open_library(LADDER_LIBRARY, RTLD_LOCAL);
        const auto enter = reinterpret_cast<decltype(&warpfold_ladder)>(dlsym(handle, "warpfold_ladder"));
        if (enter == nullptr) {
            throw std::runtime_error("the ladder exports no warpfold_ladder");
        }
        return enter();
    }();
    return *the_library;
}

} // namespace warpfold::ladder::testing
