// SPDX-License-Identifier: MIT
// Which accesses of straight code ptxas leaves in their order: a load passes no store, nor a store an access, unless their
// addresses tell that they are apart. schedule.cpp asks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "softgpu/observe/instruction_mix.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

class memory_order {
public:
    // The instruction comes next, as number `self`. Returns the numbers of those that it stays behind.
    [[nodiscard]] std::vector<std::uint32_t> before(std::uint32_t self, const ptx::instruction& i,
                                                    observe::instruction_class what);
    // Whether a store or an atomic on global memory has come.
    [[nodiscard]] bool has_stored() const { return !of(memory::global).stores.empty(); }

private:
    // Accesses of different kinds never meet.
    enum class memory : std::uint8_t { global, shared, local, count_ };
    // A constant more than what an instruction wrote, or than what was there before.
    struct sum {
        std::uint64_t base = 0;
        std::int64_t more = 0;
    };
    // 0 bytes: not known.
    struct place {
        sum at;
        std::int64_t bytes = 0;
    };
    struct access {
        std::uint32_t number = 0;
        place at;
    };
    struct accesses {
        std::vector<access> stores; // each stays behind the one before
        std::vector<access> loads;  // that no store has stayed behind
    };

    [[nodiscard]] sum sum_of(std::uint32_t reg) const;
    [[nodiscard]] place place_of(const ptx::instruction& i) const;
    [[nodiscard]] static bool are_apart(const place& a, const place& b);
    void note_sum(std::uint32_t self, const ptx::instruction& i);
    [[nodiscard]] const accesses& of(memory m) const { return all_[static_cast<std::size_t>(m)]; }

    std::array<accesses, static_cast<std::size_t>(memory::count_)> all_;
    std::unordered_map<std::uint32_t, sum> sums_; // by register
};

} // namespace softgpu::machine
