// SPDX-License-Identifier: MIT
// Chunked calls on the host. Threads read the next chunks while one is processed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "warpfold/detail/bins/channels.hpp"
#include "warpfold/detail/chunked/fold.hpp"
#include "warpfold/detail/chunked/plan.hpp"
#include "warpfold/detail/chunked/read_ahead.hpp"
#include "warpfold/detail/chunked/write_behind.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/scan_call.hpp"
#include "warpfold/host/exact_sum/exact_sum.hpp"
#include "warpfold/host/histogram/histogram.hpp"
#include "warpfold/host/reduce/reduce.hpp"
#include "warpfold/host/scan/scan.hpp"

namespace warpfold::detail {

// Buffers of one size in pageable memory.
class host_buffers {
public:
    host_buffers(unsigned count, std::uint64_t bytes) {
        bytes = (bytes + 4095) / 4096 * 4096;
        for (unsigned k = 0; k < count; ++k) {
            all_.emplace_back(std::aligned_alloc(4096, bytes), &std::free);
            if (!all_.back()) {
                throw std::bad_alloc();
            }
        }
    }
    [[nodiscard]] std::vector<void*> slots() const {
        std::vector<void*> at;
        for (const auto& one : all_) {
            at.push_back(one.get());
        }
        return at;
    }

private:
    std::vector<std::unique_ptr<void, decltype(&std::free)>> all_;
};

// The plan if data and results are in memory: chunks are only for progress.
template <class Source>
chunked_plan plan_in_place(Source& source, const chunked_options& options) {
    chunked_plan plan = plan_chunks(source, options);
    if constexpr (in_memory_v<Source>) {
        if (options.chunk_bytes == 0) {
            plan.each = options.progress ? std::max<std::uint64_t>(plan.each, chunk_multiple * 1024) : source.size();
        }
    }
    return plan;
}

// Calls work(in, n, first) for each chunk: n elements, the first with index `first` in the whole data. Returns the
// number of elements.
template <class Source, class Work>
std::uint64_t for_chunks(Source& source, const chunked_plan& plan, const chunked_options& options, bool backwards,
                         const Work& work) {
    chunked_progress progress(options, source);
    std::uint64_t n = 0;
    if constexpr (in_memory_v<Source>) {
        n = source.size();
        const std::uint64_t chunks = n == 0 ? 0 : chunks_of(n, plan.each);
        for (std::uint64_t k = 0; k < chunks; ++k) {
            const chunk_range at = chunk_at(n, plan.each, k, backwards);
            work(source.data + at.first, at.count, at.first);
            progress.add(at.count);
        }
    } else {
        const host_buffers buffers(3, plan.each * stored_bytes(source));
        read_ahead reader(source, buffers.slots(), plan.each, plan.piece, plan.threads, backwards);
        for (auto chunk = reader.next(); chunk.at.count != 0; chunk = reader.next()) {
            work(view_of(std::as_const(source), chunk.data), chunk.at.count, chunk.at.first);
            n += chunk.at.count;
            progress.add(chunk.at.count);
            reader.release();
        }
    }
    return n;
}

// Where the results of a scan go: memory, or threads that write them.
template <class Sink>
class host_results {
public:
    using U = typename Sink::element;

    host_results(Sink& sink, const chunked_plan& plan)
        : sink_(sink),
          buffers_(3, plan.each * sizeof(U)),
          writer_(sink, buffers_.slots(), std::max<std::uint64_t>(plan.policy.piece_bytes / sizeof(U), 1),
                  plan.threads) {}
    [[nodiscard]] U* room(chunk_range) { return writer_.acquire(); }
    void put(chunk_range at) { writer_.submit(at); }
    void finish(std::uint64_t n) {
        writer_.finish();
        if constexpr (requires { sink_.finish(n); }) {
            sink_.finish(n);
        }
    }

private:
    Sink& sink_;
    host_buffers buffers_;
    write_behind<Sink> writer_;
};
template <class T>
class host_results<memory_sink<T>> {
public:
    host_results(memory_sink<T>& sink, const chunked_plan&) : sink_(sink) {}
    [[nodiscard]] T* room(chunk_range at) { return sink_.data + at.first; }
    void put(chunk_range) {}
    void finish(std::uint64_t) {}

private:
    memory_sink<T>& sink_;
};

template <>
struct chunked_engine<host> {
    template <class Source, class Fold>
    static typename Fold::value fold(const host& on, Source& source, const Fold& fold, const chunked_options& options,
                                     std::uint64_t& n, const char* call) {
        using T = typename Source::element;
        using A = typename Fold::folded;
        using Op = std::remove_cvref_t<decltype(fold.op)>;
        if constexpr (Fold::continues) {
            joined_parts<A, Op> joined(fold.op);
            n = for_chunks(source, plan_in_place(source, options), options, false,
                           [&](const auto& in, std::uint64_t count, std::uint64_t first) {
                               fold_on_host<A>(on, in, count, fold.template map_at<T>(first), fold.op, joined);
                           });
            return fold.last(joined.total());
        } else {
            typename Fold::value total{};
            bool fresh = true;
            n = for_chunks(source, plan_in_place(source, options), options, false,
                           [&](const auto& in, std::uint64_t count, std::uint64_t first) {
                               const accumulating_output<typename Fold::value, decltype(fold.more)> place{
                                   &total, fold.more, fresh};
                               reduce_engine<host>::into<A>(on, in, count, fold.template map_at<T>(first), fold.op,
                                                            fold.result_at(in, first), place, call);
                               fresh = false;
                           });
            return total;
        }
    }

