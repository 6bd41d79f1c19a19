// SPDX-License-Identifier: MIT
// Histograms on the host. Every thread counts in tables of its own, several of them for few bins, so that equal
// neighbouring samples do not depend on each other. The bins of 64 samples are computed in a vectorised loop and then
// counted, which the processor overlaps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "warpfold/detail/bins/channels.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/core/block_input.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/core/vectors.hpp"
#include "warpfold/host/histogram/byte_counts.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t histogram_block = 64; // samples whose bins are computed at a time

// Where a thread counts. Beyond 2^16 bins counters have 8 bits: more of them fit in a cache, and all tables take at most
// four times the memory of the counts. `none`: in the result, on one thread.
enum class counter_table { of_words, of_bytes, none };
inline constexpr counter_table table_for(std::uint32_t bins) {
    return bins <= 1u << 16 ? counter_table::of_words : counter_table::of_bytes;
}

template <class In>
inline constexpr bool is_bytes_v = std::is_pointer_v<In> &&
                                   sizeof(element_t<In>) == 1 && std::is_integral_v<element_t<In>>;

template <class Counter, class Number>
void add_wrapping(Counter& count, Number more) {
    if constexpr (std::is_integral_v<Counter>) {
        using unsigned_counter = std::make_unsigned_t<Counter>;
        count = static_cast<Counter>(static_cast<unsigned_counter>(count) + static_cast<unsigned_counter>(more));
    } else {
        count += static_cast<Counter>(more);
    }
}

template <class Binner>
concept with_quotients = requires(const Binner& bin) {
    bin.by_quotients();
};

// A thread's counts before they are added to the result: by value for one channel of 8-bit samples, else by bin, with
// one more counter for samples without a bin. Counters have 32 bits, in `copies` copies for few bins; or 8 bits, and
// bins whose counter overflowed are noted; or they are those of the result.
template <class In, class Of, class Counter>
class host_tables {
public:
    using S = element_t<In>;
    static constexpr bool by_value = is_bytes_v<In> && Of::channels == 1;

    host_tables(const Of& of, std::uint64_t n, counter_table table, Counter* counts, std::mutex& guard)
        : of_(of),
          counts_(counts),
          guard_(guard),
          values_(n >= std::uint64_t{1} << 22),
          copies_(of.bins <= 1024 ? 4 : (of.bins <= 2048 ? 2 : 1)) {
        const std::size_t counters = of.bins + std::size_t{1};
        if constexpr (!by_value) {
            if (table == counter_table::of_words) {
                words_.resize(counters * copies_);
            } else if (table == counter_table::of_bytes) {
                bytes_.resize(counters);
                full_.resize(most_full);
            }
        }
    }

    // Counts in[begin .. end), at most a chunk.
    void count(const In& in, std::uint64_t begin, std::uint64_t end) {
        if (counted_ > 0xffffffffu - histogram_chunk * Of::channels) {
            hand_over();
        }
        counted_ += end - begin;
        if constexpr (by_value) {
            values_.count(reinterpret_cast<const unsigned char*>(in) + begin, end - begin);
        } else if constexpr (std::is_pointer_v<In> && Of::channels == 1) {
            count_array(in + begin, end - begin);
        } else if constexpr (reads_blocks<In> && Of::channels == 1) {
            S block[1024];
            for (std::uint64_t k = begin; k < end; k += std::size(block)) {
                const std::uint64_t n = std::min<std::uint64_t>(std::size(block), end - k);
                in.read(k, n, block);
                count_array(block, n);
            }
        } else {
            const auto bin = [this, &in, begin](std::uint64_t k) {
                return of_(in[begin + k], static_cast<unsigned>((begin + k) % Of::channels));
            };
            count_each(bin, end - begin);
        }
    }

