// SPDX-License-Identifier: MIT
// First the software GPU's runtime, with global symbols; then the engine, which finds it by its name.
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

ladder_engine& loaded_engine() {
    static ladder_engine* const the_library = [] {
        open_library(SOFTWARE_RUNTIME, RTLD_GLOBAL);
        void* const handle = open_library(LADDER_ENGINE, RTLD_LOCAL);
        const auto enter = reinterpret_cast<decltype(&warpfold_ladder_engine)>(dlsym(handle, "warpfold_ladder_engine"));
        if (enter == nullptr) {
            throw std::runtime_error("the engine exports no warpfold_ladder_engine");
        }
        return enter();
    }();
    return *the_library;
}

} // namespace warpfold::ladder::testing
