// SPDX-License-Identifier: MIT
// The checks that SOFTGPU_CHECK asks for: one session for the device memory of the moment, the findings of the process,
// and their report on stderr and in the file that SOFTGPU_CHECK_JSON names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "softgpu/check/order.hpp"
#include "softgpu/check/session.hpp"

namespace softgpu::runtime {

struct settings;

namespace checking {

// nullptr where no check is on. The session is the current one until it ends.
[[nodiscard]] std::unique_ptr<check::session> begin(const settings& options, memory::device_memory& memory);
// The process has begun to use the runtime: its file is there from now on, and holds every finding as soon as it is made.
void begin_report(const settings& options) noexcept;
// While it lives, this thread's findings do not get there one by one: there will be many, and launched() or report_all()
// follows.
class many_findings {
public:
    many_findings() noexcept;
    ~many_findings();
    many_findings(const many_findings&) = delete;
    many_findings& operator=(const many_findings&) = delete;
};
// Who gets what the sessions find that begin from now on; nullptr: the process, which reports it.
void send_findings_to(check::findings* sink) noexcept;
// The session of the moment, or nullptr.
[[nodiscard]] check::session* current() noexcept;

// The host's or a copy's own access, right after it was made.
void written(const void* at, std::uint64_t bytes) noexcept;
void copied(const void* to, const void* from, std::uint64_t bytes) noexcept;

// Whether the order of operations is looked at.
[[nodiscard]] bool watches_order() noexcept;
// Of the operation that this thread carries out; without a moment where its order is not watched.
[[nodiscard]] check::operation_note current_note();
// This thread's operation has copied or filled: the ranges that it wrote and read.
void transferred(std::string name, std::vector<check::touched_range> ranges) noexcept;
// This thread's operation makes [at, at + bytes) usable in its stream's order, or is about to free it.
void allocated_in_order(memory::device_memory& memory, memory::address base, const char* call) noexcept;
void freed_in_order(memory::device_memory& memory, memory::address base, const char* call) noexcept;
// The rows of a box, each [base + k * pitch, ... + width).
void add_rows(std::vector<check::touched_range>& ranges, const memory::device_memory& memory, const void* base, std::size_t pitch,
              std::size_t slice_rows, std::size_t width, std::size_t height, std::size_t depth, bool writes);
// Kernels' modules are about to go.
void modules_go() noexcept;

// A launch is over: after a fault what was found is printed at once, since the program may abort.
void launched(const settings& options, bool fault) noexcept;
// The device memory, or the process, comes to its end: what is left in it? After a kernel's fault nothing could be freed
// any more.
void memory_ends(bool poisoned) noexcept;
// Says what is left of the allocations after this one; see session::find_leaks.
void find_leaks(check::session& s, std::uint64_t after = 0);
// Prints what has not been printed yet and writes the file.
void report_all(const settings& options) noexcept;

} // namespace checking
} // namespace softgpu::runtime
