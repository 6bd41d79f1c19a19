// SPDX-License-Identifier: MIT
// Histograms for every target: the index of a sample of a channel among the counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "warpfold/bins.hpp"
#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/bins/even_bins.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/error.hpp"

namespace warpfold {

// What a histogram does with the values that the counts have before the call.
enum class update { overwrite, add };

namespace detail {

// Bins whose edges may be copied to shared memory.
template <class Binner>
concept with_edges = Binner::has_edges;

template <class Binner>
struct one_channel {
    static constexpr unsigned channels = 1;
    static constexpr unsigned active = 1;
    using binner = Binner;

    template <class S>
    WARPFOLD_HD constexpr std::uint32_t operator()(const S& x, unsigned /*channel*/) const {
        return bin(x);
    }

    Binner bin;
    std::uint32_t bins;
};

template <class Binner, unsigned Channels, unsigned Active>
struct several_channels {
    static constexpr unsigned channels = Channels;
    static constexpr unsigned active = Active;
    using binner = Binner;

    template <class Bins, class S>
    several_channels(const std::array<Bins, Active>& of, const S& sample)
        : several_channels(of, sample, std::make_index_sequence<Active>{}) {}

    template <class S>
    WARPFOLD_HD constexpr std::uint32_t operator()(const S& x, unsigned channel) const {
        std::uint32_t place = outside;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (unsigned c = 0; c < Active; ++c) { // only constant indices: others would use local memory
            if (c == channel) {
                const std::uint32_t in_channel = bin[c](x);
                place = in_channel == outside ? outside : first[c] + in_channel;
            }
        }
        return place;
    }

    Binner bin[Active];
    std::uint32_t first[Active];
    std::uint32_t bins;

private:
    template <class Bins, class S, std::size_t... C>
    several_channels(const std::array<Bins, Active>& of, const S& sample, std::index_sequence<C...>)
        : bin{prepare(of[C], sample)...}, first{} {
        std::uint64_t all = 0;
        for (unsigned c = 0; c < Active; ++c) {
            first[c] = static_cast<std::uint32_t>(all);
            all += of[c].count();
            (void)checked_bins(all);
        }
        bins = static_cast<std::uint32_t>(all);
    }
};

// Calls f with each of the binners.
template <class Of, class F>
void each_binner(const Of& of, const F& f) {
    if constexpr (requires { of.bin.each_binner(f); }) {
        of.bin.each_binner(f);
    } else if constexpr (Of::channels == 1) {
        f(of.bin);
    } else {
        for (const auto& bin : of.bin) {
            f(bin);
        }
    }
}

// Completes bins from the target's memory.
template <class Of>
WARPFOLD_HD void load_bins([[maybe_unused]] Of& of) {
    if constexpr (reads_range<typename Of::binner>) {
        if constexpr (Of::channels == 1) {
            of.bin.load();
        } else {
            for (auto& bin : of.bin) {
                bin.load();
            }
        }
    }
}

// histogram(), for every target.
template <class On, class In, class N, class Counter, class Bins>
void count_samples(const On& on, const In& in, const N& n, Counter* counts, const Bins& bins, update mode,
                   const char* call) {
    call_scope<On>::run(on, call, [&] {
        const auto bin = prepare(bins, element_t<In>{});
        const one_channel<std::remove_cv_t<decltype(bin)>> of{bin, bins.count()};
        histogram_engine<On>::count(on, in, n, counts, of, mode, call);
    });
}

} // namespace detail
} // namespace warpfold
