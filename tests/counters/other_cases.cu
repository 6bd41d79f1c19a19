// SPDX-License-Identifier: MIT
// Atomics, local and constant memory, generic addresses, branches.
#include "tests/counters/cases.hpp"

namespace counter_cases {

namespace {

constexpr unsigned blocks = 4, lanes = 32, threads = blocks * lanes, limit = 1u << 20;

// Result not used: red.
template <class T>
__global__ void global_reduction(const unsigned* places, T* out, unsigned mask) {
    if ((mask >> threadIdx.x & 1u) != 0) {
        atomicAdd(out + places[threadIdx.x], static_cast<T>(threadIdx.x));
    }
}

// Result used: atom. What order the lanes came in does not show in what is written behind the sums.
template <class T>
__global__ void global_atomic(const unsigned* places, T* out, unsigned behind) {
    const T old = atomicAdd(out + places[threadIdx.x], static_cast<T>(1));
    out[behind + blockIdx.x * lanes + threadIdx.x] = old < static_cast<T>(limit) ? 1 : 2;
}

__global__ void global_maximum(const unsigned* places, unsigned* out) {
    atomicMax(out + places[threadIdx.x], threadIdx.x + 1);
}

__global__ void global_exchange(const unsigned* places, unsigned* out, unsigned behind) {
    const unsigned old = atomicExch(out + places[threadIdx.x], 5u);
    out[behind + blockIdx.x * lanes + threadIdx.x] = old == 0 || old == 5 ? 1 : 2;
}

__global__ void global_compare_and_swap(const unsigned* places, unsigned* out, unsigned behind) {
    const unsigned old = atomicCAS(out + places[threadIdx.x], 0u, 9u);
    out[behind + blockIdx.x * lanes + threadIdx.x] = old == 0 || old == 9 ? 1 : 2;
}

template <class T, bool Used>
__global__ void shared_atomic(const unsigned* places, T* out) {
    __shared__ T sums[1056];
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < 1056; i += lanes) {
        sums[i] = 0;
    }
    __syncthreads();
    const T old = atomicAdd(sums + places[threadIdx.x], static_cast<T>(threadIdx.x));
    __syncthreads();
    if constexpr (Used) {
        out[blockIdx.x * lanes + threadIdx.x] = (old < static_cast<T>(limit) ? 1 : 0) + sums[places[threadIdx.x]];
    } else {
        out[blockIdx.x * lanes + threadIdx.x] = 1 + sums[places[threadIdx.x]];
    }
}

template <class T>
__global__ void shared_compare_and_swap(const unsigned* places, T* out) {
    __shared__ T values[1056];
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < 1056; i += lanes) {
        values[i] = 0;
    }
    __syncthreads();
    const T old = atomicCAS(values + places[threadIdx.x], T(0), T(9));
    __syncthreads();
    out[blockIdx.x * lanes + threadIdx.x] = (old == 0 || old == 9 ? 1 : 0) + values[places[threadIdx.x]];
}

template <class T>
__global__ void shared_exchange(const unsigned* places, T* out) {
    __shared__ T values[1056];
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < 1056; i += lanes) {
        values[i] = 0;
    }
    __syncthreads();
    const T old = atomicExch(values + places[threadIdx.x], T(9));
    __syncthreads();
    out[blockIdx.x * lanes + threadIdx.x] = (old == 0 || old == 9 ? 1 : 0) + values[places[threadIdx.x]];
}

// An array that is indexed at run time lives in local memory.
template <class T>
__global__ void local_array(const T* in, const unsigned* places, T* out) {
    volatile T mine[64];
#pragma unroll 1
    for (unsigned i = 0; i < 64; ++i) {
        mine[i] = static_cast<T>(in[i] + static_cast<T>(threadIdx.x));
    }
    out[blockIdx.x * lanes + threadIdx.x] = mine[places[threadIdx.x]];
}

__constant__ unsigned constants[1024];

__global__ void constant_load(const unsigned* places, unsigned* out) {
    out[blockIdx.x * lanes + threadIdx.x] = constants[places[threadIdx.x]];
}

// The compiler cannot know in which space the pointer points.
__global__ void generic_load(const unsigned* in, const unsigned* places, unsigned* out, unsigned from_shared) {
    __shared__ unsigned staged[1056];
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < 1056; i += lanes) {
        staged[i] = in[i];
    }
    __syncthreads();
    const unsigned* const from = from_shared != 0 ? staged : in;
    out[blockIdx.x * lanes + threadIdx.x] = from[places[threadIdx.x]];
}

