// SPDX-License-Identifier: MIT
#include "softgpu/program/post_dominators.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace softgpu::program {

namespace {

adjacency reversed(const adjacency& successors) {
    adjacency predecessors(successors.size());
    for (std::uint32_t n = 0; n < successors.size(); ++n) {
        for (const std::uint32_t s : successors[n]) {
            predecessors[s].push_back(n);
        }
    }
    return predecessors;
}

// Nodes by post-order of a walk from `starts`, in their order; what is not reached is left out.
struct walk {
    std::vector<std::uint32_t> order;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> retreating; // edges to a node whose walk is not yet over
};

walk walk_from(const adjacency& successors, const std::vector<std::uint32_t>& starts) {
    enum class state : std::uint8_t { fresh, open, done };
    std::vector<state> states(successors.size(), state::fresh);
    std::vector<std::pair<std::uint32_t, std::size_t>> stack; // node, next successor
    walk result;
    for (const std::uint32_t start : starts) {
        if (states[start] != state::fresh) {
            continue;
        }
        states[start] = state::open;
        stack.emplace_back(start, 0);
        while (!stack.empty()) {
            const std::uint32_t node = stack.back().first;
            if (stack.back().second == successors[node].size()) {
                states[node] = state::done;
                result.order.push_back(node);
                stack.pop_back();
                continue;
            }
            const std::uint32_t next = successors[node][stack.back().second++];
            if (states[next] == state::fresh) {
                states[next] = state::open;
                stack.emplace_back(next, 0);
            } else if (states[next] == state::open) {
                result.retreating.emplace_back(node, next);
            }
        }
    }
    return result;
}

// The part of the graph that `chosen` names, renumbered by its position there; edges out of it are dropped.
adjacency part_of(const adjacency& successors, const std::vector<std::uint32_t>& chosen) {
    std::vector<std::uint32_t> number(successors.size(), no_block);
    for (std::uint32_t k = 0; k < chosen.size(); ++k) {
        number[chosen[k]] = k;
    }
    adjacency part(chosen.size());
    for (std::uint32_t k = 0; k < chosen.size(); ++k) {
        for (const std::uint32_t s : successors[chosen[k]]) {
            if (number[s] != no_block) {
                part[k].push_back(number[s]);
            }
        }
    }
    return part;
}

// Meeting places of blocks from which no end can be reached: a way round a loop counts as the end of a path, at a twin
// of the block where the loop begins anew.
void find_in_endless_loops(std::vector<basic_block>& blocks, const adjacency& successors,
                           const std::vector<std::uint32_t>& chosen) {
    adjacency part = part_of(successors, chosen);
    // Loops are entered where control comes from outside; those nodes begin the walk.
    std::vector<std::uint32_t> starts;
    const adjacency before = reversed(part);
    for (std::uint32_t k = 0; k < chosen.size(); ++k) {
        if (chosen[k] == 0 || before[k].size() < blocks[chosen[k]].predecessors.size()) {
            starts.push_back(k);
        }
    }
    for (std::uint32_t k = 0; k < chosen.size(); ++k) {
        starts.push_back(k);
    }
    std::vector<std::uint32_t> twin(chosen.size(), no_block);
    std::vector<std::uint32_t> twins;
    std::vector<std::uint32_t> twin_of;
    for (const auto& [from, to] : walk_from(part, starts).retreating) {
        if (twin[to] == no_block) {
            twin[to] = static_cast<std::uint32_t>(chosen.size() + twins.size());
            twins.push_back(twin[to]);
            twin_of.push_back(to);
        }
        std::replace(part[from].begin(), part[from].end(), to, twin[to]);
    }
    part.resize(chosen.size() + twins.size());
    const std::vector<std::uint32_t> found = post_dominators(part, twins);
    for (std::uint32_t k = 0; k < chosen.size(); ++k) {
        const std::uint32_t at = found[k] == no_block       ? no_block
                                 : found[k] < chosen.size() ? found[k]
                                                            : twin_of[found[k] - chosen.size()];
        blocks[chosen[k]].immediate_post_dominator = at == no_block || at == k ? no_block : chosen[at];
    }
}

// For each block, which ends can be reached from it: a row of bits.
class reachable_ends {
public:
    reachable_ends(const adjacency& successors, std::size_t ends)
        : words_((ends + 63) / 64), bits_(words_ * successors.size()) {}

    void set(std::uint32_t block, std::size_t end) { bits_[block * words_ + end / 64] |= std::uint64_t{1} << end % 64; }

    [[nodiscard]] bool has(std::uint32_t block, std::size_t end) const {
        return (bits_[block * words_ + end / 64] >> end % 64 & 1) != 0;
    }

    void spread(const adjacency& successors) {
        std::vector<std::uint32_t> all(successors.size());
        for (std::uint32_t k = 0; k < all.size(); ++k) {
            all[k] = k;
        }
        const std::vector<std::uint32_t> order = walk_from(successors, all).order;
        for (bool changed = true; changed;) {
            changed = false;
            for (const std::uint32_t block : order) {
                for (const std::uint32_t s : successors[block]) {
                    for (std::size_t w = 0; w < words_; ++w) {
                        std::uint64_t& mine = bits_[block * words_ + w];
                        const std::uint64_t joined = mine | bits_[s * words_ + w];
                        changed = changed || joined != mine;
                        mine = joined;
                    }
                }
            }
        }
    }

