// SPDX-License-Identifier: MIT
#include "softgpu/predict/model.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace softgpu::predict {
namespace {

using observe::bound_time;
using observe::instruction_class;

constexpr double lanes = 32;
constexpr double sector_bytes = 32;
constexpr double line_sectors = 4;
constexpr double words_of_sector = 8;
constexpr double register_granularity = 256; // of a warp, or of a block

double real(std::uint64_t n) { return static_cast<double>(n); }
double share(std::uint64_t part, std::uint64_t whole) { return whole == 0 ? 0 : real(part) / real(whole); }

constexpr const char* class_names[] = {"integer", "multiply", "shift",   "logic",   "fp32", "fp64",
                                       "half",    "special",  "convert", "shuffle", "vote"};

bool has_short_addresses(const card& c) { return c.address_bits <= 32; }

// Cycles of n blocks of one multiprocessor that run at the same time: each waits `alone` cycles in its chain and needs each of
// `busy` cycles of something, for which it queues. Mean value analysis of a closed network.
double cycles_together(std::uint64_t n, double alone, std::span<const double> busy) {
    std::vector<double> queued(busy.size());
    std::vector<double> residence(busy.size());
    double together = 0;
    for (std::uint64_t k = 1; k <= n; ++k) {
        together = alone;
        for (std::size_t s = 0; s < busy.size(); ++s) {
            residence[s] = busy[s] * (1 + queued[s]); // what a block finds in the queue, and its own cycles
            together += residence[s];
        }
        for (std::size_t s = 0; s < busy.size(); ++s) {
            queued[s] = together > 0 ? real(k) * residence[s] / together : 0;
        }
    }
    return together;
}
double warps_of(const launch_shape& shape) {
    return std::ceil(real(std::max<std::uint64_t>(shape.threads, 1)) / lanes);
}

double launch_cost(const card& c, const launch_work& w) {
    return w.shape.starts_early ? c.launch_dependent : w.shape.follows_kernel ? c.launch_next : c.launch;
}

// One launch on one card, with one of the two L2 caches.
class estimate {
public:
    estimate(const card& c, const launch_work& w, const traffic& t) : c_(c), w_(w), t_(t) {
        const double blocks = real(std::max<std::uint64_t>(w.shape.blocks, 1));
        resident_ = resident_blocks(c, w.shape);
        // Blocks of one size: the last wave may leave multiprocessors idle.
        own_blocks_ = std::ceil(blocks / c.multiprocessors);
        share_ = own_blocks_ / blocks;
        wait_for_loads();
        add_multiprocessor();
        add_device();
        queue();
        std::stable_sort(bounds_.begin(), bounds_.end(),
                         [](const bound_time& a, const bound_time& b) { return a.nanoseconds > b.nanoseconds; });
    }

    // The launch itself, and what takes longest: a multiprocessor, or the device's slowest part and the first data's way to the
    // multiprocessors. The chain of a multiprocessor's blocks has the first data's way.
    [[nodiscard]] double nanoseconds() const {
        const double first = t_.loads == 0 ? 0 : load_ / c_.clock;
        return launch_cost(c_, w_) + std::max(own_cycles_ / c_.clock, device_ + first);
    }
    // The slowest; nullptr where nothing takes time.
    [[nodiscard]] const bound_time* bound() const { return bounds_.empty() ? nullptr : &bounds_.front(); }
    [[nodiscard]] const std::vector<bound_time>& bounds() const { return bounds_; }
    // Of loads alone, as Nsight Compute counts reads. Sectors of a line that two warps ask for together go to L2 as one request,
    // and miss together. The warps stay together if both find the multiprocessor's slowest part idle. Sectors that one asks for
    // before the other one are no hits; where the warps do not stay together, either may be first.
    [[nodiscard]] double l2_load_hit_rate() const {
        const double loads = real(t_.l2_reads - t_.l2_atomics);
        const double cycles = (nanoseconds() - launch_cost(c_, w_)) * c_.clock;
        const double idle = std::max(1 - own_busy_ * own_blocks_ / std::max(cycles, 1.0), 0.0);
        const double in_order = idle * idle;
        const double missed = real(t_.l2_together) * in_order + real(t_.l2_early_hits) * (1 + in_order) / 2;
        const double hits = real(t_.l2_read_hits - t_.l2_atomic_hits) - missed;
        return loads > 0 ? hits / loads : 0;
    }

private:
    void add(const char* name, double cycles) {
        if (cycles > 0) {
            bounds_.push_back({name, cycles / c_.clock});
        }
    }

