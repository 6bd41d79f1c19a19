// SPDX-License-Identifier: MIT
#include "softgpu/memory/address_space.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>

namespace softgpu::memory {
namespace {

std::uint64_t map(void* at, std::uint64_t bytes, int protection, int fixed) {
    void* const got = mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (got == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "softgpu: cannot reserve addresses for device memory");
    }
    return reinterpret_cast<std::uint64_t>(got);
}

} // namespace

address_space::address_space(std::uint64_t part_bytes, unsigned parts)
    : part_bytes_(part_bytes), parts_(parts), base_(map(nullptr, bytes(), PROT_NONE, 0)) {}

address_space::~address_space() { munmap(part(0), bytes()); }

std::uint64_t address_space::open(unsigned number) {
    return map(part(number), part_bytes_, PROT_READ | PROT_WRITE, MAP_FIXED);
}

void address_space::close(unsigned number) noexcept {
    mmap(part(number), part_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

} // namespace softgpu::memory
