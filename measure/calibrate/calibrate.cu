// SPDX-License-Identifier: MIT
// Measures the figures of a card that the model takes (docs/model.md) and writes them as JSON on standard output:
//   calibrate [--brief]
// --brief: a thousandth of the work, to see on the software GPU that it runs; its figures mean nothing there.
// measure/calibrate/card_file.py makes a card's file of the output. Exit status: 0; 1 with one line on stderr.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "measure/calibrate/contention_bench.cuh"

namespace {

using namespace warpfold::measure;
using namespace warpfold::measure::calibrate;

class card_bench final : public contention_bench {
public:
    using contention_bench::contention_bench;

    void measure() {
        from_the_driver();
        clock();
        arithmetic();
        on_chip();
        loads();
        rates();
        lanes_that_meet();
        slices();
        last_atomics();
        stores();
        texels();
        launches();
        link();
    }

private:
    void from_the_driver() {
        read("multiprocessors", multiprocessors_);
        read("warps", attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / 32);
        read("blocks", attribute(cudaDevAttrMaxBlocksPerMultiprocessor));
        read("registers", attribute(cudaDevAttrMaxRegistersPerMultiprocessor));
        read("shared_bytes", attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
        read("reserved_shared_bytes", attribute(cudaDevAttrReservedSharedMemoryPerBlock));
        read("l2_bytes", attribute(cudaDevAttrL2CacheSize));
        read("copy_engines", attribute(cudaDevAttrAsyncEngineCount));
        const double rate = 2.0 * attribute(cudaDevAttrMemoryClockRate) * 1e3; // two transfers a clock
        read("dram_bandwidth", rate * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8 / 1e9);
    }

    void clock() {
        const unsigned long long wanted = brief_ ? 100'000 : 200'000'000;
        double spun = 0;
        const double took = seconds([&] {
            spun = static_cast<double>(wanted);
            spin<<<1, 1, 0, stream_.handle()>>>(wanted, static_cast<interval*>(interval_.data()));
        });
        giga_hertz_ = spun / took / 1e9;
        add("clock", giga_hertz_);
    }

    // Cycles of one instruction in a chain, and lanes a cycle of a multiprocessor.
    template <class Op, class T = std::uint32_t>
    std::pair<double, double> unit() {
        constexpr unsigned side_by_side = 4;
        const auto operations = static_cast<double>(rounds_ * unrolled * Op::instructions);
        const double alone = cycles([&](interval* out) { chains<Op, T, 1><<<1, 32>>>(rounds_, T(1), out, sink<T>()); });
        const double full = cycles(
            [&](interval* out) { chains<Op, T, side_by_side><<<1, full_block>>>(rounds_, T(1), out, sink<T>()); });
        return {alone / operations, operations * side_by_side * full_block / full};
    }

    void arithmetic() {
        const auto fp32 = unit<fp32_op>();
        const auto fp64 = unit<fp64_op, double>();
        const auto special = unit<special_op>();
        const auto shuffle = unit<shuffle_op>();
        add("latency_arithmetic", fp32.first);
        add("latency_fp64", fp64.first);
        add("latency_special", special.first);
        add("latency_shuffle", shuffle.first);
        add("throughput_fp32", fp32.second);
        add("throughput_fp64", fp64.second);
        add("throughput_special", special.second);
        add("throughput_shuffle", shuffle.second);
        add("throughput_integer", unit<integer_op>().second);
        const auto multiply = unit<multiply_op>();
        add("throughput_multiply", multiply.second);
        add("throughput_shift", unit<shift_op>().second);
        add("throughput_logic", unit<logic_op>().second);
        add("throughput_half", unit<half_op>().second);
        const auto convert = unit<convert_op>();
        add("latency_convert", convert.first);
        add("throughput_convert", convert.second);
        const auto vote = unit<vote_op>();
        add("latency_vote", vote.first * vote_op::instructions - fp32.first);
        add("throughput_vote", vote.second);
        add("latency_predicate", unit<guard_op>().first - fp32.first);
        const double round =
            cycles([&](interval* out) { loop<<<1, 32>>>(rounds_, 1, out, sink<std::uint32_t>()); }) / rounds_;
        add("latency_control", round - unrolled * multiply.first);
        const double mixed =
            cycles([&](interval* out) { both_units<<<1, full_block>>>(rounds_, 1, out, sink<std::uint32_t>()); });
        add("issue", std::max(fp32.second / 32, 4.0 * rounds_ * unrolled * full_block / 32 / mixed));
        tensor_cores();
        const double barrier = cycles([&](interval* out) { barriers<<<1, 256>>>(rounds_, out); });
        add("latency_barrier", barrier / (rounds_ * unrolled));
    }

    void tensor_cores() {
        constexpr unsigned side_by_side = 4;
        const device_memory count(sizeof(unsigned));
        auto* const products = static_cast<unsigned*>(count.data());
        const double alone =
            cycles([&](interval* out) { tensor<1><<<1, 32>>>(rounds_, out, products, sink<float>()); });
        const double full = cycles(
            [&](interval* out) { tensor<side_by_side><<<1, full_block / 2>>>(rounds_, out, products, sink<float>()); });
        unsigned each = 0;
        WARPFOLD_CUDA_CHECK(cudaMemcpy(&each, products, sizeof each, cudaMemcpyDeviceToHost));
        if (each != 0) {
            add("latency_tensor", alone / (rounds_ * unrolled));
            add("throughput_tensor", double(each) * side_by_side * (full_block / 2 / 32) * rounds_ * unrolled / full);
        }
    }

    void on_chip() {
        const unsigned loads = rounds_ * unrolled;
        auto* const to = sink<std::uint32_t>();
        const auto shared = [&](unsigned apart) {
            return cycles([&](interval* out) { chase_shared<false><<<1, 32>>>(loads, apart, out, to); }) / loads;
        };
        add("latency_shared", shared(1));
        add("latency_turn", (shared(32) - shared(1)) / 31);
        add("latency_shared_atomic",
            cycles([&](interval* out) { chase_shared<true><<<1, 1>>>(loads, 1, out, to); }) / loads);
        const double requests = double(loads) * full_block / 32;
        const double straight = cycles([&](interval* out) { shared_rate<<<1, full_block>>>(rounds_, 1, out, to); });
        const double conflicts = cycles([&](interval* out) { shared_rate<<<1, full_block>>>(rounds_, 32, out, to); });
        add("throughput_memory", 32 * requests / straight);
        add("shared_wavefronts", 32 * requests / conflicts);
        const device_memory words(full_block * 16);
        WARPFOLD_CUDA_CHECK(cudaMemset(words.data(), 1, words.bytes()));
        const double l1 = cycles([&](interval* out) {
            l1_rate<<<1, full_block>>>(static_cast<const uint4*>(words.data()), rounds_, out, to);
        });
        add("l1_sectors", double(rounds_) * l1_loads * full_block * 16 / 32 / l1);
    }

    // Cycles of a load in a chain through `bytes`, line after line, mixed within each `page`: a page after the other costs few
    // misses of the TLB. `then`: a second load in each line, so many bytes behind its beginning; 0: none. So many `lanes` of a warp
    // go at the same time, each through its part.
    template <level From>
    double chain_through(std::uint64_t bytes, std::uint64_t page, unsigned loads, std::uint64_t then = 0,
                         unsigned lanes = 1) {
        constexpr std::uint64_t line = 128;
        const std::uint64_t lines = std::max<std::uint64_t>(bytes / line, 2);
        const std::uint64_t together = std::clamp<std::uint64_t>(page / line, 2, lines);
        std::vector<std::uint64_t> order(lines);
        std::iota(order.begin(), order.end(), 0);
        std::uint64_t state = 1;
        for (std::uint64_t first = 0; first + together <= lines; first += together) {
            for (std::uint64_t k = together - 1; k > 0; --k) {
                state = state * 6364136223846793005ull + 1442695040888963407ull;
                std::swap(order[first + k], order[first + (state >> 33) % (k + 1)]);
            }
        }
        const device_memory words(lines * line), place(lanes * sizeof(std::uint64_t));
        const auto base = reinterpret_cast<std::uintptr_t>(words.data());
        std::vector<std::uint64_t> chain(lines * line / 8);
        for (std::uint64_t k = 0; k < lines; ++k) {
            chain[order[k] * line / 8] = base + order[k] * line + then;
            chain[(order[k] * line + then) / 8] = base + order[(k + 1) % lines] * line;
        }
        WARPFOLD_CUDA_CHECK(cudaMemcpy(words.data(), chain.data(), words.bytes(), cudaMemcpyHostToDevice));
        std::vector<std::uint64_t> starts(lanes);
        for (unsigned k = 0; k < lanes; ++k) {
            starts[k] = base + order[k * (lines / lanes)] * line;
        }
        WARPFOLD_CUDA_CHECK(cudaMemcpy(place.data(), starts.data(), place.bytes(), cudaMemcpyHostToDevice));
        return cycles([&](interval* out) {
                   chase<From><<<1, lanes>>>(loads, out, static_cast<std::uint64_t*>(place.data()));
               }) /
               loads;
    }

    void loads() {
        const auto l2 = static_cast<std::uint64_t>(attribute(cudaDevAttrL2CacheSize));
        const std::uint64_t l2_part = brief_ ? 1 << 16 : std::max<std::uint64_t>(l2 / 16, 1 << 18);
        const std::uint64_t beyond = brief_ ? 1 << 18 : std::max<std::uint64_t>(8 * l2, 1 << 28);
        const std::uint64_t page = brief_ ? 1 << 14 : 2 << 20;
        const unsigned some = brief_ ? 64 : 65536;
        add("latency_l1", chain_through<level::l1>(8 << 10, page, brief_ ? 64 : 4096));
        add("latency_l2", chain_through<level::past_l1>(l2_part, page, static_cast<unsigned>(l2_part / 128)));
        const double l2_hit = figures_["latency_l2"].value;
        add("latency_atomic", chain_through<level::atomic>(l2_part, page, static_cast<unsigned>(l2_part / 128)));
        const double dram = chain_through<level::past_l1>(beyond, page, some);
        add("latency_dram", dram);
        add("latency_l2_lines",
            chain_through<level::past_l1>(l2_part, page, static_cast<unsigned>(l2_part / 128), 0, 32) - l2_hit);
        add("latency_dram_lines", chain_through<level::past_l1>(beyond, page, some, 0, 32) - dram);
        // Whether a sector's neighbour, or the other half of its line, is in L2 after it.
        const auto comes_along = [&](std::uint64_t where) {
            return 2 * chain_through<level::past_l1>(beyond, page, some, where) - dram < (l2_hit + dram) / 2;
        };
        add("l2_fetch", comes_along(64) ? 128 : comes_along(32) ? 64 : 32);
        beside_["latency_dram_mixed"] = chain_through<level::past_l1>(beyond, beyond, some); // with misses of the TLB
    }

    double read_rate(std::uint64_t bytes, unsigned passes, unsigned blocks) {
        const device_memory words(bytes);
        WARPFOLD_CUDA_CHECK(cudaMemset(words.data(), 1, bytes));
        const double took = seconds([&] {
            read_past_l1<<<blocks, full_block, 0, stream_.handle()>>>(static_cast<const uint4*>(words.data()),
                                                                      bytes / 16, passes, sink<std::uint32_t>());
        });
        return static_cast<double>(bytes) * passes / took;
    }

    void rates() {
        const auto l2 = static_cast<std::uint64_t>(attribute(cudaDevAttrL2CacheSize));
        const auto all = static_cast<unsigned>(2 * multiprocessors_);
        add("l2_bandwidth", read_rate(brief_ ? 1 << 16 : l2 / 4, brief_ ? 1 : 64, all) / 1e9);
        const double alone = read_rate(brief_ ? 1 << 16 : l2 / 16, brief_ ? 1 : 16, 1);
        add("l2_multiprocessor", alone / (giga_hertz_ * 1e9));
        const auto read = [&](std::uint32_t* at, unsigned lines, unsigned rounds, unsigned blocks) {
            read_one_word<<<blocks, full_block, 0, stream_.handle()>>>(at, lines, rounds, sink<std::uint32_t>());
        };
        add("l2_requests", one_word_rate(multiprocessors_, read));
        add("l2_multiprocessor_requests", one_word_rate(1, read) / giga_hertz_);
        const double dram = read_rate(brief_ ? 1 << 18 : std::max<std::uint64_t>(16 * l2, 1 << 30), 1, all) / 1e9;
        add("dram_efficiency", dram / figures_["dram_bandwidth"].value);
        const std::uint64_t far = brief_ ? 1 << 24 : std::uint64_t{4} << 30;
        const unsigned few = 64;
        add("dram_rows", one_word_rate(multiprocessors_, read, far, few));
        add("dram_part_writes", one_word_rate(
                                    multiprocessors_,
                                    [&](std::uint32_t* at, unsigned lines, unsigned rounds, unsigned blocks) {
                                        store_one_sector<<<blocks, full_block, 0, stream_.handle()>>>(at, lines,
                                                                                                      rounds);
                                    },
                                    far, 8 * few) /
                                    8);
        const unsigned words = brief_ ? 1 << 14 : 1 << 20;
        const device_memory at(words * 4);
        WARPFOLD_CUDA_CHECK(cudaMemset(at.data(), 0, at.bytes()));
        const unsigned blocks = brief_ ? 2 : static_cast<unsigned>(2 * multiprocessors_);
        const unsigned rounds = brief_ ? 2 : 64;
        const double lanes = double(blocks) * full_block * rounds;
        auto* const data = static_cast<std::uint32_t*>(at.data());
        const auto added = [&](unsigned mask) {
            return seconds([&] { atomics<<<blocks, full_block, 0, stream_.handle()>>>(data, mask, rounds); });
        };
        const double apart = added(words - 1);
        const double together = added(0);
        add("atomics", lanes / (apart * giga_hertz_ * 1e9));
        add("atomics_one_address", lanes / (together * giga_hertz_ * 1e9));
        const double floats = seconds([&] {
            atomics_of_floats<<<blocks, full_block, 0, stream_.handle()>>>(reinterpret_cast<float*>(data), rounds);
        });
        add("atomics_one_float", lanes / (floats * giga_hertz_ * 1e9));
    }

    void launches() {
        const unsigned blocks = brief_ ? 1 << 10 : 1 << 22;
        const double started = seconds([&] { nothing<<<blocks, 32, 0, stream_.handle()>>>(); });
        add("block_starts", blocks / (started * giga_hertz_ * 1e9));
        const int times = brief_ ? 10 : 400;
        const auto plain = [&] { nothing<<<1, 32, 0, stream_.handle()>>>(); };
        add("launch", behind_work(1, plain));
        add("launch_next", (behind_work(times, plain) - behind_work(1, plain)) / (times - 1));
        add("launch_dependent", dependent(times));
        for (const unsigned threads : {256u, full_block}) {
            const double took = seconds([&] { nothing<<<blocks / 8, threads, 0, stream_.handle()>>>(); });
            beside_["block_starts_of_" + std::to_string(threads)] = blocks / 8 / (took * giga_hertz_ * 1e9);
        }
        beside_["cycles_between_blocks"] = between_blocks(brief_ ? 4 : 1 << 12);
    }

    // Cycles from the start of an empty block to that of the one that follows it, where shared memory leaves room for one block on
    // each multiprocessor.
    double between_blocks(unsigned each) {
        const int shared = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
        WARPFOLD_CUDA_CHECK(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
        const auto blocks = each * static_cast<unsigned>(multiprocessors_);
        const double took =
            seconds([&] { nothing<<<blocks, 32, static_cast<std::size_t>(shared), stream_.handle()>>>(); });
        return took * giga_hertz_ * 1e9 / each;
    }

    // Nanoseconds from the end of a kernel to the work of the next one, which has been launched dependently and waits for it.
    // Each works long enough to hide the launch of the next.
    double dependent(int times) {
        const unsigned long long work = brief_ ? 1000 : 10'000;
        cudaLaunchAttribute early{};
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t how{};
        how.gridDim = how.blockDim = dim3(1);
        how.stream = stream_.handle();
        how.attrs = &early;
        how.numAttrs = attribute(cudaDevAttrComputeCapabilityMajor) >= 9 ? 1 : 0;
        auto* const out = static_cast<interval*>(interval_.data());
        const auto next = [&] { WARPFOLD_CUDA_CHECK(cudaLaunchKernelEx(&how, spin_dependently, work, out)); };
        const double each = (behind_work(times, next) - behind_work(1, next)) / (times - 1);
        return each - static_cast<double>(work) / giga_hertz_;
    }

    // Nanoseconds between two events around launches, all enqueued while the device is busy: what the device takes, not the
    // host.
    double behind_work(int kernels, const std::function<void()>& launch) {
        const unsigned long long busy = brief_ ? 1000 : 10'000'000;
        double best = 0;
        for (int turn = 0; turn < (brief_ ? 1 : 5); ++turn) {
            spin<<<1, 1, 0, stream_.handle()>>>(busy, static_cast<interval*>(interval_.data()));
            begin_.record(stream_.handle());
            for (int k = 0; k < kernels; ++k) {
                launch();
            }
            end_.record(stream_.handle());
            end_.synchronize();
            const double took = end_.seconds_since(begin_) * 1e9;
            best = turn < 2 ? took : std::min(best, took);
        }
        return best;
    }

    void link() {
        const std::size_t bytes = brief_ ? 1 << 16 : std::size_t{256} << 20;
        void* pinned = nullptr;
        WARPFOLD_CUDA_CHECK(cudaMallocHost(&pinned, bytes));
        std::memset(pinned, 1, bytes);
        const device_memory to(bytes);
        const double took = seconds([&] {
            WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(to.data(), pinned, bytes, cudaMemcpyHostToDevice, stream_.handle()));
        });
        void* mapped = nullptr;
        WARPFOLD_CUDA_CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0));
        const double read = seconds([&] {
            read_past_l1<<<static_cast<unsigned>(2 * multiprocessors_), full_block, 0, stream_.handle()>>>(
                static_cast<const uint4*>(mapped), bytes / 16, 1, sink<std::uint32_t>());
        });
        WARPFOLD_CUDA_CHECK(cudaFreeHost(pinned));
        add("link_bandwidth", static_cast<double>(bytes) / took / 1e9);
        add("mapped_bandwidth", static_cast<double>(bytes) / read / 1e9);
        beside_["managed_bandwidth"] = managed(brief_ ? 1 << 16 : std::size_t{64} << 20);
    }

