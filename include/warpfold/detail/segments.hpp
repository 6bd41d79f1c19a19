// SPDX-License-Identifier: MIT
// The segments of a segmented call: offsets, or one length; and ranges as its arguments.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/error.hpp"

namespace warpfold {

// Segments of one length, in elements: segment s begins at element s * length.
struct equal_segments {
    std::uint64_t length;

    WARPFOLD_HD constexpr std::uint64_t operator[](std::uint64_t s) const { return s * length; }
};

namespace detail {

template <class Offsets>
concept segment_bounds = !array_like<Offsets> && std::integral<element_t<Offsets>> && sizeof(element_t<Offsets>) >= 4;

// Checks what needs no access to the data. Throws invalid_argument.
template <class In, class Offsets, class Out>
void check_segments(const In& in, const Offsets& offsets, std::uint64_t segments, const Out& out, const char* call) {
    if constexpr (std::is_same_v<Offsets, equal_segments>) {
        const bool too_many = segments != 0 && offsets.length > most_elements / segments;
        detail::check_array(in, too_many ? ~std::uint64_t{0} : offsets.length * segments, call);
    } else {
        detail::check_array(in, 0, call); // the offsets tell how many
    }
    detail::check_array(offsets, segments == 0 ? 0 : segments + 1, call);
    detail::check_array(out, segments, call);
}

// Offsets of a number of segments that only the device has: those behind the last segment are empty.
template <class Offsets, class I>
struct counted_offsets {
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD auto operator[](std::uint64_t s) const {
        const std::uint64_t segments = number.value();
        return offsets[s < segments ? s : segments];
    }

    Offsets offsets;
    count_at<I> number;
};
// Their results, of which those behind the last segment are dropped.
template <class Out, class I>
struct counted_results {
    struct place {
        WARPFOLD_CALLS_ANY
        template <class R>
        WARPFOLD_HD const place& operator=(const R& value) const {
            if (is_result) {
                out[s] = value;
            }
            return *this;
        }

        Out out;
        std::uint64_t s;
        bool is_result;
    };
    WARPFOLD_HD place operator[](std::uint64_t s) const { return {out, s, s < number.value()}; }

    Out out;
    count_at<I> number;
};

// Calls work(offsets, segments, out) with the number of segments. If only the device has it, with the most there may be.
template <class On, class Offsets, element_count N, class Out, class Work>
void with_number_of_segments(const Offsets& offsets, const N& n, const Out& out, const char* call, const Work& work) {
    if constexpr (!is_count_at_v<N>) {
        work(offsets, static_cast<std::uint64_t>(n), out);
    } else {
        static_assert(!is_split_v<On>, "over ranks the number of segments is an integer");
        const auto number = detail::checked_count(n, call);
        if constexpr (std::is_same_v<On, host>) {
            work(offsets, number.value(), out);
        } else {
            using I = std::remove_cvref_t<decltype(*number.number)>;
            detail::check_array(offsets, least_of(number), call);
            detail::check_array(out, least_of(number), call);
            work(counted_offsets<Offsets, I>{offsets, number}, number.most, counted_results<Out, I>{out, number});
        }
    }
}

// True if the output, behind an optional number of segments, is a range.
template <class First, class... Rest>
inline constexpr bool output_is_range_v = output_like<std::remove_reference_t<First>>;
template <class First, class Second, class... Rest>
requires element_count<std::remove_cvref_t<First>>
inline constexpr bool output_is_range_v<First, Second, Rest...> = output_like<std::remove_reference_t<Second>>;

// Arguments of which at least one array is a range.
template <class In, class Offsets, class... Rest>
concept segment_ranges = array_like<In> || array_like<Offsets> || output_is_range_v<Rest...>;

// Throws invalid_argument if a range of offsets or `out` is too short for so many segments, or a range of elements for segments of
// one length and, on the host, for the last offset.
template <class On, class In, class Offsets, class Out>
void check_segment_ranges(const char* name, [[maybe_unused]] const In& in, [[maybe_unused]] const Offsets& offsets,
                          std::uint64_t segments, [[maybe_unused]] const Out& out) {
    const auto fail = [&](const std::string& what) {
        throw invalid_argument(std::string("warpfold: ") + name + ": " + what);
    };
    if (segments == 0) {
        return;
    }
    if constexpr (sized_range<Offsets>) {
        if (std::size(offsets) <= segments) {
            fail("there are " + std::to_string(std::size(offsets)) + " offsets of " + std::to_string(segments) +
                 " segments, and they are one more");
        }
    }
    if constexpr (sized_range<std::remove_reference_t<Out>>) {
        if (std::size(out) < segments) {
            fail("the output has room for " + std::to_string(std::size(out)) + " of " + std::to_string(segments) +
                 " segments");
        }
    }
    if constexpr (sized_range<In> && std::is_same_v<Offsets, equal_segments>) {
        if (offsets.length != 0 && segments > std::size(in) / offsets.length) {
            fail("there are " + std::to_string(std::size(in)) + " elements of " + std::to_string(segments) +
                 " segments of " + std::to_string(offsets.length));
        }
    } else if constexpr (sized_range<In> && std::is_same_v<On, host>) {
        const auto bounds = detail::data_of(offsets);
        detail::check_array(bounds, segments + 1, name);
        const auto end = bounds[segments];
        if (end > 0 && static_cast<std::uint64_t>(end) > std::size(in)) {
            fail("the last offset is " + std::to_string(end) + ", and there are " + std::to_string(std::size(in)) +
                 " elements");
        }
    }
}

// Calls call(on, in, offsets, segments, out, rest...) with pointers in the place of ranges and iterators. Throws what
// check_segment_ranges() throws where the number of segments is known.
template <class Call, class On, class In, class Offsets, element_count N, class Out, class... Rest>
void with_segments(const char* name, const Call& call, const On& on, const In& in, const Offsets& offsets,
                   const N& segments, Out&& out, const Rest&... rest) {
    call_scope<On>::run(on, name, [&] {
        const auto number = detail::checked_count(segments, name);
        detail::check_segment_ranges<On>(name, in, offsets,
                                         std::is_same_v<On, host> ? number.value() : least_of(number), out);
    });
    call(on, detail::data_of(in), detail::data_of(offsets), segments, detail::output_of(out), rest...);
}
// The same for size(offsets) - 1 segments. Throws invalid_argument if there are no offsets.
template <class Call, class On, class In, sized_range Offsets, class Out, class... Rest>
requires(!element_count<std::remove_cvref_t<Out>>) void with_segments(const char* name, const Call& call, const On& on,
                                                                      const In& in, const Offsets& offsets, Out&& out,
                                                                      const Rest&... rest) {
    call_scope<On>::run(on, name, [&] {
        if (std::size(offsets) == 0) {
            throw invalid_argument(std::string("warpfold: ") + name +
                                   ": there are no offsets, and they are one more than segments");
        }
    });
    detail::with_segments(name, call, on, in, offsets, std::uint64_t{std::size(offsets)} - 1, out, rest...);
}

} // namespace detail
} // namespace warpfold
