// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/copies/fills.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/accounts/operation_order.hpp"
#include "softgpu/runtime/core/device_group.hpp"

namespace softgpu::runtime {
namespace {

bool host_waits(context& gpu, const void* pointer, host_order order) {
    const auto found = memory_of(gpu, pointer).find(reinterpret_cast<memory::address>(pointer));
    return order == host_order::synchronous && found &&
           (found->kind == memory::allocation_kind::host_mapped || found->kind == memory::allocation_kind::managed);
}

} // namespace

void issue_fill(context& gpu, locked& lock, const fill_work& work, stream& on, host_order order) {
    const bool waits = host_waits(gpu, work.base, order);
    const operation_pointer issued = gpu.issue(
        on, operation_kind::device, [work] { run_fill(work); }, nullptr, waits);
    describe_fill(*issued, work);
    if (waits) {
        gpu.wait(lock, issued);
    }
}

void describe_fill(const operation& issued, const fill_work& work) {
    if (!operation_journal::any()) {
        return;
    }
    const std::uint64_t bytes = std::uint64_t{work.element_bytes} * work.width * work.height * work.depth;
    operation_journal::describe(
        issued,
        {.on = observe::engine::compute, .name = "fill of " + std::to_string(bytes) + " bytes", .bytes = bytes});
}

void run_fill(const fill_work& work) {
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
        checking::add_rows(ranges, *s, work.base, work.pitch, work.slice_rows, width, work.height, work.depth, true);
        checking::transferred("fill of " + std::to_string(width * work.height * work.depth) + " bytes",
                              std::move(ranges));
    }
}

} // namespace softgpu::runtime
