// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/schedule.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "softgpu/machine/decode/ptxas/block_costs.hpp"
#include "softgpu/machine/decode/ptxas/live_values.hpp"
#include "softgpu/machine/decode/ptxas/memory_order.hpp"
#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

namespace {

using observe::instruction_class;
using observe::latency_table;

// Classes whose results take longer than a branch.
bool is_slow(instruction_class c) {
    switch (c) {
    case instruction_class::special:
    case instruction_class::shuffle:
    case instruction_class::vote:
    case instruction_class::tensor:
    case instruction_class::global_load:
    case instruction_class::global_atomic:
    case instruction_class::shared_load:
    case instruction_class::shared_atomic:
    case instruction_class::local:
    case instruction_class::constant:
    case instruction_class::texture: return true;
    default: return false;
    }
}

// Cycles after a load from global memory in which ptxas 13.0 puts other instructions before the first use, for sm_90 and sm_120.
constexpr double assumed_load = 300;

struct edge {
    std::uint32_t to = 0;
    bool waits = true;   // for the result; else for the issue alone
    bool guards = false; // the result is the predicate of `to`
};

struct node {
    machine_cost cost;
    std::uint32_t instruction = 0;
    bool fixed = false;      // nothing moves past it, and what is behind it waits for it
    std::vector<edge> after; // those that wait for this one
    std::uint32_t before = 0;
    double to_end = 0; // longest way to the end, in cycles
};

// The instructions of all rounds, and what waits for what.
class graph {
public:
    graph(const ptx::function& f, std::uint32_t first, std::uint32_t last, unsigned rounds, const surroundings& around)
        : f_(f), before_(f, around), wide_(around.wide), predicates_(around.predicates), alive_(around.pressure) {
        nodes_.reserve(std::size_t{last - first} * rounds);
        for (unsigned round = 0; round < rounds; ++round) {
            for (std::uint32_t n = first; n < last; ++n) {
                // Of the branches of an unrolled loop one stays, and none within the code.
                if (cost_of(f.instructions[n]).what != instruction_class::control ||
                    (round + 1 == rounds && !is_inner_branch(n, last))) {
                    add(n);
                }
            }
        }
        alive_.begin(first, last);
    }

    [[nodiscard]] std::vector<node>& nodes() { return nodes_; }
    // ptxas gives the instruction a predicate for that of a branch.
    [[nodiscard]] bool is_conditional(std::uint32_t instruction) const {
        return predicates_ != nullptr && (*predicates_)[instruction] != no_register;
    }

    // Latest-needed first: the order that ptxas gives straight code. Loads come early, as far as their addresses are there.
    [[nodiscard]] std::vector<std::uint32_t> order(const latency_table& latency) {
        for (std::size_t n = nodes_.size(); n-- > 0;) {
            node& a = nodes_[n];
            for (const edge& e : a.after) {
                a.to_end = std::max(a.to_end, way_of(a, e, latency) + nodes_[e.to].to_end);
            }
        }
        using place = std::pair<double, std::uint32_t>;
        const auto later = [](const place& a, const place& b) { return a > b; };
        std::priority_queue<place, std::vector<place>, decltype(later)> waiting(later); // by the cycle when it may go
        const auto less = [](const place& a, const place& b) {
            return a.first != b.first ? a.first < b.first : a.second > b.second;
        };
        const auto first = [&](const place& a, const place& b) { return less(b, a); };
        std::set<place, decltype(first)> ready(first); // by the way to the end
        std::vector<double> when(nodes_.size());
        std::vector<std::uint32_t> left(nodes_.size());
        for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
            left[n] = nodes_[n].before;
            if (left[n] == 0) {
                ready.emplace(nodes_[n].to_end, n);
            }
        }
        std::vector<std::uint32_t> all;
        all.reserve(nodes_.size());
        double now = 0;
        while (all.size() < nodes_.size()) {
            if (ready.empty()) {
                now = std::max(now, waiting.top().first);
            }
            for (; !waiting.empty() && waiting.top().first <= now; waiting.pop()) {
                ready.emplace(nodes_[waiting.top().second].to_end, waiting.top().second);
            }
            const auto chosen = choose(ready, !waiting.empty());
            if (chosen == ready.end()) {
                now = waiting.top().first;
                continue;
            }
            const std::uint32_t n = chosen->second;
            ready.erase(chosen);
            alive_.issue(n);
            all.push_back(n);
            for (const edge& e : nodes_[n].after) {
                when[e.to] = std::max(when[e.to], now + way_of(nodes_[n], e, latency));
                if (--left[e.to] == 0) {
                    waiting.emplace(when[e.to], e.to);
                }
            }
            now += nodes_[n].cost.slots;
        }
        return all;
    }