    template <class Source, class Bins>
    static std::vector<std::uint64_t> count(const host& on, Source& source, const Bins& bins,
                                            const chunked_options& options, const char* call) {
        std::vector<std::uint64_t> counts(bins.count());
        chunked_options how = options;
        if (how.chunk_bytes == 0) {
            // The tables of all threads are added after each chunk; a larger chunk amortises that.
            how.chunk_bytes = std::max<std::size_t>(options.policy.chunk_bytes, std::size_t{64} * bins.count());
        }
        for_chunks(source, plan_in_place(source, how), how, false, [&](const auto& in, std::uint64_t n, std::uint64_t) {
            count_samples(on, in, n, counts.data(), bins, update::add, call);
        });
        return counts;
    }

    template <class Source>
    static long_accumulator<typename Source::element, 1> exact(const host& on, Source& source,
                                                               const chunked_options& options, const char* call) {
        using T = typename Source::element;
        long_accumulator<T, 1> total;
        for_chunks(source, plan_in_place(source, options), options, false,
                   [&](const auto& in, std::uint64_t n, std::uint64_t) {
                       exact_add_engine<host>::add(on, total, in, n, call);
                   });
        return total;
    }

    // `initial`: an A or no_initial.
    template <bool Inclusive, bool Reverse, class A, class Source, class Sink, class Map, class Op, class Initial>
    static void scan(const host& on, Source& source, Sink& sink, const Map& map, const Op& op, const Initial& initial,
                     const chunked_options& options, const char* call) {
        using T = typename Source::element;
        const chunked_plan plan = in_memory_v<Sink> ? plan_in_place(source, options)
                                                    : plan_read_and_write(source, options, !in_memory_v<Source>, true);
        host_results<Sink> results(sink, plan);
        A carry{};
        bool carries = false;
        if constexpr (!std::is_same_v<Initial, no_initial>) {
            carry = initial;
            carries = true;
        }
        const auto scan_with = [&](const auto& in, std::uint64_t n, A* out, const auto& chunk_map, const auto&... how) {
            if constexpr (Inclusive) {
                scan_call<true>(call, on, in, n, out, chunk_map, op, how...);
            } else {
                scan_call<false>(call, on, in, n, out, chunk_map, op, how...);
            }
        };
        const std::uint64_t all =
            for_chunks(source, plan, options, Reverse, [&](const auto& in, std::uint64_t n, std::uint64_t first) {
                const chunk_range at{first, n};
                check_room(sink, first + n, call);
                A* const out = results.room(at);
                const auto chunk_map = detail::map_from<T>(map, first);
                const std::uint64_t last = Reverse ? 0 : n - 1;
                const A last_element = static_cast<A>(detail::mapped(chunk_map, in[last], last));
                if (!carries) {
                    if constexpr (Inclusive) {
                        if constexpr (Reverse) {
                            scan_with(in, n, out, chunk_map, reversed);
                        } else {
                            scan_with(in, n, out, chunk_map);
                        }
                    }
                } else if constexpr (Reverse) {
                    scan_with(in, n, out, chunk_map, carry, reversed);
                } else {
                    scan_with(in, n, out, chunk_map, carry);
                }
                carry = Inclusive ? out[last] : static_cast<A>(op(out[last], last_element));
                carries = true;
                results.put(at);
            });
        results.finish(all);
    }
};

} // namespace warpfold::detail