    template <class Visit>
    void for_each(std::uint32_t block, Visit&& visit) const {
        for (std::size_t w = 0; w < words_; ++w) {
            for (std::uint64_t rest = bits_[block * words_ + w]; rest != 0; rest &= rest - 1) {
                visit(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
            }
        }
    }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

} // namespace

std::vector<std::uint32_t> post_dominators(const adjacency& successors, const std::vector<std::uint32_t>& ends) {
    // On the reverse graph with one more node, the end of all, as its entry.
    const auto end_of_all = static_cast<std::uint32_t>(successors.size());
    adjacency forward = successors;
    forward.emplace_back();
    for (const std::uint32_t e : ends) {
        forward[e].push_back(end_of_all);
    }
    const adjacency backward = reversed(forward);
    const std::vector<std::uint32_t> order = walk_from(backward, {end_of_all}).order;
    std::vector<std::uint32_t> rank(forward.size(), no_block); // in post-order
    for (std::uint32_t k = 0; k < order.size(); ++k) {
        rank[order[k]] = k;
    }
    std::vector<std::uint32_t> idom(forward.size(), no_block);
    idom[end_of_all] = end_of_all;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t k = order.size() - 1; k-- > 0;) {
            const std::uint32_t node = order[k];
            std::uint32_t best = no_block;
            for (std::uint32_t next : forward[node]) {
                if (idom[next] == no_block) {
                    continue;
                }
                if (best == no_block) {
                    best = next;
                    continue;
                }
                while (next != best) {
                    while (rank[next] < rank[best]) {
                        next = idom[next];
                    }
                    while (rank[best] < rank[next]) {
                        best = idom[best];
                    }
                }
            }
            if (idom[node] != best) {
                idom[node] = best;
                changed = true;
            }
        }
    }
    idom.pop_back();
    std::replace(idom.begin(), idom.end(), end_of_all, no_block);
    return idom;
}

void find_meeting_places(std::vector<basic_block>& blocks, const std::vector<block_ends>& ends) {
    const std::size_t n = blocks.size();
    // A branch to a block that only ends lanes is itself an end.
    adjacency successors(n);
    std::vector<bool> dies(n);
    for (std::uint32_t b = 0; b < n; ++b) {
        dies[b] = ends[b].dies;
        for (const std::uint32_t s : blocks[b].successors) {
            if (ends[s].only_dies) {
                dies[b] = true;
            } else {
                successors[b].push_back(s);
            }
        }
    }
    // End 0 is the return to the caller, wherever it happens; each block where lanes end for good has its own.
    std::vector<std::size_t> end_of(n, 0);
    std::size_t number_of_ends = 1;
    for (std::uint32_t b = 0; b < n; ++b) {
        if (dies[b]) {
            end_of[b] = number_of_ends++;
        }
    }
    reachable_ends reachable(successors, number_of_ends);
    for (std::uint32_t b = 0; b < n; ++b) {
        if (dies[b]) {
            reachable.set(b, end_of[b]);
        }
        if (ends[b].returns) {
            reachable.set(b, 0);
        }
    }
    reachable.spread(successors);
    std::vector<std::uint64_t> weight(number_of_ends, 0); // of all blocks left from which an end can be reached
    for (std::uint32_t b = 0; b < n; ++b) {
        reachable.for_each(b, [&](std::size_t e) { weight[e] += ends[b].weight; });
    }
    // The return goes first, then the heaviest end, and takes all blocks that lead to it; lanes of theirs that end
    // elsewhere are left out.
    // What remains leads to other ends only, and is treated alike.
    std::vector<std::uint32_t> left(n);
    for (std::uint32_t b = 0; b < n; ++b) {
        left[b] = b;
    }
    while (!left.empty()) {
        std::size_t end = 0;
        if (weight[0] == 0) { // nothing that is left returns; of equals the end that stands last
            for (std::size_t e = 1; e < number_of_ends; ++e) {
                end = weight[e] >= weight[end] ? e : end;
            }
            if (weight[end] == 0) {
                break;
            }
        }
        std::vector<std::uint32_t> chosen;
        std::vector<std::uint32_t> others;
        for (const std::uint32_t b : left) {
            (reachable.has(b, end) ? chosen : others).push_back(b);
        }
        std::vector<std::uint32_t> last;
        for (std::uint32_t k = 0; k < chosen.size(); ++k) {
            const std::uint32_t b = chosen[k];
            if (end == 0 ? ends[b].returns : dies[b] && end_of[b] == end) {
                last.push_back(k);
            }
            reachable.for_each(b, [&](std::size_t e) { weight[e] -= ends[b].weight; });
        }
        const std::vector<std::uint32_t> found = post_dominators(part_of(successors, chosen), last);
        for (std::uint32_t k = 0; k < chosen.size(); ++k) {
            blocks[chosen[k]].immediate_post_dominator = found[k] == no_block ? no_block : chosen[found[k]];
        }
        left = std::move(others);
    }
    if (!left.empty()) {
        find_in_endless_loops(blocks, successors, left);
    }
}

} // namespace softgpu::program
