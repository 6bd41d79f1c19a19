// SPDX-License-Identifier: MIT
#include "softgpu/machine/calls/device_calls.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "softgpu/check/launch_checks.hpp"
#include "softgpu/machine/calls/lane_memory.hpp"
#include "softgpu/machine/device_runtime.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/races/release_checks.hpp"
#include "softgpu/machine/module/loaded_module.hpp"
#include "softgpu/machine/run/fault.hpp"

namespace softgpu::machine {

namespace {

constexpr std::string_view current_prefix = "__cudaCDP2";
constexpr std::string_view old_prefix = "cuda";

class lane_call final : public device_call {
public:
    lane_call(const instruction* i, warp* w, const call_site& site, unsigned lane)
        : i_(i), w_(w), site_(site), lane_(lane), memory_(w, i, lane) {
        function = site.to->name;
        function.remove_prefix(function.starts_with(current_prefix) ? current_prefix.size() : old_prefix.size());
        block = w->owner->linear;
        thread = w->index * lanes + lane;
    }

    [[nodiscard]] std::uint64_t word(std::size_t nth) const override {
        const long_argument all = argument(nth);
        return all[0] | std::uint64_t{all[1]} << 32;
    }

    [[nodiscard]] long_argument argument(std::size_t nth) const override {
        long_argument value{};
        if (nth < site_.arguments.size() && site_.arguments[nth].at != nowhere) {
            const parameter_area& a = site_.arguments[nth];
            std::memcpy(value.data(), lanes_at(w_->frame, w_, a.at) + std::size_t{lane_} * a.stride,
                        std::min<std::size_t>(a.stride, sizeof(value)));
        }
        return value;
    }

    [[nodiscard]] const std::byte* read(std::uint64_t at, std::uint64_t bytes) override {
        return memory_.read(at, bytes);
    }

    [[nodiscard]] std::byte* write(std::uint64_t at, std::uint64_t bytes) override { return memory_.write(at, bytes); }

    void give_result(std::uint64_t value) override {
        if (!site_.results.empty() && site_.results[0].at != nowhere) {
            const parameter_area& r = site_.results[0];
            std::memcpy(w_->frame + r.at + std::size_t{lane_} * r.stride, &value, std::min(r.stride, 8u));
        }
    }

    void fail(fault_kind kind, const std::string& what) override { raise_text(w_, i_, kind, what, lane_); }

    [[nodiscard]] addressed_kernel kernel_at(memory::address at) const override {
        const auto* const f = static_cast<const function_entry*>(w_->host->launch->memory->code_at(at));
        return f == nullptr || f->source == nullptr || !f->source->is_entry ? addressed_kernel{}
                                                                            : addressed_kernel{f->home->front, f->name};
    }

    [[nodiscard]] bool is_of_own_block(std::uint64_t at) const override {
        constexpr std::uint64_t window = memory::device_memory::window_bytes;
        const memory::device_memory& memory = *w_->host->launch->memory;
        return at - memory.shared_window() < window || at - memory.local_window() < window ||
               at - memory.cluster_window() < memory::device_memory::cluster_window_bytes;
    }

    [[nodiscard]] std::shared_ptr<const check::launch_point> launch_point() override {
        launch_state& l = *w_->host->launch;
        if (!l.check_races || l.checks->operations() == nullptr) {
            return nullptr;
        }
        block_checks& of_block = *w_->owner->checks;
        auto made = std::make_shared<check::launch_point>();
        made->parent = l.checks->kept_record();
        made->graph = l.checks->kept_graph;
        const std::lock_guard lock(made->graph->mutex());
        check::release_graph::block_record& record = record_of(*w_->owner);
        of_block.clock.close(w_->index);
        made->block = &record;
        made->release = made->graph->add_release(record, of_block.clock, w_->index, false);
        made->by = lane_mask{1} << lane_;
        return made;
    }

private:
    const instruction* i_;
    warp* w_;
    const call_site& site_;
    unsigned lane_;
    lane_memory memory_;
};

} // namespace

bool is_of_device_runtime(std::string_view function) noexcept {
    constexpr std::string_view others[] = {"cudaGraph", "cudaGetParameterBuffer", "cudaLaunchDevice"};
    return function.starts_with(current_prefix) ||
           std::ranges::any_of(others, [&](std::string_view start) { return function.starts_with(start); });
}

bool call_device_runtime(const instruction* i, warp* w, const call_site& site) {
    device_runtime* const runtime = w->host->launch->request->runtime;
    const auto first = static_cast<unsigned>(std::countr_zero(w->mask));
    if (site.to == nullptr) {
        raise_text(w, i, fault_kind::unsupported, "call of a function of the device runtime by its address", first);
        return false;
    }
    if (runtime == nullptr) {
        raise_text(w, i, fault_kind::unsupported, "call of " + site.to->name + " in a launch without a device runtime",
                   first);
        return false;
    }
    for (lane_mask left = w->mask; left != 0; left &= left - 1) {
        lane_call call(i, w, site, static_cast<unsigned>(std::countr_zero(left)));
        if (!runtime->call(call)) {
            return false;
        }
    }
    w->host->known = {}; // the call may have released memory
    return true;
}

} // namespace softgpu::machine
