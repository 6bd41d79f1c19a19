// SPDX-License-Identifier: MIT
// Where the libraries are that the command loads at run time: beside it in a build tree, or under the library folder of
// an installation. Two environment variables name others, for tests and for trying a changed library.
#pragma once

#include <optional>
#include <string>

namespace warpfold::tool {

// Absolute path of the software GPU's CUDA runtime of this major version (12, 13), if there is one.
// WARPFOLD_SOFTGPU_RUNTIME names version 13.
[[nodiscard]] std::optional<std::string> find_software_runtime(int cuda_major = 13);

// Absolute path of a library that stands beside the runtimes, if it is there. There is none beside the runtime that
// WARPFOLD_SOFTGPU_RUNTIME names.
[[nodiscard]] std::optional<std::string> find_beside_runtime(const std::string& name);

// Absolute path of the library of the ladders' engine; the ladders are beside it. WARPFOLD_LADDER_LIBRARY names it. Throws
// failure, which says how to get it, where it was not built.
[[nodiscard]] std::string find_ladder_engine();

// The same of the library's calls on a GPU; WARPFOLD_CALLS_LIBRARY names it.
[[nodiscard]] std::string find_calls_library();

// The same of the library's calls on the host's cores, which need no nvcc.
[[nodiscard]] std::string find_host_calls_library();

// The same of the calls over ranks of MPI; WARPFOLD_MPI_LIBRARY names it.
[[nodiscard]] std::string find_mpi_library();

// The folder of the cards' files for --predict. WARPFOLD_CARDS names another one.
[[nodiscard]] std::string find_cards_folder();

} // namespace warpfold::tool