    // A chain of these cycles with loads served by L1 and by DRAM.
    [[nodiscard]] double between(double near, double far) const {
        return near + (far - near) * (load_ - c_.latency_l1) / std::max(c_.latency_dram - c_.latency_l1, 1.0);
    }

    // From the end of a block to the start of the one that follows it: a round trip to the unit that starts the device's blocks.
    // Supposed: it is as far away as L2.
    [[nodiscard]] double between_blocks() const { return c_.l2_bytes > 0 ? c_.latency_l2 : 0; }

    // Of lanes at one word of shared memory each has a round of an atomic's loop; the chain has that of one.
    [[nodiscard]] double loops() const {
        constexpr double round = 3.65; // times an atomic of the hardware
        const double warps = real(std::max<std::uint64_t>(w_.shape.blocks, 1)) * warps_of(w_.shape);
        return real(w_.met.loop_rounds) / warps * round * c_.latency_shared_atomic;
    }

    // How often the chain waits for loads.
    [[nodiscard]] double waits() const {
        return (w_.path_far - w_.path_near) / std::max(c_.latency_dram - c_.latency_l1, 1.0);
    }
    // How often for one that L1 does not have; at least once.
    [[nodiscard]] double load_rounds() const { return std::max(waits() * (1 - hit_l1_), 1.0); }

    // A warp waits for the slowest of the lines of a load, and for the slowest of the loads that it has on their way.
    void wait_for_loads() {
        const double warps = real(std::max<std::uint64_t>(w_.shape.blocks, 1)) * warps_of(w_.shape);
        const double together = std::max(real(t_.load_requests) / warps / std::max(waits(), 1.0), 1.0);
        const double hit =
            t_.load_requests == 0 ? share(t_.l1_hits, t_.loads) : 1 - share(t_.load_requests_waited, t_.load_requests);
        hit_l1_ = std::pow(hit, together);
        const double missed = hit_l1_ < 1 ? std::max(together * (1 - hit) / (1 - hit_l1_), 1.0) : 1;
        const double apart = std::max(share(t_.load_lines_apart, t_.load_requests_missed), 1.0);
        const std::uint64_t waited = t_.l2_late_hits + t_.l2_far_late + t_.l2_waited;
        hit_l2_ = std::pow(share(t_.l2_read_hits + t_.l2_far_hits - waited, t_.l2_reads), apart * missed);
        const auto doublings = [](double n) { return std::log2(n) / std::log2(lanes); };
        const double turns = w_.shared ? 1 : share(w_.met.load_turns, w_.total.global_load_requests) / line_sectors;
        const double by_l1 = c_.latency_l1 + std::max(turns - 1, 0.0) * c_.latency_turn;
        const double by_l2 = c_.latency_l2 + doublings(apart) * c_.latency_l2_lines;
        // The loads of a warp begin one after the other: they wait for each other in DRAM alone.
        const double by_dram = c_.latency_dram + doublings(apart) * c_.latency_dram_lines +
                               doublings(missed) * std::max(c_.latency_dram_lines - c_.latency_l2_lines, 0.0);
        load_ = hit_l1_ * by_l1 + (1 - hit_l1_) * (hit_l2_ * by_l2 + (1 - hit_l2_) * by_dram);
    }

    // Nanoseconds in which L2 takes what is stored: part for a request, part for each of its sectors. The card has those of
    // requests of one sector and of a whole line.
    [[nodiscard]] double stores() const {
        const double one = 1 / c_.l2_store_requests;
        const double whole = line_sectors * sector_bytes / c_.l2_store_bandwidth;
        const double of_sector = std::max(whole - one, 0.0) / (line_sectors - 1);
        return real(t_.l2_store_requests) * (one - of_sector) + real(t_.l2_writes) * of_sector;
    }
    // Cycles in which the busiest multiprocessor sends it.
    [[nodiscard]] double own_store_cycles() const {
        return c_.l2_bytes > 0 ? stores() * share_ * c_.l2_store_bandwidth / c_.l2_store_multiprocessor : 0;
    }

