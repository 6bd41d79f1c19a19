// SPDX-License-Identifier: MIT
// The widest vectors that the machine has and a baseline build does not use. With WARPFOLD_BASELINE_VECTORS defined,
// none but those that the compiler is told to use.
#pragma once

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__)) &&                         \
    !defined(WARPFOLD_BASELINE_VECTORS)
// A function for AVX2 that is part of those that call it.
#define WARPFOLD_AVX2 __attribute__((target("avx2"), always_inline)) inline
#endif

namespace warpfold::detail {

#if defined(WARPFOLD_AVX2)
inline bool has_avx2() {
#if defined(__AVX2__)
    return true;
#else
    return __builtin_cpu_supports("avx2") != 0;
#endif
}
#endif

#if defined(WARPFOLD_AVX2) && !defined(__AVX2__)

template <class Work>
__attribute__((target("avx2"), flatten)) auto with_avx2(const Work& work) {
    return work();
}

// work(), compiled for AVX2 as well, and run so where the machine has it. Both give the same bits: AVX2 alone fuses no
// multiplication with an addition.
template <class Work>
auto with_widest_vectors(const Work& work) {
    return has_avx2() ? with_avx2(work) : work();
}

#else

template <class Work>
auto with_widest_vectors(const Work& work) {
    return work();
}

#endif

} // namespace warpfold::detail
