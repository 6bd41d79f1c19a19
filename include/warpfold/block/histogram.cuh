// SPDX-License-Identifier: MIT
// A histogram in the shared memory of a block.
#pragma once

#include <cstdint>
#include <type_traits>

namespace warpfold::block {

// A view of counters in shared memory, in one or more interleaved copies: threads whose numbers differ modulo `copies`
// use different banks. With 32 copies there are no bank conflicts for any samples; with one copy, samples of a warp
// conflict if their bins are 32 apart.
//
// Order of use: clear(), a barrier, count() by any threads any number of times, a barrier, total() or add_to().
class histogram {
public:
    // Words of shared memory for `bins` bins and one counter for samples without a bin.
    [[nodiscard]] __host__ __device__ static constexpr unsigned words(unsigned bins, unsigned copies) {
        return (bins + 1) * copies;
    }

    // `counters` has words(bins, copies) words. `copies` is a power of two up to 32. `thread` is the calling thread's
    // number in its block of `threads`.
    __device__ histogram(unsigned* counters, unsigned bins, unsigned copies, unsigned thread, unsigned threads)
        : counters_(counters),
          mine_(static_cast<unsigned>(__cvta_generic_to_shared(counters + (thread & (copies - 1))))),
          bins_(bins),
          copies_(copies),
          thread_(thread),
          threads_(threads) {}

    // Clears all counters. All threads call it.
    __device__ void clear() {
        for (unsigned k = thread_; k < words(bins_, copies_); k += threads_) {
            counters_[k] = 0;
        }
    }

    // Adds one to `bin`; nothing if there is no such bin.
    __device__ void count(unsigned bin) {
        // atomicAdd on a shared address, without a branch, which would cost four instructions.
        asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(mine_ + min(bin, bins_) * (copies_ * 4)) : "memory");
    }

    // The count of a bin, after a barrier.
    [[nodiscard]] __device__ unsigned total(unsigned bin) const {
        unsigned sum = 0;
        for (unsigned k = 0; k < copies_; ++k) { // each lane starts at another bank
            sum += counters_[bin * copies_ + ((k + thread_) & (copies_ - 1))];
        }
        return sum;
    }

    // Adds all counts to integers of 32 or 64 bits in global memory, after a barrier. All threads call it. Blocks may
    // start at different bins, `first`, to spread their atomics.
    template <class Counter>
    __device__ void add_to(Counter* counts, unsigned first = 0) const {
        static_assert(std::is_integral_v<Counter> && (sizeof(Counter) == 4 || sizeof(Counter) == 8));
        using word = std::conditional_t<sizeof(Counter) == 4, unsigned, unsigned long long>;
        for (unsigned k = thread_; k < bins_; k += threads_) {
            const unsigned bin = k + first < bins_ ? k + first : k + first - bins_;
            const unsigned sum = total(bin);
            if (sum != 0) {
                atomicAdd(reinterpret_cast<word*>(counts + bin), word{sum});
            }
        }
    }

private:
    unsigned* counters_;
    unsigned mine_; // address of the thread's copy in shared memory
    unsigned bins_, copies_, thread_, threads_;
};

} // namespace warpfold::block
