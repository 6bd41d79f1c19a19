// SPDX-License-Identifier: MIT
// The contents of an entry: plain, LZ4 or Zstandard.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>

#include <lz4.h>
#include <zstd.h>

#include "softgpu/runtime/fatbin/fatbin.hpp"

namespace softgpu::runtime {

namespace {

[[noreturn]] void fail(const std::string& message) { throw fatbin_error("fat binary: " + message); }

[[noreturn]] void fail_length(std::uint64_t expected, std::uint64_t found) {
    fail("an entry claims " + std::to_string(expected) + " bytes and holds " + std::to_string(found));
}

std::string from_lz4(std::span<const std::byte> payload, std::size_t expected) {
    // One byte of an LZ4 block yields at most 255 bytes, so a damaged length cannot cause a large allocation.
    if (expected / 255 > payload.size()) {
        fail("an entry claims more bytes than its LZ4 data can yield");
    }
    if (payload.size() > LZ4_MAX_INPUT_SIZE) {
        fail("an entry has more bytes than an LZ4 block may have");
    }
    std::string text(expected, '\0');
    const int produced = LZ4_decompress_safe(reinterpret_cast<const char*>(payload.data()), text.data(),
                                             static_cast<int>(payload.size()), static_cast<int>(expected));
    if (produced < 0) {
        fail("damaged LZ4 data");
    }
    if (static_cast<std::size_t>(produced) != expected) {
        fail_length(expected, static_cast<std::uint64_t>(produced));
    }
    return text;
}

std::string from_zstd(std::span<const std::byte> payload, std::size_t expected) {
    struct free_context {
        void operator()(ZSTD_DCtx* c) const noexcept { ZSTD_freeDCtx(c); }
    };
    const std::unique_ptr<ZSTD_DCtx, free_context> context(ZSTD_createDCtx());
    if (context == nullptr) {
        throw std::bad_alloc();
    }
    // The window need not be larger than the text; Zstandard rounds small windows up.
    const int window_bits = std::clamp(static_cast<int>(std::bit_width(expected)), 23, 30);
    ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, window_bits);
    // The text grows with the decompressed data, so a damaged length cannot cause a large allocation.
    std::string text;
    ZSTD_inBuffer in{payload.data(), payload.size(), 0};
    std::size_t filled = 0;
    while (true) {
        if (filled == text.size()) {
            text.resize(std::min(expected, std::max<std::size_t>(2 * filled, std::size_t{1} << 16)));
        }
        ZSTD_outBuffer out{text.data(), text.size(), filled};
        const std::size_t read_before = in.pos;
        const std::size_t status = ZSTD_decompressStream(context.get(), &out, &in);
        if (ZSTD_isError(status) != 0) {
            fail(std::string("damaged Zstandard data (") + ZSTD_getErrorName(status) + ")");
        }
        const bool stuck = out.pos == filled && in.pos == read_before;
        filled = out.pos;
        if (status == 0) {
            break;
        }
        if (stuck) {
            fail(filled < expected || payload.empty() ? "Zstandard data is cut off"
                                                      : "an entry holds more bytes than it claims");
        }
    }
    if (filled != expected) {
        fail_length(expected, filled);
    }
    return text;
}

} // namespace

std::string decompress(const fatbin_entry& entry) {
    if (entry.kind != fatbin_kind::ptx && entry.kind != fatbin_kind::elf) {
        fail("an entry of a kind that is neither PTX nor ELF has no known contents");
    }
    if (entry.uncompressed_bytes > most_uncompressed_bytes) {
        fail("an entry claims " + std::to_string(entry.uncompressed_bytes) + " bytes, more than " +
             std::to_string(most_uncompressed_bytes));
    }
    const auto expected = static_cast<std::size_t>(entry.uncompressed_bytes);
    std::string text;
    switch (entry.compression) {
    case fatbin_compression::none:
        text.assign(reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size());
        break;
    case fatbin_compression::lz4: text = from_lz4(entry.payload, expected); break;
    case fatbin_compression::zstd: text = from_zstd(entry.payload, expected); break;
    }
    if (entry.kind == fatbin_kind::ptx) {
        text.erase(text.find_last_not_of('\0') + 1);
    }
    return text;
}

} // namespace softgpu::runtime