    // GB/s of pages that the host has written and a kernel reads.
    double managed(std::size_t bytes) {
        void* pages = nullptr;
        WARPFOLD_CUDA_CHECK(cudaMallocManaged(&pages, bytes));
        double best = 0;
        for (int turn = 0; turn < (brief_ ? 1 : 3); ++turn) {
            WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(stream_.handle()));
            std::memset(pages, turn, bytes);
            begin_.record(stream_.handle());
            read_past_l1<<<static_cast<unsigned>(2 * multiprocessors_), full_block, 0, stream_.handle()>>>(
                static_cast<const uint4*>(pages), bytes / 16, 1, sink<std::uint32_t>());
            end_.record(stream_.handle());
            end_.synchronize();
            best = std::max(best, static_cast<double>(bytes) / end_.seconds_since(begin_) / 1e9);
        }
        WARPFOLD_CUDA_CHECK(cudaFree(pages));
        return best;
    }
};

void write(const bench& measured) {
    cudaDeviceProp card{};
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaGetDeviceProperties(&card, device));
    std::printf("{\n  \"device\": \"%s\",\n  \"compute_capability\": \"%d.%d\",\n  \"figures\": {", card.name,
                card.major, card.minor);
    const char* separator = "\n";
    for (const auto& [name, f] : measured.figures()) {
        std::printf("%s    \"%s\": {\"value\": %.6g, \"how\": \"%s\"}", separator, name.c_str(), f.value, f.how);
        separator = ",\n";
    }
    std::printf("\n  },\n  \"beside\": {");
    separator = "";
    for (const auto& [name, value] : measured.beside()) {
        std::printf("%s\"%s\": %.6g", separator, name.c_str(), value);
        separator = ", ";
    }
    std::printf("}\n}\n");
}

} // namespace

int main(int count, char** words) {
    const bool brief = count == 2 && std::strcmp(words[1], "--brief") == 0;
    if (count > (brief ? 2 : 1)) {
        std::fprintf(stderr, "calibrate: it takes --brief or nothing\n");
        return 2;
    }
    try {
        card_bench card(brief);
        card.measure();
        write(card);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "calibrate: %s\n", problem.what());
        return 1;
    }
    return 0;
}
