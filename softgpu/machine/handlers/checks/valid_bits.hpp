// SPDX-License-Identifier: MIT
// Which bytes of a memory have been written: one bit each. At least 8 more bytes follow the last bit, so that 8 bytes can
// be read at once.
#pragma once

#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/handlers/lanes.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

SOFTGPU_INLINE bool all_valid(const std::uint8_t* valid, std::uint64_t begin, std::uint64_t bytes) {
    constexpr std::uint64_t most = 56; // from any bit of a byte on, in 64 bits
    std::uint64_t missing = 0;
    for (;;) {
        std::uint64_t bits;
        std::memcpy(&bits, valid + (begin >> 3), sizeof(bits));
        bits >>= begin & 7;
        if (bytes <= most) {
            return (missing | (~bits & ((1ull << bytes) - 1))) == 0;
        }
        missing |= ~bits & ((1ull << most) - 1);
        begin += most;
        bytes -= most;
    }
}

// Other blocks may write bytes next to these at the same time: the outer bits are set atomically.
SOFTGPU_INLINE void set_valid(std::uint8_t* valid, std::uint64_t begin, std::uint64_t bytes) {
    if (all_valid(valid, begin, bytes)) {
        return;
    }
    const std::uint64_t end = begin + bytes - 1;
    std::uint8_t* const first = valid + (begin >> 3);
    std::uint8_t* const last = valid + (end >> 3);
    const auto from = static_cast<std::uint8_t>(0xFFu << (begin & 7));
    const auto upto = static_cast<std::uint8_t>(0xFFu >> (7 - (end & 7)));
    if (first == last) {
        __atomic_fetch_or(first, static_cast<std::uint8_t>(from & upto), __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_or(first, from, __ATOMIC_RELAXED);
    for (std::uint8_t* p = first + 1; p < last; ++p) {
        *p = 0xFF;
    }
    __atomic_fetch_or(last, upto, __ATOMIC_RELAXED);
}

// false: the access may read an uninitialized byte.
template <access_verb Verb>
SOFTGPU_INLINE bool pass_valid(std::uint8_t* valid, std::uint64_t begin, std::uint64_t bytes) {
    if (Verb != access_verb::store && !all_valid(valid, begin, bytes)) {
        return false;
    }
    if (Verb == access_verb::store) {
        set_valid(valid, begin, bytes);
    }
    return true;
}

// The block has written these bytes of its shared memory: most blocks write all of it, one part after the other.
SOFTGPU_INLINE void extend_written(check::block_view& v, std::uint64_t begin, std::uint64_t bytes) {
    const std::uint64_t end = begin + bytes;
    if (begin <= v.shared_written_upto && end >= v.shared_written_from) {
        v.shared_written_from = begin < v.shared_written_from ? begin : v.shared_written_from;
        v.shared_written_upto = end > v.shared_written_upto ? end : v.shared_written_upto;
    } else if (bytes > v.shared_written_upto - v.shared_written_from) {
        v.shared_written_from = begin;
        v.shared_written_upto = end;
    }
}
SOFTGPU_INLINE bool is_within_written(const check::block_view& v, std::uint64_t begin, std::uint64_t bytes) {
    return begin >= v.shared_written_from && begin + bytes <= v.shared_written_upto;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
