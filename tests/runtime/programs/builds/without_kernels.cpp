// SPDX-License-Identifier: MIT
// A program that calls the runtime and has no kernels, so no fat binary.
#include <cstddef>
#include <cstdio>
#include <initializer_list>

extern "C" int cudaGetDeviceCount(int* count);
extern "C" int cudaMalloc(void** out, std::size_t bytes);
extern "C" int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
extern "C" int cudaFree(void* at);
extern "C" const char* cudaGetErrorString(int error);

int main() {
    int devices = 0;
    void* memory = nullptr;
    int number = 42;
    int back = 0;
    for (const int error : {cudaGetDeviceCount(&devices), cudaMalloc(&memory, sizeof number),
                            cudaMemcpy(memory, &number, sizeof number, 1), cudaMemcpy(&back, memory, sizeof number, 2),
                            cudaFree(memory)}) {
        if (error != 0) {
            std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
            return 1;
        }
    }
    return devices == 1 && back == 42 ? 0 : 1;
}
