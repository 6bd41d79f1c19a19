// SPDX-License-Identifier: MIT
#include "tests/many/chunked.hpp"

#include "tests/many/on_host.hpp"

namespace warpfold::tests {

void check_host_chunked(any_communicator& comm, std::uint64_t n, unsigned seed) {
    check_chunked(host{1}.over(comm), n, seed);
}

void check_host_chunked_file(any_communicator& comm, const std::string& path) {
    check_chunked_file(host{1}.over(comm), path);
}

void check_host_chunked_faults(any_communicator& comm) { check_chunked_faults(host{1}.over(comm)); }

} // namespace warpfold::tests
