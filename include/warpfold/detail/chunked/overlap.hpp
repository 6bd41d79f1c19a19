// SPDX-License-Identifier: MIT
// A source and a sink that share memory or a file: readers run ahead of writers, so results must not overwrite elements
// that are not yet read.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "warpfold/chunk_source.hpp"
#include "warpfold/detail/scan_options.hpp"
#include "warpfold/error.hpp"

namespace warpfold::detail {

template <class Source, class Sink>
concept uses_file = requires(const Source& source, const Sink& sink, std::uint64_t count) {
    { source.range() } -> std::same_as<std::optional<file_range>>;
    { sink.range(count) } -> std::same_as<file_range>;
};

// Throws invalid_argument if the source and the sink overlap, unless each result takes exactly the place of its
// element: the same beginning and elements of one size. Then forward and reversed scans are right in place, because a
// chunk is written after it is read. Objects of the caller's own are not checked.
template <class Source, class Sink>
void check_overlap(const Source& source, const Sink& sink, const char* call) {
    if constexpr (in_memory_v<Source> && in_memory_v<Sink>) {
        check_overlap(source.data, sink.data, source.size(), call);
    } else if constexpr (uses_file<Source, Sink>) {
        using T = typename Source::element;
        using U = typename Sink::element;
        const std::optional<file_range> read = source.range();
        if (!read) {
            return;
        }
        const file_range written = sink.range((read->end - read->begin) / sizeof(T));
        const bool apart = !(read->file == written.file) || written.end <= read->begin ||
                           (read->end <= written.begin && !read->follows);
        if (!apart && (read->begin != written.begin || sizeof(T) != sizeof(U))) {
            throw invalid_argument(std::string("warpfold: ") + call +
                                   ": source and sink overlap in one file; results may take exactly the place of the "
                                   "elements, with the same size, or the two have no byte in common");
        }
    }
}

} // namespace warpfold::detail