    // Adds the counts to the result and resets them.
    void hand_over() {
        const std::lock_guard lock(guard_);
        counted_ = 0;
        if constexpr (by_value) {
            values_.empty([this](unsigned value, std::uint32_t number) {
                const std::uint32_t bin = number == 0 ? outside : of_(static_cast<S>(value), 0);
                if (bin != outside) {
                    add_wrapping(counts_[bin], number);
                }
            });
        } else if (bytes_.empty()) {
            const std::size_t apart = std::size_t{of_.bins} + 1;
            for (unsigned copy = 0; copy < copies_; ++copy) {
                add_all(words_.data() + copy * apart);
            }
            std::fill(words_.begin(), words_.end(), 0u);
        } else {
            hand_over_full();
            add_all(bytes_.data());
            std::fill(bytes_.begin(), bytes_.end(), std::uint8_t{0});
        }
    }

private:
    static constexpr std::uint64_t most_full = 8192; // noted bins

    void count_array(const S* from, std::uint64_t n) {
        if constexpr (with_quotients<typename Of::binner>) {
            if (of_.bin.has_quotients(of_.bins)) {
                const auto bin = of_.bin.by_quotients();
                with_widest_vectors(
                    [this, bin, from, n] { count_each([bin, from](std::uint64_t k) { return bin(from[k]); }, n); });
                return;
            }
        }
        with_widest_vectors(
            [this, bin = of_.bin, from, n] { count_each([bin, from](std::uint64_t k) { return bin(from[k]); }, n); });
    }

    // bin_of(0), ... bin_of(n - 1).
    template <class Bin>
    void count_each(const Bin& bin_of, std::uint64_t n) {
        if (!bytes_.empty()) {
            count_in_bytes(bin_of, n);
        } else if (words_.empty()) {
            count_in_result(bin_of, n);
        } else if (copies_ == 4) {
            count_in_words<4>(bin_of, n);
        } else if (copies_ == 2) {
            count_in_words<2>(bin_of, n);
        } else {
            count_in_words<1>(bin_of, n);
        }
    }

    // Written so that compilers vectorise it at -O2.
    template <class Bin>
    static void place_block(const Bin& bin_of, std::uint64_t first, std::uint32_t bins, std::uint32_t* __restrict at) {
        for (std::uint64_t k = 0; k < histogram_block; ++k) {
            const std::uint32_t bin = bin_of(first + k);
            at[k] = bin < bins ? bin : bins;
        }
    }

    template <unsigned Copies, class Bin>
    void count_in_words(const Bin bin_of, std::uint64_t n) {
        const std::uint32_t bins = of_.bins;
        const std::size_t apart = std::size_t{bins} + 1;
        std::uint32_t* const a = words_.data();
        std::uint32_t *const b = a + (Copies > 1 ? apart : 0), *const c = a + (Copies > 2 ? 2 * apart : 0),
                             *const d = a + (Copies > 2 ? 3 * apart : (Copies > 1 ? apart : 0));
        std::uint32_t at[histogram_block];
        std::uint64_t first = 0;
        for (; first + histogram_block <= n; first += histogram_block) {
            place_block(bin_of, first, bins, at);
            for (std::uint64_t k = 0; k < histogram_block; k += 4) {
                ++a[at[k]];
                ++b[at[k + 1]];
                ++c[at[k + 2]];
                ++d[at[k + 3]];
            }
        }
        for (; first < n; ++first) {
            ++a[std::min(bin_of(first), bins)];
        }
    }

    template <class Bin>
    void count_in_bytes(const Bin bin_of, std::uint64_t n) {
        const std::uint32_t bins = of_.bins;
        std::uint8_t* const table = bytes_.data();
        std::uint32_t* const full = full_.data();
        std::uint32_t at[histogram_block];
        std::uint64_t first = 0, noted = noted_;
        for (; first + histogram_block <= n; first += histogram_block) {
            place_block(bin_of, first, bins, at);
            for (const std::uint32_t bin : at) {
                if (++table[bin] == 0) {
                    full[noted++] = bin;
                }
            }
            if (noted > most_full - histogram_block) {
                noted_ = noted;
                lock_and_hand_over_full();
                noted = 0;
            }
        }
        noted_ = noted;
        for (; first < n; ++first) {
            const std::uint32_t bin = std::min(bin_of(first), bins);
            if (++table[bin] == 0) {
                full[noted_++] = bin;
            }
        }
        if (noted_ > most_full - histogram_block) {
            lock_and_hand_over_full();
        }
    }

