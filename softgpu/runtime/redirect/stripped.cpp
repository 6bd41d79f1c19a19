// SPDX-License-Identifier: MIT
#include "softgpu/runtime/redirect/stripped.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>

#include <elf.h>

namespace softgpu::redirect {

namespace {

constexpr std::string_view glue_functions[] = {
    "__cudaRegisterFatBinary",     "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary", "__cudaRegisterVar",
    "__cudaRegisterManagedVar",    "__cudaRegisterHostVar",      "__cudaRegisterFunction",    "__cudaInitModule",
    "__cudaPushCallConfiguration", "__cudaPopCallConfiguration", "__cudaGetKernel",           "__cudaLaunchKernel",
    "__cudaLaunchKernel_ptsz",
};
constexpr std::uint64_t runtime_bytes = 1u << 20; // more than the code of a runtime
constexpr std::size_t fewest_functions = 200;     // of a runtime of CUDA 12 or 13, which have 400

struct section {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    const unsigned char* data = nullptr;

    [[nodiscard]] bool holds(std::uint64_t a) const noexcept { return a - address < bytes; }
};

// The section of this name; an empty one if there is none. No section is found in a file of another kind.
section section_of(const mapped_file& file, std::string_view name) {
    const auto* const header = file.at<Elf64_Ehdr>(0, 1);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_machine != EM_X86_64 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr)) {
        return {};
    }
    const auto* const sections = file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    if (sections == nullptr || header->e_shstrndx >= header->e_shnum) {
        return {};
    }
    const Elf64_Shdr& texts = sections[header->e_shstrndx];
    for (unsigned i = 0; i < header->e_shnum; ++i) {
        const Elf64_Shdr& s = sections[i];
        const char* const named =
            s.sh_name < texts.sh_size ? file.at<char>(texts.sh_offset + s.sh_name, name.size() + 1) : nullptr;
        if (named != nullptr && s.sh_type != SHT_NOBITS && name == std::string_view(named, name.size()) &&
            named[name.size()] == '\0') {
            return {s.sh_addr, s.sh_size, file.at<unsigned char>(s.sh_offset, s.sh_size)};
        }
    }
    return {};
}

template <class Number>
Number read(const unsigned char* from) {
    Number n;
    std::memcpy(&n, from, sizeof n);
    return n;
}

// Where functions begin, in order: the table of .eh_frame_hdr as all linkers write it.
std::vector<std::uint64_t> function_starts(const section& table) {
    constexpr unsigned char encoding[] = {1, 0x1B, 0x03, 0x3B};
    if (table.data == nullptr || table.bytes < 12 || std::memcmp(table.data, encoding, sizeof encoding) != 0) {
        return {};
    }
    const std::uint64_t count = std::min<std::uint64_t>(read<std::uint32_t>(table.data + 8), (table.bytes - 12) / 8);
    std::vector<std::uint64_t> starts(count);
    for (std::uint64_t k = 0; k < count; ++k) {
        starts[k] = table.address + static_cast<std::uint64_t>(read<std::int32_t>(table.data + 12 + 8 * k));
    }
    return starts;
}

// The texts that may be names of the runtime's functions, by address.
std::map<std::uint64_t, std::string_view> names_in(const section& constants) {
    std::map<std::uint64_t, std::string_view> names;
    const auto* const begin = reinterpret_cast<const char*>(constants.data);
    const char* const end = begin + constants.bytes;
    const char* at = begin;
    while ((at = static_cast<const char*>(::memmem(at, static_cast<std::size_t>(end - at), "cuda", 4))) != nullptr) {
        const char* const last =
            std::find_if_not(at, end, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
        if (last != end && *last == '\0') {
            names.emplace(constants.address + static_cast<std::uint64_t>(at - begin),
                          std::string_view(at, static_cast<std::size_t>(last - at)));
        }
        at = last;
    }
    return names;
}

// What the code refers to by `lea register, [rip + distance]`: body(address of the next instruction, address meant).
template <class Body>
void each_reference(const section& code, Body&& body) {
    const unsigned char* const end = code.data + code.bytes;
    const unsigned char* at = code.data + 1;
    while (at + 6 <= end && (at = static_cast<const unsigned char*>(
                                 std::memchr(at, 0x8D, static_cast<std::size_t>(end - at - 5)))) != nullptr) {
        if ((at[-1] & 0xFB) == 0x48 && (at[1] & 0xC7) == 0x05) {
            const std::uint64_t next = code.address + static_cast<std::uint64_t>(at + 6 - code.data);
            body(next, next + static_cast<std::uint64_t>(read<std::int32_t>(at + 2)));
        }
        ++at;
    }
}

// The function that the first instructions from here on call: at most a move of a register stands before the call. 0: none.
std::uint64_t called_next(const section& code, std::uint64_t from) {
    constexpr unsigned char call = 0xE8;
    for (std::uint64_t at = from; at < from + 4 && at + 5 <= code.address + code.bytes; ++at) {
        const unsigned char* const here = code.data + (at - code.address);
        if (*here == call) {
            return at + 5 + static_cast<std::uint64_t>(read<std::int32_t>(here + 1));
        }
    }
    return 0;
}

} // namespace

