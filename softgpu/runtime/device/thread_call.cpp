// SPDX-License-Identifier: MIT
#include "softgpu/runtime/device/thread_call.hpp"

#include <map>

namespace softgpu::runtime {
namespace {

// Texts that kernels read: each stays where it is.
struct device_texts final : device_part {
    std::map<std::string, memory::address, std::less<>> known;
};

} // namespace

std::uint64_t text_in_memory(context& gpu, const char* text) {
    const std::lock_guard lock(gpu.mutex());
    memory::address& at = gpu.part<device_texts>().known[text];
    if (at == 0) {
        at = gpu.memory().allocate(std::strlen(text) + 1, memory::allocation_kind::constant, "(text of an error)");
        std::strcpy(reinterpret_cast<char*>(at), text);
    }
    return at;
}

} // namespace softgpu::runtime
