// SPDX-License-Identifier: MIT
// The lines that this library prints on stderr, as CUDA's logs: the last of them, and functions of the program that are told
// of each. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace softgpu::runtime::logs {

inline constexpr std::size_t most_bytes = 25600;

using listener = void (*)(void* user, int level, char* message, std::size_t length);
struct registration;

void add(const std::string& message) noexcept;
// The number of the next line.
[[nodiscard]] std::uint32_t next() noexcept;
// The lines from this number on, each with its newline; those that were dropped are counted in a line before them. At most so
// many bytes, of the newest lines; nothing if not even the newest fits.
[[nodiscard]] std::optional<std::string> since(std::uint32_t first, std::size_t bytes = most_bytes);

registration* listen(listener who, void* user);
// false: there is no such registration.
bool unlisten(registration* r);

} // namespace softgpu::runtime::logs
