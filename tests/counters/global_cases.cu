// SPDX-License-Identifier: MIT
// Global memory: strides, offsets, widths, structures, order, masks, transposes.
#include "tests/counters/cases.hpp"

namespace counter_cases {

namespace {

constexpr unsigned blocks = 4, block_threads = 64, threads = blocks * block_threads;

// Strides and offsets are arguments, so that the compiler knows nothing of them.
template <class T>
__global__ void load_strided(const T* in, T* out, unsigned stride, unsigned offset) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = in[t * stride + offset];
}

template <class T>
__global__ void store_strided(const T* in, T* out, unsigned stride, unsigned offset) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t * stride + offset] = in[t];
}

// The read-only path: ld.global.nc.
template <class T>
__global__ void load_read_only(const T* in, T* out, unsigned stride) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = __ldg(in + t * stride);
}

struct point { // 12 bytes
    float x, y, z;
};

__global__ void load_structures(const point* in, float* out) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    const point p = in[t];
    out[t] = p.x + p.y * 2.0f - p.z;
}

__global__ void store_structures(const float* in, point* out) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = in[t];
    out[t] = {v, v + 1.0f, v + 2.0f};
}

// One member of it: two thirds of what is moved is not asked for.
__global__ void load_member(const point* in, float* out) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = in[t].y;
}

// (t * factor + summand) mod modulus (a power of two) is whose element a thread takes.
__global__ void load_permuted(const unsigned* in, unsigned* out, unsigned factor, unsigned summand, unsigned modulus) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = in[(t * factor + summand) & (modulus - 1)];
}

__global__ void store_permuted(const unsigned* in, unsigned* out, unsigned factor, unsigned summand, unsigned modulus) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[(t * factor + summand) & (modulus - 1)] = in[t];
}

// A second load's place comes from the first.
__global__ void load_random(const unsigned* in, unsigned* out, unsigned modulus) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = in[in[t] & (modulus - 1)];
}

// Lanes whose bit is set in `mask` move an element; every warp has such lanes.
__global__ void load_masked(const unsigned* in, unsigned* out, unsigned mask, unsigned stride) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if ((mask >> (t & 31u) & 1u) != 0) {
        out[t] = in[t * stride];
    }
}

// Three loads a thread that overlap those of its neighbours.
__global__ void stencil(const unsigned* in, unsigned* out) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = in[t] + 3u * in[t + 1] + 5u * in[t + 2];
}

constexpr unsigned tile = 32, rows = 8, width = 64;

template <bool Naive>
__global__ void transpose_in_global(const unsigned* in, unsigned* out) {
    const unsigned x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
#pragma unroll 1
    for (unsigned j = 0; j < tile; j += rows) {
        if constexpr (Naive) {
            out[x * width + y + j] = in[(y + j) * width + x];
        } else {
            out[(y + j) * width + x] = in[x * width + y + j];
        }
    }
}

