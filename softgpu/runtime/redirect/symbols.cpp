// SPDX-License-Identifier: MIT
#include "softgpu/runtime/redirect/symbols.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace softgpu::redirect {
mapped_file::mapped_file(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (file >= 0 && ::fstat(file, &about) == 0 && about.st_size > 0) {
        bytes_ = static_cast<std::size_t>(about.st_size);
        void* const at = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
        data_ = at == MAP_FAILED ? nullptr : static_cast<const char*>(at);
    }
    if (file >= 0) {
        ::close(file);
    }
}

mapped_file::~mapped_file() {
    if (data_ != nullptr) {
        ::munmap(const_cast<char*>(data_), bytes_);
    }
}

std::vector<symbol> functions_of(const mapped_file& file, symbol_table table, std::string_view one) {
    std::vector<symbol> found;
    const auto* const header = file.at<Elf64_Ehdr>(0, 1);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr)) {
        return found;
    }
    const auto* const sections = file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    for (unsigned i = 0; sections != nullptr && i < header->e_shnum; ++i) {
        const Elf64_Shdr& s = sections[i];
        if (s.sh_type != (table == symbol_table::all ? SHT_SYMTAB : SHT_DYNSYM) || s.sh_link >= header->e_shnum) {
            continue;
        }
        const std::uint64_t count = s.sh_size / sizeof(Elf64_Sym);
        const auto* const symbols = file.at<Elf64_Sym>(s.sh_offset, count);
        const Elf64_Shdr& texts = sections[s.sh_link];
        const auto* const names = file.at<char>(texts.sh_offset, texts.sh_size);
        if (symbols == nullptr || names == nullptr || texts.sh_size == 0 || names[texts.sh_size - 1] != '\0') {
            continue;
        }
        if (::memmem(names, texts.sh_size, one.data(), one.size()) == nullptr) {
            continue; // most files: do not look at every symbol
        }
        found.reserve(count);
        for (std::uint64_t k = 0; k < count; ++k) {
            const bool function = ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC;
            if (function && symbols[k].st_shndx != SHN_UNDEF && symbols[k].st_name < texts.sh_size) {
                found.push_back({symbols[k].st_value, symbols[k].st_size, names + symbols[k].st_name});
            }
        }
    }
    std::sort(found.begin(), found.end(), [](const symbol& a, const symbol& b) { return a.address < b.address; });
    return found;
}

bool defines(const std::vector<symbol>& functions, std::string_view name) {
    return std::any_of(functions.begin(), functions.end(), [&](const symbol& s) { return s.name == name; });
}

} // namespace softgpu::redirect
