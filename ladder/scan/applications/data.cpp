// SPDX-License-Identifier: MIT
// Data and references of the applications, and their list.
#include <algorithm>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/scan/applications/applications.hpp"
#include "ladder/scan/applications/automaton.hpp"

namespace warpfold::ladder::scan {

namespace {

template <class T>
engine::sample sorted(std::vector<T> values) {
    const engine::bytes in = engine::bytes_of(values);
    std::sort(values.begin(), values.end());
    return {values.size(), {in}, engine::bytes_of(values)};
}

std::vector<char> drawn(std::uint64_t n, std::uint64_t seed, std::string_view from) {
    std::mt19937_64 random(seed);
    std::vector<char> text(n);
    for (char& c : text) {
        c = from[random() % from.size()];
    }
    return text;
}

} // namespace

engine::sample kept_numbers(std::uint64_t n, std::uint64_t seed) {
    const std::vector<std::int32_t> values = engine::numbers(n, seed, 9);
    std::vector<std::int32_t> right{0};
    std::copy_if(values.begin(), values.end(), std::back_inserter(right), kept);
    right[0] = static_cast<std::int32_t>(right.size() - 1);
    return {n, {engine::bytes_of(values)}, engine::bytes_of(right)};
}

engine::sample keys_to_sort(std::uint64_t n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> keys(n);
    for (std::uint32_t& key : keys) {
        key = static_cast<std::uint32_t>(random());
    }
    return sorted(std::move(keys));
}

engine::sample numbers_to_sort(std::uint64_t n, std::uint64_t seed) { return sorted(engine::numbers(n, seed, 999)); }

engine::sample two_strings(std::uint64_t n, std::uint64_t seed) {
    const std::uint64_t shorter = n - n / 8;
    const std::vector<char> one = drawn(n, seed, "abcd");
    std::vector<char> other = drawn(shorter, seed + 1, "abcd");
    const std::uint64_t equal = n % 2 != 0 ? n : std::mt19937_64(seed)() % (n / 2 + 1);
    std::copy_n(one.begin(), std::min(equal, shorter), other.begin());
    std::vector<std::int32_t> right(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        const std::int32_t here = k >= shorter ? 1 : (one[k] > other[k]) - (one[k] < other[k]);
        right[k] = k != 0 && right[k - 1] != 0 ? right[k - 1] : here;
    }
    return {n, {engine::bytes_of(one), engine::bytes_of(other)}, engine::bytes_of(right)};
}

engine::sample source_text(std::uint64_t n, std::uint64_t seed) {
    const std::vector<char> text = drawn(n, seed, "abcxyz0123456789   +\"");
    std::vector<std::uint32_t> states(n);
    unsigned state = in_blanks;
    for (std::uint64_t k = 0; k < n; ++k) {
        state = after(move_of(text[k]), state);
        states[k] = state;
    }
    return {n, {engine::bytes_of(text)}, engine::bytes_of(states)};
}

engine::sample runs_of_numbers(std::uint64_t n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::int32_t> values(n);
    std::vector<std::int32_t> of_run;
    std::vector<std::int32_t> lengths;
    for (std::uint64_t k = 0; k < n; ++k) {
        values[k] = k != 0 && random() % 8 != 0 ? values[k - 1] : static_cast<std::int32_t>(random() % 100);
        if (k == 0 || values[k] != values[k - 1]) {
            of_run.push_back(values[k]);
            lengths.push_back(0);
        }
        ++lengths.back();
    }
    std::vector<std::int32_t> right{static_cast<std::int32_t>(of_run.size())};
    right.insert(right.end(), of_run.begin(), of_run.end());
    right.insert(right.end(), lengths.begin(), lengths.end());
    return {n, {engine::bytes_of(values)}, engine::bytes_of(right)};
}

engine::sample numbers_to_count(std::uint64_t n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> values(n);
    std::vector<std::int32_t> counts(byte_values);
    for (std::uint32_t& value : values) {
        value = static_cast<std::uint32_t>(random() % byte_values);
        ++counts[value];
    }
    return {n, {engine::bytes_of(values)}, engine::bytes_of(counts)};
}

std::uint64_t library_launches(const step_result& step) {
    return static_cast<std::uint64_t>(std::count_if(step.launches.begin(), step.launches.end(), [](const auto& launch) {
        return launch.kernel.find("warpfold::detail::") != std::string::npos;
    }));
}

std::vector<engine::step_definition> with_applications(std::vector<engine::step_definition> steps) {
    for (auto* const step : {stream_compaction, cub_select, radix_sort, cub_sort, quicksort, string_comparison,
                             lexical_analysis, run_length_encoding, cub_runs, histogram_by_sort, cub_histogram}) {
        steps.push_back(step());
    }
    return steps;
}

} // namespace warpfold::ladder::scan
