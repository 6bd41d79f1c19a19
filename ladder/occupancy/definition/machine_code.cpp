// SPDX-License-Identifier: MIT
#include "ladder/occupancy/definition/machine_code.hpp"

#include <elf.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace warpfold::ladder::occupancy {

namespace {

template <class T>
T part_at(std::string_view bytes, std::uint64_t at) {
    if (at > bytes.size() || bytes.size() - at < sizeof(T)) {
        throw std::runtime_error("a cubin that ends too early");
    }
    T out;
    std::memcpy(&out, bytes.data() + at, sizeof out);
    return out;
}

struct operation {
    unsigned code;
    const char* name;
    bool of_global; // has an order, a scope and an eviction priority
};
constexpr std::array operations{
    operation{0x180, "LD", true},     operation{0x181, "LDG", true},    operation{0x182, "LDC", false},
    operation{0x183, "LDL", false},   operation{0x184, "LDS", false},   operation{0x185, "ST", true},
    operation{0x186, "STG", true},    operation{0x187, "STL", false},   operation{0x188, "STS", false},
    operation{0x18a, "ATOM", false},  operation{0x1a8, "ATOMG", false}, operation{0x18c, "ATOMS", false},
    operation{0x18d, "ATOMS", false}, operation{0x18e, "RED", false},   operation{0x18f, "CCTL", false},
    operation{0x192, "MEMBAR", false}};

std::uint64_t bits(std::uint64_t word, unsigned first, unsigned count) {
    return word >> first & ((std::uint64_t{1} << count) - 1);
}

// Of loads and stores of sm_80 to sm_90; what is not known is given as a number.
std::string suffixes(std::uint64_t high) {
    std::string text = ".E";
    switch (bits(high, 9, 3)) {
    case 4: break;
    case 5: text += ".64"; break;
    case 6: text += ".128"; break;
    default: text += ".W" + std::to_string(bits(high, 9, 3));
    }
    switch (bits(high, 20, 3)) {
    case 0: text += ".EF"; break;
    case 1: break;
    case 3: text += ".LU"; break;
    default: text += ".P" + std::to_string(bits(high, 20, 3));
    }
    switch (bits(high, 13, 4)) {
    case 0: break;
    case 4: text += ".CONSTANT"; break;
    case 5: text += ".STRONG.SM"; break;
    case 7: text += ".STRONG.GPU"; break;
    case 10: text += ".STRONG.SYS"; break;
    default: text += ".O" + std::to_string(bits(high, 13, 4));
    }
    return text;
}

} // namespace

std::map<std::string, std::vector<instruction>> machine_code(std::string_view cubin) {
    const auto header = part_at<Elf64_Ehdr>(cubin, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) {
        throw std::runtime_error("no cubin");
    }
    const auto section = [&](std::uint64_t k) {
        return part_at<Elf64_Shdr>(cubin, header.e_shoff + k * header.e_shentsize);
    };
    const auto names = section(header.e_shstrndx);
    std::map<std::string, std::vector<instruction>> kernels;
    for (std::uint64_t k = 0; k < header.e_shnum; ++k) {
        const auto s = section(k);
        std::string name;
        for (std::uint64_t at = names.sh_offset + s.sh_name; part_at<char>(cubin, at) != 0; ++at) {
            name += cubin[at];
        }
        constexpr std::string_view prefix = ".text.";
        if (!name.starts_with(prefix)) {
            continue;
        }
        auto& code = kernels[name.substr(prefix.size())];
        for (std::uint64_t at = 0; at + 16 <= s.sh_size; at += 16) {
            code.push_back(
                {part_at<std::uint64_t>(cubin, s.sh_offset + at), part_at<std::uint64_t>(cubin, s.sh_offset + at + 8)});
        }
    }
    return kernels;
}

std::string name_of(const instruction& one, unsigned target) {
    for (const operation& o : operations) {
        const std::uint64_t form = bits(one.low, 9, 3); // where the operands come from
        if (bits(one.low, 0, 9) == o.code && (o.code == 0x182 ? form == 5 : form == 1 || form == 4)) {
            return o.of_global && target >= 80 && target <= 90 ? o.name + suffixes(one.high) : o.name;
        }
    }
    return {};
}