std::vector<symbol> functions_of_stripped(const mapped_file& file) {
    const section fat_binaries = section_of(file, ".nvFatBinSegment");
    const section constants = section_of(file, ".rodata");
    const section code = section_of(file, ".text");
    const auto has_text = [&](const auto& text) {
        return ::memmem(constants.data, constants.bytes, text, sizeof text) != nullptr;
    };
    // The runtime loads the driver; Python modules that wrap the runtime's functions name them too, and do not.
    if (constants.data == nullptr || code.data == nullptr || !has_text("cudaGetErrorString") ||
        !has_text("libcuda.so.1")) {
        return {};
    }
    const std::vector<std::uint64_t> starts = function_starts(section_of(file, ".eh_frame_hdr"));
    const std::map<std::uint64_t, std::string_view> names = names_in(constants);
    std::map<std::string_view, std::vector<std::uint64_t>> found; // the functions that refer to a name
    std::vector<std::uint64_t> called;                            // with a fat binary
    each_reference(code, [&](std::uint64_t next, std::uint64_t meant) {
        if (fat_binaries.holds(meant)) {
            called.push_back(called_next(code, next));
        } else if (constants.holds(meant)) {
            const auto name = names.find(meant);
            const auto after = std::upper_bound(starts.begin(), starts.end(), next - 1);
            if (name != names.end() && after != starts.begin()) {
                found[name->second].push_back(*std::prev(after));
            }
        }
    });
    // A library stands behind the program's own code, which may have functions of its own that take a fat binary.
    const auto of_error = found.find("cudaGetErrorString");
    if (of_error == found.end() || found.contains("cudaBindTexture")) {
        return {};
    }
    const std::uint64_t known = of_error->second.back();
    std::vector<symbol> functions;
    const auto add = [&](std::uint64_t start, std::string_view name) {
        const auto next = std::upper_bound(starts.begin(), starts.end(), start);
        functions.push_back({start, next == starts.end() ? 0 : *next - start, name});
    };
    std::uint64_t first = known - std::min(known, runtime_bytes);
    if (fat_binaries.bytes != 0) {
        first = 0;
        for (const std::uint64_t f : called) {
            first = f < known ? std::max(first, f) : first;
        }
        const auto glue = std::lower_bound(starts.begin(), starts.end(), first);
        if (static_cast<std::size_t>(starts.end() - glue) <= std::size(glue_functions) || *glue != first ||
            known - first > runtime_bytes) {
            return {};
        }
        for (std::size_t k = 0; k < std::size(glue_functions); ++k) {
            add(glue[static_cast<std::ptrdiff_t>(k)], glue_functions[k]);
        }
    }
    for (auto& [name, by] : found) {
        std::erase_if(by, [&](std::uint64_t f) { return f < first || f > known + runtime_bytes; });
        by.erase(std::unique(by.begin(), by.end()), by.end());
        if (by.size() == 1) {
            add(by.front(), name);
        }
    }
    std::sort(functions.begin(), functions.end(),
              [](const symbol& a, const symbol& b) { return a.address < b.address; });
    return functions.size() < fewest_functions ? std::vector<symbol>{} : functions;
}

} // namespace softgpu::redirect
