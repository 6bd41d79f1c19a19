// SPDX-License-Identifier: MIT
// Scans over ranks: each rank folds what it hands on to later ranks, the values are gathered, and each rank scans its
// part with the prefix of the ranks before it in the place of the initial value. The input is read twice and the output
// written once; a scan whose results are corrected afterwards would read and write the output once more. The last rank
// in the order of the scan hands nothing on and reads its part once; so does a rank that is alone.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/indexed.hpp"
#include "warpfold/detail/scan_options.hpp"
#include "warpfold/ranks/agreement.hpp"

namespace warpfold::detail {

// Where the segments of a part begin: its first and its last element that begins one. Both n: none does.
struct head_range {
    std::uint64_t first, last;
};

struct head_range_operation {
    static constexpr bool commutative = true;

    template <class H>
    WARPFOLD_HD static constexpr H identity() {
        return {~std::uint64_t{0}, 0};
    }
    WARPFOLD_HD constexpr head_range operator()(const head_range& a, const head_range& b) const {
        return {a.first < b.first ? a.first : b.first, a.last < b.last ? b.last : a.last};
    }
};
struct head_range_of_flag {
    template <class F>
    WARPFOLD_HD constexpr head_range operator()(const F& flag, std::uint64_t index) const {
        return flag ? head_range{index, index} : head_range{~std::uint64_t{0}, 0};
    }
};
struct head_range_of_offset {
    template <class I>
    WARPFOLD_HD constexpr head_range operator()(const I& offset, std::uint64_t /*index*/) const {
        const auto at = static_cast<std::uint64_t>(offset);
        return at < n ? head_range{at, at} : head_range{~std::uint64_t{0}, 0};
    }

    std::uint64_t n;
};

template <class On>
head_range heads_of(const On&, const no_segments&, std::uint64_t n, const char*) {
    return {n, n};
}
inline head_range or_none(const head_range& found, std::uint64_t n) {
    return found.first == ~std::uint64_t{0} ? head_range{n, n} : found;
}
template <class On, class Flags>
head_range heads_of(const On& on, const heads<Flags>& given, std::uint64_t n, const char* call) {
    return detail::or_none(reduce_engine<On>::template value<head_range>(on, given.flags, n, head_range_of_flag{},
                                                                         head_range_operation{}, identity_result{},
                                                                         call),
                           n);
}
template <class On, class Begins>
head_range heads_of(const On& on, const offsets<Begins>& given, std::uint64_t n, const char* call) {
    return detail::or_none(
        reduce_engine<On>::template value<head_range>(on, given.begins, given.count, head_range_of_offset{n},
                                                      head_range_operation{}, identity_result{}, call),
        n);
}

// Offsets of the segments of the elements from `first` on, the first of which begins one.
template <class Begins>
struct offsets_from {
    WARPFOLD_HD constexpr std::uint64_t operator[](std::uint64_t k) const {
        const auto at = static_cast<std::uint64_t>(begins[k]);
        return at < first ? 0 : at - first;
    }

    Begins begins;
    std::uint64_t first;
};

inline no_segments segments_from(const no_segments&, std::uint64_t) { return {}; }
template <class Flags>
auto segments_from(const heads<Flags>& given, std::uint64_t first) {
    const auto flags = detail::from_element(given.flags, first);
    return heads<std::remove_cv_t<decltype(flags)>>(flags);
}
template <class Begins>
auto segments_from(const offsets<Begins>& given, std::uint64_t first) {
    return offsets<offsets_from<Begins>>(offsets_from<Begins>{given.begins, first}, given.count);
}

// What a rank hands on: the fold of its last segment in the order of the scan, or of its whole part where it has no head.
template <class A>
struct handed_on {
    optional_value<A> value;
    bool has_head;
};

// Whether a later rank in the order of the scan needs what this one hands on.
template <class How, class On, class Comm>
bool hands_on(const over_ranks<On, Comm>& on) {
    return How::reverse ? on.comm->rank() != 0 : on.comm->rank() + 1 != on.comm->size();
}

// Calls go(elements, map) with elements [begin, end) of the part in the order of the scan, as a fold reads them; the part
// begins with the `first` element of the whole array.
template <bool Reverse, class In, class Map, class Op, class Go>
decltype(auto) folding(const In& in, std::uint64_t begin, [[maybe_unused]] std::uint64_t end, const Map& map,
                       std::uint64_t first, const Op& /*op*/, const Go& go) {
    if constexpr (Reverse && !is_commutative_v<Op>) {
        const elements_down<In> down{in, end - 1};
        if constexpr (takes_index_v<Map, element_t<In>>) {
            return go(down, shifted_map<Map, true>{map, first + end - 1});
        } else {
            return go(down, map);
        }
    } else {
        return go(detail::from_element(in, begin), detail::map_from<element_t<In>>(map, first + begin));
    }
}

// Values pass through the host's memory.
template <class On, class Comm>
struct staged_scan {
    using target = over_ranks<On, Comm>;

