// SPDX-License-Identifier: MIT
#include "softgpu/runtime/device/device_functions.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "softgpu/runtime/device/conditions.hpp"
#include "softgpu/runtime/device/nested_grids.hpp"
#include "softgpu/runtime/device/thread_call.hpp"
#include "softgpu/runtime/memory/copies/array_copies.hpp"

namespace softgpu::runtime {
namespace {

using machine::device_call;

// The functions that allocate, copy and launch.
class launching_call : public thread_call {
public:
    using thread_call::thread_call;

    void allocate() {
        const std::uint64_t at = gpu_.memory().allocate_on_heap(by_.word(1), all_.root().heap_bytes);
        put(0, at);
        require(at != 0, error::memory_allocation);
    }
    void release() {
        const std::uint64_t at = by_.word(0);
        require(at == 0 || gpu_.memory().release_on_heap(at));
    }
    void copy(bool per_thread) {
        require_own_streams_data(by_.word(0));
        require_own_streams_data(by_.word(1));
        if (by_.word(2) != 0) {
            add_copy(linear_copy(pointer(0), pointer(1), by_.word(2), kind(3)), 4, per_thread);
        }
    }
    void copy_rows(bool per_thread) {
        copy_3d what{};
        what.destination = {pointer(0), by_.word(1), by_.word(4), by_.word(5)};
        what.source = {pointer(2), by_.word(3), by_.word(4), by_.word(5)};
        what.extent = {by_.word(4), by_.word(5), 1};
        what.kind = kind(6);
        require(by_.word(4) <= by_.word(1) && by_.word(4) <= by_.word(3), error::invalid_pitch_value);
        add_copy(what, 7, per_thread);
    }
    void copy_box(bool per_thread) {
        copy_3d what{};
        const std::byte* const from = by_.read(by_.word(0), sizeof(what));
        if (from == nullptr) {
            throw faulted{};
        }
        std::memcpy(&what, from, sizeof(what));
        require(what.source_array == nullptr && what.destination_array == nullptr, error::not_supported);
        add_copy(what, 1, per_thread);
    }
    void fill(bool per_thread) {
        add_fill({.base = pointer(0), .pitch = by_.word(2), .value = byte(1), .width = by_.word(2)}, 3, per_thread);
    }
    void fill_rows(bool per_thread) {
        add_fill({.base = pointer(0),
                  .pitch = by_.word(1),
                  .value = byte(2),
                  .width = by_.word(3),
                  .height = by_.word(4),
                  .slice_rows = by_.word(4)},
                 5, per_thread);
    }
    void fill_box(bool per_thread) {
        const auto at = struct_of<pitched_pointer>(0);
        const auto size = struct_of<extent>(2);
        add_fill({.base = at.pointer,
                  .pitch = at.pitch,
                  .value = byte(1),
                  .width = size.width,
                  .height = size.height,
                  .depth = size.depth,
                  .slice_rows = at.height},
                 3, per_thread);
    }

    // Space for the parameters; the result is 0 where the launch is refused.
    void parameters_of_kernel() {
        returns_address_ = true;
        const memory::address kernel_at = by_.word(0);
        add_buffer([&](parameter_buffer& b) {
            b.work = work_of(kernel_at, by_.argument(1), by_.argument(2), by_.word(3) & 0xFFFFFFFF);
            b.bytes = b.work->image.facts->parameter_bytes;
        });
    }
    void parameters_of_size() {
        returns_address_ = true;
        require(by_.word(0) <= memory::device_memory::alignment && by_.word(1) <= most_parameter_bytes);
        add_buffer([&](parameter_buffer& b) { b.bytes = by_.word(1); });
    }
    void launch(bool per_thread) {
        if (by_.word(0) != 0) { // 0: an earlier call has refused the launch
            launch_buffer(by_.word(0), nullptr, 1, per_thread);
        }
    }
    void launch_of_kernel(bool per_thread) {
        if (by_.word(1) == 0) {
            return;
        }
        kernel_work work = work_of(by_.word(0), by_.argument(2), by_.argument(3), by_.word(4) & 0xFFFFFFFF);
        launch_buffer(by_.word(1), &work, 5, per_thread);
    }

    void set_condition() {
        const auto found = find_condition(by_.word(0));
        if (found == nullptr) {
            raise("cudaGraphSetConditional of a handle that no graph has");
        }
        found->value = static_cast<unsigned>(by_.word(1));
    }

