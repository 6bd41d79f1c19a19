// SPDX-License-Identifier: MIT
// One all-gather a call: every rank's frame says which call it makes and holds the values that are folded. A call that
// differs, or a rank that failed, becomes the same exception at every rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "warpfold/communicator.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/ranks/target.hpp"

namespace warpfold::detail {

// Of fixed size, so that ranks that make different calls still gather. Larger values follow in a second all-gather.
struct rank_frame {
    static constexpr std::size_t room = 288; // exact sums of double fit

    char call[32];
    char element[24];
    std::uint64_t types;    // a hash of the types of the call
    std::uint64_t settings; // a hash of other arguments
    std::uint64_t number;   // what `call` counts besides elements: bins, mask values
    std::uint64_t n;        // elements of the part
    std::uint32_t bytes;    // of the values
    std::uint16_t failed;   // 1: `values` is the message of an exception
    std::uint16_t follows;  // of a second gather that is enqueued whatever the first one shows; in units of 16 bytes
    unsigned char values[room];
};
inline constexpr std::size_t follows_unit = 16;
static_assert(sizeof(rank_frame) == 384 && std::is_trivially_copyable_v<rank_frame>);

constexpr std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    return hash;
}
template <class... Types>
constexpr std::uint64_t hash_of_types() {
    return hash_of(std::string_view(__PRETTY_FUNCTION__));
}

// Which call a rank makes; `number` is named `what`.
struct rank_signature {
    const char* call;
    std::string element{};
    std::uint64_t types = 0;
    std::uint64_t settings = 0;
    std::uint64_t number = 0;
    const char* what = "";
};

template <class T>
std::string element_name() {
    const std::string bits = std::to_string(sizeof(T) * 8);
    if constexpr (std::is_floating_point_v<T>) {
        return sizeof(T) == 4 ? "float" : "double";
    } else if constexpr (std::is_integral_v<T>) {
        return (std::is_signed_v<T> ? "int" : "uint") + bits;
    } else {
        return "a type of " + std::to_string(sizeof(T)) + " bytes";
    }
}

template <class T, class... More>
rank_signature signature_of(const char* call, int root, std::uint64_t number = 0, const char* what = "",
                            std::uint64_t settings = 0) {
    return {call,
            element_name<T>(),
            hash_of_types<T, More...>(),
            settings * 31 + static_cast<std::uint64_t>(root + 1),
            number,
            what};
}

// `follows`: bytes of the call's second gather, where that is enqueued.
inline rank_frame frame_of(const rank_signature& of, std::uint64_t n, std::uint64_t bytes, std::size_t follows = 0) {
    rank_frame frame{};
    std::snprintf(frame.call, sizeof(frame.call), "%s", of.call);
    std::snprintf(frame.element, sizeof(frame.element), "%s", of.element.c_str());
    frame.types = of.types;
    frame.settings = of.settings;
    frame.number = of.number;
    frame.n = n;
    frame.bytes = static_cast<std::uint32_t>(bytes);
    frame.follows = static_cast<std::uint16_t>((follows + follows_unit - 1) / follows_unit);
    return frame;
}

// What rank `b` does otherwise than rank 0; empty if nothing.
inline std::string difference(const rank_frame& a, const rank_frame& b, const char* what) {
    if (std::strcmp(a.call, b.call) != 0) {
        return std::string("calls ") + b.call + ", rank 0 calls " + a.call;
    }
    if (std::strcmp(a.element, b.element) != 0) {
        return std::string("has elements of ") + b.element + ", rank 0 of " + a.element;
    }
    if (a.types != b.types || a.bytes != b.bytes) {
        return "has another operation, or another type, than rank 0";
    }
    if (a.number != b.number) {
        return "has " + std::to_string(b.number) + " " + what + ", rank 0 has " + std::to_string(a.number);
    }
    return a.settings != b.settings ? "has another root, or other options, than rank 0" : "";
}

// The gather that ranks have enqueued behind the one of `frames`, whatever that shows.
struct second_gather {
    std::size_t bytes = 0; // 0: none
    bool is_agreed =
        true; // false: ranks gather different numbers of bytes, and no rank can be in step with all of them
};
inline second_gather second_gather_of(const std::vector<rank_frame>& frames) {
    second_gather second;
    for (const rank_frame& frame : frames) {
        const std::size_t bytes = std::size_t{frame.follows} * follows_unit;
        second.is_agreed = second.is_agreed && (bytes == 0 || second.bytes == 0 || bytes == second.bytes);
        second.bytes = std::max(second.bytes, bytes);
    }
    return second;
}

// Throws rank_error if a rank failed or differs from rank 0.
inline void check_frames(const std::vector<rank_frame>& frames, const char* what, int mine) {
    const std::string start = std::string("warpfold: ") + frames[static_cast<std::size_t>(mine)].call + ": rank ";
    for (std::size_t r = 0; r < frames.size(); ++r) {
        if (frames[r].failed != 0) {
            throw rank_error(static_cast<int>(r),
                             start + std::to_string(r) + " failed: " + reinterpret_cast<const char*>(frames[r].values));
        }
    }
    for (std::size_t r = 1; r < frames.size(); ++r) {
        const std::string differs = difference(frames[0], frames[r], what);
        if (!differs.empty()) {
            throw rank_error(static_cast<int>(r), (start + std::to_string(r)).append(" ").append(differs));
        }
    }
}

