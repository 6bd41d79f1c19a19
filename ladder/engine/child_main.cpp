// SPDX-License-Identifier: MIT
// warpfold-ladder-child RUNTIME ENGINE LADDER/PROGRAM FILE [checked]: what run_child_processes() starts.
#include <cstdio>
#include <cstring>

#include <dlfcn.h>

int main(int count, char** values) {
    if (count < 5) {
        std::fputs("warpfold's ladders start this program where a kernel needs a process of its own\n", stderr);
        return 2;
    }
    // The runtime first and with global symbols: the engine and the ladder then load no other.
    for (int k = 1; k <= 2; ++k) {
        if (::dlopen(values[k], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
            std::fprintf(stderr, "cannot load %s\n", ::dlerror());
            return 1;
        }
    }
    using entry_point = int (*)(const char*, const char*, int);
    const auto run = reinterpret_cast<entry_point>(::dlsym(RTLD_DEFAULT, "warpfold_ladder_child"));
    if (run == nullptr) {
        std::fprintf(stderr, "%s is not the engine of the ladders\n", values[2]);
        return 1;
    }
    return run(values[3], values[4], count > 5 && std::strcmp(values[5], "checked") == 0 ? 1 : 0);
}
