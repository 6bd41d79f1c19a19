// SPDX-License-Identifier: MIT
// Shared memory in which a tile changes its arrangement (load.cuh says which there are).
#pragma once

#include "warpfold/warp/shuffle.cuh"

namespace warpfold::block {

// For a tile of Threads * Items elements. A gap of one element after every 32 keeps lanes off each other's banks.
template <class T, unsigned Threads, unsigned Items>
struct exchange_storage {
    static constexpr unsigned count = Threads * Items;
    alignas(T) unsigned char element[(count + count / 32) * sizeof(T)];
};

// Striped to blocked, and back. One barrier each; another one has to come before `storage` is used again.
template <class T, unsigned Threads, unsigned Items>
__device__ void striped_to_blocked(T (&items)[Items], exchange_storage<T, Threads, Items>& storage) {
    auto* const element = reinterpret_cast<T*>(storage.element);
#pragma unroll
    for (unsigned k = 0; k < Items; ++k) {
        const unsigned at = k * Threads + threadIdx.x;
        element[at + at / 32] = items[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < Items; ++k) {
        const unsigned at = threadIdx.x * Items + k;
        items[k] = element[at + at / 32];
    }
}
template <class T, unsigned Threads, unsigned Items>
__device__ void blocked_to_striped(T (&items)[Items], exchange_storage<T, Threads, Items>& storage) {
    auto* const element = reinterpret_cast<T*>(storage.element);
#pragma unroll
    for (unsigned k = 0; k < Items; ++k) {
        const unsigned at = threadIdx.x * Items + k;
        element[at + at / 32] = items[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < Items; ++k) {
        const unsigned at = k * Threads + threadIdx.x;
        items[k] = element[at + at / 32];
    }
}

// The runs of one warp's tile in shared memory: 32 * Rows runs of Run elements, which are accessed as whole runs, in
// both arrangements: as rows, where neighbouring lanes have neighbouring runs, and blocked, where each lane has Rows
// runs one behind the other. Runs stand in an order in which neither arrangement meets a bank twice (an exclusive or
// of the lane, instead of gaps). A __syncwarp() has to stand between an access in one arrangement and in the other.
template <class T, unsigned Run, unsigned Rows>
class warp_runs {
public:
    static_assert((Rows & (Rows - 1)) == 0, "the number of rows is a power of two");
    static constexpr unsigned run_bytes = Run * sizeof(T), bytes = warp::lanes * Rows * run_bytes;

    // `memory`: `bytes` of shared memory, aligned to 16.
    __device__ explicit warp_runs(unsigned char* memory) : memory_(memory) {}

    // The calling lane's run in row r: number r * 32 + lane of the tile.
    [[nodiscard]] __device__ T* in_row(unsigned r) const {
        const unsigned k = r * warp::lanes + threadIdx.x % warp::lanes;
        return at(k / Rows, k % Rows);
    }
    // The calling lane's c-th consecutive run: number lane * Rows + c of the tile.
    [[nodiscard]] __device__ T* blocked(unsigned c) const { return at(threadIdx.x % warp::lanes, c); }
    // Element k of the tile.
    [[nodiscard]] __device__ T& element(unsigned k) const { return at(k / Run / Rows, k / Run % Rows)[k % Run]; }

private:
    [[nodiscard]] __device__ T* at(unsigned lane, unsigned c) const {
        constexpr unsigned in_line = run_bytes >= 128 ? 1 : 128 / run_bytes; // runs in a line of all banks
        constexpr unsigned lanes_in_line = in_line > Rows ? in_line / Rows : 1;
        return reinterpret_cast<T*>(memory_ + (lane * Rows + (c ^ (lane / lanes_in_line % Rows))) * run_bytes);
    }

    unsigned char* memory_;
};

} // namespace warpfold::block
