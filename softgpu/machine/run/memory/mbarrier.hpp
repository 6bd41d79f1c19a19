// SPDX-License-Identifier: MIT
// mbarrier: a barrier object in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softgpu::machine {

// Eight bytes of shared memory; PTX leaves their layout open.
class mbarrier {
public:
    explicit mbarrier(std::byte* at) noexcept : at_(at) {}

    static constexpr std::uint32_t most_arrivals = (1u << 20) - 1;

    void initialise(std::uint32_t arrivals) noexcept;
    void invalidate() noexcept;
    // The eight bytes: the token of arrive and test_wait.
    [[nodiscard]] std::uint64_t state() const noexcept;
    // `count` arrivals; `drop` takes them away from later phases too. false: fewer are pending.
    [[nodiscard]] bool arrive(std::uint32_t count, bool drop) noexcept;
    // Bytes that asynchronous copies will bring, or (negative) have brought, in this phase.
    void expect_bytes(std::int64_t bytes) noexcept;
    // One more arrival pending in this phase. false: too many.
    [[nodiscard]] bool expect_arrival() noexcept;
    // Whether the phase in which `token` was taken is over, or the phase of this parity.
    [[nodiscard]] bool is_over(std::uint64_t token) const noexcept;
    [[nodiscard]] bool is_over_parity(std::uint32_t parity) const noexcept;

    [[nodiscard]] static std::uint32_t pending_of(std::uint64_t token) noexcept;

private:
    void store(std::uint64_t pending, std::uint64_t expected, std::int64_t bytes, std::uint64_t phase) noexcept;

    std::byte* at_;
};

} // namespace softgpu::machine
