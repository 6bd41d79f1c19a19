// SPDX-License-Identifier: MIT
// The ladders whose libraries are beside the engine's.
#pragma once

#include <string>
#include <vector>

#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::engine {

// Absolute path of the library that has the code at this address.
[[nodiscard]] std::string library_of(const void* code);
// The folder of the engine's library.
[[nodiscard]] std::string engine_folder();

// Names of the catalogue, in its order.
[[nodiscard]] std::vector<std::string> installed_ladders();

// Loads the ladder's library on first use; it stays loaded. Throws bad_request for a name that is not in the catalogue,
// std::runtime_error where the library is not there or does not load.
[[nodiscard]] const ladder_definition& find_ladder(const std::string& name);

} // namespace warpfold::ladder::engine
