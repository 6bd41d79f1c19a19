// SPDX-License-Identifier: MIT
// Blurs a grey image (PGM, 8 bits) with a Gaussian on a GPU: image_blur [in.pgm [out.pgm]]. Without a file it blurs a
// white square on black.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "warpfold/convolve.cuh"

using namespace warpfold;

void print(const char* name, const std::vector<std::uint8_t>& grey, std::size_t width) {
    std::uint64_t sum = 0;
    int step = 0;
    for (std::size_t k = 0; k < grey.size(); ++k) {
        sum += grey[k];
        step = std::max(step, k % width == 0 ? 0 : std::abs(grey[k] - grey[k - 1]));
    }
    std::printf("%s: mean %.1f, steepest step %d\n", name, double(sum) / double(grey.size()), step);
}

int main(int argc, char** argv) {
    std::size_t width = 200, height = 150;
    std::vector<std::uint8_t> grey(width * height);
    for (std::size_t k = 0; k < grey.size(); ++k) {
        grey[k] = k % width / 50 == 1 && k / width / 50 == 1 ? 255 : 0;
    }
    if (argc > 1) {
        std::ifstream file(argv[1], std::ios::binary);
        std::string kind, most;
        const bool known = file >> kind >> width >> height >> most && kind == "P5" && most == "255" && file.get();
        grey.resize(known ? width * height : 0);
        if (grey.empty() || !file.read(reinterpret_cast<char*>(grey.data()), std::streamsize(grey.size()))) {
            return std::fprintf(stderr, "%s is no whole PGM of 8 bits\n", argv[1]), 1;
        }
    }
    constexpr int radius = 8;
    constexpr double sigma = 2.5;
    std::vector<double> bell;
    for (int k = -radius; k <= radius; ++k) {
        bell.push_back(std::exp(-0.5 * k * k / (sigma * sigma)) / (sigma * 2.50662827463));
    }
    print("before", grey, width);
    std::uint8_t* memory = nullptr;
    WARPFOLD_CHECK_CUDA(cudaMalloc(&memory, 2 * grey.size()));
    WARPFOLD_CHECK_CUDA(cudaMemcpy(memory, grey.data(), grey.size(), cudaMemcpyDefault));
    convolve_separable(gpu{}, image{memory, width, height}, bell.data(), bell.size(), bell.data(), bell.size(),
                       image{memory + grey.size(), width, height}, {border::clamp});
    WARPFOLD_CHECK_CUDA(cudaMemcpy(grey.data(), memory + grey.size(), grey.size(), cudaMemcpyDefault));
    print("after", grey, width);
    std::ofstream out(argc > 2 ? argv[2] : "blurred.pgm", std::ios::binary);
    out << "P5\n" << width << ' ' << height << "\n255\n";
    return out.write(reinterpret_cast<const char*>(grey.data()), std::streamsize(grey.size())) ? 0 : 1;
}
