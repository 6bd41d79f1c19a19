// SPDX-License-Identifier: MIT
// Batches: several copies, or hints for several ranges of managed memory, in one call.
#include "softgpu/runtime/calls/memory/batches.hpp"

#include <vector>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"
#include "softgpu/runtime/memory/managed.hpp"

namespace softgpu::runtime {
namespace {

pitched_pointer pitched(const batch_operand& o, const extent& size) {
    require(o.pointer.at != nullptr);
    const std::size_t row = o.pointer.row_length == 0 ? size.width : o.pointer.row_length;
    const std::size_t rows = o.pointer.layer_height == 0 ? size.height : o.pointer.layer_height;
    require(row >= size.width && rows >= size.height);
    return {o.pointer.at, row, size.width, rows};
}

copy_3d copy_of(const batch_operation& o) {
    const auto is_known = [](operand_type t) { return t == operand_type::pointer || t == operand_type::array; };
    require(is_known(o.source.type) && is_known(o.destination.type) && !is_empty(o.extent));
    require(o.order == access_order::stream || o.order == access_order::during_call || o.order == access_order::any);
    if (o.source.type == operand_type::array || o.destination.type == operand_type::array) {
        fail(error::not_supported, "a batch of copies from or to CUDA arrays is not supported");
    }
    return {.source_array = nullptr,
            .source_position = {},
            .source = pitched(o.source, o.extent),
            .destination_array = nullptr,
            .destination_position = {},
            .destination = pitched(o.destination, o.extent),
            .extent = o.extent,
            .kind = copy_kind::automatic};
}

// Batches are not allowed on the legacy default stream.
void require_no_legacy(const stream* on) { require(!is_legacy(on), error::invalid_resource_handle); }

// Calls visit(n, k) for every range n and its location k, which is the one of ranges indices[k] to indices[k + 1].
template <class Visit>
void each_located(std::size_t count, const std::size_t* indices, std::size_t locations, Visit&& visit) {
    require(indices != nullptr && locations != 0 && locations <= count && indices[0] == 0);
    for (std::size_t k = 1; k < locations; ++k) {
        require(indices[k] > indices[k - 1] && indices[k] < count);
    }
    for (std::size_t n = 0, k = 0; n < count; ++n) {
        k += k + 1 < locations && indices[k + 1] == n ? 1u : 0u;
        visit(n, k);
    }
}

void require_pieces(void* const* pointers, const std::size_t* sizes, std::size_t count, unsigned long long flags,
                    const stream* on) {
    require(pointers != nullptr && sizes != nullptr && count != 0 && flags == 0);
    require_no_legacy(on);
}

} // namespace

void copy_batch(context& gpu, locked& lock, void* const* destinations, const void* const* sources,
                const std::size_t* sizes, std::size_t count, const std::size_t* attribute_indices,
                std::size_t attribute_count, stream* on) {
    require(count != 0 && destinations != nullptr && sources != nullptr && sizes != nullptr);
    require(attribute_indices != nullptr && attribute_count != 0 && attribute_count <= count &&
            attribute_indices[0] == 0);
    gpu.require_usable();
    require_no_legacy(on);
    stream& in = gpu.checked(on);
    for (std::size_t i = 0; i < count; ++i) {
        require(sizes[i] != 0);
        enqueue_copy(gpu, lock, destinations[i], sources[i], sizes[i], copy_kind::automatic, in,
                     host_order::asynchronous);
    }
}

void copy_batch_of_boxes(context& gpu, locked& lock, const batch_operation* operations, std::size_t count,
                         unsigned long long flags, stream* on) {
    require(operations != nullptr && count != 0 && flags == 0);
    gpu.require_usable();
    require_no_legacy(on);
    stream& order = gpu.checked(on);
    std::vector<copy_3d> copies;
    for (std::size_t n = 0; n < count; ++n) {
        copies.push_back(copy_of(operations[n]));
    }
    for (const copy_3d& c : copies) {
        enqueue_copy(gpu, lock, c, order, host_order::asynchronous);
    }
}

#pragma GCC visibility push(default)
extern "C" {

error cudaMemPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count, memory_location* locations,
                                std::size_t* location_indices, std::size_t location_count, unsigned long long flags,
                                stream* on) {
    return call(on, [&](context& gpu, locked&) {
        require_pieces(pointers, sizes, count, flags, on);
        require(locations != nullptr);
        each_located(count, location_indices, location_count,
                     [&](std::size_t n, std::size_t k) { prefetch(gpu, pointers[n], sizes[n], locations[k], 0, on); });
    });
}

// The contents of a discarded range are undefined; here they stay as they are.
error cudaMemDiscardBatchAsync(void** pointers, std::size_t* sizes, std::size_t count, unsigned long long flags,
                               stream* on) {
    return call(on, [&](context& gpu, locked&) {
        require_pieces(pointers, sizes, count, flags, on);
        for (std::size_t n = 0; n < count; ++n) {
            discard(gpu, pointers[n], sizes[n], on);
        }
    });
}

error cudaMemDiscardAndPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                          memory_location* locations, std::size_t* location_indices,
                                          std::size_t location_count, unsigned long long flags, stream* on) {
    return cudaMemPrefetchBatchAsync(pointers, sizes, count, locations, location_indices, location_count, flags, on);
}

error cudaMemPrefetchBatchAsync_ptsz(void** pointers, std::size_t* sizes, std::size_t count, memory_location* locations,
                                     std::size_t* location_indices, std::size_t location_count,
                                     unsigned long long flags, stream* on) {
    return cudaMemPrefetchBatchAsync(pointers, sizes, count, locations, location_indices, location_count, flags,
                                     of_this_thread(on));
}

error cudaMemDiscardBatchAsync_ptsz(void** pointers, std::size_t* sizes, std::size_t count, unsigned long long flags,
                                    stream* on) {
    return cudaMemDiscardBatchAsync(pointers, sizes, count, flags, of_this_thread(on));
}

error cudaMemDiscardAndPrefetchBatchAsync_ptsz(void** pointers, std::size_t* sizes, std::size_t count,
                                               memory_location* locations, std::size_t* location_indices,
                                               std::size_t location_count, unsigned long long flags, stream* on) {
    return cudaMemDiscardAndPrefetchBatchAsync(pointers, sizes, count, locations, location_indices, location_count,
                                               flags, of_this_thread(on));
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
