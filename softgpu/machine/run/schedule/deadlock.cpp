// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/schedule/deadlock.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/inspect/barrier_checks.hpp"
#include "softgpu/machine/module/source_place.hpp"
#include "softgpu/machine/run/warp/divergence.hpp"
#include "softgpu/memory/peers.hpp"

namespace softgpu::machine {

namespace {

constexpr int poll_cost = 300;       // backward branches that one of a loop that waits counts for
constexpr int short_turn = 16;       // rounds of such a loop, once a warp has waited in one
constexpr std::uint32_t settled = 2; // turns without a change, until a warp counts as quiet
constexpr std::size_t least_rounds = 3;

std::uint64_t mix(std::uint64_t h, std::uint64_t x) {
    h ^= x;
    h *= 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 29);
}

std::uint64_t hash_of(const std::byte* begin, const std::byte* end, std::uint64_t h) {
    for (; begin != end; begin += 8) {
        std::uint64_t x;
        std::memcpy(&x, begin, 8);
        h = mix(h, x);
    }
    return h;
}

std::uint64_t hash_of(std::byte* frame) {
    const program_code& code = *frame_of(frame)->code; // all of its offsets are multiples of 64
    return hash_of(frame + code.clocks_end, frame + code.frame_bytes,
                   hash_of(frame, frame + code.clocks_begin, 0x1234567));
}

// All that decides what the warp does next, but memory and the time.
std::uint64_t state_of(const warp* w, const instruction* at) {
    std::uint64_t sum = stores_of(*w->host);
    const auto add = [&](const instruction* pc, lane_mask mask, const std::byte* frame, waiting why) {
        std::uint64_t h = mix(1, reinterpret_cast<std::uintptr_t>(pc));
        h = mix(h, mask);
        h = mix(h, reinterpret_cast<std::uintptr_t>(frame));
        sum += mix(h, static_cast<std::uint64_t>(why)); // whatever the order of the splits
    };
    add(at, w->mask, w->frame, waiting::no);
    sum = mix(sum, hash_of(w->frame));
    for (std::uint32_t k = 0; k < w->parked; ++k) {
        const split& s = w->splits[k];
        add(s.pc, s.mask, s.frame, s.why);
        if (s.frame != w->frame) {
            sum += hash_of(s.frame);
        }
    }
    return sum;
}

// The decoded form of an instruction that reads memory, with its address in `a`; nullptr where it is none.
const instruction* decoded(const program_code& code, std::uint32_t source) {
    const auto found = std::find_if(code.code.begin(), code.code.end(), [&](const instruction& i) {
        return i.source == source && i.a != nowhere && i.run != poll;
    });
    return found == code.code.end() ? nullptr : &*found;
}

// Where lane `lane` of the running split reads.
std::uint64_t address_in(const instruction& i, std::byte* frame, unsigned lane) {
    const std::byte* const base = (i.a & in_constants) != 0 ? frame_of(frame)->constants : frame;
    const unsigned width = i.width[1] == 8 ? 8 : 4;
    std::uint64_t at = 0;
    std::memcpy(&at, base + (i.a & ~in_constants) + std::size_t{lane} * width, width);
    return at + static_cast<std::uint64_t>(i.immediate);
}

const std::vector<std::uint32_t>& reads_of(const program_code& code, const instruction* i) {
    return code.polls[i->more].reads;
}

bool host_may_write(const warp* w, const instruction* i) {
    const program_code& code = *frame_of(w->frame)->code;
    for (const std::uint32_t source : reads_of(code, i)) {
        const ptx::suffix space = code.source->instructions[source].space();
        const instruction* const read = decoded(code, source);
        if (read == nullptr || (space != ptx::suffix::none && space != ptx::suffix::global)) {
            continue;
        }
        for (lane_mask m = w->mask; m != 0; m &= m - 1) {
            const auto found = memory::peers::find_reachable(
                *w->host->launch->memory, address_in(*read, w->frame, static_cast<unsigned>(std::countr_zero(m))));
            if (found && (found->kind == memory::allocation_kind::host_mapped ||
                          found->kind == memory::allocation_kind::managed)) {
                return true;
            }
        }
    }
    return false;
}

// `at`: where the running split goes on, as the others stand that have given way. true: it has been in this state before.
bool look(warp* w, const instruction* at) {
    const std::uint64_t now = state_of(w, at);
    const bool known = std::find(w->history.begin(), w->history.end(), now) != w->history.end();
    if (!known) {
        w->history[w->history_next++ % w->history.size()] = now;
        w->quiet = 0;
    }
    return known;
}

std::string threads_of(const block& b, const warp& w, lane_mask mask) {
    const extent size = b.members.front().host->launch->request->block;
    const std::uint32_t first = w.index * lanes + static_cast<std::uint32_t>(std::countr_zero(mask));
    char text[96];
    std::snprintf(text, sizeof(text), "%d thread%s of block (%u,%u,%u), the first (%u,%u,%u),", std::popcount(mask),
                  std::popcount(mask) == 1 ? "" : "s", b.id.x, b.id.y, b.id.z, first % size.x, first / size.x % size.y,
                  first / size.x / size.y);
    return text;
}

std::string line_of(const warp& w, const program_code& code, std::uint32_t source) {
    if (source >= code.source->instructions.size()) {
        return {};
    }
    const check::source_place at = source_place_of(*w.host->launch->home, {code.source, source});
    const std::string lines = check::source_lines(at);
    return " at '" + at.instruction + "'" + (lines.empty() ? "" : ", " + lines);
}

// The pseudo-instruction of the loop that `pc` is in; nullptr where that is no loop which waits.
const instruction* poll_of(const program_code& code, const instruction* pc) {
    const instruction* const end = code.code.data() + code.code.size();
    const instruction* const last = std::min(pc + 64, end - 1); // such loops are short
    for (const instruction* i = pc == code.code.data() ? pc : pc - 1; i < last; ++i) {
        if (i->run == poll && i[1].target <= pc) {
            return i;
        }
    }
    return nullptr;
}

std::string described_poll(const warp& w, const split& s) {
    const program_code& code = *frame_of(s.frame)->code;
    const instruction* const i = poll_of(code, s.pc);
    if (i == nullptr) {
        return "run" + line_of(w, code, s.pc->source);
    }
    if (reads_of(code, i).empty()) {
        return "are in a loop that does nothing" + line_of(w, code, s.pc->source);
    }
    const std::uint32_t source = reads_of(code, i).front();
    std::string text = "wait for a change of ";
    const instruction* const read = decoded(code, source);
    const ptx::instruction& reads = code.source->instructions[source];
    const bool in_shared = reads.op == ptx::opcode::mbarrier || reads.space() == ptx::suffix::shared ||
                           reads.space() == ptx::suffix::shared_cta;
    if (read != nullptr) {
        const std::uint64_t at = address_in(*read, s.frame, static_cast<unsigned>(std::countr_zero(s.mask)));
        char address[40];
        std::snprintf(address, sizeof(address), "%s memory at 0x%llx", in_shared ? "shared" : "global",
                      static_cast<unsigned long long>(at));
        text += address;
        const auto found = in_shared ? std::nullopt : memory::peers::find_reachable(*w.host->launch->memory, at);
        if (found && !found->name.empty()) {
            text += " (" + found->name + ")";
        }
    } else {
        text += "memory";
    }
    return text + line_of(w, code, source);
}

std::string described_split(const warp& w, const split& s) {
    const program_code& code = *frame_of(s.frame)->code;
    switch (s.why) {
    case waiting::barrier: {
        // It goes on behind the barrier.
        const std::uint32_t source = s.pc == code.code.data() ? 0 : (s.pc - 1)->source;
        return "wait at barrier " + std::to_string(s.barrier) + line_of(w, code, source);
    }
    case waiting::others: return "wait for " + missing_at(w, s) + line_of(w, code, s.pc->source);
    case waiting::no: break;
    }
    const ptx::instruction& at = code.source->instructions[s.pc->source];
    if (at.op == ptx::opcode::barrier && at.has(ptx::suffix::cluster)) {
        return "wait at the cluster's barrier" + line_of(w, code, s.pc->source);
    }
    return described_poll(w, s);
}

} // namespace