    // Nanoseconds of DRAM's, which moves `rate` bytes a nanosecond. Reads in other rows, and lines of which a part is written, take
    // as long as more bytes.
    [[nodiscard]] double dram(double rate) const {
        const auto moved = [&](std::uint64_t sectors) { return real(sectors) * sector_bytes / rate; };
        return std::max(moved(t_.dram_reads), real(t_.dram_rows) / c_.dram_rows) +
               moved(t_.dram_writes - t_.dram_part_sectors) +
               std::max(moved(t_.dram_part_sectors), real(t_.dram_part_lines) / c_.dram_part_writes);
    }

    // The part of a multiprocessor's schedulers that have something to do while the one with most warps has.
    [[nodiscard]] double schedulers() const {
        const double all = std::max(c_.register_partitions, 1.0);
        const double warps = std::min(own_blocks_, real(resident_)) * warps_of(w_.shape);
        return warps / (all * std::ceil(warps / all));
    }

    void add_multiprocessor() {
        const observe::counters& n = w_.total;
        // 64-bit integers are addresses, mostly.
        const double upper = has_short_addresses(c_) ? 0 : real(w_.mix[instruction_class::upper]);
        double issued = upper - real(w_.mix[instruction_class::upper] + w_.mix[instruction_class::tensor_products]);
        for (const std::uint64_t of_class : w_.mix.of) {
            issued += real(of_class);
        }
        // A wavefront after the first is issued again.
        issued += w_.shared ? w_.shared->reissued : real(n.shared_load_bank_conflicts + n.shared_store_bank_conflicts);
        const double part = schedulers();
        add("issue", issued * share_ / c_.issue / part);
        const auto throughput = throughputs_of(c_);
        for (std::size_t k = 0; k < std::size(class_names); ++k) {
            double instructions = real(w_.mix.of[k]);
            // The unit of logic shifts as well. Additions go there or to the one of products.
            if (k == static_cast<std::size_t>(instruction_class::logic)) {
                instructions += real(w_.mix[instruction_class::shift]);
            } else if (k == static_cast<std::size_t>(instruction_class::integer)) {
                instructions += real(w_.mix[instruction_class::logic] + w_.mix[instruction_class::shift]) + upper;
            }
            add(class_names[k], instructions * lanes * share_ / throughput.of[k] / part);
        }
        const std::ptrdiff_t of_schedulers = std::ssize(bounds_);
        add("tensor", real(w_.mix[instruction_class::tensor_products]) * lanes * share_ / c_.throughput_tensor);
        double requests = 0;
        for (const instruction_class k :
             {instruction_class::global_load, instruction_class::global_store, instruction_class::global_atomic,
              instruction_class::shared_load, instruction_class::shared_store, instruction_class::shared_atomic,
              instruction_class::local, instruction_class::constant, instruction_class::texture}) {
            requests += real(w_.mix[k]);
        }
        add("lsu", requests * lanes * share_ / c_.throughput_memory);
        const meetings& m = w_.met;
        // Lanes at one word come one after the other, those that count it together.
        const std::uint64_t turns =
            n.shared_atomic_wavefronts - std::min(n.shared_atomic_wavefronts, m.shared_counters);
        const std::uint64_t wavefronts =
            w_.shared ? w_.shared->wavefronts
                      : n.shared_load_wavefronts + n.shared_store_wavefronts - m.joined_wavefronts;
        const double shared = (real(wavefronts) + real(m.loop_wavefronts) / 2) / c_.shared_wavefronts +
                              real(turns) / c_.shared_atomics_one_word +
                              real(m.shared_counts) * lanes / c_.shared_counts_one_word;
        add("constant", real(m.constant_words) * share_ / c_.constant_words);
        add("match",
            (real(m.matches) * lanes / c_.throughput_match + real(m.match_values - m.matches) / c_.match_values) *
                share_);
        add("texture", std::max(real(m.texture_turns) / 2, real(w_.mix[instruction_class::texture])) * lanes * share_ /
                           c_.throughput_texture);
        // A turn of L1 is a line of four sectors. Cards with rules of their own have no turns.
        const std::uint64_t loaded = w_.shared ? n.global_load_sectors : m.load_turns;
        const double sectors =
            std::max(real(loaded + n.global_store_sectors + n.local_load_sectors + n.local_store_sectors),
                     own_store_cycles() * c_.l1_sectors / share_);
        // Shared memory lies in the same banks: what has more to do has both.
        const double l1 = sectors / c_.l1_sectors;
        const double both = c_.l1_bytes > 0 && !w_.shared ? shared + l1 : std::max(shared, l1);
        add("shared", (shared < l1 ? shared : both) * share_);
        add("l1", (shared < l1 ? both : l1) * share_);
        const auto slowest =
            std::max_element(bounds_.begin(), bounds_.end(),
                             [](const bound_time& a, const bound_time& b) { return a.nanoseconds < b.nanoseconds; });
        // Warps of other schedulers are in nobody's way.
        const bool is_of_scheduler = slowest != bounds_.end() && slowest - bounds_.begin() < of_schedulers;
        own_busy_ =
            slowest == bounds_.end() ? 0 : slowest->nanoseconds * c_.clock / own_blocks_ * (is_of_scheduler ? part : 1);
        own_least_ = slowest == bounds_.end() ? 0 : slowest->nanoseconds * c_.clock;
        // The chain has a cycle of each instruction, and not the turns after the first one of a request.
        double in_chain = 1;
        if (slowest != bounds_.end() && (slowest->name == "shared" || slowest->name == "l1")) {
            in_chain = real(n.global_load_requests + n.global_store_requests + n.shared_load_requests +
                            n.shared_store_requests + n.shared_atomic_requests) /
                       both;
        }
        own_in_chain_ = own_busy_ / warps_of(w_.shape) * std::min(in_chain, 1.0);
        // The chain, as far as loads wait for L1, L2 and DRAM; once for each wave of blocks.
        path_ = between(w_.path_near, w_.path_far) + loops();
        const double waves = std::ceil(own_blocks_ / real(resident_));
        add("latency", path_ * waves + between_blocks() * (waves - 1));
    }

