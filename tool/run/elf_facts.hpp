// SPDX-License-Identifier: MIT
// What an executable file says about how it was linked with CUDA.
// Format: System V Application Binary Interface, "Object Files" and "Program Loading and Dynamic Linking".
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpfold::tool {

struct elf_facts {
    bool dynamic = false;             // loaded by the dynamic linker, so LD_PRELOAD reaches it
    bool embeds_cuda = false;         // it has nvcc's section of kernels
    bool static_cuda_runtime = false; // by its symbol table, or by the texts of a stripped file
    std::vector<std::string> needed;  // DT_NEEDED, "libcudart.so.13"

    // The shared CUDA runtime, or the driver: what ours stand in for by name.
    [[nodiscard]] bool needs_cuda_library() const;
};

// Empty where the file is no 64-bit little-endian ELF file that makes sense; never throws for what is in it.
[[nodiscard]] std::optional<elf_facts> read_elf(const std::string& path);

} // namespace warpfold::tool
