// SPDX-License-Identifier: MIT
// 8-bit counters in shared memory, four per word. Overflows go to counters in global memory: exact for every input and
// order of threads.
#pragma once

#include <cstdint>
#include <type_traits>

namespace warpfold::detail {

template <class Counter>
using atomic_word_t = std::conditional_t<sizeof(Counter) == 4, unsigned, unsigned long long>;

template <class Counter>
__device__ void add_to_count(Counter* count, atomic_word_t<Counter> more) {
    atomicAdd(reinterpret_cast<atomic_word_t<Counter>*>(count), more);
}

// `counts` are the counters in global memory of the same `bins` bins.
template <class Counter>
class packed_counters {
public:
    [[nodiscard]] __host__ __device__ static constexpr unsigned words(unsigned bins) { return (bins + 3) / 4; }

    __device__ packed_counters(unsigned* words, unsigned bins, Counter* counts)
        : words_(words),
          address_(static_cast<unsigned>(__cvta_generic_to_shared(words))),
          counts_(counts),
          bins_(bins) {}

    __device__ void clear() {
        for (unsigned k = threadIdx.x; k < words(bins_); k += blockDim.x) {
            words_[k] = 0;
        }
    }

    // Adds one to each bin; bins that do not exist are skipped. All atomics are in flight before the first old value is
    // used.
    template <unsigned Bins>
    __device__ void add(const unsigned (&bin)[Bins]) {
        unsigned old[Bins];
#pragma unroll
        for (unsigned j = 0; j < Bins; ++j) {
            old[j] = 0;
            asm volatile("{\n"
                         " .reg .pred there;\n"
                         " setp.lt.u32 there, %1, %2;\n"
                         " @there atom.shared.add.u32 %0, [%3], %4;\n"
                         "}"
                         : "+r"(old[j])
                         : "r"(bin[j]), "r"(bins_), "r"(address_ + (bin[j] & ~3u)), "r"(one_of(bin[j]))
                         : "memory");
        }
        bool overflow = false;
#pragma unroll
        for (unsigned j = 0; j < Bins; ++j) {
            overflow = overflow || (~old[j] & one_of(bin[j]) * 0xff) == 0;
        }
        if (overflow) {
#pragma unroll 1
            for (unsigned which = 0; which < Bins; ++which) {
                unsigned its_bin = bin[0], its_old = old[0];
#pragma unroll
                for (unsigned j = 1; j < Bins; ++j) {
                    its_bin = j == which ? bin[j] : its_bin;
                    its_old = j == which ? old[j] : its_old;
                }
                if ((~its_old & one_of(its_bin) * 0xff) == 0) {
                    carry_overflow(its_bin, its_old);
                }
            }
        }
    }

    // Adds `more` to a bin in global memory; a bin that does not exist is skipped.
    __device__ void add_beyond(unsigned bin, unsigned more) {
        if (bin < bins_) {
            add_to_count(counts_ + bin, more);
        }
    }

    // Adds the remaining counts to global memory, after a barrier.
    __device__ void flush(unsigned first) {
        const auto* const bytes = reinterpret_cast<const unsigned char*>(words_);
        for (unsigned k = threadIdx.x; k < bins_; k += blockDim.x) {
            const unsigned bin = k + first < bins_ ? k + first : k + first - bins_;
            if (bytes[bin] != 0) {
                add_to_count(counts_ + bin, bytes[bin]);
            }
        }
    }

private:
    // 1 in the bin's field of a word; the shift uses the lowest 5 bits of its amount.
    [[nodiscard]] __device__ static unsigned one_of(unsigned bin) { return __funnelshift_l(0, 1, bin * 8); }

    // Handles an addition that overflowed a field. The carry went into the next field, and perhaps on. Each carry
    // counts 256 for the field that it left, in global memory; another atomic subtracts it from the field that it
    // entered, which may carry in turn. Other threads may add meanwhile: the old value of each atomic shows which
    // carries were its own.
    __device__ void carry_overflow(unsigned bin, unsigned old) {
        int change[4] = {};
#pragma unroll
        for (unsigned field = 0; field < 4; ++field) {
            change[field] = field == bin % 4 ? 1 : 0;
        }
        for (;;) {
            int carry = 0;
            unsigned undo = 0;
#pragma unroll
            for (unsigned field = 0; field < 4; ++field) {
                const int sum = static_cast<int>(old >> (field * 8) & 0xff) + change[field] + carry;
                change[field] = -carry;
                undo -= static_cast<unsigned>(carry) << (field * 8);
                carry = sum >> 8;
                if (carry != 0 && bin / 4 * 4 + field < bins_) {
                    add_to_count(counts_ + bin / 4 * 4 + field,
                                 static_cast<atomic_word_t<Counter>>(static_cast<long long>(carry) * 256));
                }
            }
            if (undo == 0) {
                return;
            }
            old = atomicAdd(&words_[bin / 4], undo);
        }
    }

    unsigned* words_;
    unsigned address_; // address of words_ in shared memory
    Counter* counts_;
    unsigned bins_;
};

} // namespace warpfold::detail