// Lanes whose bit of `mask` is set go one way, the others the other, in every round.
__global__ void two_ways(const unsigned* in, unsigned* out, unsigned mask, unsigned rounds) {
    const unsigned t = blockIdx.x * lanes + threadIdx.x;
    unsigned value = in[t];
#pragma unroll 1
    for (unsigned r = 0; r < rounds; ++r) {
        if ((mask >> threadIdx.x & 1u) != 0) {
#pragma unroll 1
            for (unsigned k = 0; k < 3; ++k) {
                asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(value));
            }
        } else {
#pragma unroll 1
            for (unsigned k = 0; k < 5; ++k) {
                asm volatile("mad.lo.u32 %0, %0, 22695477, 1;" : "+r"(value));
            }
        }
    }
    out[t] = value;
}

// Each lane as many rounds as its place says.
__global__ void rounds_by_lane(const unsigned* in, const unsigned* places, unsigned* out) {
    const unsigned t = blockIdx.x * lanes + threadIdx.x;
    unsigned value = in[t];
    const unsigned rounds = places[threadIdx.x];
#pragma unroll 1
    for (unsigned r = 0; r < rounds; ++r) {
        asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(value));
    }
    out[t] = value;
}

using place_of = unsigned (*)(unsigned lane);

// The bytes of an output that a kernel of one warp a block leaves, lane by lane.
template <class T, class Value>
void each_thread(buffers& b, unsigned behind, Value value) {
    for (unsigned t = 0; t < threads; ++t) {
        b.wanted<T>()[behind + t] = static_cast<T>(value(t, t % lanes));
    }
}

template <class T>
void add_reduction(case_list& cases, const std::string& name, place_of place, unsigned mask = 0xFFFFFFFFu) {
    cases.push_back(
        {name, [=](buffers& b) { global_reduction<T><<<blocks, lanes>>>(put_places(b, place), b.output<T>(), mask); },
         [=](buffers& b) {
             for (unsigned t = 0; t < threads; ++t) {
                 if ((mask >> t % lanes & 1u) != 0) {
                     b.wanted<T>()[place(t % lanes)] += static_cast<T>(t % lanes);
                 }
             }
         }});
}

template <class T>
void add_atomic(case_list& cases, const std::string& name, place_of place) {
    constexpr unsigned behind = 2048;
    cases.push_back(
        {name, [=](buffers& b) { global_atomic<T><<<blocks, lanes>>>(put_places(b, place), b.output<T>(), behind); },
         [=](buffers& b) {
             for (unsigned t = 0; t < threads; ++t) {
                 b.wanted<T>()[place(t % lanes)] += 1;
             }
             each_thread<T>(b, behind, [](unsigned, unsigned) { return 1; });
         }});
}

template <class T, bool Used>
void add_shared_atomic(case_list& cases, const std::string& name, place_of place) {
    cases.push_back(
        {name, [=](buffers& b) { shared_atomic<T, Used><<<blocks, lanes>>>(put_places(b, place), b.output<T>()); },
         [=](buffers& b) {
             each_thread<T>(b, 0, [&](unsigned, unsigned lane) {
                 unsigned sum = 0;
                 for (unsigned l = 0; l < lanes; ++l) {
                     sum += place(l) == place(lane) ? l : 0;
                 }
                 return sum + 1;
             });
         }});
}

template <class T, bool Compares>
void add_shared_exchange(case_list& cases, const std::string& name, place_of place) {
    cases.push_back({name,
                     [=](buffers& b) {
                         if constexpr (Compares) {
                             shared_compare_and_swap<T><<<blocks, lanes>>>(put_places(b, place), b.output<T>());
                         } else {
                             shared_exchange<T><<<blocks, lanes>>>(put_places(b, place), b.output<T>());
                         }
                     },
                     [](buffers& b) { each_thread<T>(b, 0, [](unsigned, unsigned) { return 10; }); }});
}

