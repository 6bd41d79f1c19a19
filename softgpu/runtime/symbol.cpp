// SPDX-License-Identifier: MIT
// Variables of the program in device memory, found by the host's shadow of them.
#include "softgpu/runtime/call.hpp"
#include "softgpu/runtime/registry.hpp"
#include "softgpu/runtime/transfer.hpp"

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

char* place_within(context& gpu, const void* symbol, std::size_t bytes, std::size_t offset) {
    const std::uint64_t size = variable_of(symbol).bytes;
    require(offset <= size && bytes <= size - offset);
    return place_of(gpu, symbol) + offset;
}

void copy_in(context& gpu, locked& lock, const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
             copy_kind kind) {
    require(kind == copy_kind::host_to_device || kind == copy_kind::device_to_device || kind == copy_kind::automatic,
            error::invalid_memcpy_direction);
    copy_bytes(gpu, lock, place_within(gpu, symbol, bytes, offset), source, bytes, kind);
}

void copy_out(context& gpu, locked& lock, void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
              copy_kind kind) {
    require(kind == copy_kind::device_to_host || kind == copy_kind::device_to_device || kind == copy_kind::automatic,
            error::invalid_memcpy_direction);
    copy_bytes(gpu, lock, destination, place_within(gpu, symbol, bytes, offset), bytes, kind);
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
        gpu.synchronize();
        copy_in(gpu, lock, symbol, source, bytes, offset, kind);
    });
}

error cudaMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                              copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        gpu.checked(on);
        copy_in(gpu, lock, symbol, source, bytes, offset, kind);
    });
}

error cudaMemcpyFromSymbol(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                           copy_kind kind) {
    return call([&](context& gpu, locked& lock) {
        gpu.synchronize();
        copy_out(gpu, lock, destination, symbol, bytes, offset, kind);
    });
}

error cudaMemcpyFromSymbolAsync(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                                copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        gpu.checked(on);
        copy_out(gpu, lock, destination, symbol, bytes, offset, kind);
    });
}

decltype(cudaMemcpyToSymbol) cudaMemcpyToSymbol_ptds [[gnu::alias("cudaMemcpyToSymbol")]];
decltype(cudaMemcpyToSymbolAsync) cudaMemcpyToSymbolAsync_ptsz [[gnu::alias("cudaMemcpyToSymbolAsync")]];
decltype(cudaMemcpyFromSymbol) cudaMemcpyFromSymbol_ptds [[gnu::alias("cudaMemcpyFromSymbol")]];
decltype(cudaMemcpyFromSymbolAsync) cudaMemcpyFromSymbolAsync_ptsz [[gnu::alias("cudaMemcpyFromSymbolAsync")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