    // Counters are fetched a block ahead: most are in no cache.
    template <class Bin>
    void count_in_result(const Bin bin_of, std::uint64_t n) {
        const std::uint32_t bins = of_.bins;
        Counter* const counts = counts_;
        std::uint32_t at[2][histogram_block];
        const auto fetch = [&](std::uint64_t first, std::uint32_t* block) {
            place_block(bin_of, first, bins, block);
            for (std::uint64_t k = 0; k < histogram_block; ++k) {
                __builtin_prefetch(counts + block[k], 1);
            }
        };
        const std::uint64_t blocks = n / histogram_block;
        if (blocks != 0) {
            fetch(0, at[0]);
        }
        for (std::uint64_t block = 0; block < blocks; ++block) {
            if (block + 1 < blocks) {
                fetch((block + 1) * histogram_block, at[(block + 1) % 2]);
            }
            for (const std::uint32_t bin : at[block % 2]) {
                if (bin < bins) {
                    add_wrapping(counts[bin], 1u);
                }
            }
        }
        for (std::uint64_t k = blocks * histogram_block; k < n; ++k) {
            if (const std::uint32_t bin = bin_of(k); bin < bins) {
                add_wrapping(counts[bin], 1u);
            }
        }
    }

    void lock_and_hand_over_full() {
        const std::lock_guard lock(guard_);
        hand_over_full();
    }
    void hand_over_full() {
        for (std::uint64_t k = 0; k < noted_; ++k) {
            if (full_[k] < of_.bins) {
                add_wrapping(counts_[full_[k]], 256u);
            }
        }
        noted_ = 0;
    }

    template <class Word>
    void add_all(const Word* table) {
        std::uint32_t bin = 0;
        for (; bin + histogram_block <= of_.bins; bin += histogram_block) {
            for (std::uint64_t k = 0; k < histogram_block; ++k) {
                add_wrapping(counts_[bin + k], table[bin + k]);
            }
        }
        for (; bin < of_.bins; ++bin) {
            add_wrapping(counts_[bin], table[bin]);
        }
    }

    const Of of_;
    Counter* const counts_;
    std::mutex& guard_;
    byte_counts values_;
    const unsigned copies_;
    std::vector<std::uint32_t> words_;
    std::vector<std::uint8_t> bytes_;
    std::vector<std::uint32_t> full_;
    std::uint64_t noted_ = 0;
    std::uint64_t counted_ = 0;
};

// Throws if edges are not sorted or one is NaN, or a range is a null pointer.
template <class Of>
void check_edges(const Of& of, const char* call) {
    detail::each_binner(of, [call](const auto& bin) {
        using Binner = std::remove_cvref_t<decltype(bin)>;
        if constexpr (with_edges<Binner>) {
            detail::check_array(bin.edges, std::uint64_t{bin.bins} + 1, call);
            for (std::uint32_t k = 0; k < bin.bins; ++k) {
                if (!(bin.edges[k] <= bin.edges[k + 1])) {
                    throw invalid_argument(std::string("warpfold: ") + call +
                                           ": the bins' edges are not sorted: edge " + std::to_string(k) +
                                           " and the next");
                }
            }
        } else if constexpr (reads_range<Binner>) {
            detail::check_array(bin.range, 1, call);
        }
    });
}

