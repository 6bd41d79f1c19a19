// SPDX-License-Identifier: MIT
// Sum, extremes and a histogram of a file of raw floats of any size. It passes through the GPU in chunks, so it may be
// larger than the GPU's memory and the host's.
//   example_sum_of_a_large_file [FILE]   without FILE, a temporary file is used
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <unistd.h>

#include "warpfold/chunked.cuh"

namespace {

// 0, 0.5, 1, ..., 499.5, repeated; a million elements.
std::string made_file() {
    std::string name = "numbers_XXXXXX";
    const int descriptor = ::mkstemp(name.data());
    std::FILE* const file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
    if (file == nullptr) {
        throw std::runtime_error("no file can be made here");
    }
    for (unsigned k = 0; k < 1'000'000; ++k) {
        const float x = static_cast<float>(k % 1000) / 2;
        std::fwrite(&x, sizeof(x), 1, file);
    }
    std::fclose(file);
    return name;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const std::string name = argc > 1 ? argv[1] : made_file();
        const warpfold::file_source<float> numbers(name); // open from here on
        if (argc < 2) {
            ::unlink(name.c_str());
        }
        warpfold::transfer_buffers buffers; // the pinned memory that all three calls go through
        warpfold::chunked_options options;
        options.buffers = &buffers;
        const float sum = warpfold::chunked_exact_sum(warpfold::gpu{}, numbers, options);
        const auto [smallest, largest] = warpfold::chunked_min_max(warpfold::gpu{}, numbers, options);
        std::printf("%llu numbers from %g to %g, sum %.9g\n", static_cast<unsigned long long>(numbers.size()), smallest,
                    largest, sum);
        const warpfold::even_bins<float> bins(smallest, std::nextafter(largest, INFINITY), 4);
        for (const auto count : warpfold::chunked_histogram(warpfold::gpu{}, numbers, bins, options)) {
            std::printf("%llu\n", static_cast<unsigned long long>(count));
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