    template <class Body>
    bool run(Body&& body) {
        return run_guarded([&] { body(*this); });
    }

private:
    static constexpr std::uint64_t most_parameter_bytes = 32764;

    [[nodiscard]] kernel_work work_of(memory::address kernel_at, const device_call::long_argument& grid,
                                      const device_call::long_argument& block, std::uint64_t shared) {
        kernel_work work;
        work.what = &kernel(kernel_at);
        work.grid = {grid[0], grid[1], grid[2]};
        work.block = {block[0], block[1], block[2]};
        work.dynamic_shared_bytes = shared;
        work.stack_bytes = all_.root().stack_bytes;
        work.heap_bytes = all_.root().heap_bytes;
        require(of_.depth < deepest_grid, error::launch_max_depth_exceeded);
        require_launchable(gpu_, work);
        return work;
    }

    template <class Describe>
    void add_buffer(Describe&& describe) {
        parameter_buffer made;
        describe(made);
        const std::lock_guard lock(all_.mutex());
        all_.require_room();
        address_ = gpu_.memory().allocate(std::max<std::uint64_t>(made.bytes, 1), memory::allocation_kind::device,
                                          "(parameters of a launch)");
        of_.buffers.emplace(address_, std::move(made));
    }

    void launch_buffer(memory::address at, kernel_work* given, std::size_t stream_argument, bool per_thread) {
        auto launched_at = by_.launch_point();
        {
            const std::lock_guard lock(all_.mutex());
            const auto found = of_.buffers.find(at);
            require(found != of_.buffers.end() && (given != nullptr || found->second.work));
            kernel_work work = given != nullptr ? std::move(*given) : std::move(*found->second.work);
            const std::uint32_t wanted = work.image.facts->parameter_bytes;
            const std::uint64_t bytes = found->second.bytes;
            work.parameters.resize(std::max(wanted, 1u));
            std::memcpy(work.parameters.data(), reinterpret_cast<const void*>(at),
                        std::min<std::uint64_t>(wanted, bytes));
            of_.buffers.erase(found);
            gpu_.memory().release(at);
            require(wanted <= bytes);
            require_no_own_memory(work);
            all_.add(of_, stream(by_.word(stream_argument), per_thread), by_.block, std::move(work),
                     std::move(launched_at));
        }
        all_.run_some_now();
    }

    void require_no_own_memory(const kernel_work& work) {
        for (std::size_t k = 0; k + 8 <= work.parameters.size(); k += 8) {
            std::uint64_t value = 0;
            std::memcpy(&value, work.parameters.data() + k, 8);
            if (by_.is_of_own_block(value)) {
                raise("launch of kernel " + work.what->demangled +
                      " with a pointer to shared or local memory, at byte " + std::to_string(k) +
                      " of the parameters: a child cannot use its parent's");
            }
        }
    }

    void require_own_streams_data(std::uint64_t at) {
        if (by_.is_of_own_block(at)) {
            raise("a copy or fill in a stream of shared or local memory, which only the launching block can use");
        }
    }

