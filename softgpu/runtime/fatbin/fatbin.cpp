// SPDX-License-Identifier: MIT
// The containers of a fat binary and the choice among their entries.
#include "softgpu/runtime/fatbin/fatbin.hpp"

#include <cstdint>
#include <cstring>
#include <tuple>

namespace softgpu::runtime {

namespace {

constexpr std::uint32_t wrapper_magic = 0x466243B1u;
constexpr std::uint32_t container_magic = 0xBA55ED50u;
constexpr std::size_t container_header_bytes = 16;
constexpr std::size_t entry_header_bytes = 64;
constexpr std::size_t most_linked_containers = 65536;

constexpr std::uint16_t kind_ptx = 1;
constexpr std::uint16_t kind_elf = 2;
constexpr std::uint16_t kind_lto = 8;

constexpr std::uint64_t flag_lz4 = 0x2000;
constexpr std::uint64_t flag_zstd = 0x8000;
constexpr std::uint64_t flag_exact = 0x100000;
constexpr std::uint64_t flag_family = 0x200000;

struct wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const std::byte* data;
    const std::byte* const* linked; // version 2: containers, up to a null pointer
};

// The caller has checked that the bytes are there.
template <class Number>
Number number_at(const std::byte* at) {
    Number value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

[[noreturn]] void fail(const std::string& message) { throw fatbin_error("fat binary: " + message); }

std::string at_offset(std::size_t offset) { return " at offset " + std::to_string(offset); }

// A text in an entry's header, without padding; empty if it does not lie in the header.
std::string_view text_in(std::span<const std::byte> header, std::size_t offset, std::size_t length) {
    if (offset < entry_header_bytes || offset > header.size() || length > header.size() - offset) {
        return {};
    }
    std::string_view text(reinterpret_cast<const char*>(header.data()) + offset, length);
    text = text.substr(0, text.find('\0'));
    const auto is_space = [](char c) { return c == ' '; };
    while (!text.empty() && is_space(text.back())) {
        text.remove_suffix(1);
    }
    while (!text.empty() && is_space(text.front())) {
        text.remove_prefix(1);
    }
    return text;
}

bool has_option(std::string_view options, std::string_view option) {
    for (std::size_t at = options.find(option); at != std::string_view::npos; at = options.find(option, at + 1)) {
        const std::size_t end = at + option.size();
        if ((at == 0 || options[at - 1] == ' ') && (end == options.size() || options[end] == ' ')) {
            return true;
        }
    }
    return false;
}

fatbin_entry make_entry(std::span<const std::byte> header, std::span<const std::byte> payload, std::size_t where) {
    fatbin_entry entry;
    const auto kind = number_at<std::uint16_t>(header.data());
    entry.kind = kind == kind_ptx   ? fatbin_kind::ptx
                 : kind == kind_elf ? fatbin_kind::elf
                 : kind == kind_lto ? fatbin_kind::lto
                                    : fatbin_kind::other;
    entry.architecture = number_at<std::uint32_t>(header.data() + 28);
    const auto compressed_bytes = number_at<std::uint32_t>(header.data() + 16);
    const auto flags = number_at<std::uint64_t>(header.data() + 40);
    const bool lz4 = (flags & flag_lz4) != 0;
    const bool zstd = (flags & flag_zstd) != 0;
    if (lz4 && zstd) {
        fail("an entry" + at_offset(where) + " claims to be compressed in two ways");
    }
    entry.reach = (flags & flag_exact) != 0    ? fatbin_reach::exact
                  : (flags & flag_family) != 0 ? fatbin_reach::family
                                               : fatbin_reach::any;
    if (lz4 || zstd) {
        if (compressed_bytes > payload.size()) {
            fail("an entry" + at_offset(where) + " has " + std::to_string(payload.size()) + " bytes and claims " +
                 std::to_string(compressed_bytes) + " compressed ones");
        }
        entry.compression = lz4 ? fatbin_compression::lz4 : fatbin_compression::zstd;
        entry.uncompressed_bytes = number_at<std::uint64_t>(header.data() + 56);
        entry.payload = payload.first(compressed_bytes);
    } else {
        entry.uncompressed_bytes = payload.size();
        entry.payload = payload;
    }
    entry.source =
        text_in(header, number_at<std::uint32_t>(header.data() + 32), number_at<std::uint32_t>(header.data() + 36));
    const std::size_t options_at = number_at<std::uint32_t>(header.data() + 20);
    if (options_at >= entry_header_bytes && options_at <= header.size() && header.size() - options_at >= 8) {
        entry.options = text_in(header, number_at<std::uint32_t>(header.data() + options_at),
                                number_at<std::uint32_t>(header.data() + options_at + 4));
    }
    entry.relocatable = has_option(entry.options, "--compile-only");
    return entry;
}

// Bytes of the container at `data`, header included. At most `bytes` bytes may be read.
std::size_t container_bytes(const std::byte* data, std::size_t bytes, std::size_t where) {
    if (bytes < container_header_bytes) {
        fail("cut off in a container's header" + at_offset(where));
    }
    if (number_at<std::uint32_t>(data) != container_magic) {
        fail("no container" + at_offset(where) + " (wrong magic number)");
    }
    const auto version = number_at<std::uint16_t>(data + 4);
    if (version != 1) {
        fail("container version " + std::to_string(version) + at_offset(where) + " is not known");
    }
    const std::size_t header_bytes = number_at<std::uint16_t>(data + 6);
    const auto payload_bytes = number_at<std::uint64_t>(data + 8);
    if (header_bytes < container_header_bytes || header_bytes > bytes || payload_bytes > bytes - header_bytes) {
        fail("a container" + at_offset(where) + " is longer than the data");
    }
    return header_bytes + static_cast<std::size_t>(payload_bytes);
}

// Adds the entries of one whole container; `where` is its offset, for messages.
void add_container(std::vector<fatbin_entry>& entries, std::span<const std::byte> container, std::size_t where,
                   std::uint32_t number) {
    std::size_t at = number_at<std::uint16_t>(container.data() + 6);
    while (at < container.size()) {
        const std::span<const std::byte> rest = container.subspan(at);
        if (rest.size() < entry_header_bytes) {
            fail("cut off in an entry's header" + at_offset(where + at));
        }
        const std::size_t header_bytes = number_at<std::uint32_t>(rest.data() + 4);
        const auto payload_bytes = number_at<std::uint64_t>(rest.data() + 8);
        if (header_bytes < entry_header_bytes || header_bytes > rest.size() ||
            payload_bytes > rest.size() - header_bytes) {
            fail("an entry" + at_offset(where + at) + " is longer than its container");
        }
        const auto length = static_cast<std::size_t>(payload_bytes);
        fatbin_entry entry = make_entry(rest.first(header_bytes), rest.subspan(header_bytes, length), where + at);
        entry.container = number;
        entry.within = container;
        entries.push_back(entry);
        at += header_bytes + length;
    }
}

std::vector<fatbin_entry> read_wrapper(const std::byte* data) {
    const auto w = number_at<wrapper>(data);
    if (w.version != 1 && w.version != 2) {
        fail("wrapper version " + std::to_string(w.version) + " is not known");
    }
    if (w.data == nullptr) {
        fail("the wrapper points to nothing");
    }
    std::vector<fatbin_entry> entries;
    std::uint32_t number = 0;
    const auto add = [&](const std::byte* container) {
        add_container(entries, {container, container_bytes(container, all_readable, 0)}, 0, number++);
    };
    add(w.data);
    if (w.version == 2 && w.linked != nullptr) {
        const std::size_t own = entries.size();
        for (std::size_t k = 0; w.linked[k] != nullptr; ++k) {
            if (k == most_linked_containers) {
                fail("the wrapper's list of relocatable containers has no end");
            }
            add(w.linked[k]);
        }
        for (std::size_t k = own; k < entries.size(); ++k) {
            entries[k].relocatable = true;
        }
    }
    return entries;
}

bool runs_on(const fatbin_entry& entry, unsigned compute_capability) {
    switch (entry.reach) {
    case fatbin_reach::exact: return entry.architecture == compute_capability;
    case fatbin_reach::family:
        return entry.architecture <= compute_capability && entry.architecture / 10 == compute_capability / 10;
    case fatbin_reach::any: break;
    }
    return entry.architecture <= compute_capability;
}

std::optional<fatbin_entry> best_of(fatbin_kind kind, std::span<const fatbin_entry> entries,
                                    unsigned compute_capability) {
    const auto rank = [](const fatbin_entry& e) { return std::tuple(!e.relocatable, e.architecture, e.reach); };
    const fatbin_entry* best = nullptr;
    for (const fatbin_entry& entry : entries) {
        if (entry.kind == kind && runs_on(entry, compute_capability) &&
            (best == nullptr || rank(*best) < rank(entry))) {
            best = &entry;
        }
    }
    return best == nullptr ? std::nullopt : std::optional(*best);
}

} // namespace

std::vector<fatbin_entry> read_fatbin(const void* data, std::size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(data);
    if (first == nullptr) {
        fail("there is none (null pointer)");
    }
    std::vector<fatbin_entry> entries;
    if (bytes == all_readable) {
        if (number_at<std::uint32_t>(first) == wrapper_magic) {
            return read_wrapper(first);
        }
        add_container(entries, {first, container_bytes(first, bytes, 0)}, 0, 0);
        return entries;
    }
    if (bytes == 0) {
        fail("there is none (no bytes)");
    }
    std::uint32_t number = 0;
    std::size_t at = 0;
    while (at < bytes) {
        const std::size_t length = container_bytes(first + at, bytes - at, at);
        add_container(entries, {first + at, length}, at, number++);
        at += length;
        while (at < bytes && first[at] == std::byte{0}) {
            ++at;
        }
    }
    return entries;
}

std::optional<fatbin_entry> best_ptx(std::span<const fatbin_entry> entries, unsigned compute_capability) {
    return best_of(fatbin_kind::ptx, entries, compute_capability);
}

std::optional<fatbin_entry> best_lto(std::span<const fatbin_entry> entries, unsigned compute_capability) {
    return best_of(fatbin_kind::lto, entries, compute_capability);
}

bool is_device_runtime(const void* data, std::size_t bytes) noexcept {
    const std::string_view all(static_cast<const char*>(data), bytes);
    return all.starts_with("!<arch>\n") && all.find("cuda_device_runtime.o") != std::string_view::npos;
}

} // namespace softgpu::runtime
