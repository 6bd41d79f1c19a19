// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/analysis/schedule.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "softgpu/machine/decode/analysis/block_costs.hpp"
#include "softgpu/machine/decode/analysis/memory_order.hpp"
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

bool is_arithmetic(instruction_class what) {
    switch (what) {
    case instruction_class::integer:
    case instruction_class::multiply:
    case instruction_class::shift:
    case instruction_class::logic:
    case instruction_class::fp32:
    case instruction_class::fp64:
    case instruction_class::half:
    case instruction_class::convert: return true;
    default: return false;
    }
}

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
        : f_(f), before_(f, around) {
        nodes_.reserve(std::size_t{last - first} * rounds);
        for (unsigned round = 0; round < rounds; ++round) {
            for (std::uint32_t n = first; n < last; ++n) {
                // Of the branches of an unrolled loop one stays.
                if (round + 1 == rounds || cost_of(f.instructions[n]).what != instruction_class::control) {
                    add(n);
                }
            }
        }
    }

    [[nodiscard]] std::vector<node>& nodes() { return nodes_; }

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
        std::priority_queue<place, std::vector<place>, decltype(less)> ready(less); // by the way to the end
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
            const std::uint32_t n = ready.top().second;
            ready.pop();
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

    // Of each instruction, whether it waits for a load of the piece or for a carried register, and no load, branch or atomic waits
    // for it. Stores past shared memory do not wait: a load behind them may have to see what they store.
    [[nodiscard]] std::vector<bool> deferred(const carried_registers& carried) const {
        std::vector<bool> waits(nodes_.size());
        std::vector<bool> holds_up(nodes_.size());
        std::unordered_set<std::uint32_t> written;
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            program::visit_registers(f_.instructions[nodes_[n].instruction], [&](std::uint32_t reg, program::use how) {
                waits[n] = waits[n] || (how == program::use::read && carried.contains(reg) && !written.contains(reg));
            });
            program::visit_registers(f_.instructions[nodes_[n].instruction], [&](std::uint32_t reg, program::use how) {
                if (how == program::use::written) {
                    written.insert(reg);
                }
            });
            for (const edge& e : nodes_[n].after) {
                waits[e.to] =
                    waits[e.to] || (e.waits && (waits[n] || nodes_[n].cost.what == instruction_class::global_load));
            }
        }
        for (std::size_t n = nodes_.size(); n-- > 0;) {
            holds_up[n] = holds_up[n] || !(is_arithmetic(nodes_[n].cost.what) ||
                                           nodes_[n].cost.what == instruction_class::shared_store);
            for (const edge& e : nodes_[n].after) {
                const bool is_order = !e.waits && nodes_[e.to].cost.what == instruction_class::control;
                holds_up[n] = holds_up[n] || (holds_up[e.to] && !is_order);
            }
            waits[n] = waits[n] && !holds_up[n];
        }
        return waits;
    }

private:
    void add(std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        if (begins_with_fence(i)) {
            nodes_.push_back({of_fence({.what = instruction_class::fence}), n, true, {}, 0, 0});
            fix(static_cast<std::uint32_t>(nodes_.size()) - 1);
        }
        const auto self = static_cast<std::uint32_t>(nodes_.size());
        const machine_cost cost = of_fence(before_.cost(n));
        nodes_.push_back({cost, n, is_fixed(cost.what) || may_call(i), {}, 0, 0});
        program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
            const auto by = how == program::use::read ? writer_.find(reg) : writer_.end();
            if (by != writer_.end()) {
                wait(by->second, self, true, i.predicate && i.predicate->reg == reg);
            }
        });
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

