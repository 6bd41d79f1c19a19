// SPDX-License-Identifier: MIT
// Values handed from block to block inside one launch, without a fence: every 4 bytes of a value travel in a word of 8
// together with a mark that they are there. A word is written and read whole, so that no order between words is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace warpfold::detail {

// Room for one value in global memory. It is empty where all its bytes are zero; whoever takes the value empties it.
// What empties a box and what posts to it next are in launches that the stream keeps apart: relaxed stores need no more
// order.
template <class A>
struct mailbox {
    static_assert(std::is_trivially_copyable_v<A>);
    static constexpr unsigned words = (sizeof(A) + 3) / 4;

    unsigned long long word[words];
};

// Puts a value into a box that is empty, or whose last value nobody needs any more. `mark` is not 0.
template <class A>
__device__ void post(mailbox<A>* box, const A& value, unsigned mark = 1) {
    unsigned held[mailbox<A>::words] = {};
    std::memcpy(held, &value, sizeof(A));
#pragma unroll
    for (unsigned w = 0; w < mailbox<A>::words; ++w) {
        const unsigned long long marked = std::uint64_t{mark} << 32 | held[w];
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(&box->word[w])), "l"(marked)
                     : "memory");
    }
}

template <class A>
__device__ void empty_box(mailbox<A>* box) {
#pragma unroll
    for (unsigned w = 0; w < mailbox<A>::words; ++w) {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(&box->word[w])), "l"(0ull)
                     : "memory");
    }
}

// A value on its way from a box, which keeps it.
template <class A>
struct box_words {
    unsigned long long word[mailbox<A>::words];

    __device__ void load(const mailbox<A>* box) {
#pragma unroll
        for (unsigned w = 0; w < mailbox<A>::words; ++w) {
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                         : "=l"(word[w])
                         : "l"(__cvta_generic_to_global(&box->word[w]))
                         : "memory");
        }
    }
    // With any mark.
    [[nodiscard]] __device__ bool there() const {
        bool all = true;
#pragma unroll
        for (unsigned w = 0; w < mailbox<A>::words; ++w) {
            all = all && word[w] >> 32 != 0;
        }
        return all;
    }
    [[nodiscard]] __device__ bool there(unsigned mark) const {
        bool all = true;
#pragma unroll
        for (unsigned w = 0; w < mailbox<A>::words; ++w) {
            all = all && static_cast<unsigned>(word[w] >> 32) == mark;
        }
        return all;
    }
    [[nodiscard]] __device__ A value() const {
        unsigned held[mailbox<A>::words];
#pragma unroll
        for (unsigned w = 0; w < mailbox<A>::words; ++w) {
            held[w] = static_cast<unsigned>(word[w]);
        }
        A result;
        std::memcpy(&result, held, sizeof(A));
        return result;
    }
    // Asks again until it is there.
    template <class... Mark>
    __device__ A wait(const mailbox<A>* box, Mark... mark) {
        while (!there(mark...)) {
            load(box);
        }
        return value();
    }
};

// Waits for the value of a box, takes it and leaves the box empty. The block that posts it must not wait for this one.
template <class A>
__device__ A collect(mailbox<A>* box) {
    unsigned held[mailbox<A>::words];
#pragma unroll
    for (unsigned w = 0; w < mailbox<A>::words; ++w) {
        const auto address = __cvta_generic_to_global(&box->word[w]);
        unsigned long long marked;
        do {
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(marked) : "l"(address) : "memory");
        } while (marked >> 32 == 0);
        held[w] = static_cast<unsigned>(marked);
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(0ull) : "memory");
    }
    A value;
    std::memcpy(&value, held, sizeof(A));
    return value;
}

} // namespace warpfold::detail
