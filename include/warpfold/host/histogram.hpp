// SPDX-License-Identifier: MIT
// Histograms on the host's cores. Every thread counts in tables of its own, several of them where bins are few, so that
// equal neighbours do not wait for each other; the bins of a run of samples are computed first, for the compiler to
// vectorise, and counted then.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "warpfold/detail/channels.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/target.hpp"
#include "warpfold/host/vectors.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t histogram_chunk = std::uint64_t{1} << 16; // samples that a thread takes at once
inline constexpr std::uint64_t histogram_run = 1024;                     // samples whose bins are computed at once

template <class In>
inline constexpr bool is_bytes_v =
    std::is_pointer_v<In> && sizeof(element_t<In>) == 1 && std::is_integral_v<element_t<In>>;

template <class Counter, class Number>
void add_wrapping(Counter& count, Number more) {
    if constexpr (std::is_integral_v<Counter>) {
        using natural = std::make_unsigned_t<Counter>;
        count = static_cast<Counter>(static_cast<natural>(count) + static_cast<natural>(more));
    } else {
        count += static_cast<Counter>(more);
    }
}

// Counts of 32 bits by a thread alone: of 8-bit samples one of each value and channel, eight times; else one of each bin,
// `copies` times, and one behind them that samples without a bin go to.
template <class In, class Of>
class host_tables {
public:
    using S = element_t<In>;

    explicit host_tables(const Of& of)
        : of_(of), copies_(of.bins <= 2048 ? 4 : (of.bins <= 16384 ? 2 : 1)),
          table_(is_bytes_v<In> ? std::size_t{256} * Of::channels * byte_copies : (of.bins + std::size_t{1}) * copies_) {}

    // Counts in[begin .. end); `begin` is the first sample of a pixel.
    void count(const In& in, std::uint64_t begin, std::uint64_t end) {
        counted_ += end - begin;
        if constexpr (is_bytes_v<In>) {
            count_bytes(reinterpret_cast<const unsigned char*>(in), begin, end);
        } else {
            for (; begin < end; begin += histogram_run) {
                count_run(in, begin, std::min(histogram_run, end - begin));
            }
        }
    }

    // Whether no further chunk may be counted before add_to().
    [[nodiscard]] bool full() const noexcept { return counted_ > 0xffffffffu - histogram_chunk * Of::channels; }

    // Adds to the counts what is in the tables, and empties them.
    template <class Counter>
    void add_to(Counter* counts) {
        if constexpr (is_bytes_v<In>) {
            for (unsigned value = 0; value < 256 * Of::channels; ++value) {
                std::uint32_t all = 0;
                for (unsigned copy = 0; copy < byte_copies; ++copy) {
                    all += table_[copy * 256 * Of::channels + value];
                }
                const std::uint32_t bin = all == 0 ? outside : of_(static_cast<S>(value % 256), value / 256);
                if (bin != outside) {
                    add_wrapping(counts[bin], all);
                }
            }
        } else {
            const std::size_t apart = std::size_t{of_.bins} + 1;
            for (std::size_t bin = 0; bin < of_.bins; ++bin) {
                std::uint32_t all = 0;
                for (unsigned copy = 0; copy < copies_; ++copy) {
                    all += table_[copy * apart + bin];
                }
                add_wrapping(counts[bin], all);
            }
        }
        std::fill(table_.begin(), table_.end(), 0u);
        counted_ = 0;
    }

private:
    static constexpr unsigned byte_copies = Of::channels == 1 ? 8 : 1;

    void count_bytes(const unsigned char* bytes, std::uint64_t begin, std::uint64_t end) {
        std::uint32_t* const table = table_.data();
        std::uint64_t k = begin;
        if constexpr (Of::channels == 1) {
            for (; k + 8 <= end; k += 8) {
                std::uint64_t eight;
                std::memcpy(&eight, bytes + k, 8);
                ++table[eight & 0xff];
                ++table[256 + (eight >> 8 & 0xff)];
                ++table[512 + (eight >> 16 & 0xff)];
                ++table[768 + (eight >> 24 & 0xff)];
                ++table[1024 + (eight >> 32 & 0xff)];
                ++table[1280 + (eight >> 40 & 0xff)];
                ++table[1536 + (eight >> 48 & 0xff)];
                ++table[1792 + (eight >> 56)];
            }
        } else {
            for (; k + Of::channels <= end; k += Of::channels) {
                for (unsigned c = 0; c < Of::active; ++c) {
                    ++table[256 * c + bytes[k + c]];
                }
            }
        }
        for (; k < end; ++k) {
            ++table[256 * (k % Of::channels) + bytes[k]];
        }
    }

    // In a form that compilers vectorise at -O2 too.
    static void place_all(const Of of, const S* __restrict from, std::uint32_t* __restrict to) {
        for (std::uint64_t k = 0; k < histogram_run; ++k) {
            const std::uint32_t bin = of(from[k], 0);
            to[k] = bin < of.bins ? bin : of.bins;
        }
    }

