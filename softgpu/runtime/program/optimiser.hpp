// SPDX-License-Identifier: MIT
// NVIDIA's own libnvJitLink, where one is installed: it optimises LTO-IR, and gives PTX without a GPU.
#pragma once

#include <string>
#include <vector>

namespace softgpu::runtime {

// A unit of LTO-IR, or a file that holds some. `kind` is of nvJitLinkInputType.
struct lto_unit {
    int kind;
    std::string contents;
};

inline constexpr int fat_binary_input = 4; // a kind

struct optimised {
    std::string ptx;
    std::string errors; // empty if the units could be linked
};

// One text of PTX for all units. `options` are the client's, with the card among them. Functions that no kernel of the units
// calls are dropped.
//
// The library is the one that WARPFOLD_NVJITLINK names or, without that, the first libnvJitLink.so.13 or .12 in the folders of
// loaded libraries of CUDA, in LD_LIBRARY_PATH, and in the toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda).
optimised link_by_nvidia(const std::vector<lto_unit>& units, const std::vector<std::string>& options);

// Whether the user named a library: clients are told its version then, so that they hand over LTO-IR.
bool version_of_named(unsigned& major, unsigned& minor);

} // namespace softgpu::runtime
