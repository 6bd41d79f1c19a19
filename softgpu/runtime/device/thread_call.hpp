// SPDX-License-Identifier: MIT
// A call of the device runtime by one thread: its arguments, its result, and the functions that only ask or that handle the
// thread's own objects. device_functions.cpp has those that launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/machine/device_runtime.hpp"
#include "softgpu/runtime/cards/occupancy.hpp"
#include "softgpu/runtime/cards/properties.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/streams/stream.hpp"
#include "softgpu/runtime/device/nested_grids.hpp"
#include "softgpu/runtime/program/attributes.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {

// A text that kernels read; it stays where it is.
[[nodiscard]] std::uint64_t text_in_memory(context& gpu, const char* text);

class thread_call {
public:
    thread_call(nested_grids& all, nested_grid& of, machine::device_call& by)
        : all_(all), of_(of), by_(by), gpu_(all.gpu()) {}

    // Each throws failure, whose code becomes the thread's last error and the result.
    void get_attribute() {
        int value = 0;
        require(device_of(2) == gpu_.number(), error::invalid_device);
        require(device_attribute(gpu_.device(), gpu_.number(), static_cast<int>(by_.word(1)), value));
        put(0, value);
    }
    void get_limit() {
        const kernel_work& root = all_.root();
        switch (static_cast<limit>(by_.word(1) & 0xFFFFFFFF)) {
        case limit::stack_bytes: return put(0, root.stack_bytes);
        case limit::heap_bytes: return put(0, root.heap_bytes);
        case limit::pending_launches: return put(0, root.pending_launches);
        default: fail(error::unsupported_limit);
        }
    }
    void get_cache_preference() { put(0, cache_preference::none); }
    void get_bank_width() { put(0, bank_width::four_bytes); }
    void get_device_count() { put(0, static_cast<int>(gpu_.group().members().size())); }
    void get_device() { put(0, gpu_.number()); }
    void get_version() { put(0, 13000); }

    void last_error(bool forget) {
        const std::lock_guard lock(all_.mutex());
        const auto at = of_.last_errors.find(thread());
        result_ = at == of_.last_errors.end() ? error::success : at->second;
        if (forget && at != of_.last_errors.end()) {
            of_.last_errors.erase(at);
        }
    }
    void error_text() { address(text_in_memory(gpu_, text_of(static_cast<error>(by_.word(0) & 0xFFFFFFFF)))); }
    void error_name() { address(text_in_memory(gpu_, name_of(static_cast<error>(by_.word(0) & 0xFFFFFFFF)))); }

    void create_stream() {
        require((by_.word(1) & 0xFFFFFFFF) == stream_non_blocking);
        const std::lock_guard lock(all_.mutex());
        const std::uint64_t made = all_.next_number() << 8;
        of_.named_streams.insert(made);
        put(0, made);
    }
    void destroy_stream() {
        const std::lock_guard lock(all_.mutex());
        require(of_.named_streams.erase(by_.word(0)) == 1, error::invalid_resource_handle);
    }
    void create_event() {
        require((by_.word(1) & 0xFFFFFFFF) == event_disable_timing);
        const std::lock_guard lock(all_.mutex());
        const std::uint64_t made = all_.next_number() << 8;
        of_.events[made];
        put(0, made);
    }
    void destroy_event() {
        const std::lock_guard lock(all_.mutex());
        require(of_.events.erase(by_.word(0)) == 1, error::invalid_resource_handle);
    }
    void record_event(bool per_thread, std::size_t flags) {
        require(flags == 0 || (by_.word(flags) & 0xFFFFFFFF) == 0);
        const std::lock_guard lock(all_.mutex());
        const auto at = of_.events.find(by_.word(0));
        require(at != of_.events.end(), error::invalid_resource_handle);
        at->second = of_.streams[ordered_stream(1, per_thread)];
    }
    void wait_for_event(bool per_thread) {
        require((by_.word(2) & 0xFFFFFFFF) == 0);
        const std::lock_guard lock(all_.mutex());
        const auto at = of_.events.find(by_.word(1));
        require(at != of_.events.end(), error::invalid_resource_handle);
        std::vector<nested_grid*>& front = of_.streams[ordered_stream(0, per_thread)];
        for (nested_grid* const g : at->second) {
            if (std::ranges::find(front, g) == front.end()) {
                front.push_back(g);
            }
        }
    }