// The number of samples of a weighted histogram, whose arguments are right; loads bins that are in memory.
template <class In, class Weights, class N, class Sum, class Of>
std::uint64_t checked_weighing(const In& in, const Weights& weights, const N& number, const Sum* sums, Of& of,
                               const char* call) {
    const std::uint64_t n = detail::checked_count(number, call).value();
    detail::check_array(in, n, call);
    detail::check_array(weights, n, call);
    detail::check_array(sums, of.bins, call);
    check_edges(of, call);
    detail::load_bins(of);
    return n;
}

template <>
struct histogram_engine<host> {
    template <class In, class N, class Counter, class Of>
    static void count(const host& on, const In& in, const N& number, Counter* counts, Of of, update mode,
                      const char* call) {
        const std::uint64_t n = detail::checked_count(number, call).value();
        detail::check_array(in, n, call);
        detail::check_array(counts, of.bins, call);
        check_edges(of, call);
        detail::load_bins(of);
        if (mode == update::overwrite) {
            std::fill_n(counts, of.bins, Counter{0});
        }
        std::mutex guard;
        if (!is_bytes_v<In> && n / 4 <= of.bins) { // too few samples for a table
            host_tables<In, Of, Counter>(of, n, counter_table::none, counts, guard).count(in, 0, n);
            return;
        }
        constexpr std::uint64_t each = histogram_chunk * Of::channels;
        const std::uint64_t chunks = (n + each - 1) / each;
        const std::uint64_t threads = threads_of(on.threads);
        const counter_table table = table_for(of.bins);
        const std::uint64_t workers =
            std::min(chunks, table == counter_table::of_words ? threads : std::min<std::uint64_t>(threads, 15));
        const auto count_chunks = [&](auto&& claim) {
            std::uint64_t chunk = 0;
            if (!claim(chunk)) {
                return;
            }
            host_tables<In, Of, Counter> tables(of, n / workers, table, counts, guard);
            do {
                tables.count(in, chunk * each, std::min(n, (chunk + 1) * each));
            } while (claim(chunk));
            tables.hand_over();
        };
        parallel_claims(static_cast<unsigned>(workers), chunks, count_chunks, pieces_together);
    }

    // Samples are divided into pieces that depend only on their number and on the bins. Each piece is summed in order,
    // and the pieces are added in order.
    template <class In, class Weights, class N, class Sum, class Of>
    static void weigh(const host& on, const In& in, const Weights& weights, const N& number, Sum* sums, Of of,
                      update mode, const char* call) {
        const std::uint64_t n = detail::checked_weighing(in, weights, number, sums, of, call);
        const std::uint64_t most = of.bins > (1u << 18) ? 4 : (of.bins > 4096 ? 16 : 64);
        const std::uint64_t least = std::max<std::uint64_t>(std::uint64_t{1} << 14, 4 * std::uint64_t{of.bins});
        const std::uint64_t pieces = std::clamp<std::uint64_t>(n / least, 1, most);
        const std::uint64_t each = (n + pieces - 1) / pieces;
        if (mode == update::overwrite) {
            std::fill_n(sums, of.bins, Sum{0});
        }
        std::vector<Sum> table(pieces == 1 ? 0 : pieces * of.bins);
        parallel_for(on.threads, pieces, [&](std::uint64_t piece) {
            Sum* const into = pieces == 1 ? sums : table.data() + piece * of.bins;
            const std::uint64_t end = std::min(n, (piece + 1) * each);
            for (std::uint64_t k = piece * each; k < end; ++k) {
                const std::uint32_t bin = of(in[k], static_cast<unsigned>(k % Of::channels));
                if (bin != outside) {
                    add_wrapping(into[bin], static_cast<Sum>(weights[k]));
                }
            }
        });
        for (auto of_piece = table.begin(); of_piece != table.end(); of_piece += of.bins) {
            for (std::uint32_t bin = 0; bin < of.bins; ++bin) {
                add_wrapping(sums[bin], of_piece[bin]);
            }
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
