// SPDX-License-Identifier: MIT
// A small encoder of fat binaries, for the tests: the layout is described in softgpu/runtime/fatbin/fatbin.hpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <lz4.h>
#include <zstd.h>

namespace fatbin_test {

enum class packing { plain, lz4, zstd };

struct entry_plan {
    std::uint16_t kind = 1;
    unsigned architecture = 75;
    packing pack = packing::plain;
    std::string contents;
    std::uint64_t extra_flags = 0;
    std::string source;
    std::string options;
};

template <class Number>
void put(std::string& bytes, std::size_t at, Number value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

inline std::string packed(const std::string& contents, packing pack) {
    if (pack == packing::lz4) {
        std::string out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(contents.size()))), '\0');
        out.resize(static_cast<std::size_t>(LZ4_compress_default(
            contents.data(), out.data(), static_cast<int>(contents.size()), static_cast<int>(out.size()))));
        return out;
    }
    if (pack == packing::zstd) {
        std::string out(ZSTD_compressBound(contents.size()), '\0');
        out.resize(ZSTD_compress(out.data(), out.size(), contents.data(), contents.size(), 3));
        return out;
    }
    return contents;
}

inline std::string padded(std::string bytes) {
    bytes.resize((bytes.size() + 7) / 8 * 8, '\0');
    return bytes;
}

inline std::string encode(const entry_plan& plan) {
    std::string header(64, '\0');
    if (!plan.source.empty()) {
        put(header, 32, static_cast<std::uint32_t>(header.size()));
        put(header, 36, static_cast<std::uint32_t>(plan.source.size()));
        header = padded(header + plan.source);
    }
    if (!plan.options.empty()) {
        const auto at = static_cast<std::uint32_t>(header.size());
        put(header, 20, at);
        header.resize(at + 8, '\0');
        put(header, at, at + 8);
        put(header, at + 4, static_cast<std::uint32_t>(plan.options.size()));
        header = padded(header + plan.options);
    }
    const std::string contents = plan.kind == 1 ? plan.contents + '\0' : plan.contents;
    const std::string body = packed(contents, plan.pack);
    const std::string payload = padded(body);
    put(header, 0, plan.kind);
    put(header, 2, std::uint16_t{0x101});
    put(header, 4, static_cast<std::uint32_t>(header.size()));
    put(header, 8, std::uint64_t{payload.size()});
    put(header, 28, static_cast<std::uint32_t>(plan.architecture));
    std::uint64_t flags = 0x11 | plan.extra_flags;
    if (plan.pack != packing::plain) {
        flags |= plan.pack == packing::lz4 ? 0x2000u : 0x8000u;
        put(header, 16, static_cast<std::uint32_t>(body.size()));
        put(header, 56, std::uint64_t{contents.size()});
    }
    put(header, 40, flags);
    return header + payload;
}

inline std::string container(const std::vector<entry_plan>& entries) {
    std::string payload;
    for (const entry_plan& plan : entries) {
        payload += encode(plan);
    }
    std::string header(16, '\0');
    put(header, 0, std::uint32_t{0xBA55ED50u});
    put(header, 4, std::uint16_t{1});
    put(header, 6, std::uint16_t{16});
    put(header, 8, std::uint64_t{payload.size()});
    return header + payload;
}

// PTX-like text of about this many bytes.
inline std::string some_ptx(std::size_t bytes) {
    std::string text = ".version 9.0\n.target sm_75\n.address_size 64\n";
    for (unsigned k = 0; text.size() < bytes; ++k) {
        text += "add.s32 %r" + std::to_string(k * 7919u % 1000u) + ", %r" + std::to_string(k) + ", 1;\n";
    }
    return text;
}

} // namespace fatbin_test
