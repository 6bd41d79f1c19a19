// SPDX-License-Identifier: MIT
// PTX texts around the piece that a test is about, and the folder of golden files.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

inline const std::string header = ".version 9.0\n.target sm_90\n.address_size 64\n";

// The piece begins in line 4, column 1.
inline std::string in_module(const std::string& piece) { return header + piece; }

// The piece begins in line 7, column 1, of a kernel with a few registers, a parameter and a shared array.
inline std::string in_kernel(const std::string& piece) {
    return header + ".visible .entry k(.param .u64 p) {\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;" +
           " .reg .v2 .b32 %v;\n.shared .b32 tile[8]; .reg .f32 %f<4>;\n" + piece + "\n}\n";
}

inline std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw std::runtime_error("cannot read " + path.string());
    }
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

inline std::vector<std::filesystem::path> golden_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(PTX_GOLDEN_FOLDER)) {
        if (entry.path().extension() == ".ptx") {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace test
