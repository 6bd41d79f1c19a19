// SPDX-License-Identifier: MIT
// Data and references of the histograms, and the order of the ladder.
#include <cctype>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "ladder/histogram/steps.hpp"

namespace warpfold::ladder::histogram {

namespace {

constexpr std::string_view words = "programming massively parallel processors ";

engine::sample counted_letters(std::vector<unsigned char> letters) {
    std::vector<std::int32_t> bins(letter_bins);
    for (const unsigned char letter : letters) {
        if (const int small = std::tolower(letter); small >= 'a' && small <= 'z') {
            ++bins[static_cast<unsigned>(small - 'a') / 4];
        }
    }
    return {letters.size(), {engine::bytes_of(letters)}, engine::bytes_of(bins)};
}

std::vector<unsigned char> mixture(std::uint64_t n, std::uint64_t seed, unsigned constant_percent) {
    std::mt19937_64 random(seed);
    std::vector<unsigned char> bytes(n);
    for (auto& byte : bytes) {
        const std::uint64_t r = random();
        byte = r / 256 % 100 < constant_percent ? 17 : static_cast<unsigned char>(r % 256);
    }
    return bytes;
}

template <class T>
std::vector<std::int32_t> counted(const std::vector<T>& values, unsigned bins) {
    std::vector<std::int32_t> counts(bins);
    for (const T value : values) {
        ++counts[value];
    }
    return counts;
}

} // namespace

engine::sample text(std::uint64_t n, std::uint64_t /*seed*/) {
    std::vector<unsigned char> letters(n);
    for (std::size_t k = 0; k < letters.size(); ++k) {
        letters[k] = static_cast<unsigned char>(words[k % words.size()]);
    }
    return counted_letters(std::move(letters));
}

engine::sample phrase(std::uint64_t /*n*/, std::uint64_t seed) { return text(phrase_size(0), seed); }

engine::sample phrase_with_capitals(std::uint64_t /*n*/, std::uint64_t /*seed*/) {
    std::vector<unsigned char> letters(words.begin(), words.end() - 1);
    for (std::size_t k = 0; k < letters.size(); ++k) {
        if (k == 0 || letters[k - 1] == ' ') {
            letters[k] = static_cast<unsigned char>(std::toupper(letters[k]));
        }
    }
    return counted_letters(std::move(letters));
}

std::uint64_t phrase_size(std::uint64_t /*n*/) { return words.size() - 1; }

engine::sample uniform_bytes(std::uint64_t n, std::uint64_t seed) { return mixed_bytes(n, seed, 0); }

engine::sample mixed_bytes(std::uint64_t n, std::uint64_t seed, unsigned constant_percent) {
    const auto values = mixture(n, seed, constant_percent);
    return {n, {engine::bytes_of(values)}, engine::bytes_of(counted(values, byte_bins))};
}

engine::sample wide_numbers(std::uint64_t n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> values(n);
    for (auto& value : values) {
        const std::uint64_t r = random();
        value = static_cast<std::uint32_t>(r / 65536 % (r % 10 == 0 ? wide_bins : private_bins));
    }
    return {n, {engine::bytes_of(values)}, engine::bytes_of(counted(values, wide_bins))};
}

const engine::ladder_definition& ladder() {
    static const engine::ladder_definition all = [] {
        engine::ladder_definition l{.name = "histogram",
                                    .data = "characters or numbers, counted by bin",
                                    .n_counted = 1u << 16,
                                    .n_timed = 1u << 24,
                                    .most = 1u << 28,
                                    .steps = {sections(), interleaved(), global_atomics(), the_phrase(), capitals(),
                                              private_copies_of_the_slide(), private_copies(), private_bytes(),
                                              too_large(), warp_aggregated(), range_testing()},
                                    .child_programs = child_programs()};
        for (auto& step : contention()) {
            l.steps.push_back(std::move(step));
        }
        for (auto& step : {library(), peer_cub(), peer_cpu()}) {
            l.steps.push_back(step);
        }
        return l;
    }();
    return all;
}

} // namespace warpfold::ladder::histogram

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::histogram::ladder();
}
