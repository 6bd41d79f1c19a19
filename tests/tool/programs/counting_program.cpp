// SPDX-License-Identifier: MIT
// A program that uses the runtime if it finds one: `counting_program STATUS [FOLDER to change to]`.
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

int main(int count, char** values) {
    if (count > 2 && ::chdir(values[2]) != 0) {
        return 99;
    }
    using call = int (*)();
    if (const auto function = reinterpret_cast<call>(::dlsym(RTLD_DEFAULT, "fake_cuda_call")); function != nullptr) {
        static_cast<void>(function());
    }
    std::puts("output of the program");
    return count > 1 ? std::atoi(values[1]) : 0;
}