template <unsigned Padding>
__global__ void transpose_by_tiles(const unsigned* in, unsigned* out) {
    __shared__ volatile unsigned staged[tile][tile + Padding];
    unsigned x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
#pragma unroll 1
    for (unsigned j = 0; j < tile; j += rows) {
        staged[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    }
    __syncthreads();
    x = blockIdx.y * tile + threadIdx.x;
    y = blockIdx.x * tile + threadIdx.y;
#pragma unroll 1
    for (unsigned j = 0; j < tile; j += rows) {
        out[(y + j) * width + x] = staged[threadIdx.x][threadIdx.y + j];
    }
}

template <class T>
void add_load(case_list& cases, const std::string& name, unsigned stride, unsigned offset = 0) {
    cases.push_back(
        {name,
         [=](buffers& b) { load_strided<T><<<blocks, block_threads>>>(b.input<T>(), b.output<T>(), stride, offset); },
         [=](buffers& b) {
             for (unsigned t = 0; t < threads; ++t) {
                 b.wanted<T>()[t] = b.given<T>()[t * stride + offset];
             }
         }});
}

template <class T>
void add_store(case_list& cases, const std::string& name, unsigned stride, unsigned offset = 0) {
    cases.push_back(
        {name,
         [=](buffers& b) { store_strided<T><<<blocks, block_threads>>>(b.input<T>(), b.output<T>(), stride, offset); },
         [=](buffers& b) {
             for (unsigned t = 0; t < threads; ++t) {
                 b.wanted<T>()[t * stride + offset] = b.given<T>()[t];
             }
         }});
}

void add_permutation(case_list& cases, const std::string& name, unsigned factor, unsigned summand, unsigned modulus) {
    cases.push_back({"global_load_" + name,
                     [=](buffers& b) {
                         load_permuted<<<blocks, block_threads>>>(b.input<unsigned>(), b.output<unsigned>(), factor,
                                                                  summand, modulus);
                     },
                     [=](buffers& b) {
                         for (unsigned t = 0; t < threads; ++t) {
                             b.wanted<unsigned>()[t] = b.given<unsigned>()[(t * factor + summand) & (modulus - 1)];
                         }
                     }});
    if (modulus < threads) {
        return; // several threads would write one element
    }
    cases.push_back({"global_store_" + name,
                     [=](buffers& b) {
                         store_permuted<<<blocks, block_threads>>>(b.input<unsigned>(), b.output<unsigned>(), factor,
                                                                   summand, modulus);
                     },
                     [=](buffers& b) {
                         for (unsigned t = 0; t < threads; ++t) {
                             b.wanted<unsigned>()[(t * factor + summand) & (modulus - 1)] = b.given<unsigned>()[t];
                         }
                     }});
}

void add_mask(case_list& cases, const std::string& name, unsigned mask, unsigned stride) {
    cases.push_back({name,
                     [=](buffers& b) {
                         load_masked<<<blocks, block_threads>>>(b.input<unsigned>(), b.output<unsigned>(), mask,
                                                                stride);
                     },
                     [=](buffers& b) {
                         for (unsigned t = 0; t < threads; ++t) {
                             if ((mask >> (t & 31u) & 1u) != 0) {
                                 b.wanted<unsigned>()[t] = b.given<unsigned>()[t * stride];
                             }
                         }
                     }});
}

void expect_transposed(buffers& b) {
    for (unsigned y = 0; y < width; ++y) {
        for (unsigned x = 0; x < width; ++x) {
            b.wanted<unsigned>()[x * width + y] = b.given<unsigned>()[y * width + x];
        }
    }
}

template <class Kernel>
void add_transpose(case_list& cases, const std::string& name, Kernel kernel) {
    cases.push_back({name,
                     [=](buffers& b) {
                         kernel<<<dim3(width / tile, width / tile), dim3(tile, rows)>>>(b.input<unsigned>(),
                                                                                        b.output<unsigned>());
                     },
                     expect_transposed});
}

} // namespace

