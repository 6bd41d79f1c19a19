// SPDX-License-Identifier: MIT
// How `warpfold run` brings a program to the software GPU: the dynamic linker finds our runtime and driver in place of NVIDIA's.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tool/run/elf_facts.hpp"

namespace warpfold::tool {

// What the dynamic linker and the clients are told.
struct linker_setup {
    std::string folder;                 // searched first: our libraries, under NVIDIA's names
    std::vector<std::string> preloaded; // loaded first, in this order
    // What clients must be told to hand over PTX that runs here, in place of machine code; the caller's own values stay.
    std::vector<std::pair<std::string, std::string>> client_variables;
};

// Throws failure if the software GPU is not there, or if its folder's name cannot be told to the linker.
[[nodiscard]] linker_setup find_setup();
// Sets LD_LIBRARY_PATH, LD_PRELOAD and the clients' variables for the program.
void set_linker_environment(const linker_setup& setup);
// How the program's calls reach the software GPU, as lines of text. facts: of the program; empty: no ELF file.
[[nodiscard]] std::string explain_setup(const linker_setup& setup, const std::string& program,
                                        const std::optional<elf_facts>& facts);
// Why a program may not reach the software GPU; empty: nothing speaks against it.
[[nodiscard]] std::string why_not_reached(const std::string& program, const std::optional<elf_facts>& facts);

} // namespace warpfold::tool
