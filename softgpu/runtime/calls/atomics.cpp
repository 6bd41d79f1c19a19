// SPDX-License-Identifier: MIT
// Atomic operations between devices, and between a device and the host.
#include <algorithm>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/cards/properties.hpp"

namespace softgpu::runtime {
namespace {

// CUatomicOperation, and what the machine can do of each: bits of CUatomicOperationCapability.
constexpr unsigned is_signed = 1, is_unsigned = 2, reduces = 4, words = 8, long_words = 16, quad_words = 32;
constexpr unsigned capabilities_of[] = {
    is_signed | is_unsigned | reduces | words | long_words, // integer add
    is_signed | is_unsigned | reduces | words | long_words, // min
    is_signed | is_unsigned | reduces | words | long_words, // max
    is_unsigned | reduces | words,                          // increment
    is_unsigned | reduces | words,                          // decrement
    is_unsigned | reduces | words | long_words,             // and
    is_unsigned | reduces | words | long_words,             // or
    is_unsigned | reduces | words | long_words,             // xor
    is_unsigned | words | long_words | quad_words,          // exchange
    is_unsigned | words | long_words | quad_words,          // compare and swap
    is_signed | reduces | words | long_words,               // float add
    0,                                                      // float min
    0,                                                      // float max
};

void give(unsigned* out, const int* operations, unsigned count, bool native) {
    constexpr int kinds = std::size(capabilities_of);
    require(out != nullptr && operations != nullptr && count != 0);
    require(std::all_of(operations, operations + count, [](int o) { return o >= 0 && o < kinds; }));
    std::transform(operations, operations + count, out, [native](int o) { return native ? capabilities_of[o] : 0; });
}

} // namespace

extern "C" error cudaDeviceGetP2PAttribute(int* value, int attribute, int source, int destination);

#pragma GCC visibility push(default)
extern "C" {

error cudaDeviceGetHostAtomicCapabilities(unsigned* out, const int* operations, unsigned count, int device) {
    return call([&](context& gpu, locked&) {
        constexpr int host_native_atomics = 86;
        int native = 0;
        (void)device_attribute(checked_device(gpu, device).device(), device, host_native_atomics, native);
        give(out, operations, count, native != 0);
    });
}

error cudaDeviceGetP2PAtomicCapabilities(unsigned* out, const int* operations, unsigned count, int source,
                                         int destination) {
    constexpr int native_atomics = 3;
    int native = 0;
    if (const error e = cudaDeviceGetP2PAttribute(&native, native_atomics, source, destination); e != error::success) {
        return e;
    }
    return call([&] { give(out, operations, count, native != 0); });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
