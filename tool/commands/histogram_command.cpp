// SPDX-License-Identifier: MIT
// `warpfold histogram FILE`: counts the elements of an array in bins.
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/number.hpp"
#include "report/text.hpp"
#include "tool/arrays/arrays.hpp"
#include "tool/arrays/family.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/progress.hpp"
#include "warpfold/bins.hpp"
#include "warpfold/detail/extremes.hpp"

namespace warpfold::tool {
namespace {

struct histogram_options {
    std::string file;
    std::string bins = "256";
    std::optional<std::string> range;
    std::optional<std::string> edges;
    std::optional<std::string> out;
    array_options array;
};

template <class A>
A parse_bound(std::string_view text) {
    A value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        const bool outside = error == std::errc::result_out_of_range;
        throw usage_error(fmt::format("--range: '{}' is no {}number{}", text, std::is_integral_v<A> ? "whole " : "",
                                      std::is_integral_v<A> || outside ? " that the samples' type holds" : ""));
    }
    return value;
}

// [lower, upper) as --range says, or from the smallest element to behind the largest.
template <class A>
void set_range(calls::histogram_request& q, const histogram_options& o, calls::target& target) {
    A& lower = calls::member_of<A>(q.lower);
    A& upper = calls::member_of<A>(q.upper);
    if (o.range) {
        const std::size_t colon = o.range->find(':');
        if (colon == std::string::npos) {
            throw usage_error("--range: write LOWER:UPPER");
        }
        lower = parse_bound<A>(std::string_view(*o.range).substr(0, colon));
        upper = parse_bound<A>(std::string_view(*o.range).substr(colon + 1));
        return;
    }
    if (q.in.size() == 0) {
        lower = 0;
        upper = 1;
        return;
    }
    const calls::number_range range = target.extremes({q.in, q.how});
    const extremes<A> found{calls::value_of<A>(range.smallest), calls::value_of<A>(range.largest)};
    lower = found.smallest;
    if constexpr (std::is_integral_v<A>) {
        if (found.largest == std::numeric_limits<A>::max()) {
            throw failure(
                fmt::format("{}: {} is the largest number of its type, and no bin of a range ends behind it: --range "
                            "counts the others",
                            report::printable(o.file), found.largest));
        }
        upper = found.largest + 1;
    } else {
        if (!std::isfinite(found.smallest) || !std::isfinite(found.largest)) {
            throw failure(fmt::format("{}: not all elements are finite: say with --range where bins begin and end",
                                      report::printable(o.file)));
        }
        if (found.smallest == found.largest) {
            lower -= A(0.5);
            upper = found.largest + A(0.5);
        } else {
            upper = std::nextafter(found.largest, std::numeric_limits<A>::infinity());
            if (!std::isfinite(upper)) {
                throw failure(fmt::format("{}: {} is the largest number of its type, and no bin of a range ends behind "
                                          "it: --range counts the others",
                                          report::printable(o.file), found.largest));
            }
        }
    }
}

template <class A, class E>
bool are_equal(A edge, E given) {
    if constexpr (std::is_integral_v<A> && std::is_integral_v<E>) {
        return std::cmp_equal(edge, given);
    } else {
        return static_cast<E>(edge) == given;
    }
}

// The edges of --edges in the samples' family, sorted and at least two.
template <class A>
std::vector<A> edges_of(const histogram_options& o) {
    const array_input file(*o.edges, o.array);
    std::vector<A> edges(file.size());
    calls::each_chunk(file, [&](std::uint64_t first, std::uint64_t count, const auto& in) {
        for (std::uint64_t j = 0; j < count; ++j) {
            const std::uint64_t k = first + j;
            edges[k] = static_cast<A>(in[j]);
            if (!are_equal(edges[k], in[j])) {
                throw failure(fmt::format("{}: the edge {} is no value of the samples' type",
                                          report::printable(*o.edges), in[j]));
            }
            if (k != 0 && edges[k] < edges[k - 1]) {
                throw failure(fmt::format("{}: the edges are not sorted", report::printable(*o.edges)));
            }
        }
    });
    if (edges.size() < 2) {
        throw failure(fmt::format("{}: fewer than two edges", report::printable(*o.edges)));
    }
    return edges;
}

// "from to count" of every bin.
template <class A>
std::string lines_of(const calls::histogram_request& q) {
    std::string text;
    const auto border = [&](std::uint64_t k) {
        if (q.edges != nullptr) {
            return fmt::format("{}", static_cast<const A*>(q.edges)[k]);
        }
        const auto lower = static_cast<double>(calls::value_of<A>(q.lower));
        const auto upper = static_cast<double>(calls::value_of<A>(q.upper));
        const double share = static_cast<double>(k) / static_cast<double>(q.bins);
        return fmt::format("{:.9g}", lower + share * (upper - lower));
    };
    for (std::uint64_t k = 0; k < q.bins; ++k) {
        text += fmt::format("{}\t{}\t{}\n", border(k), border(k + 1), q.counts[k]);
    }
    return text;
}

template <class A>
int run_of(const histogram_options& o, calls::histogram_request& q) {
    const std::unique_ptr<calls::target> chosen = choose_target(o.array);
    calls::target& target = *chosen;
    std::vector<A> edges;
    if (o.edges) {
        edges = edges_of<A>(o);
        q.edges = edges.data();
        q.bins = edges.size() - 1;
    } else {
        q.bins = report::parse_count(o.bins);
        if (q.bins == 0 || q.bins > most_bins) {
            throw usage_error(fmt::format("--bins: {} is not between 1 and 2^30", o.bins));
        }
        progress line;
        q.how = passage_of(o.array, line, o.file);
        set_range<A>(q, o, target);
        if (!(calls::value_of<A>(q.lower) < calls::value_of<A>(q.upper))) {
            throw usage_error("--range: the lower bound is not below the upper one");
        }
    }
    result_place place(target.has_results() ? o.out : std::nullopt);
    result_array result(report::array_type::uint64, {q.bins});
    q.counts = static_cast<std::uint64_t*>(result.data());
    {
        progress line;
        q.how = passage_of(o.array, line, o.file);
        target.histogram(q);
    }
    if (o.out) {
        place.put(result);
    } else {
        print_exactly(lines_of<A>(q));
    }
    return 0;
}

int run_histogram(const histogram_options& o) {
    const array_input array(o.file, o.array);
    calls::histogram_request q{array, {}, 0, {}, {}, nullptr, nullptr};
    try {
        return calls::with_source(array, [&](const auto& source) {
            return run_of<typename std::remove_cvref_t<decltype(source)>::element>(o, q);
        });
    } catch (const report::bad_number& error) {
        throw usage_error(fmt::format("--bins: {}", error.what()));
    }
}

} // namespace

action add_histogram(CLI::App& app) {
    const auto o = std::make_shared<histogram_options>();
    app.add_option("FILE", o->file, input_help)->required();
    auto* bins = app.add_option("--bins", o->bins, "even bins: 256, 2^16")->type_name("N")->capture_default_str();
    auto* range =
        app.add_option("--range", o->range,
                       "where bins begin and end, LOWER:UPPER, the upper one left out (default: all elements)")
            ->type_name("L:U");
    app.add_option("--edges", o->edges, "bins between the sorted elements of this array")
        ->type_name("FILE")
        ->excludes(bins)
        ->excludes(range);
    app.add_option("--out", o->out,
                   "write the counts to this .npy file (default: from, to and count of each bin, on "
                   "standard output)")
        ->type_name("FILE");
    add_array_options(app, o->array);
    add_chunk_option(app, o->array);
    app.footer("Elements outside all bins, and NaN, are not counted.");
    return [o] { return run_histogram(*o); };
}

} // namespace warpfold::tool
