// SPDX-License-Identifier: MIT
// docs/instructions.md lists the supported instructions. This test makes it from instruction_forms.txt and the
// decoder's answers, and fails if the file differs. To write the file again:
//     SOFTGPU_WRITE_TABLE=1 build/.../test_machine --gtest_filter=InstructionTable.*
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/module/kernel_code.hpp"
#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {
namespace {

const std::string source = WARPFOLD_SOURCE_DIR;

// All texts that a pattern with <a|b> stands for.
std::vector<std::string> expanded(const std::string& pattern) {
    const std::size_t begin = pattern.find('<');
    if (begin == std::string::npos) {
        return {pattern};
    }
    const std::size_t end = pattern.find('>', begin);
    std::vector<std::string> all;
    std::istringstream choices(pattern.substr(begin + 1, end - begin - 1) + "|");
    const std::vector<std::string> rest = expanded(pattern.substr(end + 1));
    for (std::string choice; std::getline(choices, choice, '|');) {
        for (const std::string& tail : rest) {
            all.push_back(pattern.substr(0, begin) + choice + tail);
        }
    }
    return all;
}

// "mul.lo.u32" of "mul.lo.u32 %r0, %r1, %r2;" and of "@%q0 ret;" "ret".
std::string mnemonic(const std::string& text) {
    const std::size_t begin = text[0] == '@' ? text.find(' ') + 1 : 0;
    return text.substr(begin, text.find_first_of(" ;", begin) - begin);
}

// Which of the texts the decoder has a handler for. All are instructions of one kernel.
std::vector<bool> decoded(const std::vector<std::string>& texts) {
    std::string body = ".reg .b128 %x<4>;\ntargets: .branchtargets END;\n";
    for (const std::string& text : texts) {
        body += text + "\n";
    }
    body += "END: ret;";
    memory::device_memory memory(1ull << 24);
    machine::module module(kernel(body, ".global .b8 place[64]; .shared .align 16 .b8 room[64];\n"
                                        ".func helper() { ret; }\n"),
                           memory);
    auto* const k = const_cast<machine::kernel*>(module.find_kernel("k"));
    const machine::program_code& code = machine::code_of(module.inside(), *k, {});
    // The harness's own instructions come first.
    const std::size_t first = k->function->instructions.size() - 1 - texts.size();
    std::vector<bool> there(texts.size(), true);
    for (const machine::instruction& i : code.code) {
        if (i.run == machine::chosen_handlers().unsupported && i.source >= first && i.source < first + texts.size()) {
            there[i.source - first] = false;
        }
    }
    return there;
}

struct forms {
    std::set<std::string> mnemonics;  // that are there
    std::vector<std::string> missing; // in the order of the file, each once
};

std::string table() {
    std::vector<std::string> patterns;
    std::ifstream file(source + "/tests/machine/decode/instruction_forms.txt");
    for (std::string line; std::getline(file, line);) {
        if (!line.empty() && line[0] != '#') {
            patterns.push_back(line);
        }
    }
    std::vector<std::string> texts;
    for (const std::string& p : patterns) {
        for (std::string& text : expanded(p)) {
            texts.push_back(std::move(text));
        }
    }
    const std::vector<bool> there = decoded(texts);
    std::map<std::string, forms> by_opcode;
    for (std::size_t n = 0; n < texts.size(); ++n) {
        const std::string name = mnemonic(texts[n]);
        forms& f = by_opcode[name.substr(0, name.find('.'))];
        if (there[n]) {
            f.mnemonics.insert(name);
        } else if (std::ranges::find(f.missing, name) == f.missing.end()) {
            f.missing.push_back(name);
        }
    }
    std::ostringstream out;
    out << "# Instructions\n\n"
           "The PTX instructions that the software GPU executes. A kernel that reaches an unsupported instruction\n"
           "ends with an error that names it. The forms are those of\n"
           "[instruction_forms.txt](../tests/machine/decode/instruction_forms.txt); a test makes this table from the "
           "decoder's\n"
           "answers and fails if the two differ.\n\n"
           "Instructions of compute capability 10.0 and later follow PTX ISA 9.0; they have not been compared with "
           "hardware. Where it\n"
           "leaves something open:\n\n"
           "| subject | here |\n| --- | --- |\n"
           "| `cvt.rs` | the random bits are added to the first dropped bits, of subnormal results too |\n"
           "| `cvt.rs` to `e2m1x4` | bytes 3, 1, 2 and 0 of the random bits go to the first to the fourth number |\n"
           "| a function's last parameter without a size (`.param .b8 a[]`) | has room for 256 bytes; a call with more "
           "is "
           "an error |\n\n"
           "| opcode | supported | forms tried | missing |\n| --- | --- | --- | --- |\n";
#define SOFTGPU_OPCODE(id, text, destinations, family) names.emplace_back(text);
    std::vector<std::string> names;
#include "softgpu/ptx/isa/opcodes.def"
#undef SOFTGPU_OPCODE
    for (const std::string& name : names) {
        const auto found = by_opcode.find(name);
        if (found == by_opcode.end()) {
            ADD_FAILURE() << "instruction_forms.txt has no form of " << name;
            continue;
        }
        const forms& f = found->second;
        out << "| `" << name << "` | "
            << (f.missing.empty()     ? "yes"
                : f.mnemonics.empty() ? "no"
                                      : "partly")
            << " | " << f.mnemonics.size() + f.missing.size() << " |";
        for (std::size_t k = 0; k < f.missing.size() && !f.mnemonics.empty(); ++k) {
            out << (k == 0 ? " `" : ", `") << f.missing[k] << '`';
        }
        out << " |\n";
    }
    return out.str();
}

TEST(InstructionTable, IsWhatTheDecoderSays) {
    const std::string expected = table();
    const std::string path = source + "/docs/instructions.md";
    if (std::getenv("SOFTGPU_WRITE_TABLE") != nullptr) {
        std::ofstream(path) << expected;
    }
    std::ifstream file(path);
    std::stringstream written;
    written << file.rdbuf();
    std::istringstream left(written.str());
    std::istringstream right(expected);
    for (std::string a, b; std::getline(right, b);) {
        std::getline(left, a);
        ASSERT_EQ(a, b) << "docs/instructions.md is not up to date; SOFTGPU_WRITE_TABLE=1 writes it";
    }
    EXPECT_EQ(written.str(), expected);
}

} // namespace
} // namespace softgpu::test