void add_global_cases(case_list& cases) {
    for (const unsigned stride : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 16u, 17u, 31u, 32u, 33u}) {
        add_load<std::uint32_t>(cases, "global_load_stride_" + std::to_string(stride), stride);
    }
    for (const unsigned stride : {1u, 2u, 4u, 8u, 16u, 33u}) {
        add_store<std::uint32_t>(cases, "global_store_stride_" + std::to_string(stride), stride);
    }
    for (const unsigned offset : {1u, 2u, 3u, 4u, 7u, 8u, 9u, 15u, 16u, 24u, 31u}) {
        add_load<std::uint32_t>(cases, "global_load_offset_" + std::to_string(offset), 1, offset);
    }
    for (const unsigned offset : {1u, 8u, 31u}) {
        add_store<std::uint32_t>(cases, "global_store_offset_" + std::to_string(offset), 1, offset);
    }
    add_load<std::uint8_t>(cases, "global_load_1_byte", 1);
    add_load<std::uint8_t>(cases, "global_load_1_byte_stride_5", 5);
    add_load<std::uint16_t>(cases, "global_load_2_bytes", 1);
    add_load<std::uint16_t>(cases, "global_load_2_bytes_offset_3", 1, 3);
    add_load<std::uint64_t>(cases, "global_load_8_bytes", 1);
    add_load<std::uint64_t>(cases, "global_load_8_bytes_stride_3", 3);
    add_load<uint2>(cases, "global_load_vector_8_bytes_offset_1", 1, 1);
    add_load<uint4>(cases, "global_load_vector_16_bytes", 1);
    add_load<uint4>(cases, "global_load_vector_16_bytes_stride_2", 2);
    add_load<uint4>(cases, "global_load_vector_16_bytes_offset_1", 1, 1);
    add_store<std::uint8_t>(cases, "global_store_1_byte", 1);
    add_store<std::uint16_t>(cases, "global_store_2_bytes_stride_3", 3);
    add_store<std::uint64_t>(cases, "global_store_8_bytes", 1);
    add_store<uint4>(cases, "global_store_vector_16_bytes", 1);
    add_store<uint4>(cases, "global_store_vector_16_bytes_stride_2", 2);

    cases.push_back(
        {"global_load_read_only_stride_3",
         [](buffers& b) { load_read_only<<<blocks, block_threads>>>(b.input<unsigned>(), b.output<unsigned>(), 3); },
         [](buffers& b) {
             for (unsigned t = 0; t < threads; ++t) {
                 b.wanted<unsigned>()[t] = b.given<unsigned>()[t * 3];
             }
         }});
    // The input's bytes make no fine floats: whole numbers are put in their place for these.
    const auto floats = [](buffers& b) {
        auto* const f = reinterpret_cast<float*>(b.host_in.data());
        for (unsigned n = 0; n < 3 * threads; ++n) {
            f[n] = static_cast<float>(n * 7 % 1000);
        }
        require(cudaMemcpy(b.in, f, 3 * threads * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
    };
    cases.push_back({"global_load_structures_12_bytes",
                     [=](buffers& b) {
                         floats(b);
                         load_structures<<<blocks, block_threads>>>(b.input<point>(), b.output<float>());
                     },
                     [](buffers& b) {
                         for (unsigned t = 0; t < threads; ++t) {
                             const point p = b.given<point>()[t];
                             b.wanted<float>()[t] = p.x + p.y * 2.0f - p.z;
                         }
                     }});
    cases.push_back({"global_store_structures_12_bytes",
                     [=](buffers& b) {
                         floats(b);
                         store_structures<<<blocks, block_threads>>>(b.input<float>(), b.output<point>());
                     },
                     [](buffers& b) {
                         for (unsigned t = 0; t < threads; ++t) {
                             const float v = b.given<float>()[t];
                             b.wanted<point>()[t] = {v, v + 1.0f, v + 2.0f};
                         }
                     }});
    cases.push_back({"global_load_member_of_12_bytes",
                     [=](buffers& b) {
                         floats(b);
                         load_member<<<blocks, block_threads>>>(b.input<point>(), b.output<float>());
                     },
                     [](buffers& b) {
                         for (unsigned t = 0; t < threads; ++t) {
                             b.wanted<float>()[t] = b.given<point>()[t].y;
                         }
                     }});

    add_permutation(cases, "permuted", 45, 3, threads);
    add_permutation(cases, "reversed", 0xFFFFFFFFu, threads - 1, threads);
    add_permutation(cases, "swapped_halves", 1, 16, threads);
    add_permutation(cases, "same_word", 0, 37, 64);
    add_permutation(cases, "eight_words", 1, 0, 8);
    cases.push_back(
        {"global_load_random",
         [](buffers& b) { load_random<<<blocks, block_threads>>>(b.input<unsigned>(), b.output<unsigned>(), 4096); },
         [](buffers& b) {
             for (unsigned t = 0; t < threads; ++t) {
                 b.wanted<unsigned>()[t] = b.given<unsigned>()[b.given<unsigned>()[t] & 4095u];
             }
         }});
    add_mask(cases, "global_load_even_lanes", 0x55555555u, 1);
    add_mask(cases, "global_load_lower_half", 0x0000FFFFu, 1);
    add_mask(cases, "global_load_odd_lanes_stride_5", 0xAAAAAAAAu, 5);
    add_mask(cases, "global_load_last_lane", 0x80000000u, 1);
    cases.push_back({"global_load_stencil",
                     [](buffers& b) { stencil<<<blocks, block_threads>>>(b.input<unsigned>(), b.output<unsigned>()); },
                     [](buffers& b) {
                         const auto* const in = b.given<unsigned>();
                         for (unsigned t = 0; t < threads; ++t) {
                             b.wanted<unsigned>()[t] = in[t] + 3u * in[t + 1] + 5u * in[t + 2];
                         }
                     }});
    add_transpose(cases, "transpose_strided_stores", transpose_in_global<true>);
    add_transpose(cases, "transpose_strided_loads", transpose_in_global<false>);
    add_transpose(cases, "transpose_tile", transpose_by_tiles<0>);
    add_transpose(cases, "transpose_padded_tile", transpose_by_tiles<1>);
}

} // namespace counter_cases
