// SPDX-License-Identifier: MIT
// The correctly rounded sum of the numbers in a text file, for any order and size, beside the sum of a plain loop.
//   example_exact_sum FILE
#include <cstdio>
#include <exception>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "warpfold/exact_sum.hpp"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    try {
        std::ifstream file(argv[1]);
        if (!file) {
            std::fprintf(stderr, "%s cannot be read\n", argv[1]);
            return 1;
        }
        std::vector<double> numbers;
        for (std::string word; file >> word;) {
            std::size_t read = 0;
            numbers.push_back(std::stod(word, &read));
            if (read != word.size()) {
                std::fprintf(stderr, "%s: %s is no number\n", argv[1], word.c_str());
                return 1;
            }
        }
        const double exact = warpfold::exact_sum(warpfold::host{}, numbers);
        const double plain = std::accumulate(numbers.begin(), numbers.end(), 0.0);
        std::printf("%zu numbers, sum %.17g, added up one by one %.17g\n", numbers.size(), exact, plain);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", argv[1], e.what());
        return 1;
    }
}