    void count_run(const In& in, std::uint64_t begin, std::uint64_t count) {
        std::uint32_t at[histogram_run];
        const Of of = of_; // one that nobody else may change
        const auto place = [&](std::uint64_t k) {
            return std::min(of(in[begin + k], static_cast<unsigned>((begin + k) % Of::channels)), of.bins);
        };
        if (count == histogram_run) {
            if constexpr (std::is_pointer_v<In> && Of::channels == 1) {
                const S* const from = in + begin;
                in_wide_vectors([&of, from, &at] { place_all(of, from, at); });
            } else {
                for (std::uint64_t k = 0; k < histogram_run; ++k) {
                    at[k] = place(k);
                }
            }
        } else {
            for (std::uint64_t k = 0; k < count; ++k) {
                at[k] = place(k);
            }
        }
        const std::size_t apart = std::size_t{of.bins} + 1;
        std::uint32_t* const table = table_.data();
        std::uint64_t k = 0;
        if (copies_ == 4) {
            std::uint32_t *const b = table + apart, *const c = b + apart, *const d = c + apart;
            for (; k + 4 <= count; k += 4) {
                ++table[at[k]];
                ++b[at[k + 1]];
                ++c[at[k + 2]];
                ++d[at[k + 3]];
            }
        } else if (copies_ == 2) {
            std::uint32_t* const b = table + apart;
            for (; k + 2 <= count; k += 2) {
                ++table[at[k]];
                ++b[at[k + 1]];
            }
        }
        for (; k < count; ++k) {
            ++table[at[k]];
        }
    }

    Of of_;
    unsigned copies_;
    std::vector<std::uint32_t> table_;
    std::uint64_t counted_ = 0;
};

// Throws where edges are not sorted, or one is NaN.
template <class Of>
void check_edges(const Of& of, const char* call) {
    if constexpr (with_edges<typename Of::binner>) {
        const auto check = [call](const auto& bin) {
            for (std::uint32_t k = 0; k < bin.bins; ++k) {
                if (!(bin.edges[k] <= bin.edges[k + 1])) {
                    throw invalid_argument(std::string("warpfold: ") + call + ": the bins' edges are not sorted: edge " +
                                           std::to_string(k) + " and the next");
                }
            }
        };
        if constexpr (Of::channels == 1) {
            check(of.bin);
        } else {
            for (const auto& bin : of.bin) {
                check(bin);
            }
        }
    }
}

template <>
struct histogram_engine<host> {
    template <class In, class Counter, class Of>
    static void count(const host& on, const In& in, std::uint64_t n, Counter* counts, const Of& of, update mode,
                      const char* call) {
        check_edges(of, call);
        if (mode == update::overwrite) {
            std::fill_n(counts, of.bins, Counter{0});
        }
        if (!is_bytes_v<In> && n / 4 <= of.bins) { // not worth a table
            for (std::uint64_t k = 0; k < n; ++k) {
                const std::uint32_t bin = of(in[k], static_cast<unsigned>(k % Of::channels));
                if (bin != outside) {
                    add_wrapping(counts[bin], 1u);
                }
            }
            return;
        }
        constexpr std::uint64_t each = histogram_chunk * Of::channels;
        const std::uint64_t chunks = (n + each - 1) / each;
        const unsigned threads = on.threads != 0 ? on.threads : std::max(1u, std::thread::hardware_concurrency());
        // Tables take no more than four times the room of the counts where there are many.
        const std::uint64_t workers = std::min<std::uint64_t>({threads, chunks, of.bins > (1u << 18) ? 4u : threads});
        std::atomic<std::uint64_t> next{0};
        std::mutex guard;
        share_out(host{static_cast<unsigned>(workers)}, workers, [&](std::uint64_t) {
            host_tables<In, Of> tables(of);
            for (std::uint64_t chunk = next++; chunk < chunks; chunk = next++) {
                if (tables.full()) {
                    const std::lock_guard lock(guard);
                    tables.add_to(counts);
                }
                tables.count(in, chunk * each, std::min(n, (chunk + 1) * each));
            }
            const std::lock_guard lock(guard);
            tables.add_to(counts);
        });
    }

    // The samples are cut into pieces that depend on nothing but their number and the bins'; each piece is summed up in
    // its order, and the pieces' sums are added up in theirs.
    template <class In, class Weights, class Sum, class Of>
    static void weigh(const host& on, const In& in, const Weights& weights, std::uint64_t n, Sum* sums, const Of& of,
                      update mode, const char* call) {
        check_edges(of, call);
        const std::uint64_t most = of.bins > (1u << 18) ? 4 : (of.bins > 4096 ? 16 : 64);
        const std::uint64_t least = std::max<std::uint64_t>(std::uint64_t{1} << 14, 4 * std::uint64_t{of.bins});
        const std::uint64_t pieces = std::clamp<std::uint64_t>(n / least, 1, most);
        const std::uint64_t each = (n + pieces - 1) / pieces;
        if (mode == update::overwrite) {
            std::fill_n(sums, of.bins, Sum{0});
        }
        std::vector<Sum> table(pieces == 1 ? 0 : pieces * of.bins);
        share_out(on, pieces, [&](std::uint64_t piece) {
            Sum* const into = pieces == 1 ? sums : table.data() + piece * of.bins;
            const std::uint64_t end = std::min(n, (piece + 1) * each);
            for (std::uint64_t k = piece * each; k < end; ++k) {
                const std::uint32_t bin = of(in[k], static_cast<unsigned>(k % Of::channels));
                if (bin != outside) {
                    add_wrapping(into[bin], static_cast<Sum>(weights[k]));
                }
            }
        });
        for (std::uint64_t k = 0; k < table.size(); ++k) {
            add_wrapping(sums[k % of.bins], table[k]);
        }
    }

    template <class Work>
    static std::vector<std::uint64_t> values(const host& /*on*/, std::uint32_t bins, const Work& work,
                                             const char* /*call*/) {
        std::vector<std::uint64_t> counts(bins);
        work(counts.data());
        return counts;
    }
};

} // namespace warpfold::detail
