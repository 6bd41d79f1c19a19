// SPDX-License-Identifier: MIT
#include "softgpu/runtime/transfer.hpp"

#include <cstring>
#include <limits>

#include "softgpu/runtime/call.hpp"

namespace softgpu::runtime {
namespace {

bool destination_on_device(copy_kind kind) noexcept {
    return kind == copy_kind::host_to_device || kind == copy_kind::device_to_device;
}

bool source_on_device(copy_kind kind) noexcept {
    return kind == copy_kind::device_to_host || kind == copy_kind::device_to_device;
}

// Between the first and the last address that device memory can have.
bool is_in_arena(const memory::device_memory& memory, memory::address at) noexcept {
    return at >= memory.shared_window() && at - memory.shared_window() < memory.capacity();
}

std::size_t sum_of_products(std::size_t a, std::size_t b, std::size_t c) {
    std::size_t product = 0;
    std::size_t sum = 0;
    require(!__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(product, c, &sum));
    return sum;
}

} // namespace

void require_kind(copy_kind kind) {
    require(kind >= copy_kind::host_to_host && kind <= copy_kind::automatic, error::invalid_memcpy_direction);
}

void require_accessible(context& gpu, const void* pointer, std::size_t bytes, bool on_device) {
    require(pointer != nullptr);
    const auto at = reinterpret_cast<memory::address>(pointer);
    require(bytes <= std::numeric_limits<memory::address>::max() - at);
    const auto found = gpu.memory().find(at);
    if (!found) {
        require(!on_device && !is_in_arena(gpu.memory(), at));
    } else if (on_device || found->kind != memory::allocation_kind::host_mapped) {
        require(found->contains(at, bytes));
    }
}

void copy_bytes(context& gpu, locked& lock, void* destination, const void* source, std::size_t bytes, copy_kind kind) {
    if (bytes == 0) {
        return;
    }
    require_kind(kind);
    require_accessible(gpu, destination, bytes, destination_on_device(kind));
    require_accessible(gpu, source, bytes, source_on_device(kind));
    gpu.submit(lock, [&] { std::memmove(destination, source, bytes); });
}

std::size_t span_of(const block_of_rows& rows, extent size) {
    const std::size_t last_slice = sum_of_products(rows.slice_rows, size.depth - 1, size.height - 1);
    return sum_of_products(last_slice, rows.pitch, size.width);
}

void copy_rows(context& gpu, locked& lock, const block_of_rows& destination, const block_of_rows& source, extent size,
               copy_kind kind) {
    if (size.width == 0 || size.height == 0 || size.depth == 0) {
        return;
    }
    require_kind(kind);
    require_accessible(gpu, destination.base, span_of(destination, size), destination_on_device(kind));
    require_accessible(gpu, source.base, span_of(source, size), source_on_device(kind));
    gpu.submit(lock, [&] {
        for (std::size_t z = 0; z < size.depth; ++z) {
            for (std::size_t y = 0; y < size.height; ++y) {
                const std::size_t to = (z * destination.slice_rows + y) * destination.pitch;
                const std::size_t from = (z * source.slice_rows + y) * source.pitch;
                std::memmove(static_cast<char*>(const_cast<void*>(destination.base)) + to,
                             static_cast<const char*>(source.base) + from, size.width);
            }
        }
    });
}

} // namespace softgpu::runtime