    // What the blocks of a multiprocessor take that queue for its slowest part, for L2 and for DRAM, of which each
    // multiprocessor has its share.
    void queue() {
        // The chain has one warp's part of what the block needs. Warps that meet at no barrier queue by themselves.
        const double warps = warps_of(w_.shape);
        double alone = std::max(path_ - own_in_chain_, 0.0);
        if (w_.total.barriers == 0) {
            const double of_warp[] = {own_busy_ / warps};
            alone = std::max(cycles_together(static_cast<std::uint64_t>(warps), alone, of_warp) - own_busy_, 0.0);
        }
        const auto own = static_cast<std::uint64_t>(own_blocks_);
        const std::uint64_t first = std::min(own, resident_);
        const std::uint64_t following = own - first;
        const auto cycles = [&](double l2, double dram) {
            const double busy[] = {own_busy_, std::max(l2, dram) / own_blocks_};
            return cycles_together(first, alone, busy) +
                   real(following / resident_) * cycles_together(resident_, alone + between_blocks(), busy) +
                   cycles_together(following % resident_, alone + between_blocks(), busy);
        };
        // What the multiprocessor's loads take where no other multiprocessor is in the way, and its share of the stores.
        const double loads = c_.l2_bytes > 0 ? std::max(real(t_.l2_reads) * sector_bytes / c_.l2_multiprocessor,
                                                        real(t_.load_lines_missed) / c_.l2_multiprocessor_requests) *
                                                   share_
                                             : 0;
        const double way = std::max(loads, std::min(loads + stores() * c_.clock, l2_cycles_));
        const double shared_way = std::max(l2_cycles_, way);
        if (resident_ == 1) { // nobody is before the block
            own_cycles_ = cycles(way, 0);
        } else if (own > resident_) {
            own_cycles_ = cycles(shared_way, dram_cycles_);
        } else {
            // All blocks begin together and ask L2 and DRAM for their first data at the same time. Later one loads while
            // others wait.
            const double later = std::max({cycles(way, 0), l2_cycles_, dram_cycles_});
            own_cycles_ = later + (cycles(shared_way, dram_cycles_) - later) / load_rounds();
        }
        // The last block that fits starts so much later than the first one. Where all do, one ends last, which may have waited
        // for others.
        const double started =
            own <= resident_ && w_.end_far > 0
                ? std::max(between(w_.end_near, w_.end_far) - path_, 0.0)
                : std::min(real(w_.shape.blocks), c_.multiprocessors * real(resident_)) / c_.block_starts;
        // Blocks that begin together end together, and so do their warps without a barrier. What stands behind the last barrier
        // hides the atomics there, and nothing else does. They begin with the first block.
        const std::uint64_t last = own % resident_ == 0 ? std::min(own, resident_) : own % resident_;
        const double hidden = w_.total.barriers == 0 ? 0 : between(w_.last_path_near, w_.last_path_far);
        own_cycles_ += std::max(started, t_.last_slice_cycles * real(last) / own_blocks_ - hidden);
        // No block ends before its own chain does, and no scheduler before its warps.
        own_cycles_ = std::max({own_cycles_, between(w_.longest_near, w_.longest_far), own_least_});
        if (own > resident_) { // the chain of the block that starts last
            own_cycles_ = std::max(own_cycles_, real(w_.shape.blocks) / c_.block_starts + path_);
        }
    }

