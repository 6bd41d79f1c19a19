// SPDX-License-Identifier: MIT
// Values passed from block to block inside one launch, without a fence. Every 4 bytes of a value travel in a word of 8
// bytes, beside a flag. A word is written and read whole, so no order between words is needed.
//
// A slot is empty when all its bytes are zero. The block that takes a value resets the slot. Resetting a slot and the
// next publication in it happen in different launches of one stream, so relaxed accesses suffice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace warpfold::detail {

// Room for one value in global memory.
template <class A>
struct flagged_slot {
    static_assert(std::is_trivially_copyable_v<A>);
    static constexpr unsigned words = (sizeof(A) + 3) / 4;

    unsigned long long word[words];
};

// Writes a value and its flag, which is not 0. The slot is empty, or no block reads its last value any more.
template <class A>
__device__ void publish(flagged_slot<A>* slot, const A& value, unsigned flag = 1) {
    unsigned held[flagged_slot<A>::words] = {};
    std::memcpy(held, &value, sizeof(A));
#pragma unroll
    for (unsigned w = 0; w < flagged_slot<A>::words; ++w) {
        const unsigned long long flagged = std::uint64_t{flag} << 32 | held[w];
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(&slot->word[w])), "l"(flagged)
                     : "memory");
    }
}

template <class A>
__device__ void reset_slot(flagged_slot<A>* slot) {
#pragma unroll
    for (unsigned w = 0; w < flagged_slot<A>::words; ++w) {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(&slot->word[w])), "l"(0ull)
                     : "memory");
    }
}

// Reads a slot into registers and leaves it unchanged.
template <class A>
struct slot_reader {
    unsigned long long word[flagged_slot<A>::words];

    __device__ void load(const flagged_slot<A>* slot) {
#pragma unroll
        for (unsigned w = 0; w < flagged_slot<A>::words; ++w) {
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                         : "=l"(word[w])
                         : "l"(__cvta_generic_to_global(&slot->word[w]))
                         : "memory");
        }
    }
    // True when every word has a flag; the second form, this flag.
    [[nodiscard]] __device__ bool ready() const {
        bool all = true;
#pragma unroll
        for (unsigned w = 0; w < flagged_slot<A>::words; ++w) {
            all = all && word[w] >> 32 != 0;
        }
        return all;
    }
    [[nodiscard]] __device__ bool ready(unsigned flag) const {
        bool all = true;
#pragma unroll
        for (unsigned w = 0; w < flagged_slot<A>::words; ++w) {
            all = all && static_cast<unsigned>(word[w] >> 32) == flag;
        }
        return all;
    }
    [[nodiscard]] __device__ A value() const {
        unsigned held[flagged_slot<A>::words];
#pragma unroll
        for (unsigned w = 0; w < flagged_slot<A>::words; ++w) {
            held[w] = static_cast<unsigned>(word[w]);
        }
        A result;
        std::memcpy(&result, held, sizeof(A));
        return result;
    }
    // Loads until ready.
    template <class... Flag>
    __device__ A wait(const flagged_slot<A>* slot, Flag... flag) {
        while (!ready(flag...)) {
            load(slot);
        }
        return value();
    }
};

// Waits for a slot's value, takes it and resets the slot. The publishing block must not wait for this one.
template <class A>
__device__ A take_slot(flagged_slot<A>* slot) {
    unsigned held[flagged_slot<A>::words];
#pragma unroll
    for (unsigned w = 0; w < flagged_slot<A>::words; ++w) {
        const auto address = __cvta_generic_to_global(&slot->word[w]);
        unsigned long long flagged;
        do {
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(flagged) : "l"(address) : "memory");
        } while (flagged >> 32 == 0);
        held[w] = static_cast<unsigned>(flagged);
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(0ull) : "memory");
    }
    A value;
    std::memcpy(&value, held, sizeof(A));
    return value;
}

} // namespace warpfold::detail
