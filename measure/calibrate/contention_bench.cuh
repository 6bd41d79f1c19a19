// SPDX-License-Identifier: MIT
// The figures of measure/calibrate/contention.cuh.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "measure/calibrate/bench.cuh"
#include "measure/calibrate/contention.cuh"

namespace warpfold::measure::calibrate {

class contention_bench : public bench {
public:
    using bench::bench;

protected:
    // Cycles of a multiprocessor that `many` takes more than `one` for each of its `more` further words or values.
    void lanes_that_meet() {
        auto* const to = sink<std::uint32_t>();
        const unsigned warps = full_block / 32;
        const double loads = double(rounds_) * unrolled * warps;
        const auto constants = [&](unsigned spread) {
            return cycles([&](interval* out) { constant_rate<<<1, full_block>>>(rounds_, spread, out, to); });
        };
        const double same = constants(0);
        add("constant_words", 32 * loads / constants(1));
        const double chain = cycles([&](interval* out) { chase_constant<<<1, 1>>>(rounds_ * unrolled, out, to); });
        add("latency_constant", chain / (rounds_ * unrolled) - figures_["latency_arithmetic"].value);
        beside_["constant_same_word"] = loads / same;
        const unsigned rounds = 8 * rounds_;
        const auto matched = [&](unsigned values) {
            return cycles([&](interval* out) { match_rate<<<1, full_block>>>(rounds, values, out, to); });
        };
        const double matches = double(rounds) * warps;
        const double one = matched(1);
        const double all = matched(32);
        add("match_values", all > one ? 31 * matches / (all - one) : 0);
        add("throughput_match", 32 * matches / one);
        for (const unsigned values : {2u, 4u, 8u, 16u, 32u}) {
            beside_["match_cycles_" + std::to_string(values)] = matched(values) / matches;
        }
        for (const unsigned words : {1u, 2u, 8u, 32u}) {
            const double numbers = cycles(
                [&](interval* out) { shared_atomic_rate<addend::number><<<1, full_block>>>(rounds, words, out, to); });
            const double ones = cycles(
                [&](interval* out) { shared_atomic_rate<addend::one><<<1, full_block>>>(rounds, words, out, to); });
            beside_["shared_number_cycles_" + std::to_string(words)] = numbers / matches;
            beside_["shared_one_cycles_" + std::to_string(words)] = ones / matches;
            if (words == 1) {
                add("shared_atomics_one_word", 32 * matches / numbers);
                add("shared_counts_one_word", 32 * matches / ones);
            }
        }
    }

    // What one slice of L2 does, and how many bytes side by side it has: additions, a lane each sector, to more and more
    // words, until several slices do them.
    void slices() {
        const unsigned most = 1 << 16;
        const device_memory at(most * 4);
        WARPFOLD_CUDA_CHECK(cudaMemset(at.data(), 0, at.bytes()));
        auto* const data = static_cast<std::uint32_t*>(at.data());
        const unsigned blocks = brief_ ? 2 : static_cast<unsigned>(2 * multiprocessors_);
        const unsigned rounds = brief_ ? 2 : 64;
        const double warps = double(blocks) * rounds * (full_block / 32);
        const auto rate = [&](const std::function<void()>& work, double count) {
            return count / (seconds(work) * giga_hertz_ * 1e9);
        };
        double one = 0;
        constexpr unsigned page = 4096;
        for (unsigned words = 8; words <= most; words *= 2) {
            const double here =
                rate([&] { atomics_by_sector<<<blocks, full_block, 0, stream_.handle()>>>(data, words - 1, rounds); },
                     32 * warps);
            beside_["atomics_in_bytes_" + std::to_string(4 * words)] = here;
            one = words == 8 ? here : one;
            if (4 * words == page) { // neighbours of a slice may be pieces apart: so many bytes on average
                add("l2_slice_bytes", std::exp2(std::round(std::log2(page * one / here))));
            }
        }
        for (const unsigned words : {8u, 32u, 256u}) {
            const auto meeting = [&](auto kernel) {
                return rate(
                    [&] {
                        kernel<<<blocks, full_block, 0, stream_.handle()>>>(data, words - 1, rounds,
                                                                            sink<std::uint32_t>());
                    },
                    warps);
            };
            const double stores = meeting(meet<meeting_by::stores>);
            const double loads = meeting(meet<meeting_by::loads>);
            const double both = meeting(meet<meeting_by::both>); // pairs
            beside_["stores_in_bytes_" + std::to_string(4 * words)] = stores;
            beside_["loads_in_bytes_" + std::to_string(4 * words)] = loads;
            beside_["pairs_in_bytes_" + std::to_string(4 * words)] = both;
            if (words == 8) {
                add("slice_stores", stores);
                add("slice_loads", loads);
                add("slice_changed", 1 / std::max(1 / both - 1 / stores, 1e-3));
            }
        }
    }

