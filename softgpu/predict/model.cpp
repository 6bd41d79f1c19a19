// SPDX-License-Identifier: MIT
#include "softgpu/predict/model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace softgpu::predict {
namespace {

using observe::bound_time;
using observe::instruction_class;

constexpr double lanes = 32;
constexpr double sector_bytes = 32;
constexpr std::uint64_t register_granularity = 256; // of a warp
constexpr double register_partitions = 4;           // of a multiprocessor

double real(std::uint64_t n) { return static_cast<double>(n); }
double share(std::uint64_t part, std::uint64_t whole) { return whole == 0 ? 0 : real(part) / real(whole); }

constexpr const char* class_names[] = {"integer", "multiply", "shift",   "fp32",    "fp64",
                                       "half",    "special",  "convert", "shuffle", "vote"};

// One launch on one card, with one of the two L2 caches.
class estimate {
public:
    estimate(const card& c, const launch_work& w, const traffic& t) : c_(c), w_(w), t_(t) {
        const double blocks = real(std::max<std::uint64_t>(w.shape.blocks, 1));
        resident_ = real(resident_blocks(c, w.shape));
        // Blocks of one size: the last wave may leave multiprocessors idle.
        share_ = std::ceil(blocks / c.multiprocessors) / blocks;
        waves_ = std::ceil(blocks / (c.multiprocessors * resident_));
        hit_l1_ = share(t.l1_hits, t.loads);
        hit_l2_ = share(t.l2_read_hits, t.l2_reads);
        load_ = hit_l1_ * c.latency_l1 + (1 - hit_l1_) * (hit_l2_ * c.latency_l2 + (1 - hit_l2_) * c.latency_dram);
        add_multiprocessor();
        add_device();
        std::stable_sort(bounds_.begin(), bounds_.end(),
                         [](const bound_time& a, const bound_time& b) { return a.nanoseconds > b.nanoseconds; });
    }

    // The launch itself, the first data's way to the multiprocessors, and the slowest bound.
    [[nodiscard]] double nanoseconds() const {
        const double slowest = bounds_.empty() ? 0 : bounds_.front().nanoseconds;
        const bool waits = !bounds_.empty() && bounds_.front().name == "latency"; // its chain has the loads
        const double fill = waits || w_.total.global_load_requests == 0 ? 0 : load_ / c_.clock;
        return c_.launch + fill + slowest;
    }
    [[nodiscard]] const std::vector<bound_time>& bounds() const { return bounds_; }

private:
    void add(const char* name, double cycles) {
        if (cycles > 0) {
            bounds_.push_back({name, cycles / c_.clock});
        }
    }

    void add_multiprocessor() {
        const observe::counters& n = w_.total;
        double issued = 0;
        for (const std::uint64_t of_class : w_.mix.of) {
            issued += real(of_class);
        }
        // A wavefront after the first is issued again.
        issued += real(n.shared_load_bank_conflicts + n.shared_store_bank_conflicts);
        add("issue", issued * share_ / c_.issue);
        const auto throughput = throughputs_of(c_);
        for (std::size_t k = 0; k < std::size(class_names); ++k) {
            add(class_names[k], real(w_.mix.of[k]) * lanes * share_ / throughput.of[k]);
        }
        double requests = 0;
        for (const instruction_class k :
             {instruction_class::global_load, instruction_class::global_store, instruction_class::global_atomic,
              instruction_class::shared_load, instruction_class::shared_store, instruction_class::shared_atomic,
              instruction_class::local, instruction_class::constant, instruction_class::texture}) {
            requests += real(w_.mix[k]);
        }
        add("lsu", requests * lanes * share_ / c_.throughput_memory);
        const std::uint64_t wavefronts =
            n.shared_load_wavefronts + n.shared_store_wavefronts + n.shared_atomic_wavefronts;
        add("shared", real(wavefronts) * share_ / c_.shared_wavefronts);
        const std::uint64_t sectors =
            n.global_load_sectors + n.global_store_sectors + n.local_load_sectors + n.local_store_sectors;
        add("l1", real(sectors) * share_ / c_.l1_sectors);
        // The chain, as far as loads wait for L1, L2 and DRAM; once for each wave of blocks.
        const double far = std::max(c_.latency_dram - c_.latency_l1, 1.0);
        const double path = w_.path_near + (w_.path_far - w_.path_near) * (load_ - c_.latency_l1) / far;
        add("latency", path * waves_);
    }