    void add_device() {
        const double loads = std::max(real(t_.l2_reads) * sector_bytes / c_.l2_bandwidth,
                                      real(t_.l2_requests - t_.l2_store_requests) / c_.l2_requests);
        // What comes from DRAM is written into L2 first. A benchmark that reads at DRAM's rate has that in it; so it cannot take
        // longer than what is left of DRAM's time.
        const double dram_rate = c_.dram_bandwidth * c_.dram_efficiency;
        const double fill = std::clamp(1 / dram_rate - 1 / c_.l2_bandwidth, 0.0, 1 / c_.l2_bandwidth);
        const double served = loads + stores() + real(t_.dram_reads) * sector_bytes * fill;
        l2_cycles_ = c_.l2_bytes > 0 ? served * c_.clock : 0;
        dram_cycles_ = dram(dram_rate) * c_.clock;
        const std::size_t first = bounds_.size();
        add("l2", l2_cycles_);
        add("dram", dram_cycles_);
        add("atomics", real(t_.atomic_passes) * words_of_sector / c_.atomics);
        add("slice", c_.l2_bytes > 0 ? t_.slice_cycles : 0);
        add("link", real(t_.host_sectors) * sector_bytes / c_.mapped_bandwidth * c_.clock);
        add("blocks", real(w_.shape.blocks) / c_.block_starts);
        for (std::size_t k = first; k < bounds_.size(); ++k) {
            device_ = std::max(device_, bounds_[k].nanoseconds);
        }
    }

    const card& c_;
    const launch_work& w_;
    const traffic& t_;
    std::uint64_t resident_ = 1;
    double own_blocks_ = 1;   // of the busiest multiprocessor
    double share_ = 1;        // of all work that it has
    double own_cycles_ = 0;   // that it takes
    double own_busy_ = 0;     // cycles of its slowest part that a block needs
    double own_least_ = 0;    // cycles of its slowest part
    double own_in_chain_ = 0; // of one warp's part of these, what the chain has as well
    double path_ = 0;         // chain of a block
    double l2_cycles_ = 0;
    double dram_cycles_ = 0;
    double device_ = 0; // nanoseconds of its slowest part
    double hit_l1_ = 0;
    double hit_l2_ = 0;
    double load_ = 0; // cycles of a global load, on average
    std::vector<bound_time> bounds_;
};

} // namespace

