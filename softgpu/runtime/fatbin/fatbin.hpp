// SPDX-License-Identifier: MIT
// Reader for the fat binaries that nvcc puts into a program: containers of PTX and machine code, one entry each.
//
// A container is a 16-byte header (magic 0xBA55ED50, u16 version 1, u16 header bytes, u64 payload bytes) and entries
// behind each other. An entry's header (little endian, 64 bytes or more) has: u16 kind at 0 (1 PTX, 2 ELF, 8 LTO
// intermediate code), u32 header bytes at 4, u64 padded payload bytes at 8, u32 compressed bytes at 16 (0 where not
// compressed), u32 offset of the options at 20, u32 architecture at 28, u32 offset and u32 length of the source's name
// at 32 and 36, u64 flags at 40, u64 uncompressed bytes at 56. Taken from what nvcc 13.0 emits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace softgpu::runtime {

// What is wrong with a fat binary, in one line.
class fatbin_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

enum class fatbin_kind : std::uint8_t { ptx, elf, other };
enum class fatbin_compression : std::uint8_t { none, lz4, zstd };

// Which devices PTX serves: `any` (compute_90) its own and all later ones, `family` (compute_100f) later ones of the
// same major number, `exact` (compute_90a) none but its own.
enum class fatbin_reach : std::uint8_t { any, family, exact };

// One entry. `payload` points into the memory that was read, which has to outlive the entry.
struct fatbin_entry {
    fatbin_kind kind = fatbin_kind::other;
    fatbin_compression compression = fatbin_compression::none;
    fatbin_reach reach = fatbin_reach::any;
    unsigned architecture = 0;            // 75 for compute_75 and sm_75
    std::uint32_t container = 0;          // which of the containers, from 0
    bool relocatable = false;             // of -rdc=true: is to be linked with the other containers' before use
    std::uint64_t uncompressed_bytes = 0; // as the header says; of a plain entry: with its padding
    std::span<const std::byte> payload;   // compressed where `compression` says so
    std::string_view source;              // name of the source file; often empty
    std::string_view options;             // what nvcc passes on to the assembler; often empty
};

inline constexpr std::size_t all_readable = static_cast<std::size_t>(-1);
inline constexpr std::uint64_t most_uncompressed_bytes = 1ull << 30;

// The entries of a fat binary, nothing decompressed. With a number of bytes, `data` is one or more containers behind
// each other, zeros between them allowed, and nothing outside [data, data + bytes) is touched. With `all_readable`,
// `data` is memory of a loaded program: one container as long as its header says, or the wrapper of
// __cudaRegisterFatBinary (magic 0x466243B1), whose pointers are followed; version 2, which -rdc=true makes, brings a
// list of relocatable containers that follow the linked one. Throws fatbin_error.
[[nodiscard]] std::vector<fatbin_entry> read_fatbin(const void* data, std::size_t bytes = all_readable);

// What an entry holds; of PTX without the zeros at its end. Throws fatbin_error for an entry of kind `other`, for more
// than most_uncompressed_bytes, and where the compressed data is damaged or of another length than the header says.
[[nodiscard]] std::string decompress(const fatbin_entry& entry);

// The PTX for a device of this compute capability (90 for 9.0): the highest architecture that the device can run, and
// of equals the most specific. Linked code before relocatable. Empty where there is none.
[[nodiscard]] std::optional<fatbin_entry> best_ptx(std::span<const fatbin_entry> entries, unsigned compute_capability);

} // namespace softgpu::runtime