    void function_attributes_of() { put(0, attributes_of(gpu_, kernel(by_.word(1)))); }
    void occupancy(std::size_t flags) {
        require(flags == 0 || (by_.word(flags) & 0xFFFFFFFF) <= 1);
        const function_on_device& here = registry::instance().load(kernel(by_.word(1)), gpu_);
        const auto threads = static_cast<int>(by_.word(2) & 0xFFFFFFFF);
        require(threads > 0);
        const std::uint64_t shared = by_.word(3);
        const bool fits = shared <= max_dynamic_shared(gpu_.device(), *here.image.facts, here.max_dynamic_shared);
        put(0, fits ? static_cast<int>(blocks_per_multiprocessor(gpu_.device(), *here.image.facts,
                                                                 static_cast<std::uint64_t>(threads), shared))
                    : 0);
    }

protected:
    static constexpr std::uint64_t tail_stream = 3;
    static constexpr std::uint64_t fire_and_forget_stream = 4;
    static constexpr unsigned event_disable_timing = 2;

    struct faulted {}; // a fault was raised

    // Runs one of the functions. false: a fault was raised.
    template <class Body>
    bool run_guarded(Body&& body) {
        try {
            body();
        } catch (const faulted&) {
            return false;
        } catch (const memory::out_of_memory&) {
            note(error::memory_allocation);
        } catch (const failure& why) {
            if (why.code == error::invalid_ptx || why.code == error::not_supported) {
                report(why.message);
            }
            note(why.code);
        }
        by_.give_result(returns_address_ ? address_ : static_cast<std::uint32_t>(result_));
        return true;
    }

    [[nodiscard]] std::pair<std::uint64_t, std::uint32_t> thread() const { return {by_.block, by_.thread}; }

    void note(error e) {
        const std::lock_guard lock(all_.mutex());
        of_.last_errors[thread()] = e;
        result_ = e;
        address_ = 0;
    }
    void address(std::uint64_t at) {
        returns_address_ = true;
        address_ = at;
    }
    [[noreturn]] void raise(const std::string& what) {
        by_.fail(machine::fault_kind::illegal_address, what);
        throw faulted{};
    }
    template <class Value>
    void put(std::size_t nth, const Value& value) {
        std::byte* const to = by_.write(by_.word(nth), sizeof(value));
        if (to == nullptr) {
            throw faulted{};
        }
        std::memcpy(to, &value, sizeof(value));
    }
    template <class Struct>
    [[nodiscard]] Struct struct_of(std::size_t nth) const {
        static_assert(sizeof(Struct) <= sizeof(machine::device_call::long_argument));
        Struct all{};
        const machine::device_call::long_argument words = by_.argument(nth);
        std::memcpy(&all, words.data(), sizeof(all));
        return all;
    }
    [[nodiscard]] void* pointer(std::size_t nth) const { return reinterpret_cast<void*>(by_.word(nth)); }
    [[nodiscard]] unsigned byte(std::size_t nth) const { return static_cast<unsigned>(by_.word(nth) & 0xFF); }
    [[nodiscard]] copy_kind kind(std::size_t nth) const { return static_cast<copy_kind>(by_.word(nth) & 0xFFFFFFFF); }
    [[nodiscard]] int device_of(std::size_t nth) const { return static_cast<int>(by_.word(nth) & 0xFFFFFFFF); }

    [[nodiscard]] stream_key stream(std::uint64_t handle, bool per_thread) const {
        if (handle == fire_and_forget_stream) {
            return {device_stream::fire_and_forget, 0};
        }
        if (handle == tail_stream) {
            return {device_stream::tail, 0};
        }
        if (handle == per_thread_stream_id || (handle == 0 && per_thread)) {
            return {device_stream::of_thread, by_.block * 1024 + by_.thread};
        }
        if (handle <= legacy_stream_id) {
            return {device_stream::of_block, by_.block};
        }
        require(of_.named_streams.contains(handle), error::invalid_resource_handle);
        return {device_stream::named, handle};
    }
    // One that events can be recorded in and that can wait for them.
    [[nodiscard]] stream_key ordered_stream(std::size_t nth, bool per_thread) const {
        const stream_key found = stream(by_.word(nth), per_thread);
        require(found.kind != device_stream::fire_and_forget && found.kind != device_stream::tail);
        return found;
    }

    [[nodiscard]] function& kernel(memory::address at) {
        const machine::addressed_kernel found = by_.kernel_at(at);
        require(!found.name.empty(), error::invalid_device_function);
        function* const f = registry::instance().find_function(*found.owner, std::string(found.name));
        require(f != nullptr, error::invalid_device_function);
        return *f;
    }

    nested_grids& all_;
    nested_grid& of_;
    machine::device_call& by_;
    context& gpu_;
    error result_ = error::success;
    bool returns_address_ = false;
    std::uint64_t address_ = 0;
};

} // namespace softgpu::runtime