    void add(nested_work work, std::size_t stream_argument, bool per_thread) {
        auto launched_at = by_.launch_point();
        {
            const std::lock_guard lock(all_.mutex());
            all_.add(of_, stream(by_.word(stream_argument), per_thread), by_.block, std::move(work),
                     std::move(launched_at));
        }
        all_.run_some_now();
    }
    void add_copy(const copy_3d& what, std::size_t stream_argument, bool per_thread) {
        require(what.kind == copy_kind::device_to_device || what.kind == copy_kind::automatic,
                error::invalid_memcpy_direction);
        if (!is_empty(what.extent)) {
            add(copy_work{.what = what, .rows = require_copy(gpu_, what)}, stream_argument, per_thread);
        }
    }
    void add_fill(const fill_work& what, std::size_t stream_argument, bool per_thread) {
        require_own_streams_data(reinterpret_cast<std::uint64_t>(what.base));
        if (what.width == 0 || what.height == 0 || what.depth == 0) {
            return;
        }
        const extent size{what.width, what.height, what.depth};
        require_accessible(gpu_, what.base, span_of({what.base, what.pitch, what.slice_rows}, size), true);
        add(what, stream_argument, per_thread);
    }
};

struct known_function {
    std::string_view name;
    void (*run)(launching_call&);
};

using cdp_call = launching_call;
// Names without "__cudaCDP2" and "cuda"; those that end in _ptsz take null for the thread's own default stream.
constexpr known_function all_functions[] = {
    {"DeviceGetAttribute", [](cdp_call& t) { t.get_attribute(); }},
    {"DeviceGetLimit", [](cdp_call& t) { t.get_limit(); }},
    {"DeviceGetCacheConfig", [](cdp_call& t) { t.get_cache_preference(); }},
    {"DeviceGetSharedMemConfig", [](cdp_call& t) { t.get_bank_width(); }},
    {"GetLastError", [](cdp_call& t) { t.last_error(true); }},
    {"PeekAtLastError", [](cdp_call& t) { t.last_error(false); }},
    {"GetErrorString", [](cdp_call& t) { t.error_text(); }},
    {"GetErrorName", [](cdp_call& t) { t.error_name(); }},
    {"GetDeviceCount", [](cdp_call& t) { t.get_device_count(); }},
    {"GetDevice", [](cdp_call& t) { t.get_device(); }},
    {"RuntimeGetVersion", [](cdp_call& t) { t.get_version(); }},
    {"StreamCreateWithFlags", [](cdp_call& t) { t.create_stream(); }},
    {"StreamDestroy", [](cdp_call& t) { t.destroy_stream(); }},
    {"StreamWaitEvent", [](cdp_call& t) { t.wait_for_event(false); }},
    {"StreamWaitEvent_ptsz", [](cdp_call& t) { t.wait_for_event(true); }},
    {"EventCreateWithFlags", [](cdp_call& t) { t.create_event(); }},
    {"EventDestroy", [](cdp_call& t) { t.destroy_event(); }},
    {"EventRecord", [](cdp_call& t) { t.record_event(false, 0); }},
    {"EventRecord_ptsz", [](cdp_call& t) { t.record_event(true, 0); }},
    {"EventRecordWithFlags", [](cdp_call& t) { t.record_event(false, 2); }},
    {"EventRecordWithFlags_ptsz", [](cdp_call& t) { t.record_event(true, 2); }},
    {"FuncGetAttributes", [](cdp_call& t) { t.function_attributes_of(); }},
    {"OccupancyMaxActiveBlocksPerMultiprocessor", [](cdp_call& t) { t.occupancy(0); }},
    {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [](cdp_call& t) { t.occupancy(4); }},
    {"Malloc", [](cdp_call& t) { t.allocate(); }},
    {"Free", [](cdp_call& t) { t.release(); }},
    {"MemcpyAsync", [](cdp_call& t) { t.copy(false); }},
    {"MemcpyAsync_ptsz", [](cdp_call& t) { t.copy(true); }},
    {"Memcpy2DAsync", [](cdp_call& t) { t.copy_rows(false); }},
    {"Memcpy2DAsync_ptsz", [](cdp_call& t) { t.copy_rows(true); }},
    {"Memcpy3DAsync", [](cdp_call& t) { t.copy_box(false); }},
    {"Memcpy3DAsync_ptsz", [](cdp_call& t) { t.copy_box(true); }},
    {"MemsetAsync", [](cdp_call& t) { t.fill(false); }},
    {"MemsetAsync_ptsz", [](cdp_call& t) { t.fill(true); }},
    {"Memset2DAsync", [](cdp_call& t) { t.fill_rows(false); }},
    {"Memset2DAsync_ptsz", [](cdp_call& t) { t.fill_rows(true); }},
    {"Memset3DAsync", [](cdp_call& t) { t.fill_box(false); }},
    {"Memset3DAsync_ptsz", [](cdp_call& t) { t.fill_box(true); }},
    {"GetParameterBuffer", [](cdp_call& t) { t.parameters_of_size(); }},
    {"GetParameterBufferV2", [](cdp_call& t) { t.parameters_of_kernel(); }},
    {"LaunchDevice", [](cdp_call& t) { t.launch_of_kernel(false); }},
    {"LaunchDevice_ptsz", [](cdp_call& t) { t.launch_of_kernel(true); }},
    {"LaunchDeviceV2", [](cdp_call& t) { t.launch(false); }},
    {"LaunchDeviceV2_ptsz", [](cdp_call& t) { t.launch(true); }},
    {"GraphSetConditional", [](cdp_call& t) { t.set_condition(); }},
};

} // namespace

bool device_functions::call(machine::device_call& by) {
    const auto* const known = std::ranges::find(all_functions, by.function, &known_function::name);
    if (known == std::end(all_functions)) {
        by.fail(machine::fault_kind::unsupported,
                "call of cuda" + std::string(by.function) + ", which the software GPU's device runtime does not have");
        return false;
    }
    return launching_call(all_, of_, by).run(known->run);
}

} // namespace softgpu::runtime
