// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/copies/copies.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/accounts/operation_order.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {
namespace {

// An asynchronous copy from a pageable source stages at most this many bytes and then returns at once.
constexpr std::size_t most_staged_bytes = 64 << 10;

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

void require_to_device(copy_kind kind) {
    require(kind == copy_kind::automatic || has_device_destination(kind), error::invalid_memcpy_direction);
}

void require_from_device(copy_kind kind) {
    require(kind == copy_kind::automatic || has_device_source(kind), error::invalid_memcpy_direction);
}

void require_accessible(context& gpu, const void* pointer, std::size_t bytes, bool on_device) {
    require(pointer != nullptr);
    const auto at = reinterpret_cast<memory::address>(pointer);
    require(bytes <= std::numeric_limits<memory::address>::max() - at);
    const memory::device_memory& memory = memory_of(gpu, pointer);
    const auto found = memory.find(at);
    require(!found || found->kind != memory::allocation_kind::array); // an array's handle is not a pointer
    const auto require_valid = [&](bool valid) {
        if (check::session* const s = valid ? nullptr : checking::current()) {
            s->host_finding(
                "copy or fill out of bounds",
                "a call copies or fills " + std::to_string(bytes) + " bytes that are not all in one allocation", at);
        }
        require(valid);
    };
    if (found && found->rights == memory::access_rights::none &&
        gpu.memory().rights_at(at) == memory::access_rights::none) {
        require_valid(false);
    } else if (!found) {
        require_valid(!on_device && !memory.reserves(at));
    } else if (on_device || found->kind != memory::allocation_kind::host_mapped) {
        require_valid(found->contains(at, bytes));
    }
}

std::size_t span_of(const block_of_rows& rows, extent size) {
    const std::size_t last_slice = sum_of_products(rows.slice_rows, size.depth - 1, size.height - 1);
    return sum_of_products(last_slice, rows.pitch, size.width);
}

block_of_rows rows_at(const pitched_pointer& p, const position& at, const extent& size) {
    const std::size_t slice_rows = p.height != 0 ? p.height : size.height;
    const std::size_t offset = (at.z * slice_rows + at.y) * p.pitch + at.x;
    return {p.pointer == nullptr ? nullptr : static_cast<char*>(p.pointer) + offset, p.pitch, slice_rows};
}

copy_3d linear_copy(void* destination, const void* source, std::size_t bytes, copy_kind kind) {
    return {.source_array = nullptr,
            .source_position = {},
            .source = {const_cast<void*>(source), bytes, bytes, 1},
            .destination_array = nullptr,
            .destination_position = {},
            .destination = {destination, bytes, bytes, 1},
            .extent = {bytes, 1, 1},
            .kind = kind};
}

namespace {

enum class side : std::uint8_t { device, managed, pinned, pageable };

side side_of(const memory::allocation& a) {
    return a.kind == memory::allocation_kind::host_mapped ? side::pinned
           : a.kind == memory::allocation_kind::managed   ? side::managed
                                                          : side::device;
}

side side_of(context& gpu, const void* pointer) {
    const memory::device_memory& memory = memory_of(gpu, pointer);
    if (const auto found = memory.find(reinterpret_cast<memory::address>(pointer))) {
        return side_of(*found);
    }
    return memory.reserves(reinterpret_cast<memory::address>(pointer)) ? side::device : side::pageable;
}

bool is_host(side s) { return s == side::pinned || s == side::pageable; }

// Tells the checks what was copied. A staged copy has no source any more: the host has read it.
void note_copy(const copy_work& work, const block_of_rows& to, const block_of_rows& from, const extent& size) {
    check::session* const s = checking::current();
    if (s == nullptr || s->operations() == nullptr) {
        return;
    }
    const bool staged = work.staged != nullptr;
    std::vector<check::touched_range> ranges;
    checking::add_rows(ranges, *s, to.base, to.pitch, to.slice_rows, size.width, size.height, size.depth, true);
    if (!staged) {
        checking::add_rows(ranges, *s, from.base, from.pitch, from.slice_rows, size.width, size.height, size.depth,
                           false);
    }
    const auto name = [s](const void* pointer) {
        const auto found = s->all_memories().find(reinterpret_cast<memory::address>(pointer));
        return !found || is_host(side_of(*found)) ? "host" : "device";
    };
    checking::transferred("copy of " + std::to_string(size.width * size.height * size.depth) + " bytes from " +
                              (staged ? "host" : name(from.base)) + " to " + name(to.base),
                          std::move(ranges));
}

} // namespace

void describe_copy(context& gpu, const operation& issued, const copy_work& work) {
    if (!operation_journal::any()) {
        return;
    }
    const extent& size = work.rows.extent;
    const side to = side_of(gpu, work.rows.destination.pointer);
    const bool staged = work.staged != nullptr;
    const side from = staged ? side::pageable : side_of(gpu, work.rows.source.pointer);
    const bool host_only = is_host(to) && is_host(from);
    const auto name = [](side s) { return s == side::pageable ? "pageable" : s == side::pinned ? "pinned" : "device"; };
    const std::uint64_t bytes = std::uint64_t{size.width} * size.height * size.depth;
    operation_journal::describe(issued, {.on = host_only       ? observe::engine::host
                                               : is_host(from) ? observe::engine::to_device
                                               : is_host(to)   ? observe::engine::to_host
                                                               : observe::engine::compute,
                                         .name = "copy of " + std::to_string(bytes) + " bytes from " + name(from) +
                                                 " to " + name(to) + " memory",
                                         .bytes = is_host(to) || is_host(from) ? bytes : 2 * bytes,
                                         .pageable = to == side::pageable || from == side::pageable,
                                         .staged = staged});
}

void run_copy(const copy_work& work) {
    const copy_3d& p = work.rows;
    const extent& size = p.extent;
    if (work.staged != nullptr) {
        std::memcpy(p.destination.pointer, work.staged->data(), work.staged->size());
        checking::written(p.destination.pointer, work.staged->size());
        note_copy(work, {p.destination.pointer, work.staged->size(), 1}, {}, {work.staged->size(), 1, 1});
        return;
    }
    const block_of_rows to = rows_at(p.destination, p.destination_position, size);
    const block_of_rows from = rows_at(p.source, p.source_position, size);
    for (std::size_t z = 0; z < size.depth; ++z) {
        for (std::size_t y = 0; y < size.height; ++y) {
            char* const target = static_cast<char*>(const_cast<void*>(to.base)) + (z * to.slice_rows + y) * to.pitch;
            const char* const source = static_cast<const char*>(from.base) + (z * from.slice_rows + y) * from.pitch;
            // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): checked before it was issued
            std::memmove(target, source, size.width);
            checking::copied(target, source, size.width);
        }
    }
    note_copy(work, to, from, size);
}

namespace {

// The other devices whose own memory the copy reads or writes. In the default stream it comes after all their work so far and
// before all that follows. Pinned and managed memory is no device's.
std::vector<context*> others_of(context& gpu, const copy_3d& rows) {
    std::vector<context*> found;
    for (const void* const pointer : {rows.source.pointer, rows.destination.pointer}) {
        context& home = home_of(gpu, pointer);
        if (&home != &gpu && side_of(gpu, pointer) == side::device && std::ranges::find(found, &home) == found.end()) {
            found.push_back(&home);
        }
    }
    return found;
}

} // namespace

void issue_copy(context& gpu, locked& lock, const copy_3d& what, stream& on, host_order order) {
    copy_work work{.what = what, .rows = what};
    const side to = side_of(gpu, what.destination.pointer);
    const side from = side_of(gpu, what.source.pointer);
    bool waits = order == host_order::synchronous
                     ? to != side::device || from != side::device
                     : to == side::pageable || from == side::pageable || (is_host(to) && is_host(from));
    const bool linear = what.extent.height == 1 && what.extent.depth == 1;
    if (linear && from == side::pageable && !is_host(to) && what.extent.width <= most_staged_bytes &&
        (order == host_order::asynchronous || gpu.options().seed)) {
        const auto* const bytes =
            static_cast<const std::byte*>(rows_at(what.source, what.source_position, what.extent).base);
        work.staged = std::make_shared<std::vector<std::byte>>(bytes, bytes + what.extent.width);
        work.rows.destination.pointer =
            const_cast<void*>(rows_at(what.destination, what.destination_position, what.extent).base);
        waits = false;
    }
    const std::vector<context*> others =
        gpu.is_alone() || &on != &gpu.streams().legacy() ? std::vector<context*>{} : others_of(gpu, what);
    for (context* const other : others) {
        gpu.mark(on, other->mark(other->streams().legacy()));
    }
    const operation_pointer issued = gpu.issue(
        on, operation_kind::device, [work] { run_copy(work); }, nullptr, waits);
    describe_copy(gpu, *issued, work);
    for (context* const other : others) {
        other->mark(other->streams().legacy(), issued);
    }
    if (waits) {
        gpu.wait(lock, issued);
    }
}

} // namespace softgpu::runtime
