// SPDX-License-Identifier: MIT
// The operands of one lane of a bulk or tensor copy, st.async or red.async.
#pragma once

#include <cstddef>
#include <cstring>

#include "softgpu/machine/code/bulk_operands.hpp"
#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

class bulk_lane {
public:
    bulk_lane(const instruction* i, const warp* w, unsigned lane) : i_(i), w_(w), lane_(lane) {}

    [[nodiscard]] bool has(unsigned which) const { return i_->places[which] != nowhere; }
    // The operand's value, of `width` bytes.
    [[nodiscard]] std::uint64_t value(unsigned which, unsigned width) const {
        std::uint64_t result = 0;
        std::memcpy(&result, lanes_at(w_->frame, w_, i_->places[which]) + std::size_t{lane_} * width, width);
        return result;
    }
    [[nodiscard]] std::uint64_t to() const { return address(bulk_to, bulk_to_is_wide); }
    [[nodiscard]] std::uint64_t from() const { return address(bulk_from, bulk_from_is_wide); }
    [[nodiscard]] std::uint64_t barrier() const { return address(bulk_barrier, bulk_barrier_is_wide); }
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(value(bulk_size, 4)); }
    [[nodiscard]] unsigned coordinates() const { return i_->places[bulk_coordinates]; }
    [[nodiscard]] unsigned offsets() const { return i_->places[bulk_offsets]; }
    [[nodiscard]] std::int32_t coordinate(unsigned k) const {
        return static_cast<std::int32_t>(value(bulk_lists + k, 4));
    }
    [[nodiscard]] std::uint16_t offset(unsigned k) const {
        return static_cast<std::uint16_t>(value(bulk_lists + coordinates() + k, 2));
    }

private:
    [[nodiscard]] std::uint64_t address(unsigned which, std::uint32_t wide) const {
        const unsigned width = (i_->more & wide) != 0 ? 8 : 4;
        const std::uint64_t whole = value(which, width) + value(which + 1, 8);
        return width == 8 ? whole : whole & 0xFFFFFFFFu;
    }

    const instruction* i_;
    const warp* w_;
    unsigned lane_;
};

} // namespace softgpu::machine