    // From the issue of one to that of another.
    static double way_of(const node& from, const edge& to, const latency_table& latency) {
        return !to.waits ? from.cost.slots : latency_of(from, latency) + (to.guards ? latency.guard : 0);
    }

    static double latency_of(const node& n, const latency_table& latency) {
        const double one = n.cost.sees_others ? latency.past_l1 : latency[n.cost.what];
        if (n.cost.special + n.cost.steps != 0) {
            return n.cost.special * latency[instruction_class::special] + n.cost.steps * one;
        }
        return n.cost.slots == 0 ? 0 : n.cost.slots - 1 + one + n.cost.turns * latency.turn;
    }

private:
    // The first for which there are registers, else the one that takes the fewest; end(): others may come.
    template <class Ready>
    [[nodiscard]] typename Ready::iterator choose(const Ready& ready, bool may_wait) const {
        const auto fits = [&](const auto& place) { return alive_.fits(place.second); };
        const auto found = std::find_if(ready.begin(), ready.end(), fits);
        if (found != ready.end() || may_wait) {
            return found;
        }
        const auto takes_less = [&](const auto& a, const auto& b) {
            return alive_.more(a.second) < alive_.more(b.second);
        };
        return std::min_element(ready.begin(), ready.end(), takes_less);
    }
    [[nodiscard]] bool is_inner_branch(std::uint32_t n, std::uint32_t last) const {
        return f_.instructions[n].op == ptx::opcode::bra && n + 1 < last;
    }
    void add(std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        if (begins_with_fence(i)) {
            nodes_.push_back({of_fence({.what = instruction_class::fence}), n, true, {}, 0, 0});
            alive_.add_none();
            fix(static_cast<std::uint32_t>(nodes_.size()) - 1);
        }
        const auto self = static_cast<std::uint32_t>(nodes_.size());
        const machine_cost cost = of_fence(before_.cost(n));
        nodes_.push_back({cost, n, is_fixed(cost.what) || may_call(i), {}, 0, 0});
        alive_.add(i);
        program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
            const auto by = how == program::use::read ? writer_.find(reg) : writer_.end();
            if (by != writer_.end()) {
                wait(by->second, self, true, i.predicate && i.predicate->reg == reg);
            }
        });
        if (wide_ != nullptr && (*wide_)[n].first != n) {
            wait(latest_[(*wide_)[n].first], self, true);
        } else if (wide_ != nullptr && (*wide_)[n].bytes != 0) {
            latest_[n] = self;
        }
        if (const auto by = is_conditional(n) ? writer_.find((*predicates_)[n]) : writer_.end(); by != writer_.end()) {
            wait(by->second, self, true, true);
        }
        program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
            if (how == program::use::written) {
                writer_[reg] = self;
            }
        });
        for (const std::uint32_t earlier : memory_.before(self, i, nodes_[self].cost.what)) {
            wait(earlier, self, false);
        }
        fix(self);
        before_.wrote(n);
    }
    // Without a store or an atomic before it a fence takes as long as the way to L2 and back.
    [[nodiscard]] machine_cost of_fence(machine_cost cost) const {
        cost.sees_others = cost.sees_others || (cost.what == instruction_class::fence && !memory_.has_stored());
        return cost;
    }
    // Control, barriers, fences and calls stay where they are.
    void fix(std::uint32_t self) {
        if (nodes_[self].fixed) {
            for (std::uint32_t k = last_fixed_; k < self; ++k) {
                wait(k, self, false);
            }
            last_fixed_ = self;
            has_fixed_ = true;
        } else if (has_fixed_) {
            wait(last_fixed_, self, false);
        }
    }
    void wait(std::uint32_t from, std::uint32_t to, bool for_result, bool guards = false) {
        nodes_[from].after.push_back({to, for_result, guards});
        ++nodes_[to].before;
    }
    const ptx::function& f_;
    std::vector<node> nodes_;
    earlier_writers before_;
    const std::vector<wide_load>* wide_;
    std::unordered_map<std::uint32_t, std::uint32_t> latest_; // by instruction, its node, of wide loads
    const std::vector<std::uint32_t>* predicates_;            // given_predicates()
    live_values alive_;
    std::unordered_map<std::uint32_t, std::uint32_t> writer_; // by register
    memory_order memory_;
    std::uint32_t last_fixed_ = 0;
    bool has_fixed_ = false;
};

// A scheduler's units, each of which takes one instruction after the other.
class units {
public:
    explicit units(const latency_table& t) : table_(t) {}

    // When an instruction begins that could begin at `when`.
    double take(const machine_cost& cost, double when) {
        if (cost.slots == 0) {
            return when;
        }
        double& own = free_[cost.what == instruction_class::shift ? instruction_class::logic : cost.what];
        double& special = free_[instruction_class::special];
        when = std::max(when, own);
        when = cost.special != 0 ? std::max(when, special) : when;
        own = when + (cost.slots - cost.special) * table_.busy[cost.what];
        if (cost.special != 0) {
            special = when + cost.special * table_.busy[instruction_class::special];
        }
        return when;
    }

private:
    const latency_table& table_;
    observe::by_class<double> free_;
};

} // namespace