// The values of all ranks, and how many elements each has.
template <class V>
struct gathered {
    std::vector<V> value;
    std::vector<std::uint64_t> n;

    [[nodiscard]] std::uint64_t all() const { return before(static_cast<int>(n.size())); }
    // Elements of the ranks before one.
    [[nodiscard]] std::uint64_t before(int rank) const {
        std::uint64_t sum = 0;
        for (std::size_t r = 0; r < static_cast<std::size_t>(rank); ++r) {
            sum += n[r];
        }
        return sum;
    }
};

template <class On, class Comm>
void check_root(const over_ranks<On, Comm>& on, const char* call) {
    if (on.root < every_rank || on.root >= on.comm->size()) {
        throw invalid_argument(std::string("warpfold: ") + call + ": there is no rank " + std::to_string(on.root));
    }
}

// Before a call waits for its stream: what that holds may wait for other ranks, and only the communicator has a time limit.
template <class On, class Comm>
void wait_within_limit(const over_ranks<On, Comm>& on, const char* call) {
    if constexpr (requires { on.comm->wait(on.on.stream, call); }) {
        on.comm->wait(on.on.stream, call);
    }
}

// A rank that enqueues no second gather takes part, with nothing, in the one that others have enqueued behind `frames`.
template <class Comm>
void take_part_in_second_gather(Comm& comm, const std::vector<rank_frame>& frames, const char* call) noexcept {
    try {
        if (const auto [bytes, is_agreed] = detail::second_gather_of(frames); bytes != 0 && is_agreed) {
            rank_frame nothing = detail::frame_of({call}, 0, 0);
            nothing.failed = 1;
            std::vector<unsigned char> mine(bytes), all(bytes * frames.size());
            std::memcpy(mine.data(), &nothing, std::min(bytes, sizeof(nothing)));
            comm.all_gather(mine.data(), all.data(), bytes, call);
        }
    } catch (...) { // what the first gather has shown matters more
    }
}

// Gathers `mine`. One step of communication, two if a V has more than rank_frame::room bytes.
template <class V, class On, class Comm>
gathered<V> gather(const over_ranks<On, Comm>& on, const rank_signature& signature, std::uint64_t n, const V& mine) {
    static_assert(std::is_trivially_copyable_v<V>, "ranks exchange the bytes of values");
    const auto ranks = static_cast<std::size_t>(on.comm->size());
    detail::check_root(on, signature.call);
    rank_frame frame = detail::frame_of(signature, n, sizeof(V));
    constexpr bool fits = sizeof(V) <= rank_frame::room;
    if constexpr (fits) {
        std::memcpy(frame.values, &mine, sizeof(V));
    }
    std::vector<rank_frame> frames(ranks);
    on.comm->all_gather(&frame, frames.data(), sizeof(frame), signature.call);
    try {
        detail::check_frames(frames, signature.what, on.comm->rank());
    } catch (const rank_error&) {
        detail::take_part_in_second_gather(*on.comm, frames, signature.call);
        throw;
    }
    gathered<V> all;
    all.value.resize(ranks);
    all.n.reserve(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
        all.n.push_back(frames[r].n);
        if constexpr (fits) {
            std::memcpy(static_cast<void*>(&all.value[r]), frames[r].values, sizeof(V));
        }
    }
    if constexpr (!fits) {
        on.comm->all_gather(&mine, all.value.data(), sizeof(V), signature.call);
    }
    return all;
}

struct no_value {};

// The number of elements before this rank's part.
template <class On, class Comm>
std::uint64_t first_index(const over_ranks<On, Comm>& on, const rank_signature& signature, std::uint64_t n) {
    return detail::gather(on, signature, n, no_value{}).before(on.comm->rank());
}

// Tells the other ranks, which wait in gather(), that this one failed, and takes part in what they gather after it.
template <class On, class Comm>
void tell_failure(const over_ranks<On, Comm>& on, const char* call, const char* what) noexcept {
    try {
        rank_frame frame = detail::frame_of({call}, 0, 0);
        frame.failed = 1;
        std::snprintf(reinterpret_cast<char*>(frame.values), rank_frame::room, "%s", what);
        std::vector<rank_frame> frames(static_cast<std::size_t>(on.comm->size()));
        on.comm->all_gather(&frame, frames.data(), sizeof(frame), call);
        detail::take_part_in_second_gather(*on.comm, frames, call);
    } catch (...) { // the rank's own exception matters more
    }
}

// An exception before the first gather() in `work` is told to the other ranks and thrown again. Calls that gather twice run what
// comes between in a frame of its own.
template <class On, class Comm>
struct call_scope<over_ranks<On, Comm>> {
    template <class Work>
    static decltype(auto) run(const over_ranks<On, Comm>& on, const char* call, const Work& work) {
        const std::uint64_t before = on.comm->gathers();
        try {
            return work();
        } catch (const std::exception& failure) {
            if (on.comm->gathers() == before) {
                detail::tell_failure(on, call, failure.what());
            }
            throw;
        } catch (...) {
            if (on.comm->gathers() == before) {
                detail::tell_failure(on, call, "an exception of another type");
            }
            throw;
        }
    }
};

template <class On, class Comm>
struct call_scope<reproducible_ranks<On, Comm>> {
    template <class Work>
    static decltype(auto) run(const reproducible_ranks<On, Comm>& on, const char* call, const Work& work) {
        return call_scope<over_ranks<On, Comm>>::run(on.ranks, call, work);
    }
};

} // namespace warpfold::detail
