// SPDX-License-Identifier: MIT
// What calls on streams are told, and what it comes to for a target.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "warpfold/chunk_source.hpp"
#include "warpfold/detail/arg.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/tuning/chunked.hpp"

namespace warpfold {

class transfer_buffers; // pinned memory, see gpu/chunked/buffers.hpp

// What a call may be told behind its other arguments. A zero leaves the choice to the library.
struct chunked_options {
    std::size_t chunk_bytes = 0; // of the source, in one go
    unsigned threads = 0;        // of the host, that read and write
    // Called on the caller's thread now and then, behind the last chunk too: `done` of `of` elements are through; `of`
    // is 0 where the source does not know how many it has. What it throws ends the call.
    std::function<void(std::uint64_t done, std::uint64_t of)> progress = {};
    // Pinned memory to be used again by one call after the other; on a GPU only. Else each call takes its own.
    transfer_buffers* buffers = nullptr;
};

namespace detail {

inline constexpr tuning::chunked chunked_tuning = tuning::chunked_default;
inline constexpr std::uint64_t chunk_multiple = std::uint64_t{1} << 16; // chunks have so many elements, or few ones

// How a source is cut up.
struct chunked_plan {
    std::uint64_t each = 1;  // elements of a chunk
    std::uint64_t piece = 1; // elements that a thread reads at a time
    unsigned threads = 1;
};

template <class Source>
chunked_plan plan_chunks(Source& source, const chunked_options& options) {
    const std::uint64_t bytes = std::max<std::uint64_t>(stored_bytes(source), 1);
    chunked_plan plan;
    plan.each = (options.chunk_bytes != 0 ? options.chunk_bytes : chunked_tuning.chunk_bytes) / bytes;
    if (plan.each > chunk_multiple) {
        plan.each -= plan.each % chunk_multiple;
    }
    if constexpr (reads_anywhere<Source>) {
        plan.each = std::min<std::uint64_t>(plan.each, source.size());
    }
    plan.each = std::max<std::uint64_t>(plan.each, 1);
    plan.piece = std::max<std::uint64_t>(chunked_tuning.piece_bytes / bytes, 1);
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    plan.threads = options.threads != 0 ? options.threads : std::min(cores, chunked_tuning.threads);
    return plan;
}

// The same for a call that writes too: threads that read and threads that write share the cores.
template <class Source>
chunked_plan plan_passage(Source& source, const chunked_options& options, bool reads, bool writes) {
    chunked_plan plan = plan_chunks(source, options);
    if (reads && writes) {
        plan.threads = (plan.threads + 1) / 2;
    }
    return plan;
}

// Throws where a sink in memory ends before the chunk does.
template <class Sink>
void need_room_for(const Sink& sink, std::uint64_t elements, const char* call) {
    if constexpr (in_memory_v<Sink>) {
        if (elements > sink.count) {
            throw invalid_argument(std::string("warpfold: ") + call + ": the sink has room for " +
                                   std::to_string(sink.count) + " elements, and there are more");
        }
    }
}

// Says how far a call has come.
class chunked_progress {
public:
    template <class Source>
    chunked_progress(const chunked_options& options, Source& source)
        : tell_(options.progress), of_(known_size(source)) {}

    void add(std::uint64_t elements) {
        done_ += elements;
        if (tell_ && elements != 0) {
            tell_(done_, of_);
        }
    }

private:
    const std::function<void(std::uint64_t, std::uint64_t)>& tell_;
    std::uint64_t of_, done_ = 0;
};

// map, told the element's index in the whole stream instead of that in the chunk.
template <class Map>
struct index_from {
    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD constexpr auto operator()(const T& x, std::uint64_t index) const -> typename map_result<Map, T>::type {
        return detail::mapped(map, x, first + index);
    }

