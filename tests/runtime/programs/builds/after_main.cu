// SPDX-License-Identifier: MIT
// A kernel that begins while the process ends, after the destructors of what the program's calls have made.
#include <unistd.h>

#include "tests/runtime/programs/check.hpp"

__global__ void wait_for(const volatile int* flag) {
    while (threadIdx.x == 0 && *flag == 0) {
    }
}
__global__ void put_index(int* p) { p[threadIdx.x] = static_cast<int>(threadIdx.x); }

// Launches in main; lets the kernels begin in its destructor, which comes late, as it was constructed before the first call.
class late_launch {
public:
    void enqueue() {
        CUDA(cudaHostAlloc(&flag_, 17 * sizeof(int), cudaHostAllocDefault));
        *flag_ = 1;
        wait_for<<<1, 1>>>(flag_);
        CUDA(cudaDeviceSynchronize());
        *flag_ = 0;
        wait_for<<<1, 1>>>(flag_);
        put_index<<<1, 16>>>(flag_ + 1);
    }
    ~late_launch() {
        *flag_ = 1;
        if (cudaDeviceSynchronize() != cudaSuccess || flag_[16] != 15) {
            std::fprintf(stderr, "the kernel failed\n");
            _exit(1);
        }
    }

private:
    int* flag_ = nullptr;
};
late_launch last;

int main() {
    last.enqueue();
    return 0;
}
