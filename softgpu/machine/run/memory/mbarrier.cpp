// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/memory/mbarrier.hpp"

#include <algorithm>
#include <cstring>

namespace softgpu::machine {

namespace {

// The eight bytes: pending arrivals and those of each phase, 20 bits each; bytes awaited, 21 bits with a sign; the
// phase's parity, bit 63.
constexpr unsigned count_bits = 20;
constexpr std::uint64_t count_mask = (1ull << count_bits) - 1;
constexpr unsigned bytes_shift = 2 * count_bits;
constexpr unsigned bytes_bits = 21;
constexpr std::uint64_t bytes_mask = (1ull << bytes_bits) - 1;
constexpr unsigned phase_shift = 63;

std::uint64_t pending_in(std::uint64_t s) { return s & count_mask; }
std::uint64_t expected_in(std::uint64_t s) { return s >> count_bits & count_mask; }
std::uint64_t phase_in(std::uint64_t s) { return s >> phase_shift; }
std::int64_t bytes_in(std::uint64_t s) {
    return static_cast<std::int64_t>((s >> bytes_shift & bytes_mask) << (64 - bytes_bits)) >> (64 - bytes_bits);
}

} // namespace

std::uint64_t mbarrier::state() const noexcept {
    std::uint64_t s;
    std::memcpy(&s, at_, sizeof(s));
    return s;
}

void mbarrier::store(std::uint64_t pending, std::uint64_t expected, std::int64_t bytes, std::uint64_t phase) noexcept {
    if (pending == 0 && bytes == 0) {
        pending = expected;
        phase ^= 1;
    }
    const std::uint64_t s = pending | expected << count_bits |
                            (static_cast<std::uint64_t>(bytes) & bytes_mask) << bytes_shift | phase << phase_shift;
    std::memcpy(at_, &s, sizeof(s));
}

void mbarrier::initialise(std::uint32_t arrivals) noexcept {
    const std::uint64_t s = arrivals | std::uint64_t{arrivals} << count_bits;
    std::memcpy(at_, &s, sizeof(s));
}

void mbarrier::invalidate() noexcept { std::memset(at_, 0, sizeof(std::uint64_t)); }

bool mbarrier::arrive(std::uint32_t count, bool drop) noexcept {
    const std::uint64_t s = state();
    const std::uint64_t pending = pending_in(s);
    if (count > pending) {
        return false;
    }
    store(pending - count, drop ? expected_in(s) - std::min<std::uint64_t>(count, expected_in(s)) : expected_in(s),
          bytes_in(s), phase_in(s));
    return true;
}

void mbarrier::expect_bytes(std::int64_t bytes) noexcept {
    const std::uint64_t s = state();
    store(pending_in(s), expected_in(s), bytes_in(s) + bytes, phase_in(s));
}

bool mbarrier::expect_arrival() noexcept {
    const std::uint64_t s = state();
    if (pending_in(s) == count_mask) {
        return false;
    }
    store(pending_in(s) + 1, expected_in(s), bytes_in(s), phase_in(s));
    return true;
}

bool mbarrier::is_over(std::uint64_t token) const noexcept { return phase_in(state()) != phase_in(token); }

bool mbarrier::is_over_parity(std::uint32_t parity) const noexcept { return phase_in(state()) != (parity & 1); }

std::uint32_t mbarrier::pending_of(std::uint64_t token) noexcept {
    return static_cast<std::uint32_t>(pending_in(token));
}

} // namespace softgpu::machine
