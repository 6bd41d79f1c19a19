// SPDX-License-Identifier: MIT
// The widest vectors of the machine in a program compiled for the baseline. WARPFOLD_BASELINE_VECTORS turns this off.
#pragma once

#include <type_traits>

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__)) &&                         \
    !defined(WARPFOLD_BASELINE_VECTORS)
// For functions with AVX2 that are inlined into their callers.
#define WARPFOLD_AVX2 __attribute__((target("avx2"), always_inline)) inline
// For functions that callers of the same vectors take in through functions for the baseline (`flatten`).
#define WARPFOLD_AVX2_PART __attribute__((target("avx2"))) inline
#define WARPFOLD_FMA_PART __attribute__((target("avx2,fma"))) inline
#define WARPFOLD_AVX512_PART __attribute__((target("avx512f,avx512bw"))) inline
#endif

namespace warpfold::detail {

// Loads `vector` here, and only once: tuned for Zen, GCC 12 would load it again for each use.
#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define WARPFOLD_LOAD_ONCE(vector) asm("" : "+v"(vector))
#else
#define WARPFOLD_LOAD_ONCE(vector) static_cast<void>(0)
#endif

#if defined(WARPFOLD_AVX2)
inline bool has_avx2() {
#if defined(__AVX2__)
    return true;
#else
    return __builtin_cpu_supports("avx2") != 0;
#endif
}
inline bool has_avx512() {
#if defined(__AVX512F__) && defined(__AVX512BW__)
    return true;
#else
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
#endif
}
#endif

#if defined(WARPFOLD_AVX2) && !defined(__AVX2__)

template <class Work>
__attribute__((target("avx2"), flatten)) auto with_avx2(const Work& work) {
    return work();
}

// Calls work(), compiled for AVX2 if the machine has it. The bits of the results are the same: AVX2 alone has no fused
// multiply-add.
template <class Work>
auto with_widest_vectors(const Work& work) {
    return has_avx2() ? with_avx2(work) : work();
}

#else

// In vectors of 32 bytes also where the program is compiled for AVX-512: GCC's loops over 64 read memory at half the rate.
#if defined(WARPFOLD_AVX2) && defined(__AVX512F__) && !defined(__clang__)
#define WARPFOLD_PREFERRED_VECTORS __attribute__((target("prefer-vector-width=256"), flatten))
#else
#define WARPFOLD_PREFERRED_VECTORS
#endif

template <class Work>
WARPFOLD_PREFERRED_VECTORS auto with_widest_vectors(const Work& work) {
    return work();
}

#undef WARPFOLD_PREFERRED_VECTORS

#endif

// Calls work(has_fma) with std::true_type or std::false_type: compiled for AVX2 with fused multiply-adds if the machine has
// them, else as by with_widest_vectors(). The compiler may fuse products and sums there, so a product must be exact, or
// hidden from it.
#if defined(WARPFOLD_AVX2)
template <class Work>
__attribute__((target("avx2,fma"), flatten)) auto with_fma(const Work& work) {
    return work(std::true_type{});
}
#endif
template <class Work>
auto with_fused_vectors(const Work& work) {
#if defined(WARPFOLD_AVX2)
    if (has_avx2() && __builtin_cpu_supports("fma") != 0) {
        return detail::with_fma(work);
    }
#endif
    return with_widest_vectors([&] { return work(std::false_type{}); });
}

} // namespace warpfold::detail