const std::vector<memory_kernel>& memory_kernels() {
    static const std::vector<memory_kernel> all{
        {"global", "ld.global.u32 %r1, [%g]; st.global.u32 [%o], %r1;"},
        {"ca", "ld.global.ca.u32 %r1, [%g]; st.global.u32 [%o], %r1;"},
        {"cg", "ld.global.cg.u32 %r1, [%g]; st.global.u32 [%o], %r1;"},
        {"cs", "ld.global.cs.u32 %r1, [%g]; st.global.u32 [%o], %r1;"},
        {"lu", "ld.global.lu.u32 %r1, [%g]; st.global.u32 [%o], %r1;"},
        {"cv", "ld.global.cv.u32 %r1, [%g]; st.global.u32 [%o], %r1;"},
        {"nc", "ld.global.nc.u32 %r1, [%g]; st.global.u32 [%o], %r1;"},
        {"written", "ld.global.u32 %r1, [%g]; add.u32 %r2, %r1, %i; st.global.u32 [%g], %r2; ld.global.u32 %r3, [%g]; "
                    "st.global.u32 [%o], %r3;"},
        {"nc_written", "ld.global.nc.u32 %r1, [%g]; add.u32 %r2, %r1, %i; st.global.u32 [%g], %r2; "
                       "ld.global.nc.u32 %r3, [%g]; st.global.u32 [%o], %r3;"},
        {"two_words", "ld.global.v2.u32 {%r1, %r2}, [%g]; st.global.v2.u32 [%o], {%r1, %r2};"},
        {"four_words", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%g]; st.global.v4.u32 [%o], {%r1, %r2, %r3, %r4};"},
        {"generic", "ld.u32 %r1, [%g]; st.u32 [%o], %r1;"},
        {"constant", "mul.wide.u32 %d, %i, 4; mov.u64 %e, table; add.u64 %d, %d, %e; ld.const.u32 %r1, [%d]; "
                     "st.global.u32 [%o], %r1;"},
        {"shared", "mov.u32 %r3, words; add.u32 %r3, %r3, %i; st.shared.u32 [%r3], %i; bar.sync 0; "
                   "ld.shared.u32 %r1, [%r3+4]; st.global.u32 [%o], %r1;"},
        {"local", "mov.u32 %r3, own; add.u32 %r3, %r3, %i; st.local.u32 [%r3], %i; ld.local.u32 %r1, [own]; "
                  "st.global.u32 [%o], %r1;"},
        {"local_cs", "mov.u32 %r3, own; add.u32 %r3, %r3, %i; st.local.u32 [%r3], %i; ld.local.cs.u32 %r1, [own]; "
                     "st.global.u32 [%o], %r1;"},
        {"local_lu", "mov.u32 %r3, own; add.u32 %r3, %r3, %i; st.local.u32 [%r3], %i; ld.local.lu.u32 %r1, [own]; "
                     "st.global.u32 [%o], %r1;"},
        {"atom", "atom.global.add.u32 %r1, [%g], 3; st.global.u32 [%o], %r1;"},
        {"red", "red.global.add.u32 [%g], 3;"},
        {"atom_shared", "mov.u32 %r3, words; st.shared.u32 [%r3], 0; bar.sync 0; atom.shared.add.u32 %r1, [%r3], 3; "
                        "st.global.u32 [%o], %r1;"},
        {"fence", "st.global.u32 [%g], 1; membar.gl; st.global.u32 [%o], 2;"},
        {"prefetch", "prefetch.global.L1 [%g]; st.global.u32 [%o], 2;"}};
    return all;
}

const std::string& memory_program() {
    static const std::string text = [] {
        std::string all = ".version 6.4\n.target sm_75\n.address_size 64\n.const .align 4 .b32 table[64];\n"
                          ".shared .align 4 .b8 words[1024];\n";
        for (const auto& k : memory_kernels()) {
            all += std::string(".visible .entry ") + k.name +
                   "(.param .u64 o, .param .u64 g, .param .u32 i)\n{\n"
                   ".local .align 4 .b8 own[64];\n.reg .b32 %r<8>, %i; .reg .b64 %o, %g, %d, %e;\n"
                   "ld.param.u64 %o, [o]; ld.param.u64 %g, [g]; ld.param.u32 %i, [i];\n" +
                   k.body + "\nret;\n}\n";
        }
        return all;
    }();
    return text;
}

} // namespace warpfold::ladder::occupancy