std::uint64_t stores_of(const worker& host) {
    std::uint64_t n = 0;
    for (std::size_t k = 0; k < host.intervals_used; ++k) {
        const observe::counters& c = host.counts[k];
        n += c.global_store_requests + c.shared_store_requests + c.local_store_requests;
    }
    return n;
}

const instruction* poll(const instruction* i, std::byte* /*frame*/, warp* w) {
    w->budget -= poll_cost;
    if (w->budget >= 0) {
        return i + 1;
    }
    const bool known = look(w, i + 1);
    if (frame_of(w->frame)->code->polls[i->more].may_time_out) {
        w->quiet = 0;
    } else if (known && !host_may_write(w, i)) {
        w->quiet = std::min(w->quiet + 1, settled);
    }
    w->budget = short_turn * poll_cost;
    return give_way(w, i + 1);
}

void wait_quietly(warp* w, const instruction* at) {
    if (look(w, at)) {
        w->quiet = std::min(w->quiet + 1, settled);
    }
}

bool is_quiet(const block& b) {
    return std::all_of(b.members.begin(), b.members.end(), [](const warp& w) {
        const auto runs = [](const split& s) { return s.why == waiting::no; };
        const bool can_run =
            w.live != 0 && (w.running || std::any_of(w.splits.begin(), w.splits.begin() + w.parked, runs));
        return !can_run || w.quiet >= settled;
    });
}

