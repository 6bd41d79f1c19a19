// SPDX-License-Identifier: MIT
// Histograms by NumPy's rules.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

#include "python/src/bin_of.hpp"
#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"
#include "python/src/gpu/for_each.cuh"
#include "python/src/gpu/send.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/histogram.cuh"

namespace warpfold::python::on_gpu {

namespace {

// Edges of host memory, in device memory during a call.
template <class E>
class sent {
public:
    sent(const gpu& on, const array& edges)
        : from_(edges.required<const E>(edges.type)),
          bins_(edges.size() - 1),
          there_(on.stream, edges.size() * sizeof(E)) {
        send(on, from_, edges.size() * sizeof(E), there_.data());
    }
    [[nodiscard]] const E* data() const { return static_cast<const E*>(there_.data()); }
    [[nodiscard]] between<E> bin_of() const { return between<E>(from_, bins_).at(data()); }

private:
    const E* from_;
    std::uint64_t bins_;
    detail::stream_ordered_memory there_;
};

template <class T, class F>
void count(const gpu& on, const T* samples, std::uint64_t n, const F& bin_of, const array& sums) {
    warpfold::histogram(on, samples, n, sums.required<std::uint64_t>(element::int64),
                        function_bins(bin_of, sums.size()));
}

template <class E, class F>
void fill(const gpu& on, const array& samples, const F& bin_of, const array* weights, const array& sums) {
    const contiguous_input<E> from(on, samples);
    const std::uint64_t n = samples.size();
    if (weights == nullptr) {
        count(on, from.data(), n, bin_of, sums);
    } else if (sums.type == element::float64) {
        weighted_histogram(on, from.data(), weights->required<const double>(element::float64), n,
                           sums.required<double>(element::float64), function_bins(bin_of, sums.size()));
    } else {
        // Modulo 2^64.
        weighted_histogram(on, from.data(), weights->required<const std::uint64_t>(element::int64), n,
                           sums.required<std::uint64_t>(element::int64), function_bins(bin_of, sums.size()));
    }
}

template <class E>
void fill_between(const gpu& on, const array& samples, const between<E>& bin_of, const array* weights,
                  const array& sums) {
    if constexpr (std::is_same_v<E, double>) {
        if (const auto* const floats = samples.contiguous<const float>(element::float32); floats && !weights) {
            count(on, floats, samples.size(), bin_of, sums);
            return;
        }
    }
    fill<E>(on, samples, bin_of, weights, sums);
}

// Samples of type E without gaps.
template <class E>
struct plain_elements {
    template <class A>
    __device__ A load(std::uint64_t k) const {
        return data[k];
    }

    const E* data;
};

// Edges of host memory that travel with a launch, whose parameters have up to 4,096 bytes.
template <class E>
struct few_edges {
    static constexpr std::size_t most = 3072 / sizeof(E);
    __device__ const E& operator[](unsigned k) const { return of[k]; }

    E of[most];
};

constexpr std::uint64_t most_edges = std::uint64_t{1} << 30;
constexpr unsigned rank_threads = 256, samples_in_flight = 4; // of a thread
constexpr std::size_t most_staged_bytes = 8192;               // of edges: more would cost occupancy

// out[k] = rank_between(edges, count, less, samples[k]). Edges are staged in shared memory, if it was given. A thread searches
// the ranks of several samples at once, by the same halves: `first_half` is the largest power of two up to `count`.
template <class E, class Samples, class Edges>
__global__ void rank_kernel(std::uint64_t n, Samples samples, const __grid_constant__ Edges edges, unsigned count,
                            unsigned first_half, bool is_staged, bool less, std::int64_t* out) {
    extern __shared__ unsigned char room[];
    const E* sorted = reinterpret_cast<const E*>(room);
    if (is_staged) {
        for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
            reinterpret_cast<E*>(room)[k] = edges[k];
        }
        __syncthreads();
    } else if constexpr (std::is_pointer_v<Edges>) {
        sorted = edges;
    }
    constexpr std::uint64_t tile = std::uint64_t{rank_threads} * samples_in_flight;
    for (std::uint64_t begin = blockIdx.x * tile; begin < n; begin += gridDim.x * tile) {
        E x[samples_in_flight];
        unsigned rank[samples_in_flight];
#pragma unroll
        for (unsigned j = 0; j < samples_in_flight; ++j) {
            const std::uint64_t k = begin + j * rank_threads + threadIdx.x;
            x[j] = k < n ? samples.template load<E>(k) : E{};
            rank[j] = 0;
        }
        for (unsigned half = first_half; half != 0; half /= 2) {
#pragma unroll
            for (unsigned j = 0; j < samples_in_flight; ++j) {
                const unsigned next = rank[j] + half;
                const E edge = sorted[min(next, count) - 1];
                rank[j] = next <= count && is_before(edge, x[j], less) ? next : rank[j];
            }
        }
#pragma unroll
        for (unsigned j = 0; j < samples_in_flight; ++j) {
            const std::uint64_t k = begin + j * rank_threads + threadIdx.x;
            if (k < n) {
                out[k] = static_cast<std::int64_t>(rank[j]);
            }
        }
    }
}

template <class E, class Samples, class Edges>
void search(const gpu& on, std::uint64_t n, const Samples& samples, const Edges& edges, std::uint64_t count, bool less,
            std::int64_t* out) {
    if (n == 0) {
        return;
    }
    if (count > most_edges) {
        throw invalid_argument("warpfold: there are " + std::to_string(count) + " edges, more than 2^30");
    }
    const std::size_t bytes = count * sizeof(E);
    const bool is_staged = bytes <= most_staged_bytes;
    const std::uint64_t tiles = (n - 1) / (std::uint64_t{rank_threads} * samples_in_flight) + 1;
    const std::uint64_t most = std::uint64_t{detail::device_attribute<cudaDevAttrMultiProcessorCount>()} * 8; // blocks
    detail::pdl_launch({}, rank_kernel<E, Samples, Edges>, static_cast<unsigned>(std::min(tiles, most)), rank_threads,
                       is_staged ? bytes : 0, on.stream, n, samples, edges, static_cast<unsigned>(count),
                       static_cast<unsigned>(std::bit_floor(count)), is_staged, less, out);
}

template <class E>
struct appending {
    __device__ void operator()(std::uint64_t k) const {
        const std::int64_t place = out[k];
        out[k] =
            place_in_grid(place, place < 0 ? -1 : bin_of(samples.load<E>(k)), static_cast<std::int64_t>(bin_of.bins()));
    }

