// SPDX-License-Identifier: MIT
// Histogram, implementation 4 as on the slide: the private copy has seven bins, and the letter's code itself is divided by
// four, so that 'a' to 'z' go to places 24 to 30. (Parallel patterns "Implementation 4".)
// Mended: the private copy has one name here, the slide two. It runs in a process of its own, since a GPU may end it.
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "ladder/histogram/steps.hpp"

namespace warpfold::ladder::histogram {

namespace {

constexpr std::string_view sentence = "programming massively parallel processors";

__global__ void histo_kernel_of_the_slide(const unsigned char* buffer, long size, unsigned int* histo) {
    __shared__ unsigned int histo_private[letter_bins];
    if (threadIdx.x < letter_bins) {
        histo_private[threadIdx.x] = 0;
    }
    __syncthreads();
    long i = threadIdx.x + blockIdx.x * blockDim.x;
    const long stride = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&histo_private[buffer[i] / 4], 1u);
        i += stride;
    }
    __syncthreads();
    if (threadIdx.x < letter_bins) {
        atomicAdd(&histo[threadIdx.x], histo_private[threadIdx.x]);
    }
}

// The seven counts; zeros where the device returned an error.
std::vector<std::int32_t> slide_program() {
    unsigned char* text = nullptr;
    unsigned int* histo = nullptr;
    std::vector<std::int32_t> counts(letter_bins);
    const std::size_t bytes = letter_bins * sizeof(unsigned);
    (void)cudaMalloc(&text, sentence.size());
    (void)cudaMalloc(&histo, bytes);
    (void)cudaMemcpy(text, sentence.data(), sentence.size(), cudaMemcpyHostToDevice);
    (void)cudaMemset(histo, 0, bytes);
    histo_kernel_of_the_slide<<<1, threads>>>(text, static_cast<long>(sentence.size()), histo);
    const cudaError_t answer = cudaMemcpy(counts.data(), histo, bytes, cudaMemcpyDeviceToHost);
    (void)cudaFree(text);
    (void)cudaFree(histo);
    std::string words;
    for (const std::int32_t count : counts) {
        words += (words.empty() ? "" : ", ") + std::to_string(count);
    }
    std::fprintf(stderr, "histogram: %s\n",
                 answer == cudaSuccess ? ("no error, and the counts are " + words).c_str() : cudaGetErrorName(answer));
    return counts;
}

engine::sample right_counts(std::uint64_t n, std::uint64_t seed) {
    return {sentence.size(), {}, phrase(n, seed).right};
}

verdict counts_letters(const engine::evidence& e) {
    constexpr std::string_view mark = "histogram: ";
    const auto at = e.said.find(mark);
    const std::string told = at == std::string::npos
                                 ? "other counts"
                                 : e.said.substr(at + mark.size(), e.said.find('\n', at) - at - mark.size());
    return seen(e.result == e.data.right,
                told + ", where 5, 5, 6, 10, 10, 1, 1 would be right: 'a' / 4 is 24, of 7 bins");
}

constexpr const char* section = "Parallel patterns, Implementation 4";

} // namespace

std::vector<engine::child_program> child_programs() { return {{"histogram of the slide", slide_program}}; }

engine::step_definition private_copies_of_the_slide() {
    return {.about = {"4s", "private copies, as on the slide", "ladder/histogram/04_slide.cu",
                      "buffer[i]/4 where (buffer[i] - 'a')/4 is meant", section, false, "phrase"},
            .data = right_counts,
            .child_programs = "histogram of the slide",
            .size = phrase_size,
            .expected = outcome::wrong,
            .lesson = "'a' / 4 is 24: all letters are counted outside the seven bins",
            .finds = "out of bounds",
            .claims = {{"build the private histogram: atomicAdd(&(private_histo[buffer[i]/4]), 1)", section,
                        engine::check(counts_letters).refuted_by(engine::step_in_place("capitals"))}}};
}

} // namespace warpfold::ladder::histogram
