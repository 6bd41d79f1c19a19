// SPDX-License-Identifier: MIT
// Data and references of the histograms, and the order of the ladder.
#include <random>
#include <string_view>
#include <vector>

#include "ladder/histogram/steps.hpp"

namespace warpfold::ladder::histogram {

namespace {

constexpr std::string_view words = "programming massively parallel processors ";

engine::sample counted_letters(std::vector<unsigned char> letters) {
    std::vector<std::int32_t> bins(letter_bins);
    for (const unsigned char letter : letters) {
        if (letter >= 'a' && letter <= 'z') {
            ++bins[(letter - 'a') / 4u];
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

engine::sample phrase(std::uint64_t /*n*/, std::uint64_t seed) { return text(words.size() - 1, seed); }

engine::sample uniform_bytes(std::uint64_t n, std::uint64_t seed) {
    const auto values = mixture(n, seed, 0);
    return {n, {engine::bytes_of(values)}, engine::bytes_of(counted(values, byte_bins))};
}

engine::sample mixed_bytes(std::uint64_t n, std::uint64_t seed) {
    engine::sample all{n, {}, {}};
    for (unsigned k = 0; k < mixtures; ++k) {
        const auto values = mixture(n, seed + k, 100 * k / (mixtures - 1));
        all.in.push_back(engine::bytes_of(values));
        const auto counts = engine::bytes_of(counted(values, byte_bins));
        for (unsigned way = 0; way < 3; ++way) {
            all.right.insert(all.right.end(), counts.begin(), counts.end());
        }
    }
    return all;
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
    static const engine::ladder_definition all{.name = "histogram",
                                               .data = "characters or numbers, counted by bin",
                                               .n_counted = 1u << 16,
                                               .n_timed = 1u << 24,
                                               .most = 1u << 28,
                                               .steps = {sections(), interleaved(), global_atomics(), the_phrase(),
                                                         private_copies_of_the_slide(), private_copies(),
                                                         private_bytes(), warp_aggregated(), range_testing(),
                                                         contention(), library(), peer_cub(), peer_cpu()},
                                               .child_programs = child_programs()};
    return all;
}

} // namespace warpfold::ladder::histogram

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::histogram::ladder();
}
