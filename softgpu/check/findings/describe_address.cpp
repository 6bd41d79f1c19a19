// SPDX-License-Identifier: MIT
#include "softgpu/check/findings/describe_address.hpp"

#include "softgpu/check/findings/finding.hpp"
#include "softgpu/memory/host_page.hpp"

namespace softgpu::check {

namespace {

std::string extent_of(const memory::allocation& a) {
    const std::string size = std::to_string(a.bytes) + " bytes at " + hexadecimal(a.base);
    if (a.kind == memory::allocation_kind::array) {
        return a.name + ", " + size;
    }
    return a.name.empty() ? "allocation " + std::to_string(a.serial) + ", " + size : "variable " + a.name + ", " + size;
}

} // namespace

std::string describe_address(const memory::device_memory& device, std::uint64_t at) {
    if (const auto inside = device.find(at)) {
        return extent_of(*inside) + ", byte " + std::to_string(at - inside->base);
    }
    if (const auto freed = device.find_released(at)) {
        return "freed " + extent_of(*freed) + ", byte " + std::to_string(at - freed->base);
    }
    const auto near = device.nearest(at);
    if (const char* const what = memory::far_place(device, near, at)) {
        return what;
    }
    if (!near) {
        return "nothing is allocated";
    }
    return at < near->base
               ? std::to_string(near->base - at) + " bytes before " + extent_of(*near)
               : std::to_string(at - near->base - near->bytes) + " bytes behind the end of " + extent_of(*near);
}

} // namespace softgpu::check
