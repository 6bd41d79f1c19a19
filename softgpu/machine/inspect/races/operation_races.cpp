// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/races/operation_races.hpp"

#include <bit>
#include <functional>

#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/module/loaded_module.hpp"
#include "softgpu/machine/module/source_place.hpp"

namespace softgpu::machine {

namespace {

class launch_reader final : public check::stamp_reader {
public:
    explicit launch_reader(const launch_state& l)
        : sites_(*l.of->sites.at(variant_of(*l.request))),
          home_(*l.home),
          grid_(l.request->grid),
          block_(l.request->block) {}

    [[nodiscard]] check::finding_access describe(check::stamp s, std::uint64_t block, bool of_write) const override {
        check::finding_access a;
        const access_site* const made = site_of(s);
        a.what = made != nullptr ? access_text(*made) : of_write ? "a write" : "a read";
        if (made != nullptr) {
            a.where = source_place_of(home_, {made->function, made->source});
        }
        if (of_write || check::spread_of(s) == check::spread::thread) {
            a.block = grid_.index(block);
            a.thread = block_.index(check::warp_of(s) * lanes + check::lane_of(s));
            a.has_thread = true;
        } else {
            a.what += " by several threads";
        }
        return a;
    }

    [[nodiscard]] std::uint64_t site(check::stamp s) const override {
        const access_site* const made = site_of(s);
        return made == nullptr ? 0
                               : reinterpret_cast<std::uint64_t>(made->function->instructions.data() + made->source);
    }

    [[nodiscard]] bool is_signal(check::stamp s, bool of_write) const override {
        return of_write ? check::strength_of(s) != check::strength::plain : (s & check::strong_read) != 0;
    }

private:
    [[nodiscard]] const access_site* site_of(check::stamp s) const {
        return sites_.by_id[check::site_of(s)].load(std::memory_order_acquire);
    }

    const site_table& sites_;
    const module::implementation& home_;
    extent grid_;
    extent block_;
};

} // namespace

std::shared_ptr<const check::stamp_reader> reader_of(const launch_state& l) {
    return std::make_shared<launch_reader>(l);
}

void report_operations(launch_state& l, const lane_access& now, const check::operation_record& other, check::stamp s,
                       bool of_write) {
    const std::uint64_t own =
        reinterpret_cast<std::uint64_t>(now.site->function->instructions.data() + now.site->source);
    const std::uint64_t others =
        other.reader != nullptr ? other.reader->site(s) : std::hash<std::string>{}(other.title());
    const check::launch_checks::alike which{check::race, "operations", false, own, others, of_write ? 0u : 1u};
    if (l.checks->count_again(which)) {
        return;
    }
    const check::operation_record& self = l.checks->record();
    check::finding_access mine;
    mine.what = self.title() + ", " + access_text(*now.site);
    mine.where = source_place_of(*l.home, {now.site->function, now.site->source});
    mine.block = l.request->grid.index(now.of->owner->linear);
    mine.thread = l.request->block.index(thread_of(now.of, now.lane));
    mine.has_thread = true;
    check::finding_access theirs;
    if (other.reader != nullptr) {
        const std::uint64_t serial = check::time_of(s) >> check::serial_time_bits;
        theirs = other.reader->describe(s, l.checks->operations()->block_of(other, serial), of_write);
        theirs.what = other.title() + ", " + theirs.what;
    } else {
        theirs.what = other.title() + (of_write ? ", writes it" : ", reads it");
    }
    check::finding f = check::race_of(self, std::move(mine), other, std::move(theirs));
    f.address = hexadecimal(now.at);
    f.allocation = l.checks->owner.all_memories().describe(now.at);
    l.checks->add(which, std::move(f));
}

bool meet_ordered(const instruction* i, warp* w, const std::uint64_t* at, lane_mask mask) {
    const launch_state& l = *w->host->launch;
    check::block_view& v = *w->owner->view;
    if (l.checks->operations() == nullptr) {
        return false;
    }
    const auto meet = [&](check::stamp s) {
        if (s < v.launch_floor || s >= v.launch_first || v.ordered[0].contains(s) || v.ordered[1].contains(s)) {
            return false;
        }
        constexpr unsigned shift = check::time_shift + check::serial_time_bits;
        const check::order::serial_span span =
            l.checks->operations()->ordered_before(l.checks->record(), static_cast<std::uint64_t>(s) >> shift);
        if (span.first > span.last) {
            return false;
        }
        v.ordered[1] = v.ordered[0];
        v.ordered[0] = {static_cast<check::stamp>(span.first << shift), (span.last + 1 - span.first) << shift};
        return true;
    };
    const check::shadow_view& shadow = *l.shadow;
    bool met = false;
    for (const int lane : {std::countr_zero(mask), 31 - std::countl_zero(mask)}) {
        const std::uint64_t begin = at[lane] - shadow.arena;
        const std::uint64_t end = begin + i->access->bytes;
        for (std::uint64_t k = begin / 4; begin < shadow.bytes && end <= shadow.bytes && k * 4 < end; ++k) {
            met = meet(__atomic_load_n(shadow.writes + k, __ATOMIC_RELAXED)) || met;
            met = meet(__atomic_load_n(shadow.reads + k, __ATOMIC_RELAXED)) || met;
        }
    }
    return met;
}

void meet_signal(launch_state& l, block_checks& reader, std::uint64_t at) {
    const check::shadow_view& shadow = *l.shadow;
    const check::block_view& v = reader.clock.view;
    if (at - shadow.arena >= shadow.bytes || !v.stamps_global) {
        return;
    }
    const check::stamp written = __atomic_load_n(shadow.writes + (at - shadow.arena) / 4, __ATOMIC_RELAXED);
    if (written < v.launch_floor || (written >= v.launch_first && written < v.launch_end)) {
        return;
    }
    check::order& operations = *l.checks->operations();
    const std::uint64_t serial = check::time_of(written) >> check::serial_time_bits;
    if (reader.met_serial != serial) {
        reader.met = operations.unordered(l.checks->record(), serial);
        reader.met_serial = serial;
    }
    if (reader.met != nullptr && !l.checks->is_below(*reader.met) &&
        (reader.met->reader == nullptr || reader.met->reader->is_signal(written, true))) {
        operations.meet(l.checks->record(), reader.met.get());
        reader.met_serial = 0;
    }
}

void meet_host(launch_state& l) {
    if (l.checks->operations() != nullptr) {
        l.checks->operations()->meet(l.checks->record(), nullptr);
    }
}

} // namespace softgpu::machine