std::uint64_t resident_blocks(const card& c, const launch_shape& shape) {
    const double warps = warps_of(shape);
    double blocks = std::min(c.blocks, std::floor(c.warps / warps));
    if (const std::uint64_t registers = has_short_addresses(c) ? shape.registers_32 : shape.registers; registers != 0) {
        const double of_warp = real(registers) * lanes;
        const auto given = [](double wanted) {
            return std::ceil(wanted / register_granularity) * register_granularity;
        };
        const double warps_that_fit =
            std::floor(c.registers / std::max(c.register_partitions, 1.0) / given(of_warp)) * c.register_partitions;
        blocks = std::min(blocks, c.register_partitions == 0
                                      ? std::floor(c.registers / given(std::ceil(warps / 2) * 2 * of_warp))
                                      : std::floor(warps_that_fit / warps));
    }
    if (const double shared = real(shape.shared_bytes) + c.reserved_shared_bytes; shared > 0) {
        blocks = std::min(blocks, std::floor(c.shared_bytes / shared));
    }
    return static_cast<std::uint64_t>(std::max(blocks, 1.0));
}

// A store is on its way to L2 for half of a load's latency. A look that stands there then has found nothing, and on average
// half of its time goes by until the next one does. That one's way back is a half again.
machine::common_clock clock_of(const card& c, std::uint64_t before) {
    return {.begins = real(before) / c.block_starts, .hop = 1.5 * c.latency_l2};
}

// In the first wave blocks are dealt to multiprocessors in turn, of which 8 to 18 in a row have one half of L2. Later a block goes
// where another one is over.
block_place place_of(const card& c, std::uint64_t places, std::uint64_t before) {
    constexpr std::uint64_t in_a_row = 13;
    std::uint64_t half = before % static_cast<std::uint64_t>(c.multiprocessors) / in_a_row;
    if (before >= places) { // by chance: a hash
        half = (before ^ before >> 15) * 0x9E3779B97F4A7C15ull;
        half = (half ^ half >> 32) * 0xD6E8FEB86659FD93ull >> 63;
    }
    return {.place = before % places,
            .half = static_cast<unsigned>(half & 1),
            .wave = static_cast<std::uint32_t>(before / places)};
}

l1_sizes l1_of(const card& c, const launch_shape& shape) {
    if (c.l1_bytes == 0) {
        return {};
    }
    const double resident =
        std::clamp(std::ceil(real(shape.blocks) / c.multiprocessors), 1.0, real(resident_blocks(c, shape)));
    const double least = 16 * 1024; // what shared memory leaves of it at least
    const double shared =
        std::max(resident * real(shape.shared_bytes), std::max(shape.preferred_carveout, 0) / 100. * c.shared_bytes);
    const double left = std::max(c.l1_bytes - shared, least);
    return {static_cast<std::uint64_t>(left / resident), static_cast<std::uint64_t>(left)};
}

observe::prediction predict(const card& c, const launch_work& work) {
    const estimate warm(c, work, work.warm);
    const estimate cold(c, work, work.cold);
    observe::prediction p;
    p.card = c.key;
    p.nanoseconds = warm.nanoseconds();
    p.cold_nanoseconds = cold.nanoseconds();
    p.bounds = warm.bounds();
    p.cold_bounds = cold.bounds();
    p.launch_nanoseconds = launch_cost(c, work);
    const bound_time launch{"launch", p.launch_nanoseconds};
    const bound_time* slowest = warm.bound();
    // Where the launch itself takes longest, nothing that the kernel does bounds it.
    if (slowest == nullptr || launch.nanoseconds > slowest->nanoseconds) {
        slowest = &launch;
    }
    p.bound = slowest->name;
    p.share_of_roof = p.nanoseconds > 0 ? slowest->nanoseconds / p.nanoseconds : 1;
    const auto next =
        std::find_if(p.bounds.begin(), p.bounds.end(), [&](const bound_time& b) { return b.name != p.bound; });
    p.next_bound = next == p.bounds.end() ? "" : next->name;
    p.l1_load_hit_rate = share(work.warm.l1_hits, work.warm.loads);
    p.l2_read_hit_rate = warm.l2_load_hit_rate();
    p.cold_l2_read_hit_rate = cold.l2_load_hit_rate();
    const auto bytes = static_cast<std::uint64_t>(sector_bytes);
    p.dram_read_bytes = work.warm.dram_reads * bytes;
    p.dram_write_bytes = work.warm.dram_writes * bytes;
    p.cold_dram_read_bytes = work.cold.dram_reads * bytes;
    p.cold_dram_write_bytes = work.cold.dram_writes * bytes;
    return p;
}

} // namespace softgpu::predict
