// SPDX-License-Identifier: MIT
// Reading the little of an ELF file that is needed.
#include "tool/run/elf_facts.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>

#include <elf.h>

namespace warpfold::tool {
namespace {

constexpr std::uint64_t largest_table = 64u << 20; // no table that is read here is larger than that

class elf_file {
public:
    explicit elf_file(const std::string& path) : in_(path, std::ios::binary) {}

    bool read(std::uint64_t offset, void* into, std::uint64_t bytes) {
        in_.clear();
        in_.seekg(static_cast<std::streamoff>(offset));
        in_.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes));
        return in_.good();
    }

    template <class Record>
    std::vector<Record> table(std::uint64_t offset, std::uint64_t bytes) {
        if (bytes > largest_table) {
            return {};
        }
        std::vector<Record> records(bytes / sizeof(Record));
        if (!read(offset, records.data(), records.size() * sizeof(Record))) {
            return {};
        }
        return records;
    }

private:
    std::ifstream in_;
};

std::string_view string_at(const std::vector<char>& strings, std::uint64_t at) {
    if (at >= strings.size()) {
        return {};
    }
    const std::string_view rest(strings.data() + at, strings.size() - at);
    return rest.substr(0, rest.find('\0'));
}

// A function that every program with a static CUDA runtime has. The runtime's code refers to its name as a text, too.
constexpr std::string_view runtime_function = "cudaGetErrorString";

bool has_text(elf_file& file, const Elf64_Shdr& constants) {
    const auto texts = file.table<char>(constants.sh_offset, constants.sh_size);
    return std::string_view(texts.data(), texts.size()).find(runtime_function) != std::string_view::npos;
}

bool has_static_runtime(elf_file& file, const Elf64_Shdr& table, const std::vector<Elf64_Shdr>& sections) {
    const Elf64_Shdr& linked = sections[table.sh_link];
    const auto strings = file.table<char>(linked.sh_offset, linked.sh_size);
    if (std::string_view(strings.data(), strings.size()).find(runtime_function) == std::string_view::npos) {
        return false;
    }
    const auto symbols = file.table<Elf64_Sym>(table.sh_offset, table.sh_size);
    return std::any_of(symbols.begin(), symbols.end(), [&](const Elf64_Sym& s) {
        return ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF &&
               string_at(strings, s.st_name) == runtime_function;
    });
}

void read_sections(elf_file& file, const Elf64_Ehdr& header, elf_facts& facts) {
    const auto sections = file.table<Elf64_Shdr>(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= sections.size()) {
        return;
    }
    const auto names = file.table<char>(sections[header.e_shstrndx].sh_offset, sections[header.e_shstrndx].sh_size);
    bool stripped = true;
    const Elf64_Shdr* constants = nullptr;
    for (const Elf64_Shdr& section : sections) {
        stripped = stripped && section.sh_type != SHT_SYMTAB;
        constants = string_at(names, section.sh_name) == ".rodata" ? &section : constants;
        facts.embeds_cuda = facts.embeds_cuda || string_at(names, section.sh_name) == ".nv_fatbin";
        if (section.sh_type == SHT_SYMTAB && section.sh_link < sections.size()) {
            facts.static_cuda_runtime = facts.static_cuda_runtime || has_static_runtime(file, section, sections);
            continue;
        }
        if (section.sh_type != SHT_DYNAMIC || section.sh_link >= sections.size()) {
            continue;
        }
        const Elf64_Shdr& linked = sections[section.sh_link];
        const auto strings = file.table<char>(linked.sh_offset, linked.sh_size);
        for (const Elf64_Dyn& entry : file.table<Elf64_Dyn>(section.sh_offset, section.sh_size)) {
            if (entry.d_tag == DT_NEEDED) {
                facts.needed.emplace_back(string_at(strings, entry.d_un.d_val));
            }
        }
    }
    if (stripped && facts.embeds_cuda && constants != nullptr) {
        facts.static_cuda_runtime = has_text(file, *constants);
    }
}

} // namespace

bool elf_facts::needs_cuda_library() const {
    return std::any_of(needed.begin(), needed.end(), [](const std::string& name) {
        return name.starts_with("libcudart.so") || name == "libcuda.so.1";
    });
}

std::optional<elf_facts> read_elf(const std::string& path) {
    elf_file file(path);
    Elf64_Ehdr header{};
    if (!file.read(0, &header, sizeof(header)) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_phentsize != sizeof(Elf64_Phdr)) {
        return std::nullopt;
    }
    elf_facts facts;
    for (const Elf64_Phdr& segment :
         file.table<Elf64_Phdr>(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr))) {
        facts.dynamic = facts.dynamic || segment.p_type == PT_INTERP;
    }
    read_sections(file, header, facts);
    return facts;
}

} // namespace warpfold::tool
