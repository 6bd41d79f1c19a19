// SPDX-License-Identifier: MIT
#include "softgpu/runtime/program/symbols.hpp"

#include <string>

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {
namespace {

const device_variable& variable_of(const void* symbol) {
    const device_variable* found = registry::instance().find_variable(symbol);
    require(found != nullptr, error::invalid_symbol);
    return *found;
}

} // namespace

char* address_of_symbol(context& gpu, const void* symbol) {
    return reinterpret_cast<char*>(registry::instance().locate(variable_of(symbol), gpu).address);
}

std::uint64_t bytes_of_symbol(const void* symbol) { return variable_of(symbol).bytes; }

char* place_in_symbol(context& gpu, const void* symbol, std::size_t bytes, std::size_t offset) {
    const std::uint64_t size = variable_of(symbol).bytes;
    const bool valid = offset <= size && bytes <= size - offset;
    if (check::session* const s = valid ? nullptr : checking::current()) {
        s->host_finding("copy or fill out of bounds",
                        "a call copies " + std::to_string(bytes) + " bytes from byte " + std::to_string(offset) +
                            " on of a variable of " + std::to_string(size),
                        reinterpret_cast<memory::address>(address_of_symbol(gpu, symbol)));
    }
    require(valid);
    return address_of_symbol(gpu, symbol) + offset;
}

} // namespace softgpu::runtime
