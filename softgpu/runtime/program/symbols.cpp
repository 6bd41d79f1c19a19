// SPDX-License-Identifier: MIT
// Variables of the program in device memory, found by the host's shadow of them.
#include "softgpu/runtime/program/symbols.hpp"

#include <string>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/accounts/checking.hpp"
#include "softgpu/runtime/program/registry.hpp"
#include "softgpu/runtime/memory/copies.hpp"

namespace softgpu::runtime {
namespace {

const device_variable& variable_of(const void* symbol) {
    const device_variable* found = registry::instance().find_variable(symbol);
    require(found != nullptr, error::invalid_symbol);
    return *found;
}

char* place_of(context& gpu, const void* symbol) {
    return reinterpret_cast<char*>(registry::instance().locate(variable_of(symbol), gpu).address);
}

} // namespace

char* place_in_symbol(context& gpu, const void* symbol, std::size_t bytes, std::size_t offset) {
    const std::uint64_t size = variable_of(symbol).bytes;
    const bool sound = offset <= size && bytes <= size - offset;
    if (check::session* const s = sound ? nullptr : checking::current()) {
        s->host_finding("copy or fill out of bounds",
                        "a call copies " + std::to_string(bytes) + " bytes from byte " + std::to_string(offset) +
                            " on of a variable of " + std::to_string(size),
                        reinterpret_cast<memory::address>(place_of(gpu, symbol)));
    }
    require(sound);
    return place_of(gpu, symbol) + offset;
}

namespace {

void copy_in(context& gpu, locked& lock, const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
             copy_kind kind, stream* on, host_order order) {
    gpu.must_be_alive();
    stream& in = gpu.checked(on);
    require(kind == copy_kind::host_to_device || kind == copy_kind::device_to_device || kind == copy_kind::automatic,
            error::invalid_memcpy_direction);
    copy_bytes(gpu, lock, place_in_symbol(gpu, symbol, bytes, offset), source, bytes, kind, in, order);
}

void copy_out(context& gpu, locked& lock, void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
              copy_kind kind, stream* on, host_order order) {
    gpu.must_be_alive();
    stream& in = gpu.checked(on);
    require(kind == copy_kind::device_to_host || kind == copy_kind::device_to_device || kind == copy_kind::automatic,
            error::invalid_memcpy_direction);
    copy_bytes(gpu, lock, destination, place_in_symbol(gpu, symbol, bytes, offset), bytes, kind, in, order);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaGetSymbolAddress(void** address, const void* symbol) {
    return call([&](context& gpu, locked&) {
        require(address != nullptr);
        gpu.must_be_alive();
        *address = place_of(gpu, symbol);
    });
}

error cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
    return call([&](context& gpu, locked&) {
        require(bytes != nullptr);
        gpu.must_be_alive();
        *bytes = variable_of(symbol).bytes;
    });
}

error cudaMemcpyToSymbol(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                         copy_kind kind) {
    return call([&](context& gpu, locked& lock) {
        copy_in(gpu, lock, symbol, source, bytes, offset, kind, nullptr,
                host_order::synchronous);
    });
}

error cudaMemcpyToSymbol_ptds(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                              copy_kind kind) {
    return call([&](context& gpu, locked& lock) {
        copy_in(gpu, lock, symbol, source, bytes, offset, kind, of_this_thread(nullptr),
                host_order::synchronous);
    });
}

error cudaMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                              copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        copy_in(gpu, lock, symbol, source, bytes, offset, kind, on,
                host_order::asynchronous);
    });
}

error cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                                   copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        copy_in(gpu, lock, symbol, source, bytes, offset, kind, of_this_thread(on),
                host_order::asynchronous);
    });
}

error cudaMemcpyFromSymbol(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                           copy_kind kind) {
    return call([&](context& gpu, locked& lock) {
        copy_out(gpu, lock, destination, symbol, bytes, offset, kind, nullptr,
                 host_order::synchronous);
    });
}

error cudaMemcpyFromSymbol_ptds(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                                copy_kind kind) {
    return call([&](context& gpu, locked& lock) {
        copy_out(gpu, lock, destination, symbol, bytes, offset, kind, of_this_thread(nullptr),
                 host_order::synchronous);
    });
}

error cudaMemcpyFromSymbolAsync(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                                copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        copy_out(gpu, lock, destination, symbol, bytes, offset, kind, on,
                 host_order::asynchronous);
    });
}

error cudaMemcpyFromSymbolAsync_ptsz(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                                     copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        copy_out(gpu, lock, destination, symbol, bytes, offset, kind, of_this_thread(on),
                 host_order::asynchronous);
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