    // Blocks that all run at the same time add to the same words behind a barrier. Beside the time of their work and of their
    // additions alone: the sum says that one hides nothing of the other.
    void last_atomics() {
        const device_memory at(1024);
        WARPFOLD_CUDA_CHECK(cudaMemset(at.data(), 0, at.bytes()));
        const unsigned long long work = brief_ ? 100 : 20'000;
        const auto blocks = static_cast<unsigned>(8 * multiprocessors_);
        const auto took = [&](unsigned long long spun, bool adds) {
            return seconds([&] {
                add_behind_barrier<<<blocks, 256, 0, stream_.handle()>>>(static_cast<std::uint32_t*>(at.data()), spun,
                                                                         adds);
            });
        };
        const double nothing_done = took(0, false);
        beside_["ns_work"] = (took(work, false) - nothing_done) * 1e9;
        beside_["ns_last_atomics"] = (took(0, true) - nothing_done) * 1e9;
        beside_["ns_work_then_last_atomics"] = (took(work, true) - nothing_done) * 1e9;
    }

    // Lines a nanosecond of which `launch` reads or writes one word, within L2, with two blocks on each multiprocessor, or one on one;
    // with more bytes and few rounds in DRAM.
    double one_word_rate(int multiprocessors,
                         const std::function<void(std::uint32_t*, unsigned, unsigned, unsigned)>& launch,
                         std::uint64_t bytes = 1 << 23, unsigned rounds = 256) {
        const device_memory words(bytes);
        WARPFOLD_CUDA_CHECK(cudaMemset(words.data(), 1, words.bytes()));
        const auto lines = static_cast<unsigned>(words.bytes() / 128);
        const auto blocks = static_cast<unsigned>(multiprocessors == 1 ? 1 : 2 * multiprocessors);
        rounds = brief_ ? 2 : rounds;
        const double took = seconds([&] { launch(static_cast<std::uint32_t*>(words.data()), lines, rounds, blocks); });
        return double(blocks) * full_block * rounds / took / 1e9;
    }

    // Stores of whole lines, of a word of each sector, and of a word of each line: to L2, and past it to DRAM.
    void stores() {
        const auto l2 = static_cast<std::uint64_t>(attribute(cudaDevAttrL2CacheSize));
        const std::uint64_t within = brief_ ? 1 << 16 : l2 / 4;
        const std::uint64_t beyond = brief_ ? 1 << 18 : std::max<std::uint64_t>(16 * l2, 1 << 30);
        const auto bytes_a_second = [&](std::uint64_t bytes, unsigned stride, unsigned passes) {
            const device_memory words(bytes);
            const double took = seconds([&] {
                store_words<<<static_cast<unsigned>(2 * multiprocessors_), full_block, 0, stream_.handle()>>>(
                    static_cast<std::uint32_t*>(words.data()), bytes / 4, stride, passes);
            });
            return static_cast<double>(bytes) * passes / took;
        };
        add("l2_store_requests", one_word_rate(multiprocessors_, [&](std::uint32_t* words, unsigned lines,
                                                                     unsigned rounds, unsigned blocks) {
                store_one_word<<<blocks, full_block, 0, stream_.handle()>>>(words, lines, rounds);
            }));
        const device_memory at(sizeof(uint4) * store_windows * full_block);
        const double took =
            cycles([&](interval* out) { store_rate<<<1, full_block>>>(static_cast<uint4*>(at.data()), rounds_, out); });
        const double fenced = cycles([&](interval* out) {
            store_and_fence<<<1, 1>>>(static_cast<std::uint32_t*>(at.data()), 64, rounds_, out);
        });
        add("latency_fence", fenced / rounds_);
        add("l2_store_multiprocessor", double(rounds_) * store_windows * full_block * sizeof(uint4) / took);
        add("l2_store_bandwidth", bytes_a_second(within, 1, brief_ ? 1 : 64) / 1e9);
        beside_["l2_store_sectors"] = bytes_a_second(within, 8, brief_ ? 1 : 64) / 32 / 1e9;
        const double whole = bytes_a_second(beyond, 1, 1);
        beside_["dram_store_bandwidth"] = whole / 1e9;
        beside_["store_fill"] = whole / bytes_a_second(beyond, 8, 1) - 1;
    }

    void texels() {
        constexpr unsigned texels = 64; // along a side
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        cudaResourceDesc what{};
        what.resType = cudaResourceTypeArray;
        WARPFOLD_CUDA_CHECK(cudaMallocArray(&what.res.array.array, &format, texels, texels));
        const std::vector<float> ones(std::size_t{texels} * texels, 1);
        WARPFOLD_CUDA_CHECK(cudaMemcpy2DToArray(what.res.array.array, 0, 0, ones.data(), texels * sizeof(float),
                                                texels * sizeof(float), texels, cudaMemcpyHostToDevice));
        cudaTextureDesc how{};
        how.readMode = cudaReadModeElementType;
        cudaTextureObject_t texture = 0;
        WARPFOLD_CUDA_CHECK(cudaCreateTextureObject(&texture, &what, &how, nullptr));
        const double took = cycles(
            [&](interval* out) { texture_rate<<<1, full_block>>>(texture, texels - 1, rounds_, out, sink<float>()); });
        const double chased =
            cycles([&](interval* out) { chase_texture<<<1, 1>>>(texture, rounds_, out, sink<float>()); });
        WARPFOLD_CUDA_CHECK(cudaDestroyTextureObject(texture));
        WARPFOLD_CUDA_CHECK(cudaFreeArray(what.res.array.array));
        add("latency_texture", chased / rounds_);
        add("throughput_texture", double(rounds_) * unrolled * full_block / took);
    }
};

} // namespace warpfold::measure::calibrate