void quiet_watch::become(bool quiet) {
    if (quiet != quiet_) {
        quiet_ = quiet;
        if (quiet) {
            --launch_.restless;
        } else {
            ++launch_.changes;
            ++launch_.restless;
        }
    }
}

bool quiet_watch::turn(bool quiet, std::size_t resident, bool more_may_start) {
    quiet_turns_ = quiet && !more_may_start ? quiet_turns_ + 1 : 0;
    become(quiet_turns_ > least_rounds * resident);
    const double limit = launch_.request->deadlock_seconds;
    if (!quiet_ || limit <= 0 || launch_.restless.load() != 0) {
        timing_ = false;
        return false;
    }
    const auto now = std::chrono::steady_clock::now();
    if (launch_.request->outside && launch_.request->outside()) {
        ++launch_.changes;
    }
    const std::uint64_t changes = launch_.changes.load();
    if (!timing_ || changes != seen_changes_) {
        timing_ = true;
        seen_changes_ = changes;
        last_turn_ = now;
        waited_ = 0;
        agreed_ = false;
        return false;
    }
    waited_ += std::min(std::chrono::duration<double>(now - last_turn_).count(),
                        limit / static_cast<double>(least_rounds * resident));
    last_turn_ = now;
    if (agreed_ || waited_ <= limit) {
        return false;
    }
    agreed_ = true;
    return all_.agree(launch_, changes);
}

void quiet_watch::finish() {
    become(true);
    all_.finish(launch_);
}

void quiet_workers::begin(launch_state& launch) {
    const std::lock_guard lock(mutex_);
    ++all_;
    ++launch.restless;
    ++launch.changes;
}

void quiet_workers::finish(launch_state& launch) {
    const std::lock_guard lock(mutex_);
    --all_;
    ++launch.changes;
}

bool quiet_workers::agree(const launch_state& launch, std::uint64_t changes) {
    const std::lock_guard lock(mutex_);
    if (changes != launch.changes.load()) {
        return false;
    }
    if (agreed_after_ != changes) {
        agreed_after_ = changes;
        agreed_ = 0;
    }
    return ++agreed_ == all_;
}

std::string described_waits(const block& b) {
    constexpr std::size_t most = 3;
    std::string text;
    std::size_t groups = 0;
    std::uint32_t left = 0;
    for (const warp& w : b.members) {
        const auto tell = [&](const split& s) {
            if (groups++ < most) {
                text += (text.empty() ? "" : "; ") + threads_of(b, w, s.mask) + " " + described_split(w, s);
            } else {
                left += static_cast<std::uint32_t>(std::popcount(s.mask));
            }
        };
        if (w.running) {
            tell({w.pc, w.mask, w.join_index, w.frame, waiting::no, 0, 0});
        } else if (w.held != 0) {
            tell({w.pc, w.mask, w.join_index, w.frame, waiting::barrier, static_cast<std::uint8_t>(w.held - 1), 0});
        }
        for (std::uint32_t k = 0; k < w.parked; ++k) {
            tell(w.splits[k]);
        }
    }
    return left == 0 ? text : text + "; and " + std::to_string(left) + " threads more";
}

} // namespace softgpu::machine
