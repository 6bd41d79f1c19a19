// SPDX-License-Identifier: MIT
// What the checks learn of the order of operations, and of what copies, fills, allocations and frees touch.
#include "softgpu/runtime/accounts/order_checking.hpp"

#include <atomic>
#include <exception>
#include <utility>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/accounts/checking.hpp"

namespace softgpu::runtime::checking {
namespace {

using sort = check::operation_record::sort;

std::atomic<std::uint64_t> keepers{0};

constexpr std::size_t most_rows = 1u << 20; // of a copy; beyond them it is not looked at

std::string name_of_stream(std::uint64_t id) {
    return id == legacy_stream_id       ? "default stream"
           : id == per_thread_stream_id ? "a thread's default stream"
                                        : "stream " + std::to_string(id);
}

check::order* order_of_now() {
    check::session* const s = current();
    return s == nullptr ? nullptr : s->operations();
}

std::uint64_t allocation_of(const memory::device_memory& memory, const void* at) {
    const auto address = reinterpret_cast<memory::address>(at);
    if (const auto found = memory.find(address)) {
        return found->serial;
    }
    const auto gone = memory.find_released(address);
    return gone ? gone->serial : 0;
}

void carry_out(sort what, std::string name, std::vector<check::touched_range> ranges) noexcept {
    try {
        check::order* const order = order_of_now();
        check::operation_note note = current_note();
        if (order != nullptr && note.when != nullptr && !ranges.empty()) {
            order->carry_out(what, std::move(note), std::move(name), std::move(ranges));
        }
    } catch (const std::exception& e) {
        report(std::string("the checks: ") + e.what());
    }
}

void in_order(sort what, memory::device_memory& memory, memory::address base, const char* call) noexcept {
    if (order_of_now() == nullptr) {
        return;
    }
    if (const auto found = memory.find(base)) {
        carry_out(what, std::string(call) + " of " + std::to_string(found->bytes) + " bytes",
                  {{found->base, found->base + found->bytes, found->serial, true}});
    }
}

} // namespace

order_keeper::order_keeper(check::order& order) : order_(order), number_(++keepers) { executor::instance().add_watcher(*this); }

order_keeper::~order_keeper() { executor::instance().remove_watcher(*this); }

void order_keeper::issued(operation& what, std::span<const operation_pointer> after) {
    std::vector<const check::moment*> moments;
    for (const operation_pointer& o : after) {
        if (o != nullptr && knows(*o)) {
            moments.push_back(o->when.get());
        }
    }
    what.when = order_.issue(moments);
    what.watched_by = number_;
}

void order_keeper::finished(const operation& what) {
    if (knows(what)) {
        order_.finished(*what.when);
    }
}

void order_keeper::host_waited(const operation& what) {
    if (knows(what)) {
        order_.host_waited(*what.when);
    }
}

void order_keeper::host_waited_for_all() { order_.host_waited_for_all(); }

bool watches_order() noexcept { return order_of_now() != nullptr; }

check::operation_note current_note() {
    const operation* const now = current_operation();
    return now == nullptr ? check::operation_note{}
                          : check::operation_note{now->when, now->id, name_of_stream(now->stream)};
}

void transferred(std::string name, std::vector<check::touched_range> ranges) noexcept {
    carry_out(sort::transfer, std::move(name), std::move(ranges));
}

void allocated_in_order(memory::device_memory& memory, memory::address base, const char* call) noexcept {
    in_order(sort::allocation, memory, base, call);
}

void freed_in_order(memory::device_memory& memory, memory::address base, const char* call) noexcept {
    in_order(sort::release, memory, base, call);
}

void add_rows(std::vector<check::touched_range>& ranges, const memory::device_memory& memory, const void* base, std::size_t pitch,
              std::size_t slice_rows, std::size_t width, std::size_t height, std::size_t depth, bool writes) {
    const auto at = reinterpret_cast<std::uint64_t>(base);
    const std::uint64_t allocation = allocation_of(memory, base);
    const bool gapless = (pitch == width || height == 1) && (depth == 1 || slice_rows == height);
    if (gapless) {
        ranges.push_back({at, at + width * height * depth, allocation, writes});
        return;
    }
    if (height * depth > most_rows) {
        return;
    }
    for (std::size_t z = 0; z < depth; ++z) {
        for (std::size_t y = 0; y < height; ++y) {
            const std::uint64_t row = at + (z * slice_rows + y) * pitch;
            ranges.push_back({row, row + width, allocation, writes});
        }
    }
}

void modules_go() noexcept {
    if (check::order* const order = order_of_now()) {
        order->forget_all();
    }
}

} // namespace softgpu::runtime::checking
