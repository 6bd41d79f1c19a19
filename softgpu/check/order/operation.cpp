// SPDX-License-Identifier: MIT
#include "softgpu/check/order/operation.hpp"

#include <algorithm>

namespace softgpu::check {

std::uint32_t moment::knows_of(std::uint32_t of) const noexcept {
    std::uint32_t most = of < known.size() ? known[of] : of == chain ? place : 0;
    for (const auto& [sibling, count] : siblings) {
        most = std::max(most, sibling == of ? count : 0);
    }
    if (within != nullptr) {
        const bool outer_is_under_way = !last && of == within->chain;
        most = std::max(most, outer_is_under_way ? within->place - 1 : within->knows_of(of));
    }
    return most;
}

std::uint64_t operation_record::block_of(std::uint64_t serial) const {
    if (serial >= first_serial && serial - first_serial < serials) {
        return serial - first_serial;
    }
    const auto found = further.find(serial);
    return found == further.end() ? 0 : found->second;
}

} // namespace softgpu::check
