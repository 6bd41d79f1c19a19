// SPDX-License-Identifier: MIT
// Writes the golden results of mma, wmma and wgmma as a GPU computes them:
//     g++ -std=c++20 -I. tests/machine/handlers/matrix/{make_golden,{matrix,warpgroup}_forms,matrix_operands}.cpp
//         tests/machine/hardware_device.cpp -ldl -o make_golden
//     ./make_golden DIRECTORY [CASES]
// golden.txt has a line for each form: its name and a hash of each case's results; it belongs to this directory.
// N.bin has all results of the Nth line. `./make_golden --texts DIRECTORY` writes each form's PTX and needs no GPU.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>

#include "tests/machine/handlers/matrix/matrix_operands.hpp"
#include "tests/machine/handlers/matrix/warpgroup_forms.hpp"
#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {
namespace {

constexpr unsigned golden_cases = 24;

template <class Form>
void take(const std::string& name, const Form& form, unsigned lanes, unsigned cases, const std::string& directory,
          std::ofstream& golden, unsigned index) {
    std::vector<std::uint32_t> in;
    for (unsigned n = 0; n < cases; ++n) {
        const auto more = operands_of(form, n);
        in.insert(in.end(), more.begin(), more.end());
    }
    std::vector<std::uint32_t> out(std::size_t{words_out(form)} * lanes * cases);
    const auto device = make_hardware_device(text_of(form));
    const std::uint64_t from = device->allocate(in.size() * 4);
    const std::uint64_t to = device->allocate(out.size() * 4);
    device->write(from, in.data(), in.size() * 4);
    launch_options how;
    how.grid.x = cases;
    how.block.x = std::max(lanes, 32u);
    device->launch("k", how, {from, to, 0, 0, 0, 0, 0, 0});
    device->read(out.data(), to, out.size() * 4);
    std::ofstream(directory + "/" + std::to_string(index) + ".bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size() * 4));
    golden << name;
    for (unsigned n = 0; n < golden_cases; ++n) {
        char hash[16];
        std::snprintf(
            hash, sizeof hash, " %08x",
            hash_of(out.data() + std::size_t{n} * words_out(form) * lanes, std::size_t{words_out(form)} * lanes));
        golden << hash;
    }
    golden << std::endl;
}

int run(int count, char** words) {
    const bool texts = count > 2 && std::string(words[1]) == "--texts";
    const std::string directory = words[texts ? 2 : 1];
    const auto cases = static_cast<unsigned>(count > 2 && !texts ? std::stoul(words[2]) : golden_cases);
    std::ofstream golden(directory + "/golden.txt");
    unsigned index = 0;
    const auto each = [&](const std::string& name, const auto& form, unsigned lanes) {
        if (texts) {
            std::ofstream(directory + "/" + std::to_string(index) + ".ptx") << text_of(form);
        } else {
            try {
                take(name, form, lanes, cases, directory, golden, index);
            } catch (const std::exception& e) {
                std::cerr << name << ": " << e.what() << '\n';
                golden << "# " << name << '\n';
            }
        }
        ++index;
    };
    for (const mma_form& f : mma_forms()) {
        each(f.key(), f, 32);
    }
    for (const wmma_form& f : wmma_forms()) {
        each(f.name(), f, 1);
    }
    for (const warpgroup_form& f : warpgroup_forms()) {
        each(f.key(), f, 128);
    }
    return 0;
}

} // namespace
} // namespace softgpu::test

int main(int count, char** words) {
    if (count < 2) {
        std::cerr << "usage: make_golden DIRECTORY [CASES]\n";
        return 2;
    }
    return softgpu::test::run(count, words);
}
