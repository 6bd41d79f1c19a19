// SPDX-License-Identifier: MIT
#include "softgpu/check/order/operation.hpp"

namespace softgpu::check {

std::uint64_t operation_record::block_of(std::uint64_t serial) const {
    if (serial >= first_serial && serial - first_serial < serials) {
        return serial - first_serial;
    }
    const auto found = further.find(serial);
    return found == further.end() ? 0 : found->second;
}

} // namespace softgpu::check
