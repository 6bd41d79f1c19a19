// SPDX-License-Identifier: MIT
// Shared memory: widths, strides, broadcasts, masks, 64- and 128-bit accesses that meet in banks and that do not.
#include "tests/counters/cases.hpp"

namespace counter_cases {

namespace {

// One warp a block: nothing but the access itself decides what it costs.
constexpr unsigned blocks = 4, lanes = 32, words = 4224;

// Element `places[lane]` of shared memory, which holds the first `filled` words of the input, for lanes in `mask`.
template <class T>
__global__ void shared_load(const unsigned* in, const unsigned* places, T* out, unsigned filled, unsigned mask) {
    __shared__ __align__(16) unsigned staged[words];
    const unsigned lane = threadIdx.x;
#pragma unroll 1
    for (unsigned i = lane; i < filled; i += lanes) {
        staged[i] = in[i];
    }
    __syncthreads();
    if ((mask >> lane & 1u) != 0) {
        out[blockIdx.x * lanes + lane] = reinterpret_cast<const T*>(staged)[places[lane]];
    }
}

// The other way round; lanes that write one element write the same value where `keep` is 0.
template <class T>
__global__ void shared_store(const T* in, const unsigned* places, unsigned* out, unsigned filled, unsigned mask,
                             unsigned keep) {
    __shared__ __align__(16) unsigned staged[words];
    const unsigned lane = threadIdx.x;
#pragma unroll 1
    for (unsigned i = lane; i < filled; i += lanes) {
        staged[i] = 0;
    }
    __syncthreads();
    if ((mask >> lane & 1u) != 0) {
        reinterpret_cast<T*>(staged)[places[lane]] = in[lane * keep];
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned i = lane; i < filled; i += lanes) {
        out[blockIdx.x * filled + i] = staged[i];
    }
}

struct pattern {
    std::string name;
    unsigned (*place)(unsigned lane);
    unsigned mask = 0xFFFFFFFFu;
};

template <class T>
unsigned words_of(const pattern& p) {
    std::size_t bytes = 0;
    for (unsigned l = 0; l < lanes; ++l) {
        bytes = std::max(bytes, (p.place(l) + 1) * sizeof(T));
    }
    return static_cast<unsigned>((bytes + 127) / 128 * 32);
}

template <class T>
void add_loads(case_list& cases, const std::string& width, std::initializer_list<pattern> patterns) {
    for (const pattern& p : patterns) {
        cases.push_back({"shared_load_" + width + "_" + p.name,
                         [=](buffers& b) {
                             shared_load<T><<<blocks, lanes>>>(b.input<unsigned>(), put_places(b, p.place),
                                                               b.output<T>(), words_of<T>(p), p.mask);
                         },
                         [=](buffers& b) {
                             for (unsigned t = 0; t < blocks * lanes; ++t) {
                                 if ((p.mask >> t % lanes & 1u) != 0) {
                                     b.wanted<T>()[t] = b.given<T>()[p.place(t % lanes)];
                                 }
                             }
                         }});
    }
}

template <class T>
void add_stores(case_list& cases, const std::string& width, std::initializer_list<pattern> patterns) {
    for (const pattern& p : patterns) {
        std::vector<bool> seen(words);
        unsigned keep = 1;
        for (unsigned l = 0; l < lanes; ++l) {
            keep = seen[p.place(l)] ? 0 : keep;
            seen[p.place(l)] = true;
        }
        cases.push_back({"shared_store_" + width + "_" + p.name,
                         [=](buffers& b) {
                             shared_store<T><<<blocks, lanes>>>(b.input<T>(), put_places(b, p.place),
                                                                b.output<unsigned>(), words_of<T>(p), p.mask, keep);
                         },
                         [=](buffers& b) {
                             for (unsigned block = 0; block < blocks; ++block) {
                                 auto* const part = reinterpret_cast<T*>(b.wanted<unsigned>() + block * words_of<T>(p));
                                 for (unsigned l = 0; l < lanes; ++l) {
                                     if ((p.mask >> l & 1u) != 0) {
                                         part[p.place(l)] = b.given<T>()[l * keep];
                                     }
                                 }
                             }
                         }});
    }
}

constexpr unsigned multiply_tile = 16, multiply_size = 32;

__global__ void multiply_tiles(const unsigned* a, const unsigned* b, unsigned* c) {
    __shared__ volatile unsigned left[multiply_tile][multiply_tile], right[multiply_tile][multiply_tile];
    const unsigned x = blockIdx.x * multiply_tile + threadIdx.x, y = blockIdx.y * multiply_tile + threadIdx.y;
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned first = 0; first < multiply_size; first += multiply_tile) {
        left[threadIdx.y][threadIdx.x] = a[y * multiply_size + first + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * multiply_size + x];
        __syncthreads();
#pragma unroll 1
        for (unsigned k = 0; k < multiply_tile; ++k) {
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[y * multiply_size + x] = sum;
}

} // namespace

void add_shared_cases(case_list& cases) {
    add_loads<std::uint32_t>(cases, "4_bytes",
                             {{"stride_1", [](unsigned l) { return l; }},
                              {"stride_2", [](unsigned l) { return 2 * l; }},
                              {"stride_3", [](unsigned l) { return 3 * l; }},
                              {"stride_4", [](unsigned l) { return 4 * l; }},
                              {"stride_8", [](unsigned l) { return 8 * l; }},
                              {"stride_16", [](unsigned l) { return 16 * l; }},
                              {"stride_32", [](unsigned l) { return 32 * l; }},
                              {"stride_33", [](unsigned l) { return 33 * l; }},
                              {"stride_64", [](unsigned l) { return 64 * l; }},
                              {"offset_5", [](unsigned l) { return l + 5; }},
                              {"reversed", [](unsigned l) { return 31 - l; }},
                              {"broadcast", [](unsigned) { return 7u; }},
                              {"multicast_4", [](unsigned l) { return l / 4; }},
                              {"multicast_of_two_rows", [](unsigned l) { return l % 2 * 32; }},
                              {"conflict_of_pair", [](unsigned l) { return l == 31 ? 32 : l; }},
                              {"random", [](unsigned l) { return (l * l * 37 + l * 11 + 5) % 512; }},
                              {"stride_2_even_lanes", [](unsigned l) { return 2 * l; }, 0x55555555u},
                              {"stride_2_lower_half", [](unsigned l) { return 2 * l; }, 0x0000FFFFu}});
    add_stores<std::uint32_t>(cases, "4_bytes",
                              {{"stride_1", [](unsigned l) { return l; }},
                               {"stride_2", [](unsigned l) { return 2 * l; }},
                               {"stride_8", [](unsigned l) { return 8 * l; }},
                               {"stride_32", [](unsigned l) { return 32 * l; }},
                               {"stride_33", [](unsigned l) { return 33 * l; }},
                               {"same_word", [](unsigned) { return 7u; }},
                               {"random", [](unsigned l) { return (l * l * 37 + l * 11 + 5) % 512; }},
                               {"stride_2_lower_half", [](unsigned l) { return 2 * l; }, 0x0000FFFFu}});
    add_loads<std::uint8_t>(cases, "1_byte",
                            {{"stride_1", [](unsigned l) { return l; }},
                             {"stride_4", [](unsigned l) { return 4 * l; }},
                             {"stride_5", [](unsigned l) { return 5 * l; }},
                             {"stride_128", [](unsigned l) { return 128 * l; }}});
    add_stores<std::uint8_t>(cases, "1_byte",
                             {{"stride_1", [](unsigned l) { return l; }},
                              {"stride_4", [](unsigned l) { return 4 * l; }},
                              {"stride_128", [](unsigned l) { return 128 * l; }}});
    add_loads<std::uint16_t>(cases, "2_bytes",
                             {{"stride_1", [](unsigned l) { return l; }},
                              {"stride_3", [](unsigned l) { return 3 * l; }},
                              {"stride_64", [](unsigned l) { return 64 * l; }}});
    add_stores<std::uint16_t>(
        cases, "2_bytes",
        {{"stride_1", [](unsigned l) { return l; }}, {"stride_64", [](unsigned l) { return 64 * l; }}});
    const std::initializer_list<pattern> of_8 = {
        {"stride_1", [](unsigned l) { return l; }},
        {"stride_2", [](unsigned l) { return 2 * l; }},
        {"stride_3", [](unsigned l) { return 3 * l; }},
        {"stride_4", [](unsigned l) { return 4 * l; }},
        {"stride_16", [](unsigned l) { return 16 * l; }},
        {"stride_17", [](unsigned l) { return 17 * l; }},
        {"broadcast", [](unsigned) { return 3u; }},
        {"of_pairs", [](unsigned l) { return l / 2; }},
        {"of_fours", [](unsigned l) { return l / 4; }},
        {"halves_alike", [](unsigned l) { return l % 16; }},
        {"halves_interleaved", [](unsigned l) { return l % 16 * 2 + l / 16; }},
        {"two_rows", [](unsigned l) { return l % 2 * 16; }},
        {"permuted", [](unsigned l) { return l * 13 % 32; }},
        {"random", [](unsigned l) { return (l * l * 37 + l * 11 + 5) % 256; }},
        {"lower_half", [](unsigned l) { return l; }, 0x0000FFFFu},
        {"even_lanes", [](unsigned l) { return l; }, 0x55555555u},
        {"even_lanes_packed", [](unsigned l) { return l / 2; }, 0x55555555u},
        {"pairs_of_lanes", [](unsigned l) { return l; }, 0x33333333u},
        {"of_pairs_in_lower_half", [](unsigned l) { return l < 16 ? l / 2 : l; }},
        {"of_pairs_but_one", [](unsigned l) { return l == 9 ? 40u : l / 2; }},
        {"two_apart_alike", [](unsigned l) { return l & ~2u; }},
        {"middle_half", [](unsigned l) { return l; }, 0x00FFFF00u},
        {"outer_quarters", [](unsigned l) { return l % 16; }, 0xFF0000FFu}};
    add_loads<std::uint64_t>(cases, "8_bytes", of_8);
    add_stores<std::uint64_t>(cases, "8_bytes", of_8);
    const std::initializer_list<pattern> of_16 = {
        {"stride_1", [](unsigned l) { return l; }},
        {"stride_2", [](unsigned l) { return 2 * l; }},
        {"stride_3", [](unsigned l) { return 3 * l; }},
        {"stride_4", [](unsigned l) { return 4 * l; }},
        {"stride_8", [](unsigned l) { return 8 * l; }},
        {"stride_9", [](unsigned l) { return 9 * l; }},
        {"broadcast", [](unsigned) { return 3u; }},
        {"of_pairs", [](unsigned l) { return l / 2; }},
        {"of_fours", [](unsigned l) { return l / 4; }},
        {"of_eights", [](unsigned l) { return l / 8; }},
        {"quarters_alike", [](unsigned l) { return l % 8; }},
        {"halves_alike", [](unsigned l) { return l % 16; }},
        {"quarters_interleaved", [](unsigned l) { return l % 8 * 4 + l / 8; }},
        {"two_rows", [](unsigned l) { return l % 2 * 8; }},
        {"swapped_neighbours", [](unsigned l) { return l ^ 1u; }},
        {"permuted", [](unsigned l) { return l * 13 % 32; }},
        {"random", [](unsigned l) { return (l * l * 37 + l * 11 + 5) % 128; }},
        {"lower_half", [](unsigned l) { return l; }, 0x0000FFFFu},
        {"even_lanes", [](unsigned l) { return l; }, 0x55555555u},
        {"even_lanes_packed", [](unsigned l) { return l / 2; }, 0x55555555u},
        {"pairs_of_lanes", [](unsigned l) { return l; }, 0x33333333u},
        {"of_pairs_in_lower_half", [](unsigned l) { return l < 16 ? l / 2 : l; }},
        {"of_pairs_but_one", [](unsigned l) { return l == 9 ? 40u : l / 2; }},
        {"two_apart_alike", [](unsigned l) { return l & ~2u; }},
        {"every_fourth_lane", [](unsigned l) { return l; }, 0x11111111u},
        {"two_quarters", [](unsigned l) { return l; }, 0x00FF00FFu},
        {"middle_half", [](unsigned l) { return l; }, 0x00FFFF00u}};
    add_loads<uint4>(cases, "16_bytes", of_16);
    add_stores<uint4>(cases, "16_bytes", of_16);
    cases.push_back({"matrix_multiply_tiles",
                     [](buffers& b) {
                         multiply_tiles<<<dim3(2, 2), dim3(multiply_tile, multiply_tile)>>>(
                             b.input<unsigned>(), b.input<unsigned>() + 1024, b.output<unsigned>());
                     },
                     [](buffers& b) {
                         const auto* const left = b.given<unsigned>();
                         const auto* const right = left + 1024;
                         for (unsigned y = 0; y < multiply_size; ++y) {
                             for (unsigned x = 0; x < multiply_size; ++x) {
                                 unsigned sum = 0;
                                 for (unsigned k = 0; k < multiply_size; ++k) {
                                     sum += left[y * multiply_size + k] * right[k * multiply_size + x];
                                 }
                                 b.wanted<unsigned>()[y * multiply_size + x] = sum;
                             }
                         }
                     }});
}

} // namespace counter_cases
