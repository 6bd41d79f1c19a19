// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/block_checks.hpp"

#include <algorithm>

#include "softgpu/check/launch_checks.hpp"
#include "softgpu/machine/module/kernel.hpp"
#include "softgpu/machine/module/shared_layout.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

void start_checks(block& b) {
    launch_state& l = *b.launch;
    const code_variant how = variant_of(*l.request);
    if (how.checks == 0) {
        return; // the instructions themselves find all that is asked for
    }
    if (b.checks == nullptr) {
        b.checks = std::make_shared<block_checks>();
        b.view = &b.checks->clock.view;
        b.view->acquired_at = b.checks->acquired_at;
        b.checks->sites = l.of->sites.at(how).get();
        if (l.check_races) {
            // Handlers look at whole rows around the words in question.
            constexpr std::size_t margin = 64;
            const std::size_t words = (l.shared_bytes + 3) / 4 + 2 * margin;
            b.checks->shared_stamps.assign(2 * words, 0);
            b.view->shared_writes = b.checks->shared_stamps.data() + margin;
            b.view->shared_reads = b.checks->shared_stamps.data() + words + margin;
        }
        if (l.check_init) {
            b.checks->shared_valid_bytes = l.shared_bytes / 8 + 9;
            // Arguments and frames of calls are written without an instruction that could be looked at.
            const bool local = l.of->callees.empty() && !l.of->needs_stack;
            b.checks->valid.resize(b.checks->shared_valid_bytes +
                                   (local ? std::size_t{l.local_bytes} * b.warps * lanes / 8 + 9 : 0));
            b.view->shared_valid = b.checks->valid.data();
            b.view->local_valid = local ? b.checks->valid.data() + b.checks->shared_valid_bytes : nullptr;
        }
    }
    std::fill(b.checks->valid.begin(), b.checks->valid.end(), std::uint8_t{0});
    if (l.check_init && l.of->uses_reserved_shared) {
        for (std::uint32_t at = shared_layout_of(*l.of, *l.request).reserved_at; at < l.shared_bytes; ++at) {
            // The system has written it.
            b.view->shared_valid[at / 8] |= static_cast<std::uint8_t>(1u << (at & 7));
        }
    }
    b.view->shared_stored = 0;
    b.view->has_lost = false;
    b.checks->copies_under_way = 0;
    b.view->shared_written_from = 0;
    b.view->shared_written_upto = 0;
    for (auto& held : b.checks->uninitialized) {
        held.clear();
    }
    b.checks->record = nullptr;
    b.checks->lost.clear();
    b.checks->products = nullptr;
    for (auto& there : b.checks->arrivals) {
        there.clear();
    }
    b.view->has_fenced = false;
    b.view->has_acquired = false;
    b.view->has_remote = false;
    b.checks->remote_writes.clear();
    b.checks->remote_reads.clear();
    b.checks->proxy_fences.clear();
    b.checks->proxy_fence_base = 0;
    b.checks->acquired_maps.clear();
    b.checks->met_serial = 0;
    b.checks->met = nullptr;
    b.checks->clock.start(b.warps, l.checks->serial_of(b.linear), l.checks->floor_serial(),
                          l.check_races && l.checks->stamps_global());
    b.checks->started = b.view->time;
    const auto first_of = [](std::uint64_t serial) {
        return static_cast<check::stamp>(serial << (check::serial_time_bits + check::time_shift));
    };
    b.view->launch_first = first_of(l.checks->first_serial());
    b.view->launch_end = first_of(l.checks->last_serial() + 1);
}

} // namespace softgpu::machine