carried_registers carried_registers_of(const ptx::function& f) {
    carried_registers all;
    for (const ptx::instruction& i : f.instructions) {
        if (!is_slow(cost_of(i).what) || cost_of(i).slots == 0) {
            continue;
        }
        program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
            if (how == program::use::written) {
                all.emplace(reg, static_cast<std::uint32_t>(all.size()));
            }
        });
    }
    return all;
}

namespace {

struct timeline {
    double end = 0;
    std::vector<double> begins, there; // of each node
};

// Of the nodes in the order of issue. `skips`: predicates stop all bodies of ifs: their instructions are issued and that is all.
timeline times_of(graph& g, const std::vector<std::uint32_t>& order, const latency_table& table, bool skips) {
    const std::vector<node>& nodes = g.nodes();
    timeline t{0, std::vector<double>(nodes.size()), std::vector<double>(nodes.size())};
    units busy(table);
    for (const std::uint32_t n : order) {
        const node& a = nodes[n];
        const bool is_off = skips && g.is_conditional(a.instruction);
        const double start = is_off ? t.end : busy.take(a.cost, std::max(t.end, t.begins[n]));
        t.there[n] = is_off ? start : start + graph::latency_of(a, table);
        t.end = a.cost.slots == 0 ? t.end : start + a.cost.slots;
        if (a.fixed) {
            t.end = std::max(t.end, t.there[n]);
        }
        for (const edge& e : a.after) {
            t.begins[e.to] = std::max(t.begins[e.to], e.waits ? t.there[n] + (e.guards ? table.guard : 0) : start);
        }
        t.begins[n] = start; // before it, when its operands are there
    }
    return t;
}

} // namespace

schedule schedule_of(const ptx::function& f, std::uint32_t first, std::uint32_t last,
                     std::span<const latency_table> tables, const carried_registers& carried, unsigned rounds,
                     const surroundings& around) {
    schedule out;
    if (tables.empty()) {
        return out;
    }
    graph g(f, first, last, rounds, around);
    latency_table assumed = tables.front();
    assumed[instruction_class::global_load] = std::max(assumed[instruction_class::global_load], assumed_load);
    const std::vector<std::uint32_t> order = g.order(assumed);
    std::unordered_map<std::uint32_t, std::size_t> needed; // by register: place in out.needs
    std::unordered_map<std::uint32_t, std::size_t> left, left_by_bodies;
    out.starts.resize((last - first) * tables.size());
    const auto time_of = [&](std::vector<carried_time>& list, std::unordered_map<std::uint32_t, std::size_t>& places,
                             std::uint32_t reg) -> carried_time& {
        const auto [at, is_new] = places.emplace(reg, list.size());
        if (is_new) {
            list.push_back({carried.at(reg), std::vector<double>(tables.size(), -1)});
        }
        return list[at->second];
    };
    for (std::size_t t = 0; t < tables.size(); ++t) {
        const timeline all = times_of(g, order, tables[t], false);
        const timeline without = times_of(g, order, tables[t], true);
        out.cycles.push_back(without.end / rounds);
        out.cycles_of_bodies.push_back((all.end - without.end) / rounds);
        // Of an unrolled loop the first round; of a release the fence.
        for (std::size_t n = g.nodes().size(); n-- > 0;) {
            out.starts[(g.nodes()[n].instruction - first) * tables.size() + t] = (all.begins[n] - all.end) / rounds;
        }
        // What comes from before, and what goes on: in the order of the code.
        std::unordered_map<std::uint32_t, std::uint32_t> writer;
        for (std::uint32_t n = 0; n < g.nodes().size(); ++n) {
            const ptx::instruction& i = f.instructions[g.nodes()[n].instruction];
            program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
                if (how == program::use::read && carried.contains(reg) && !writer.contains(reg)) {
                    double& at = time_of(out.needs, needed, reg).at[t];
                    at = at < 0 ? all.begins[n] / rounds : std::min(at, all.begins[n] / rounds);
                }
            });
            program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
                if (how == program::use::written) {
                    writer[reg] = n;
                }
            });
        }
        for (const auto& [reg, n] : writer) {
            if (!carried.contains(reg)) {
                continue;
            }
            if (g.is_conditional(g.nodes()[n].instruction)) {
                time_of(out.left_by_bodies, left_by_bodies, reg).at[t] = (all.there[n] - all.end) / rounds;
            } else {
                time_of(out.leaves, left, reg).at[t] = without.there[n] / rounds;
            }
        }
    }
    return out;
}

} // namespace softgpu::machine
