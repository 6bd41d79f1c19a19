// SPDX-License-Identifier: MIT
// cudaMemset and its kind.
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/accounts/checking.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/memory/copies.hpp"
#include "softgpu/runtime/program/launch.hpp"

namespace softgpu::runtime {
namespace {

// By CUDA's rules the host waits only where the memory is its own too.
bool host_waits(context& gpu, const void* pointer, host_order order) {
    const auto found = gpu.memory().find(reinterpret_cast<memory::address>(pointer));
    return order == host_order::synchronous && found &&
           (found->kind == memory::allocation_kind::host_mapped || found->kind == memory::allocation_kind::managed);
}

void fill(context& gpu, locked& lock, const fill_work& work, stream& on, host_order order) {
    if (order == host_order::synchronous) {
        require_safe(gpu);
    } else if (is_capturing(on)) {
        capture_node(gpu, on, node_type::fill).work = work;
        return;
    }
    const bool waits = host_waits(gpu, work.base, order);
    const operation_pointer issued =
        gpu.issue(on, operation_kind::device, [work] { perform(work); }, nullptr, waits);
    describe_fill(*issued, work);
    if (waits) {
        gpu.wait(lock, issued);
    }
}

void fill_bytes(context& gpu, locked& lock, void* pointer, int value, std::size_t bytes, stream* handle,
                host_order order) {
    gpu.must_be_alive();
    stream& on = gpu.checked(handle);
    if (bytes != 0) {
        require_accessible(gpu, pointer, bytes, true);
        fill(gpu, lock, {.base = pointer, .pitch = bytes, .value = static_cast<unsigned>(value), .width = bytes}, on,
             order);
    }
}

void fill_rows(context& gpu, locked& lock, const pitched_pointer& p, int value, const extent& size, stream* handle,
               host_order order) {
    gpu.must_be_alive();
    stream& on = gpu.checked(handle);
    if (is_empty(size)) {
        return;
    }
    require(p.pitch >= size.width && p.pitch <= std::size_t{std::numeric_limits<int>::max()});
    const block_of_rows rows{p.pointer, p.pitch, p.height != 0 ? p.height : size.height};
    require(size.depth == 1 || rows.slice_rows >= size.height);
    require_accessible(gpu, p.pointer, span_of(rows, size), true);
    fill(gpu, lock,
         {.base = p.pointer,
          .pitch = p.pitch,
          .value = static_cast<unsigned>(value),
          .width = size.width,
          .height = size.height,
          .depth = size.depth,
          .slice_rows = rows.slice_rows},
         on, order);
}

} // namespace

void describe_fill(const operation& issued, const fill_work& work) {
    if (!operation_journal::kept()) {
        return;
    }
    const std::uint64_t bytes = std::uint64_t{work.element_bytes} * work.width * work.height * work.depth;
    operation_journal::describe(issued, {.on = observe::engine::compute,
                                         .name = "fill of " + std::to_string(bytes) + " bytes",
                                         .bytes = bytes});
}

void perform(const fill_work& work) {
    for (std::size_t z = 0; z < work.depth; ++z) {
        for (std::size_t y = 0; y < work.height; ++y) {
            char* const row = static_cast<char*>(work.base) + (z * work.slice_rows + y) * work.pitch;
            checking::written(row, work.width * work.element_bytes);
            if (work.element_bytes == 1) {
                std::memset(row, static_cast<int>(work.value), work.width);
                continue;
            }
            for (std::size_t x = 0; x < work.width; ++x) {
                std::memcpy(row + x * work.element_bytes, &work.value, work.element_bytes);
            }
        }
    }
    if (check::session* const s = checking::current(); s != nullptr && s->operations() != nullptr) {
        const std::size_t width = work.width * work.element_bytes;
        std::vector<check::touched_range> ranges;
        checking::add_rows(ranges, s->memory(), work.base, work.pitch, work.slice_rows, width, work.height, work.depth, true);
        checking::transferred("fill of " + std::to_string(width * work.height * work.depth) + " bytes", std::move(ranges));
    }
}

#pragma GCC visibility push(default)
extern "C" {

error cudaMemset(void* pointer, int value, std::size_t bytes) {
    return call([&](context& gpu, locked& lock) {
        fill_bytes(gpu, lock, pointer, value, bytes, nullptr, host_order::synchronous);
    });
}

error cudaMemset_ptds(void* pointer, int value, std::size_t bytes) {
    return call([&](context& gpu, locked& lock) {
        fill_bytes(gpu, lock, pointer, value, bytes, of_this_thread(nullptr), host_order::synchronous);
    });
}

error cudaMemsetAsync(void* pointer, int value, std::size_t bytes, stream* on) {
    return call([&](context& gpu, locked& lock) {
        fill_bytes(gpu, lock, pointer, value, bytes, on, host_order::asynchronous);
    });
}

error cudaMemsetAsync_ptsz(void* pointer, int value, std::size_t bytes, stream* on) {
    return call([&](context& gpu, locked& lock) {
        fill_bytes(gpu, lock, pointer, value, bytes, of_this_thread(on), host_order::asynchronous);
    });
}

error cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    return call([&](context& gpu, locked& lock) {
        fill_rows(gpu, lock, {pointer, pitch, width, height}, value, {width, height, 1}, nullptr,
                  host_order::synchronous);
    });
}

error cudaMemset2D_ptds(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    return call([&](context& gpu, locked& lock) {
        fill_rows(gpu, lock, {pointer, pitch, width, height}, value, {width, height, 1}, of_this_thread(nullptr),
                  host_order::synchronous);
    });
}

error cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                        stream* on) {
    return call([&](context& gpu, locked& lock) {
        fill_rows(gpu, lock, {pointer, pitch, width, height}, value, {width, height, 1}, on, host_order::asynchronous);
    });
}

error cudaMemset2DAsync_ptsz(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                             stream* on) {
    return call([&](context& gpu, locked& lock) {
        fill_rows(gpu, lock, {pointer, pitch, width, height}, value, {width, height, 1}, of_this_thread(on),
                  host_order::asynchronous);
    });
}

error cudaMemset3D(pitched_pointer pointer, int value, extent size) {
    return call([&](context& gpu, locked& lock) {
        fill_rows(gpu, lock, pointer, value, size, nullptr, host_order::synchronous);
    });
}

error cudaMemset3D_ptds(pitched_pointer pointer, int value, extent size) {
    return call([&](context& gpu, locked& lock) {
        fill_rows(gpu, lock, pointer, value, size, of_this_thread(nullptr), host_order::synchronous);
    });
}

error cudaMemset3DAsync(pitched_pointer pointer, int value, extent size, stream* on) {
    return call([&](context& gpu, locked& lock) {
        fill_rows(gpu, lock, pointer, value, size, on, host_order::asynchronous);
    });
}

error cudaMemset3DAsync_ptsz(pitched_pointer pointer, int value, extent size, stream* on) {
    return call([&](context& gpu, locked& lock) {
        fill_rows(gpu, lock, pointer, value, size, of_this_thread(on), host_order::asynchronous);
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
