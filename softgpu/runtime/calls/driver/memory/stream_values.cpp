// SPDX-License-Identifier: MIT
// Streams that write values to memory and wait for them.
#include <span>

#include "softgpu/runtime/abi/memory_operations.hpp"
#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/core/streams/stream.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"

namespace softgpu::runtime {
namespace {

result enqueue(stream* s, std::span<const memory_operation_parameters> list) {
    return on_device(s, [&](context& gpu, locked&) {
        gpu.require_usable();
        stream& on = gpu.checked(s);
        enqueue_memory_operations(gpu, memory_batch_of(gpu, list), on);
    });
}

result enqueue(stream* s, memory_operation_type type, device_address at, std::uint64_t value, unsigned flags) {
    const memory_operation_parameters one{
        .type = type, .flags_of_barrier = 0, .address = at, .value = value, .flags = flags, .alias = 0, .rest = 0};
    return enqueue(s, std::span(&one, 1));
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// With its form for the default stream of each thread.
#define SOFTGPU_STREAM_VALUE(name, type, word)                                                                         \
    result name(stream* s, device_address at, word value, unsigned flags) {                                            \
        return enqueue(s, memory_operation_type::type, at, value, flags);                                              \
    }                                                                                                                  \
    result name##_ptsz(stream* s, device_address at, word value, unsigned flags) {                                     \
        return name(of_this_thread(s), at, value, flags);                                                              \
    }
SOFTGPU_STREAM_VALUE(cuStreamWaitValue32_v2, wait_32, std::uint32_t)
SOFTGPU_STREAM_VALUE(cuStreamWaitValue64_v2, wait_64, std::uint64_t)
SOFTGPU_STREAM_VALUE(cuStreamWriteValue32_v2, write_32, std::uint32_t)
SOFTGPU_STREAM_VALUE(cuStreamWriteValue64_v2, write_64, std::uint64_t)
#undef SOFTGPU_STREAM_VALUE

result cuStreamBatchMemOp_v2(stream* s, unsigned count, const memory_operation_parameters* list, unsigned flags) {
    return list == nullptr || flags != 0 ? result::invalid_value : enqueue(s, std::span(list, count));
}

result cuStreamBatchMemOp_v2_ptsz(stream* s, unsigned count, const memory_operation_parameters* list, unsigned flags) {
    return cuStreamBatchMemOp_v2(of_this_thread(s), count, list, flags);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