template <class T>
void add_local(case_list& cases, const std::string& name, place_of place) {
    cases.push_back(
        {name,
         [=](buffers& b) { local_array<T><<<blocks, lanes>>>(b.input<T>(), put_places(b, place), b.output<T>()); },
         [=](buffers& b) {
             each_thread<T>(b, 0, [&](unsigned, unsigned lane) {
                 return static_cast<T>(b.given<T>()[place(lane)] + static_cast<T>(lane));
             });
         }});
}

void add_ways(case_list& cases, const std::string& name, unsigned mask) {
    constexpr unsigned rounds = 6;
    cases.push_back(
        {name,
         [=](buffers& b) { two_ways<<<blocks, lanes>>>(b.input<unsigned>(), b.output<unsigned>(), mask, rounds); },
         [=](buffers& b) {
             each_thread<unsigned>(b, 0, [&](unsigned t, unsigned lane) {
                 unsigned value = b.given<unsigned>()[t];
                 const bool first = (mask >> lane & 1u) != 0;
                 for (unsigned r = 0; r < rounds * (first ? 3 : 5); ++r) {
                     value = first ? value * 1664525u + 1013904223u : value * 22695477u + 1u;
                 }
                 return value;
             });
         }});
}

void add_rounds(case_list& cases, const std::string& name, place_of place) {
    cases.push_back({name,
                     [=](buffers& b) {
                         rounds_by_lane<<<blocks, lanes>>>(b.input<unsigned>(), put_places(b, place),
                                                           b.output<unsigned>());
                     },
                     [=](buffers& b) {
                         each_thread<unsigned>(b, 0, [&](unsigned t, unsigned lane) {
                             unsigned value = b.given<unsigned>()[t];
                             for (unsigned r = 0; r < place(lane); ++r) {
                                 value = value * 1664525u + 1013904223u;
                             }
                             return value;
                         });
                     }});
}

} // namespace