    void add_device() {
        const double behind_l1 = real(t_.l2_reads + t_.l2_writes) * sector_bytes;
        add("l2", c_.l2_bytes > 0 ? behind_l1 / c_.l2_bandwidth * c_.clock : 0);
        const double dram = real(t_.dram_reads + t_.dram_writes) * sector_bytes;
        add("dram", dram / (c_.dram_bandwidth * c_.dram_efficiency) * c_.clock);
        add("atomics",
            std::max(real(t_.atomic_lanes) / c_.atomics, real(t_.hottest_atomic_lanes) / c_.atomics_one_address));
        add("blocks", real(w_.shape.blocks) / c_.block_starts);
    }

    const card& c_;
    const launch_work& w_;
    const traffic& t_;
    double resident_ = 1;
    double share_ = 1; // of all work that the busiest multiprocessor has
    double waves_ = 1;
    double hit_l1_ = 0;
    double hit_l2_ = 0;
    double load_ = 0; // cycles of a global load, on average
    std::vector<bound_time> bounds_;
};

} // namespace

std::uint64_t resident_blocks(const card& c, const launch_shape& shape) {
    const double warps = std::ceil(real(std::max<std::uint64_t>(shape.threads, 1)) / lanes);
    double blocks = std::min(c.blocks, std::floor(c.warps / warps));
    const std::uint64_t of_warp = shape.registers * 32 + register_granularity - 1;
    if (const std::uint64_t each = of_warp / register_granularity * register_granularity; each != 0) {
        const double fitting = std::floor(c.registers / register_partitions / real(each)) * register_partitions;
        blocks = std::min(blocks, std::floor(fitting / warps));
    }
    if (const double shared = real(shape.shared_bytes) + c.reserved_shared_bytes; shared > 0) {
        blocks = std::min(blocks, std::floor(c.shared_bytes / shared));
    }
    return static_cast<std::uint64_t>(std::max(blocks, 1.0));
}

std::uint64_t l1_share(const card& c, const launch_shape& shape) {
    if (c.l1_bytes == 0) {
        return 0;
    }
    const double resident = real(resident_blocks(c, shape));
    const double least = 16 * 1024; // what shared memory leaves of it at least
    const double left = std::max(c.l1_bytes - resident * real(shape.shared_bytes), least);
    return static_cast<std::uint64_t>(left / resident);
}

observe::prediction predict(const card& c, const launch_work& work) {
    const estimate warm(c, work, work.warm);
    const estimate cold(c, work, work.cold);
    observe::prediction p;
    p.card = c.key;
    p.nanoseconds = warm.nanoseconds();
    p.cold_nanoseconds = cold.nanoseconds();
    p.bounds = warm.bounds();
    if (!p.bounds.empty()) {
        // Where the launch itself takes longest, nothing that the kernel does bounds it.
        const bool only_launch = c.launch > p.bounds.front().nanoseconds;
        p.bound = only_launch ? "launch" : p.bounds.front().name;
        p.share_of_roof = (only_launch ? c.launch : p.bounds.front().nanoseconds) / p.nanoseconds;
        p.next_bound = only_launch ? p.bounds.front().name : p.bounds.size() > 1 ? p.bounds[1].name : "";
    } else {
        p.bound = "launch";
        p.share_of_roof = 1;
    }
    p.l1_load_hit_rate = share(work.warm.l1_hits, work.warm.loads);
    p.l2_read_hit_rate = share(work.warm.l2_read_hits, work.warm.l2_reads);
    const auto bytes = static_cast<std::uint64_t>(sector_bytes);
    p.dram_read_bytes = work.warm.dram_reads * bytes;
    p.dram_write_bytes = work.warm.dram_writes * bytes;
    p.cold_dram_read_bytes = work.cold.dram_reads * bytes;
    p.cold_dram_write_bytes = work.cold.dram_writes * bytes;
    return p;
}

} // namespace softgpu::predict
