// SPDX-License-Identifier: MIT
// The other process of shared_memory_test.cpp: it reads a request and a handle from stdin, once and again, and answers with a
// result and a word.
#include <cstdint>
#include <cstring>
#include <string>

#include <unistd.h>

#include "tests/driver/shared_memory_protocol.hpp"
#include "tests/driver/virtual_memory_api.hpp"
#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {
namespace {

device_address memory = 0;
event* opened = nullptr;
memory_pool* pool = nullptr;
stream* in_order = nullptr;

answer of(result r, std::uint32_t word = 0) { return {r, word}; }

result fill(std::uint32_t value) {
    library* loaded = nullptr;
    function* kernel = nullptr;
    if (const result r = cuModuleLoadData(&loaded, std::string(sample_ptx).c_str()); r != result::success) {
        return r;
    }
    if (const result r = cuModuleGetFunction(&kernel, loaded, "_Z4fillPjj"); r != result::success) {
        return r;
    }
    void* arguments[] = {&memory, &value};
    return cuLaunchKernel(kernel, 2, 1, 1, 32, 1, 1, 0, in_order, arguments, nullptr);
}

answer handle(const request& r) {
    std::uint32_t word = 0;
    switch (r.what) {
    case order::open: {
        const result opened_it = cuIpcOpenMemHandle_v2(&memory, r.handle, 1);
        device_address again = 0;
        if (opened_it == result::success && (cuIpcOpenMemHandle_v2(&again, r.handle, 1) != result::success ||
                                             again != memory || cuIpcCloseMemHandle(again) != result::success)) {
            return of(result::unknown);
        }
        return of(opened_it);
    }
    case order::read: {
        const result read = cuMemcpyDtoH_v2(&word, memory + 4 * r.value, 4);
        return of(read, word);
    }
    case order::bytes: {
        device_address base = 0;
        std::size_t bytes = 0;
        const result known = cuMemGetAddressRange_v2(&base, &bytes, memory);
        return of(known, static_cast<std::uint32_t>(bytes));
    }
    case order::fill: return of(fill(r.value));
    case order::free: return of(cuMemFree_v2(memory));
    case order::close: return of(cuIpcCloseMemHandle(memory));
    case order::open_event: return of(cuIpcOpenEventHandle(&opened, r.handle));
    case order::query: return of(cuEventQuery(opened));
    case order::wait: {
        const result waits = cuStreamWaitEvent(in_order, opened, 0);
        return of(waits);
    }
    case order::synchronize: return of(cuStreamSynchronize(in_order));
    case order::record: return of(cuEventRecord(opened, in_order));
    case order::open_pool: {
        const auto fd = static_cast<std::intptr_t>(r.value);
        return of(
            cuMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(fd), pool_handles::file_descriptor, 0));
    }
    case order::open_in_pool: return of(cuMemPoolImportPointer(&memory, pool, &r.handle));
    case order::free_in_pool: return of(cuMemFreeAsync(memory, in_order));
    }
    return of(result::unknown);
}

} // namespace
} // namespace softgpu::runtime

int main() {
    using namespace softgpu::runtime;
    driver_context* context = nullptr;
    if (cuInit(0) != result::success || cuDevicePrimaryCtxRetain(&context, 0) != result::success ||
        cuCtxSetCurrent(context) != result::success || cuStreamCreate(&in_order, 1) != result::success) {
        return 1;
    }
    request r{};
    while (::read(0, &r, sizeof r) == sizeof r) {
        const answer a = handle(r);
        if (::write(1, &a, sizeof a) != sizeof a) {
            return 1;
        }
    }
    return 0;
}
