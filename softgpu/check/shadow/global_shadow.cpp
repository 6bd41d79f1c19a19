// SPDX-License-Identifier: MIT
#include "softgpu/check/shadow/global_shadow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace softgpu::check {

namespace {

constexpr std::uint64_t margin = 1u << 16; // handlers look at whole rows of words around the first and the last
constexpr std::uint64_t page = 4096;

} // namespace

global_shadow::mapping global_shadow::reserve(std::uint64_t bytes) {
    bytes += 2 * margin;
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "softgpu: cannot reserve addresses for the checks");
    }
    return {static_cast<std::byte*>(at), bytes};
}

global_shadow::global_shadow(std::uint64_t arena, std::uint64_t bytes, check_set checks) {
    view_.arena = arena;
    view_.bytes = bytes;
    if ((checks & race) != 0) {
        writes_ = reserve(bytes / 4 * sizeof(stamp));
        reads_ = reserve(bytes / 4 * sizeof(stamp));
        view_.writes = reinterpret_cast<stamp*>(writes_.base + margin);
        view_.reads = reinterpret_cast<stamp*>(reads_.base + margin);
    }
    if ((checks & init) != 0) {
        valid_ = reserve(bytes / 8);
        view_.valid = reinterpret_cast<std::uint8_t*>(valid_.base + margin);
    }
}

global_shadow::~global_shadow() {
    for (const mapping& m : {writes_, reads_, valid_}) {
        if (m.base != nullptr) {
            munmap(m.base, m.bytes);
        }
    }
}

void global_shadow::clear(std::byte* first, std::byte* last) noexcept {
    const auto up = [](std::byte* p) {
        return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(p) + page - 1) / page * page);
    };
    std::byte* const whole_first = up(first);
    std::byte* const whole_last = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(last) / page * page);
    if (whole_last > whole_first && whole_last - whole_first >= static_cast<std::ptrdiff_t>(16 * page)) {
        std::memset(first, 0, static_cast<std::size_t>(whole_first - first));
        std::memset(whole_last, 0, static_cast<std::size_t>(last - whole_last));
        madvise(whole_first, static_cast<std::size_t>(whole_last - whole_first), MADV_DONTNEED);
    } else {
        std::memset(first, 0, static_cast<std::size_t>(last - first));
    }
}

void global_shadow::set_valid(std::uint64_t at, std::uint64_t bytes, bool valid) noexcept {
    if (view_.valid == nullptr || at < view_.arena || at - view_.arena >= view_.bytes) {
        return;
    }
    const std::uint64_t first = at - view_.arena;
    const std::uint64_t last = std::min(first + bytes, view_.bytes);
    const auto one = [&](std::uint64_t k) {
        const auto bit = static_cast<std::uint8_t>(1u << (k & 7));
        if (valid) {
            __atomic_fetch_or(view_.valid + k / 8, bit, __ATOMIC_RELAXED);
        } else {
            __atomic_fetch_and(view_.valid + k / 8, static_cast<std::uint8_t>(~bit), __ATOMIC_RELAXED);
        }
    };
    std::uint64_t k = first;
    for (; k < last && (k & 7) != 0; ++k) {
        one(k);
    }
    const std::uint64_t whole = (last - k) / 8;
    if (last > k && whole != 0) {
        std::uint8_t* const from = view_.valid + k / 8;
        if (valid) {
            std::memset(from, 0xFF, whole);
        } else {
            clear(reinterpret_cast<std::byte*>(from), reinterpret_cast<std::byte*>(from + whole));
        }
        k += 8 * whole;
    }
    for (; k < last; ++k) {
        one(k);
    }
}

bool global_shadow::is_valid(std::uint64_t at) const noexcept {
    if (view_.valid == nullptr || at < view_.arena || at - view_.arena >= view_.bytes) {
        return true;
    }
    const std::uint64_t k = at - view_.arena;
    return (view_.valid[k / 8] >> (k & 7) & 1) != 0;
}

void global_shadow::copy_valid(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) noexcept {
    if (view_.valid == nullptr) {
        return;
    }
    const bool from_arena = from >= view_.arena && from - view_.arena < view_.bytes;
    const bool to_arena = to >= view_.arena && to - view_.arena < view_.bytes;
    if (!from_arena || !to_arena) {
        set_valid(to, bytes, true);
        return;
    }
    if (((to | from | bytes) & 7) == 0) {
        std::memmove(view_.valid + (to - view_.arena) / 8, view_.valid + (from - view_.arena) / 8, bytes / 8);
    } else if (to <= from) {
        for (std::uint64_t k = 0; k < bytes; ++k) {
            set_valid(to + k, 1, is_valid(from + k));
        }
    } else {
        for (std::uint64_t k = bytes; k-- > 0;) {
            set_valid(to + k, 1, is_valid(from + k));
        }
    }
}

void global_shadow::forget_stamps(std::uint64_t at, std::uint64_t bytes) noexcept {
    if (view_.writes == nullptr || at < view_.arena || at - view_.arena >= view_.bytes) {
        return;
    }
    const std::uint64_t first = (at - view_.arena) / 4;
    const std::uint64_t last = std::min((at - view_.arena + bytes + 3) / 4, view_.bytes / 4);
    clear(reinterpret_cast<std::byte*>(view_.writes + first), reinterpret_cast<std::byte*>(view_.writes + last));
    clear(reinterpret_cast<std::byte*>(view_.reads + first), reinterpret_cast<std::byte*>(view_.reads + last));
}

void global_shadow::forget_all_stamps() noexcept {
    for (const mapping& m : {writes_, reads_}) {
        if (m.base != nullptr) {
            madvise(m.base, m.bytes, MADV_DONTNEED);
        }
    }
}

} // namespace softgpu::check