    template <class In, class Out, class Map, class Op, class How>
    static void run(const target& on, const In& in, std::uint64_t n, const Out& out, const Map& map, const Op& op,
                    const How& how, const char* call) {
        if (on.comm->size() == 1) {
            if (n != 0) {
                scan_engine<On>::run(on.on, in, n, out, map, op, how, call);
            }
            return;
        }
        using A = typename How::value;
        using U = std::conditional_t<std::is_void_v<written_t<Out>>, A, written_t<Out>>;
        const auto signature = detail::signature_of<element_t<In>, A, U, Map, Op, How>(call, on.root);
        if constexpr (takes_index_v<Map, element_t<In>>) {
            const std::uint64_t first = detail::first_index(on, signature, n);
            call_scope<target>::run(on, call, [&] { scan_from(on, signature, first, in, n, out, map, op, how, call); });
        } else {
            scan_from(on, signature, 0, in, n, out, map, op, how, call);
        }
    }

private:
    template <class In, class Out, class Map, class Op, class How>
    static void scan_from(const target& on, const rank_signature& signature, std::uint64_t first, const In& in,
                          std::uint64_t n, const Out& out, const Map& map, const Op& op, const How& how,
                          const char* call) {
        using A = typename How::value;
        const head_range at = n == 0 ? head_range{0, 0} : detail::heads_of(on.on, how.segments, n, call);
        const bool has_head = at.first < n;
        const std::uint64_t begin = How::reverse || !has_head ? 0 : at.last;
        const std::uint64_t end = How::reverse && has_head ? at.first : n;
        const auto mine = detail::hands_on<How>(on) && begin != end
                              ? part<A, How::reverse>(on, in, begin, end, map, first, op, call)
                              : optional_value<A>{};
        const auto all = detail::gather(on, signature, n, handed_on<A>{mine, has_head});
        if (n == 0) {
            return;
        }
        const optional_value<A> carried = prefix<How>(all, on.comm->rank(), how, op);
        const auto scan = [&](std::uint64_t from, std::uint64_t count, const auto& options) {
            if (count != 0) {
                scan_engine<On>::run(on.on, detail::from_element(in, from), count, detail::from_element(out, from),
                                     detail::map_from<element_t<In>>(map, first + from), op, options, call);
            }
        };
        // The elements that continue the segment of an earlier rank, then those of the part's own segments.
        const std::uint64_t border = !has_head ? (How::reverse ? 0 : n) : (How::reverse ? at.last : at.first);
        const std::uint64_t from = How::reverse ? border : 0;
        const std::uint64_t count = How::reverse ? n - border : border;
        if (carried.has_value) {
            scan(from, count, scan_options<A, A, no_segments, How::inclusive, How::reverse>{carried.value, {}});
        } else if constexpr (How::inclusive) {
            scan(from, count, scan_options<A, no_initial, no_segments, true, How::reverse>{{}, {}});
        }
        if constexpr (How::segmented) {
            const std::uint64_t own = How::reverse ? 0 : border;
            const auto segments = detail::segments_from(how.segments, own);
            using Segments = std::remove_cv_t<decltype(segments)>;
            using First = std::remove_cv_t<decltype(how.first)>;
            scan(own, How::reverse ? border : n - border,
                 scan_options<A, First, Segments, How::inclusive, How::reverse>{how.first, segments});
        }
    }

    // op over elements [begin, end), at least one, in the order of the scan.
    template <class A, bool Reverse, class In, class Map, class Op>
    static optional_value<A> part(const target& on, const In& in, std::uint64_t begin, std::uint64_t end,
                                  const Map& map, std::uint64_t first, const Op& op, const char* call) {
        return detail::folding<Reverse>(in, begin, end, map, first, op, [&](const auto& elements, const auto& of) {
            if constexpr (has_identity<Op, A>) {
                return optional_value<A>{
                    reduce_engine<On>::template value<A>(on.on, elements, end - begin, of, op, identity_result{}, call),
                    true};
            } else {
                using wrapped = std::remove_cvref_t<decltype(of)>;
                return reduce_engine<On>::template value<optional_value<A>>(
                    on.on, elements, end - begin, optional_map<wrapped, A>{of}, optional_operation<Op>{op},
                    identity_result{}, call);
            }
        });
    }

    // What comes before the part's first element in the order of the scan, the initial value included; nothing if there
    // is none of both.
    template <class How, class A, class Op>
    static optional_value<A> prefix(const gathered<handed_on<A>>& all, int rank, const How& how, const Op& op) {
        const int ranks = static_cast<int>(all.n.size());
        optional_value<A> start{};
        if constexpr (How::has_first) {
            start = {how.first, true};
        }
        const auto after = [&op](const optional_value<A>& before, const optional_value<A>& more) {
            return optional_operation<Op>{op}(before, more);
        };
        optional_value<A> carried = start;
        for (int r = How::reverse ? ranks - 1 : 0; r != rank; r += How::reverse ? -1 : 1) {
            const handed_on<A>& one = all.value[static_cast<std::size_t>(r)];
            carried = after(one.has_head ? start : carried, one.value);
        }
        return carried;
    }
};

template <class On, class Comm>
struct scan_engine<over_ranks<On, Comm>> : staged_scan<On, Comm> {};

} // namespace warpfold::detail
