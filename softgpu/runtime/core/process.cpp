// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/process.hpp"

#include <atomic>
#include <unistd.h>

namespace softgpu::runtime::owner_process {
namespace {

std::atomic<int> registered{0}; // process ids; 0: none yet
std::atomic<int> called{0};

} // namespace

void set_by_registration() noexcept {
    int none = 0;
    registered.compare_exchange_strong(none, ::getpid());
}

void set_by_first_call() noexcept { called = ::getpid(); }

bool is_this_one() noexcept {
    const int owner = called != 0 ? called : registered;
    return owner == 0 || owner == ::getpid();
}

} // namespace softgpu::runtime::owner_process