void add_other_cases(case_list& cases) {
    const place_of linear = [](unsigned l) { return l; };
    const place_of same = [](unsigned) { return 5u; };
    const place_of fours = [](unsigned l) { return l / 4; };
    const place_of own_sector = [](unsigned l) { return l * 8; };
    const place_of own_row = [](unsigned l) { return l * 32; };
    add_reduction<unsigned>(cases, "global_reduction_distinct", linear);
    add_reduction<unsigned>(cases, "global_reduction_same_address", same);
    add_reduction<unsigned>(cases, "global_reduction_of_fours", fours);
    add_reduction<unsigned>(cases, "global_reduction_own_sectors", own_sector);
    add_reduction<unsigned>(cases, "global_reduction_half_at_one_address",
                            [](unsigned l) { return l < 16 ? 0u : l * 8; });
    add_reduction<unsigned>(cases, "global_reduction_even_lanes", linear, 0x55555555u);
    add_reduction<float>(cases, "global_reduction_float", linear);
    add_reduction<unsigned long long>(cases, "global_reduction_8_bytes", linear);
    add_atomic<unsigned>(cases, "global_atomic_distinct", linear);
    add_atomic<unsigned>(cases, "global_atomic_same_address", same);
    add_atomic<unsigned>(cases, "global_atomic_of_fours", fours);
    add_atomic<unsigned>(cases, "global_atomic_own_sectors", own_sector);
    add_atomic<unsigned long long>(cases, "global_atomic_8_bytes", linear);
    constexpr unsigned behind = 2048;
    cases.push_back({"global_reduction_maximum",
                     [=](buffers& b) { global_maximum<<<blocks, lanes>>>(put_places(b, fours), b.output<unsigned>()); },
                     [=](buffers& b) {
                         for (unsigned l = 0; l < lanes; ++l) {
                             b.wanted<unsigned>()[fours(l)] = l + 1;
                         }
                     }});
    cases.push_back({"global_atomic_exchange",
                     [=](buffers& b) {
                         global_exchange<<<blocks, lanes>>>(put_places(b, own_sector), b.output<unsigned>(), behind);
                     },
                     [=](buffers& b) {
                         for (unsigned l = 0; l < lanes; ++l) {
                             b.wanted<unsigned>()[own_sector(l)] = 5;
                         }
                         each_thread<unsigned>(b, behind, [](unsigned, unsigned) { return 1; });
                     }});
    cases.push_back({"global_atomic_compare_and_swap",
                     [=](buffers& b) {
                         global_compare_and_swap<<<blocks, lanes>>>(put_places(b, linear), b.output<unsigned>(),
                                                                    behind);
                     },
                     [=](buffers& b) {
                         for (unsigned l = 0; l < lanes; ++l) {
                             b.wanted<unsigned>()[l] = 9;
                         }
                         each_thread<unsigned>(b, behind, [](unsigned, unsigned) { return 1; });
                     }});

    add_shared_atomic<unsigned, false>(cases, "shared_reduction_distinct", linear);
    add_shared_atomic<unsigned, false>(cases, "shared_reduction_same_address", same);
    add_shared_atomic<unsigned, false>(cases, "shared_reduction_of_fours", fours);
    add_shared_atomic<unsigned, false>(cases, "shared_reduction_one_bank", own_row);
    add_shared_atomic<unsigned, true>(cases, "shared_atomic_distinct", linear);
    add_shared_atomic<unsigned, true>(cases, "shared_atomic_same_address", same);
    add_shared_atomic<unsigned, true>(cases, "shared_atomic_one_bank", own_row);
    add_shared_exchange<unsigned, true>(cases, "shared_atomic_compare_and_swap", linear);
    add_shared_exchange<unsigned, true>(cases, "shared_atomic_compare_and_swap_one_bank", own_row);
    add_shared_exchange<unsigned, true>(cases, "shared_atomic_compare_and_swap_same_address", same);
    add_shared_exchange<unsigned long long, true>(cases, "shared_atomic_compare_and_swap_8_bytes", linear);
    add_shared_exchange<unsigned, false>(cases, "shared_atomic_exchange", linear);
    add_shared_exchange<unsigned long long, false>(cases, "shared_atomic_exchange_8_bytes", linear);
    add_shared_exchange<unsigned long long, false>(cases, "shared_atomic_exchange_8_bytes_of_fours", fours);

    const place_of apart = [](unsigned l) { return l * 2 % 64; };
    const place_of third = [](unsigned) { return 3u; };
    add_local<std::uint32_t>(cases, "local_4_bytes_same_index", third);
    add_local<std::uint32_t>(cases, "local_4_bytes_index_by_lane", apart);
    add_local<std::uint32_t>(cases, "local_4_bytes_index_of_fours", fours);
    add_local<std::uint8_t>(cases, "local_1_byte_same_index", third);
    add_local<std::uint8_t>(cases, "local_1_byte_index_by_lane", apart);
    add_local<std::uint16_t>(cases, "local_2_bytes_index_by_lane", apart);
    add_local<std::uint64_t>(cases, "local_8_bytes_same_index", third);
    add_local<std::uint64_t>(cases, "local_8_bytes_index_by_lane", apart);

    for (const auto& [name, place] : {std::pair{"constant_same_word", same}, std::pair{"constant_by_lane", linear}}) {
        const place_of at = place;
        cases.push_back(
            {name,
             [=](buffers& b) {
                 require(cudaMemcpyToSymbol(constants, b.host_in.data(), sizeof(constants)), "cudaMemcpyToSymbol");
                 constant_load<<<blocks, lanes>>>(put_places(b, at), b.output<unsigned>());
             },
             [=](buffers& b) {
                 each_thread<unsigned>(b, 0, [&](unsigned, unsigned lane) { return b.given<unsigned>()[at(lane)]; });
             }});
    }
    for (const unsigned from_shared : {0u, 1u}) {
        cases.push_back({from_shared != 0 ? "generic_load_of_shared" : "generic_load_of_global",
                         [=](buffers& b) {
                             generic_load<<<blocks, lanes>>>(b.input<unsigned>(), put_places(b, own_sector),
                                                             b.output<unsigned>(), from_shared);
                         },
                         [=](buffers& b) {
                             each_thread<unsigned>(
                                 b, 0, [&](unsigned, unsigned lane) { return b.given<unsigned>()[own_sector(lane)]; });
                         }});
    }

    add_ways(cases, "branch_uniform", 0xFFFFFFFFu);
    add_ways(cases, "branch_odd_lanes", 0xAAAAAAAAu);
    add_ways(cases, "branch_one_lane", 0x00000001u);
    add_rounds(cases, "loop_uniform", [](unsigned) { return 9u; });
    add_rounds(cases, "loop_by_lane", [](unsigned l) { return l + 1; });
    add_rounds(cases, "loop_by_half", [](unsigned l) { return l < 16 ? 3u : 8u; });
}

} // namespace counter_cases
