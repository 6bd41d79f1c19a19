// SPDX-License-Identifier: MIT
// Reader for the fat binaries that nvcc puts into a program: containers of PTX and machine code, one entry each.
//
// A container is a 16-byte header (magic 0xBA55ED50, u16 version 1, u16 header bytes, u64 payload bytes) and entries one
// after the other. An entry is a little-endian header and its payload. Found in the output of nvcc 13.0:
//
//   offset  type  meaning
//        0  u16   kind: 1 PTX, 2 ELF, 8 LTO intermediate code
//        4  u32   bytes of the header, 64 or more
//        8  u64   bytes of the payload, with padding
//       16  u32   bytes of the compressed payload; 0: not compressed
//       20  u32   offset of the options
//       28  u32   architecture
//       32  u32   offset of the source file's name; its length is at 36
//       40  u64   flags
//       56  u64   bytes after decompression
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

// The message is one line about what is wrong with a fat binary.
class fatbin_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

enum class fatbin_kind : std::uint8_t { ptx, elf, lto, other }; // lto: intermediate code for the linker
enum class fatbin_compression : std::uint8_t { none, lz4, zstd };

// The devices that PTX is for: `any` (compute_90) its own architecture and all later ones, `family` (compute_100f) its own and
// later ones of the same major number, `exact` (compute_90a) only its own.
enum class fatbin_reach : std::uint8_t { any, family, exact };

// An entry. `payload` points into the memory that was read, which must outlive the entry.
struct fatbin_entry {
    fatbin_kind kind = fatbin_kind::other;
    fatbin_compression compression = fatbin_compression::none;
    fatbin_reach reach = fatbin_reach::any;
    unsigned architecture = 0;            // 75 for compute_75 and sm_75
    std::uint32_t container = 0;          // number of the container, from 0
    bool relocatable = false;             // of -rdc=true: must be linked with the other containers before use
    std::uint64_t uncompressed_bytes = 0; // from the header; with padding if not compressed
    std::span<const std::byte> payload;   // compressed as `compression` says; of intermediate code scrambled too
    std::span<const std::byte> within;    // the container
    std::string_view source;              // name of the source file; often empty
    std::string_view options;             // nvcc's options for the assembler; often empty
};

inline constexpr std::size_t all_readable = static_cast<std::size_t>(-1);
inline constexpr std::uint64_t most_uncompressed_bytes = 1ull << 30;

// The entries of a fat binary, not decompressed. Throws fatbin_error.
// With a number of bytes, `data` is one or more containers one after the other, with zeros between them allowed; nothing
// outside [data, data + bytes) is read. With `all_readable`, `data` is memory of a loaded program: one container, as long as
// its header says, or the wrapper of __cudaRegisterFatBinary (magic 0x466243B1), whose pointers are followed. Version 2 of the
// wrapper, which -rdc=true makes, has a list of relocatable containers after the linked one.
[[nodiscard]] std::vector<fatbin_entry> read_fatbin(const void* data, std::size_t bytes = all_readable);

// The contents of an entry; PTX without the zeros at its end. Throws fatbin_error for an entry of kind `lto` or `other`, for more
// than most_uncompressed_bytes, and for compressed data that is damaged or has another length than the header says.
[[nodiscard]] std::string decompress(const fatbin_entry& entry);

// NVIDIA's library for launches by kernels, libcudadevrt.a. Linkers accept it and take nothing from it: it holds machine code,
// and programs for cooperative groups name it too, which need nothing of it.
[[nodiscard]] bool is_device_runtime(const void* data, std::size_t bytes) noexcept;

// The PTX for a device of this compute capability (90 for 9.0): the highest architecture that the device can run, and the most
// specific among equal ones. Linked code comes before relocatable code. nullopt: there is none.
[[nodiscard]] std::optional<fatbin_entry> best_ptx(std::span<const fatbin_entry> entries, unsigned compute_capability);
// The same of intermediate code.
[[nodiscard]] std::optional<fatbin_entry> best_lto(std::span<const fatbin_entry> entries, unsigned compute_capability);

} // namespace softgpu::runtime