    Map map;
    std::uint64_t first;
};
template <class Map>
struct given<index_from<Map>> : given<Map> {};
template <class Map, class T>
auto map_from(const Map& map, std::uint64_t first) {
    if constexpr (is_device_lambda_v<Map> || std::is_invocable_v<const Map&, const T&, std::uint64_t>) {
        return index_from<Map>{map, first};
    } else {
        return map;
    }
}

// How a reduction goes on from chunk to chunk. The engine of reduce.hpp folds a chunk's elements, after map_at(first),
// by `op` into a `folded`; result_at(in, first) of that is a `value`, and more(total, value) joins it to those of the
// chunks before. One that `chooses` needs elements. Where `continues`, a chunk may also be folded onto the `folded` of
// those before, and last() of that is the result.
template <class A, class Map, class Op>
struct plain_fold {
    using folded = A;
    using value = A;
    static constexpr bool continues = true;
    static constexpr bool chooses = false;

    template <class T>
    auto map_at(std::uint64_t first) const {
        return map_from<Map, T>(map, first);
    }
    template <class In>
    unchanged result_at(const In&, std::uint64_t) const {
        return {};
    }
    A last(const A& total) const { return initial == nullptr ? total : static_cast<A>(more(*initial, total)); }

    Map map;
    Op op, more;
    const A* initial; // nullptr: there is none
};

// The same for an operation without an identity; there is an initial value.
template <class A, class Map, class Op>
struct lifted_fold {
    using folded = possible<A>;
    using value = A;
    static constexpr bool continues = true;
    static constexpr bool chooses = false;

    struct present { // a chunk is never empty
        WARPFOLD_HD constexpr A operator()(const possible<A>& x) const { return x.value; }
    };

    template <class T>
    auto map_at(std::uint64_t first) const {
        const auto inner = map_from<Map, T>(map, first);
        return lifted_map<std::remove_cv_t<decltype(inner)>, A>{inner};
    }
    template <class In>
    present result_at(const In&, std::uint64_t) const {
        return {};
    }
    A last(const possible<A>& total) const {
        return total.there ? static_cast<A>(more(*initial, total.value)) : *initial;
    }

    Map map;
    lifted<Op> op;
    Op more;
    const A* initial;
};

template <bool Smallest>
struct better_located {
    template <class T>
    WARPFOLD_HD constexpr located<T> operator()(const located<T>& a, const located<T>& b) const {
        const as_candidate<T, Smallest> map;
        return better_candidate<Smallest>{}(map(a.value, a.index), map(b.value, b.index)).index == a.index ? a : b;
    }
};

// Of min_max.
template <class T>
struct chunked_extremes_fold : plain_fold<extremes<T>, as_extremes<T>, further_extremes> {
    static constexpr bool chooses = true;
};

// Of arg_min and arg_max.
template <bool Smallest, class T>
struct chunked_arg_fold {
    using fold = arg_fold<Smallest, T>;
    using folded = typename fold::folded;
    using value = located<T>;
    static constexpr bool continues = false;
    static constexpr bool chooses = true;

    template <class In>
    struct located_from {
        template <class C>
        WARPFOLD_HD constexpr located<T> operator()(const C& best) const {
            located<T> found = read_again<In>{in}(best);
            found.index += first;
            return found;
        }

        In in;
        std::uint64_t first;
    };

    template <class>
    auto map_at(std::uint64_t) const {
        return typename fold::folded_map{};
    }
    template <class In>
    auto result_at(const In& in, std::uint64_t first) const {
        return located_from<In>{in, first};
    }

    typename fold::folded_op op;
    better_located<Smallest> more;
    const value* initial;
};

// A place that joins what is put there to what it holds, unless that is nothing yet.
template <class V, class More>
struct joining_place {
    struct joiner {
        WARPFOLD_HD void operator=(const V& x) const {
            *at.total = at.fresh ? x : static_cast<V>(at.more(*at.total, x));
        }

        const joining_place& at;
    };
    WARPFOLD_HD joiner operator*() const { return {*this}; }

    V* total;
    More more;
    bool fresh;
};

// A target's part of the calls on streams.
//   fold(on, source, fold, options, call) -> fold's value; where there are no elements the initial value or, without
//                                            one, the fold of no elements, which `fold` has to allow
//   count(on, source, bins, options, call) -> std::vector<std::uint64_t>
//   exact(on, source, options, call) -> the correctly rounded sum
//   scan<Inclusive, Reverse>(on, source, sink, map, op, initial, options, call): initial is an A or no_initial
template <class On>
struct chunked_engine;

} // namespace detail
} // namespace warpfold
