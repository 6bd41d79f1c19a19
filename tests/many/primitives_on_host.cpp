// SPDX-License-Identifier: MIT
#include "tests/many/on_host.hpp"
#include "tests/many/primitives.hpp"

namespace warpfold::tests {

void check_host_primitives(any_communicator& comm, std::uint64_t n, unsigned seed) {
    check_primitives<on_host>(host{1}.over(comm), n, seed);
}

} // namespace warpfold::tests
