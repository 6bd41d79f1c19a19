// SPDX-License-Identifier: MIT
// The shadow of the arena of global memory: for each byte whether it has been written, for each word its last write and
// its last read. Addresses are reserved for the whole arena; memory is committed at the first touch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "softgpu/check/findings/checks.hpp"
#include "softgpu/check/shadow/view.hpp"

namespace softgpu::check {

class global_shadow {
public:
    // Throws std::system_error if the host has no addresses left.
    global_shadow(std::uint64_t arena, std::uint64_t bytes, check_set checks);
    ~global_shadow();
    global_shadow(const global_shadow&) = delete;
    global_shadow& operator=(const global_shadow&) = delete;

    [[nodiscard]] const shadow_view& view() const noexcept { return view_; }

    // Bytes outside of the arena are left out. For the host's own accesses; kernels go through the view.
    void set_valid(std::uint64_t at, std::uint64_t bytes, bool valid) noexcept;
    // Copies which bytes are valid. A source outside of the arena is valid.
    void copy_valid(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) noexcept;
    [[nodiscard]] bool is_valid(std::uint64_t at) const noexcept;
    // Afterwards these bytes count as untouched.
    void forget_stamps(std::uint64_t at, std::uint64_t bytes) noexcept;
    // The same for the whole arena.
    void forget_all_stamps() noexcept;

private:
    struct mapping {
        std::byte* base = nullptr;
        std::uint64_t bytes = 0;
    };
    static mapping reserve(std::uint64_t bytes);
    static void clear(std::byte* first, std::byte* last) noexcept;

    shadow_view view_;
    mapping writes_, reads_, valid_;
};

} // namespace softgpu::check