    device_elements samples;
    between<E> bin_of;
    std::int64_t* out;
};

} // namespace

void ranks(const gpu& on, const array& samples, const array& edges, bool less, const array& out) {
    const auto by = [&](auto zero) {
        using E = decltype(zero);
        auto* const to = out.required<std::int64_t>(element::int64);
        const auto search_in = [&](const auto& sorted) {
            if (const E* const plain = samples.contiguous<const E>(edges.type)) {
                search<E>(on, samples.size(), plain_elements<E>{plain}, sorted, edges.size(), less, to);
            } else {
                search<E>(on, samples.size(), device_elements(samples), sorted, edges.size(), less, to);
            }
        };
        if (edges.size() <= few_edges<E>::most) {
            few_edges<E> few{};
            std::copy_n(edges.required<const E>(edges.type), edges.size(), few.of);
            search_in(few);
        } else {
            search_in(sent<E>(on, edges).data());
        }
    };
    if (edges.type == element::float32) {
        by(float{});
    } else {
        with_edge_type(edges, by);
    }
}

void append_bins(const gpu& on, const array& samples, const array& edges, const array& out) {
    with_edge_type(edges, [&](auto zero) {
        using E = decltype(zero);
        const sent<E> there(on, edges);
        for_each(on, samples.size(),
                 appending<E>{device_elements(samples), there.bin_of(), out.required<std::int64_t>(element::int64)});
    });
}

void histogram(const gpu& on, const array& samples, const array& edges, const array* weights, const array& sums) {
    with_edge_type(edges, [&](auto zero) {
        const sent<decltype(zero)> there(on, edges);
        fill_between(on, samples, there.bin_of(), weights, sums);
    });
}

void histogram_and_edges(const gpu& on, const array& samples, const array& compared, const array& edges,
                         const array& sums, const array& results) {
    const auto bytes = edges.size() * static_cast<std::size_t>(size_of(edges.type));
    send(on, edges.data, bytes, results.data);
    const auto* const floats = samples.contiguous<const float>(element::float32);
    if (edges.type == compared.type) {
        with_edge_type(edges, [&](auto zero) {
            using E = decltype(zero);
            const between<E> here(edges.required<const E>(edges.type), sums.size());
            fill_between(on, samples, here.at(results.required<const E>(edges.type)), nullptr, sums);
        });
    } else if (floats != nullptr && edges.type == element::float32 && compared.type == element::float64) {
        const between<double> here(compared.required<const double>(element::float64), sums.size());
        count(on, floats, samples.size(), here.at(results.required<const float>(element::float32)), sums);
    } else {
        histogram(on, samples, compared, nullptr, sums);
    }
}

void count_values(const gpu& on, const array& samples, const array* weights, const array& sums) {
    if (weights == nullptr) {
        if (const auto* const bytes = samples.contiguous<const std::uint8_t>(element::uint8)) {
            return count(on, bytes, samples.size(), by_value{}, sums);
        }
        if (const auto* const ints = samples.contiguous<const std::int32_t>(element::int32)) {
            return count(on, ints, samples.size(), by_value{}, sums);
        }
    }
    fill<std::int64_t>(on, samples, by_value{}, weights, sums);
}

} // namespace warpfold::python::on_gpu