bool leads_over_loads(const ptx::function& f, const program::control_flow& flow, std::uint32_t block) {
    constexpr std::uint64_t most_slots = 26; // as many as were tried with ptxas 13.0 for sm_90
    const std::uint32_t body = block + 1;
    const std::uint32_t behind = block + 2;
    if (behind >= flow.blocks.size() || flow.blocks[block].first == flow.blocks[block].last) {
        return false;
    }
    const ptx::instruction& branch = f.instructions[flow.blocks[block].last - 1];
    const auto is_only = [](const std::vector<std::uint32_t>& all, std::uint32_t one) {
        return all.size() == 1 && all.front() == one;
    };
    if (branch.op != ptx::opcode::bra || !branch.predicate ||
        program::block_of_label(f, flow, branch.operands.at(0).name) != behind ||
        !is_only(flow.blocks[body].predecessors, block) || !is_only(flow.blocks[body].successors, behind)) {
        return false;
    }
    std::uint64_t slots = 0;
    bool loads = false;
    for (std::uint32_t n = flow.blocks[body].first; n < flow.blocks[body].last; ++n) {
        const machine_cost cost = cost_of(f.instructions[n]);
        const bool is_load = cost.what == instruction_class::global_load;
        slots += cost.slots;
        loads = loads || is_load;
        if (slots > most_slots || !(is_load || is_arithmetic(cost.what)) || f.instructions[n].predicate ||
            may_call(f.instructions[n])) {
            return false;
        }
    }
    return loads;
}

schedule schedule_of(const ptx::function& f, std::uint32_t first, std::uint32_t last,
                     std::span<const latency_table> tables, const carried_registers& carried, unsigned rounds,
                     bool defers, const surroundings& around) {
    schedule out;
    out.cycles.assign(tables.size(), 0);
    if (tables.empty()) {
        return out;
    }
    graph g(f, first, last, rounds, around);
    const std::vector<std::uint32_t> order = g.order(tables.front());
    const std::vector<bool> deferred = defers ? g.deferred(carried) : std::vector<bool>(g.nodes().size());
    std::unordered_map<std::uint32_t, std::size_t> needed; // by register: place in out.needs
    std::unordered_map<std::uint32_t, std::size_t> left;
    std::set<std::uint32_t> late;
    std::vector<double> there(g.nodes().size());
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
        std::vector<double> operands(g.nodes().size());
        double issue = 0;
        units busy(tables[t]);
        for (const std::uint32_t n : order) {
            const node& a = g.nodes()[n];
            const double start = busy.take(a.cost, deferred[n] ? issue : std::max(issue, operands[n]));
            there[n] = start + graph::latency_of(a, tables[t]);
            issue = a.cost.slots == 0 ? issue : start + a.cost.slots;
            if (a.fixed) {
                issue = std::max(issue, there[n]);
            }
            for (const edge& e : a.after) {
                operands[e.to] =
                    std::max(operands[e.to], e.waits ? there[n] + (e.guards ? tables[t].guard : 0) : start);
            }
            operands[n] = start; // from now on when it went
        }
        out.cycles[t] = issue / rounds;
        // Of an unrolled loop the first round; of a release the fence.
        for (std::size_t n = g.nodes().size(); n-- > 0;) {
            out.starts[(g.nodes()[n].instruction - first) * tables.size() + t] = (operands[n] - issue) / rounds;
        }
        // What comes from before, and what goes on: in the order of the code.
        std::unordered_map<std::uint32_t, std::uint32_t> writer;
        for (std::uint32_t n = 0; n < g.nodes().size(); ++n) {
            const ptx::instruction& i = f.instructions[g.nodes()[n].instruction];
            program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
                if (how == program::use::read && deferred[n] && carried.contains(reg)) {
                    late.insert(carried.at(reg));
                } else if (how == program::use::read && carried.contains(reg) && !writer.contains(reg)) {
                    double& at = time_of(out.needs, needed, reg).at[t];
                    at = at < 0 ? operands[n] / rounds : std::min(at, operands[n] / rounds);
                }
            });
            program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
                if (how == program::use::written) {
                    writer[reg] = n;
                }
            });
        }
        for (const auto& [reg, n] : writer) {
            if (carried.contains(reg) && !deferred[n]) {
                time_of(out.leaves, left, reg).at[t] = there[n] / rounds;
            }
        }
    }
    out.late.assign(late.begin(), late.end());
    return out;
}

} // namespace softgpu::machine
