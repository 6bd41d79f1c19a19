// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/printed.hpp"

#include <cstdio>
#include <map>
#include <mutex>

namespace softgpu::runtime {
namespace {

struct printed {
    std::mutex mutex;
    std::map<std::uint64_t, std::string> texts; // by launch
};

printed& kept() {
    static printed& only = *new printed; // never destroyed: static destructors launch kernels too
    return only;
}

} // namespace

void keep_printed(std::uint64_t launch, std::string text) {
    if (!text.empty()) {
        const std::lock_guard lock(kept().mutex);
        kept().texts[launch] += text;
    }
}

void show_printed() noexcept {
    printed& p = kept();
    const std::lock_guard lock(p.mutex);
    for (const auto& [launch, text] : p.texts) {
        std::fwrite(text.data(), 1, text.size(), stdout);
    }
    p.texts.clear();
}

} // namespace softgpu::runtime
