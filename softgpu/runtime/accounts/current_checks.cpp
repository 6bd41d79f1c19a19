// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/current_checks.hpp"

#include <atomic>

namespace softgpu::runtime::checking {
namespace {

std::atomic<check::session*> the_session{nullptr};

} // namespace

check::session* current() noexcept { return the_session.load(std::memory_order_acquire); }

void set_current(check::session* session) noexcept { the_session.store(session, std::memory_order_release); }

void clear_current(check::session* session) noexcept { the_session.compare_exchange_strong(session, nullptr); }

void written(const void* at, std::uint64_t bytes) noexcept {
    if (check::session* const s = current()) {
        s->written(reinterpret_cast<std::uint64_t>(at), bytes);
    }
}

void copied(const void* to, const void* from, std::uint64_t bytes) noexcept {
    if (check::session* const s = current()) {
        s->copied(reinterpret_cast<std::uint64_t>(to), reinterpret_cast<std::uint64_t>(from), bytes);
    }
}

} // namespace softgpu::runtime::checking
