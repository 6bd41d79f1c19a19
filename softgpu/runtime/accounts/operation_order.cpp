// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/operation_order.hpp"

#include <atomic>
#include <utility>

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/streams/stream.hpp"

namespace softgpu::runtime::checking {
namespace {

using record_kind = check::operation_record::kind;

std::atomic<std::uint64_t> observers{0};

constexpr std::size_t most_rows = 1u << 20; // of a copy with gaps; longer ones are not checked

std::string name_of_stream(std::uint64_t id) {
    return id == legacy_stream_id ? "default stream"
           : is_per_thread_id(id) ? "default stream of thread " + std::to_string(id >> 32)
                                  : "stream " + std::to_string(id);
}

check::order* current_order() {
    check::session* const s = current();
    return s == nullptr ? nullptr : s->operations();
}

std::uint64_t allocation_of(const check::memories& memories, const void* at) {
    const auto address = reinterpret_cast<memory::address>(at);
    if (const auto found = memories.find(address)) {
        return found->serial;
    }
    const auto gone = memories.find_released(address);
    return gone ? gone->serial : 0;
}

void carry_out(record_kind what, std::string name, std::vector<check::touched_range> ranges,
               bool is_signal = false) noexcept {
    report_exceptions("the checks", [&] {
        check::order* const order = current_order();
        check::operation_note note = current_note();
        if (order != nullptr && note.when != nullptr && !ranges.empty()) {
            order->carry_out(what, std::move(note), std::move(name), std::move(ranges), is_signal);
        }
    });
}

void in_order(record_kind what, memory::device_memory& memory, memory::address base, const char* call) noexcept {
    if (current_order() == nullptr) {
        return;
    }
    if (const auto found = memory.find(base)) {
        carry_out(what, std::string(call) + " of " + std::to_string(found->bytes) + " bytes",
                  {{found->base, found->base + found->bytes, found->serial, true}});
    }
}

} // namespace

order_observer::order_observer(check::order& order) : order_(order), number_(++observers) {
    executor::instance().add_observer(*this);
}

order_observer::~order_observer() { executor::instance().remove_observer(*this); }

void order_observer::issued(operation& what, std::span<const operation_pointer> after) {
    std::vector<const check::moment*> moments;
    for (const operation_pointer& o : after) {
        if (o != nullptr && has_seen(*o)) {
            moments.push_back(o->moment.get());
        }
    }
    what.moment = what.within != nullptr && has_seen(*what.within)
                      ? order_.issue_within(what.within->moment, moments, what.is_last_within)
                      : order_.issue(moments, what.device);
    what.observed_by = number_;
}

void order_observer::finished(const operation& what) {
    if (has_seen(what)) {
        order_.finished(*what.moment);
    }
}

void order_observer::host_waited(const operation& what) {
    if (has_seen(what)) {
        order_.host_waited(*what.moment);
    }
}

void order_observer::host_waited_for_all(std::optional<int> of) {
    if (of) {
        order_.host_waited_for_all_of(*of);
    } else {
        order_.host_waited_for_all();
    }
}

bool checks_order() noexcept { return current_order() != nullptr; }

check::operation_note current_note() {
    const operation* const now = current_operation();
    const check::session* const s = current();
    if (now == nullptr) {
        return {};
    }
    return {.when = now->moment,
            .id = now->id,
            .stream = now->launched_by.empty() ? name_of_stream(now->stream) : "launched by " + now->launched_by,
            .device = s != nullptr && s->all_memories().several() ? now->device : -1,
            .launched_at = now->launched_at};
}

void transferred(std::string name, std::vector<check::touched_range> ranges) noexcept {
    carry_out(record_kind::transfer, std::move(name), std::move(ranges));
}

void signalled(std::string name, std::uint64_t at, std::size_t bytes, bool writes) noexcept {
    if (current_order() != nullptr) {
        const std::uint64_t allocation = allocation_of(current()->all_memories(), reinterpret_cast<const void*>(at));
        carry_out(record_kind::transfer, std::move(name), {{at, at + bytes, allocation, writes}}, true);
    }
}

void allocated_in_order(memory::device_memory& memory, memory::address base, const char* call) noexcept {
    in_order(record_kind::allocation, memory, base, call);
}

void freed_in_order(memory::device_memory& memory, memory::address base, const char* call) noexcept {
    in_order(record_kind::release, memory, base, call);
}

void add_rows(std::vector<check::touched_range>& ranges, const check::session& of, const void* base, std::size_t pitch,
              std::size_t slice_rows, std::size_t width, std::size_t height, std::size_t depth, bool writes) {
    const auto at = reinterpret_cast<std::uint64_t>(base);
    const std::uint64_t allocation = allocation_of(of.all_memories(), base);
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

void discard_order() noexcept {
    if (check::order* const order = current_order()) {
        order->forget_all();
    }
}

} // namespace softgpu::runtime::checking
