// SPDX-License-Identifier: MIT
// A C++ file cut into its definitions, and names of kernels without what stands around them.
#include "tool/explain/source/source_parts.hpp"

#include <gtest/gtest.h>

namespace {

using namespace warpfold::tool;

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        all.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return all;
}

std::string cut(const std::string& text) {
    std::string out;
    for (const source_part& part : parts_of(lines(text))) {
        out += (out.empty() ? "" : " ") + std::to_string(part.first) + "-" + std::to_string(part.last);
    }
    return out;
}

TEST(source_parts, are_the_definitions_with_their_comments) {
    EXPECT_EQ(cut("// about\n"
                  "#include <x>\n"
                  "\n"
                  "namespace a {\n"
                  "namespace {\n"
                  "\n"
                  "// what f does {\n"
                  "template <class T>\n"
                  "__global__ void f(const T* in,\n"
                  "                  int n) {\n"
                  "    if (n > 0) {\n"
                  "    }\n"
                  "\n"
                  "    g('}', \"{\", 1'000); /* } */\n"
                  "}\n"
                  "constexpr int k = 3;\n"
                  "struct s {\n"
                  "    int x;\n"
                  "};\n"
                  "} // namespace\n"
                  "} // namespace a\n"),
              "1-2 4-4 5-5 7-15 16-16 17-19 20-20 21-21");
}

TEST(source_parts, leave_directives_and_their_continuations_alone) {
    EXPECT_EQ(cut("#define M(x) {  \\\n    x\nint a;\n#if 1\nvoid f() {\n#endif\n}\n"), "1-2 3-3 4-4 5-7");
    EXPECT_EQ(cut(""), "");
    EXPECT_EQ(cut("\n\n"), "");
    EXPECT_EQ(cut("void f() {\n"), "1-1"); // never closed: it is all there
    EXPECT_EQ(cut("}\nint a;\n"), "1-1 2-2");
}

TEST(source_parts, name_whole_identifiers_outside_comments_and_literals) {
    const auto parts = parts_of(lines("void f() { run(ab, \"cd\"); } // ef\n"));
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_TRUE(parts[0].names("ab"));
    EXPECT_TRUE(parts[0].names("run"));
    EXPECT_FALSE(parts[0].names("a"));
    EXPECT_FALSE(parts[0].names("cd"));
    EXPECT_FALSE(parts[0].names("ef"));
}

TEST(bare_name, is_the_kernels_own) {
    EXPECT_EQ(bare_name("void lab::(anonymous namespace)::two_paths<1u>(float const*)"), "two_paths");
    EXPECT_EQ(bare_name("lab::sum(int*, unsigned long)"), "sum");
    EXPECT_EQ(bare_name("sum"), "sum");
    EXPECT_EQ(bare_name(""), "");
}

} // namespace
