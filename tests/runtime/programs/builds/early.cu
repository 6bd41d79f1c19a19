// SPDX-License-Identifier: MIT
// The runtime used before main and after it, by processes that fork, and by several threads at once.
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/runtime/programs/check.hpp"

__device__ int offset = 3;
__managed__ int managed[16] = {1, 2, 3};

__global__ void put(int* p, int value) {
    *p = value + offset;
    atomicAdd(&managed[0], 1);
}

// Allocates and launches in its constructor, before main; frees in its destructor, after main.
class holder {
public:
    explicit holder(int value) {
        CUDA(cudaMalloc(&place_, sizeof(int)));
        put<<<1, 1>>>(place_, value);
    }
    ~holder() {
        if (cudaFree(place_) != cudaSuccess) {
            std::fprintf(stderr, "cudaFree in a static destructor failed\n");
            _exit(1);
        }
    }
    int get() const {
        int value = 0;
        CUDA(cudaMemcpy(&value, place_, sizeof value, cudaMemcpyDeviceToHost));
        return value;
    }

private:
    int* place_ = nullptr;
};

int run_in_child(int value) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const holder one(value);
        _exit(one.get() == value + 3 ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

// A child that forks before the runtime is used, as a pool of worker processes does, has a device of its own.
const int child_before = run_in_child(40);
const holder before_main(4);

int main() {
    CHECK(child_before == 0);
    CHECK(before_main.get() == 7);
    CHECK(managed[0] == 2 && managed[1] == 2 && managed[2] == 3);
    std::vector<std::thread> threads;
    std::vector<int> wrong(4);
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([t, &wrong] {
            cudaStream_t stream = nullptr;
            int* place = nullptr;
            CUDA(cudaStreamCreate(&stream));
            CUDA(cudaMalloc(&place, sizeof(int)));
            for (int i = 0; i < 50; ++i) {
                int seen = 0;
                put<<<1, 1, 0, stream>>>(place, 1000 * t + i);
                CUDA(cudaMemcpyAsync(&seen, place, sizeof seen, cudaMemcpyDeviceToHost, stream));
                CUDA(cudaStreamSynchronize(stream));
                wrong[t] += seen != 1000 * t + i + 3 ? 1 : 0;
            }
            CUDA(cudaFree(place));
            CUDA(cudaStreamDestroy(stream));
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    CHECK(wrong == std::vector<int>(4));
    CUDA(cudaDeviceSynchronize());
    CHECK(managed[0] == 2 + 4 * 50);
    return 0;
}
