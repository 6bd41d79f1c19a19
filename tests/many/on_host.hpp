// SPDX-License-Identifier: MIT
// The tests of primitives.hpp and chunked.hpp on the host, compiled once for all communicators.
#pragma once

#include <cstdint>
#include <string>

#include "warpfold/any_communicator.hpp"

namespace warpfold::tests {

// In primitives_on_host.cpp and chunked_on_host.cpp.
void check_host_primitives(any_communicator& comm, std::uint64_t n, unsigned seed);
void check_host_chunked(any_communicator& comm, std::uint64_t n, unsigned seed);
void check_host_chunked_file(any_communicator& comm, const std::string& path);
void check_host_chunked_faults(any_communicator& comm);

} // namespace warpfold::tests
