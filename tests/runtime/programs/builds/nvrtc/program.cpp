// SPDX-License-Identifier: MIT
// program LIBRARY: loads an NVRTC while it runs, as Python's packages do, and succeeds if its machine code is PTX.
#include <cstddef>
#include <cstdio>
#include <string>

#include <dlfcn.h>

int main(int /*argc*/, char** argv) {
    void* const library = ::dlopen(argv[1], RTLD_NOW);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", ::dlerror());
        return 2;
    }
    const auto get_size = reinterpret_cast<int (*)(void*, std::size_t*)>(::dlsym(library, "nvrtcGetCUBINSize"));
    const auto get = reinterpret_cast<int (*)(void*, char*)>(::dlsym(library, "nvrtcGetCUBIN"));
    std::size_t size = 0;
    std::string text(64, ' ');
    if (get_size(nullptr, &size) != 0 || get(nullptr, text.data()) != 0) {
        return 2;
    }
    std::printf("%zu bytes: %s\n", size, text.c_str());
    return text.c_str() == std::string(".version 9.0") && size == sizeof ".version 9.0" ? 0 : 1;
}
