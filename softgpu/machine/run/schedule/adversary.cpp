// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/schedule/adversary.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "softgpu/machine/run/warp/divergence.hpp"
#include "softgpu/machine/state/worker.hpp"

namespace softgpu::machine {

namespace {

// splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

constexpr std::uint64_t widest_window = 64;

} // namespace

adversary::adversary(std::uint64_t seed) : seed_(seed), state_(mixed(seed) | 1) {
    const auto one_of = [this](std::initializer_list<std::uint32_t> choices) {
        return choices.begin()[below(static_cast<std::uint32_t>(choices.size()))];
    };
    part = one_of({0, 4, 16, 64});
    turn = one_of({3, 8, 32});
    stop = one_of({4, 16, 64});
    let_go = one_of({0, 16, 256});
    rotate = one_of({2, 8, 32});
    admit = one_of({1, 2, 8});
}

std::uint64_t adversary::block_at(std::uint64_t nth, std::uint64_t blocks, std::uint64_t window) const {
    window = std::clamp<std::uint64_t>(window, 1, widest_window);
    const std::uint64_t first = nth / window * window;
    const auto count = static_cast<std::uint32_t>(std::min(window, blocks - first));
    std::array<std::uint8_t, widest_window> order{};
    std::iota(order.begin(), order.begin() + count, std::uint8_t{0});
    std::uint64_t draw = mixed(seed_ ^ mixed(first));
    for (std::uint32_t k = count; k > 1; --k) {
        draw = mixed(draw);
        std::swap(order[k - 1], order[draw % k]);
    }
    return first + order[nth - first];
}

const instruction* schedule_point(const instruction* i, std::byte* /*frame*/, warp* w) {
    adversary& chance = *w->host->against;
    const instruction* const next = i + 1;
    if (chance.is_calm()) {
        return next;
    }
    if ((w->mask & (w->mask - 1)) != 0 && chance.one_in(chance.part)) {
        const lane_mask others = w->mask & static_cast<lane_mask>(chance.random());
        if (others != 0 && others != w->mask) {
            part(w, next, others);
        }
    }
    if (chance.one_in(chance.let_go)) {
        let_go(w);
    }
    if (chance.one_in(chance.stop)) {
        w->pc = next;
        return nullptr; // the split stays the warp's, and goes on when the warp has its turn again
    }
    if (w->parked != 0 && chance.one_in(chance.turn)) {
        return change_split(w, next, chance.below(w->parked));
    }
    return next;
}

} // namespace softgpu::machine
