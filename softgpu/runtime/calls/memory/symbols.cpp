// SPDX-License-Identifier: MIT
// The program's variables: their addresses, and copies from and to them.
#include "softgpu/runtime/program/symbols.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"

namespace softgpu::runtime {
namespace {

using enum host_order;

error copy_in(const void* symbol, const void* source, std::size_t bytes, std::size_t offset, copy_kind kind, stream* on,
              host_order order) {
    return call([&](context& gpu, locked& lock) {
        gpu.require_usable();
        context& home = home_of(gpu, on);
        stream& in = home.checked(on);
        require_to_device(kind);
        enqueue_copy(home, lock, place_in_symbol(gpu, symbol, bytes, offset), source, bytes, kind, in, order);
    });
}

error copy_out(void* destination, const void* symbol, std::size_t bytes, std::size_t offset, copy_kind kind, stream* on,
               host_order order) {
    return call([&](context& gpu, locked& lock) {
        gpu.require_usable();
        context& home = home_of(gpu, on);
        stream& in = home.checked(on);
        require_from_device(kind);
        enqueue_copy(home, lock, destination, place_in_symbol(gpu, symbol, bytes, offset), bytes, kind, in, order);
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaGetSymbolAddress(void** address, const void* symbol) {
    return give(address, [&](context& gpu) { return address_of_symbol(gpu, symbol); });
}

error cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
    return give(bytes, [&](context&) { return bytes_of_symbol(symbol); });
}

error cudaMemcpyToSymbol(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                         copy_kind kind) {
    return copy_in(symbol, source, bytes, offset, kind, nullptr, synchronous);
}

error cudaMemcpyToSymbol_ptds(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                              copy_kind kind) {
    return copy_in(symbol, source, bytes, offset, kind, of_this_thread(nullptr), synchronous);
}

error cudaMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                              copy_kind kind, stream* on) {
    return copy_in(symbol, source, bytes, offset, kind, on, asynchronous);
}

error cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                                   copy_kind kind, stream* on) {
    return copy_in(symbol, source, bytes, offset, kind, of_this_thread(on), asynchronous);
}

error cudaMemcpyFromSymbol(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                           copy_kind kind) {
    return copy_out(destination, symbol, bytes, offset, kind, nullptr, synchronous);
}

error cudaMemcpyFromSymbol_ptds(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                                copy_kind kind) {
    return copy_out(destination, symbol, bytes, offset, kind, of_this_thread(nullptr), synchronous);
}

error cudaMemcpyFromSymbolAsync(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                                copy_kind kind, stream* on) {
    return copy_out(destination, symbol, bytes, offset, kind, on, asynchronous);
}

error cudaMemcpyFromSymbolAsync_ptsz(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                                     copy_kind kind, stream* on) {
    return copy_out(destination, symbol, bytes, offset, kind, of_this_thread(on), asynchronous);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
