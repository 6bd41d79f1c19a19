// SPDX-License-Identifier: MIT
// Golden files with one thing wrong after another: whatever comes out, it is a module or a ptx::error.
#include <gtest/gtest.h>

#include "softgpu/ptx/ast.hpp"
#include "softgpu/ptx/lex/lexer.hpp"
#include "tests/ptx/texts.hpp"

namespace {

using namespace softgpu::ptx;

class mutation : public testing::TestWithParam<std::filesystem::path> {
protected:
    void check(const std::string& text) {
        ++tried_;
        module m;
        try {
            m = parse(text);
        } catch (const error& e) {
            ++refused_;
            EXPECT_GE(e.where().line, 1u) << e.what();
            EXPECT_GE(e.where().column, 1u) << e.what();
            return;
        }
        std::string printed;
        ASSERT_NO_THROW(printed = print(m)) << text;
        ASSERT_NO_THROW(printed = print(parse(printed))) << text;
        ASSERT_EQ(printed, print(m)) << text;
    }

    std::size_t tried_ = 0;
    std::size_t refused_ = 0;
};

// Every stride-th byte, so that a long file takes hardly longer than a short one.
std::size_t stride_for(std::size_t things) { return things / 700 + 1; }

struct piece {
    std::size_t first = 0;
    std::size_t last = 0;
};

std::vector<piece> tokens_of(const std::string& text) {
    std::vector<piece> pieces;
    lexer in(text);
    for (token t = in.next(); t.kind != token_kind::end; t = in.next()) {
        pieces.push_back({t.position, in.position()});
    }
    return pieces;
}

TEST_P(mutation, cut_off_anywhere) {
    const std::string text = test::read(GetParam());
    for (std::size_t i = 0; i < text.size(); i += stride_for(text.size())) {
        check(text.substr(0, i));
    }
    EXPECT_GT(refused_, 0u);
}

TEST_P(mutation, one_byte_missing_doubled_or_changed) {
    const std::string text = test::read(GetParam());
    for (std::size_t i = 0; i < text.size(); i += stride_for(text.size())) {
        check(text.substr(0, i) + text.substr(i + 1));
        check(text.substr(0, i) + text[i] + text.substr(i));
        for (const char c : {'\0', ';', '{', '"', '9', '\xFF'}) {
            std::string changed = text;
            changed[i] = c;
            check(changed);
        }
    }
    EXPECT_GT(refused_, 0u);
    EXPECT_LT(refused_, tried_);
}

TEST_P(mutation, one_token_missing_doubled_or_swapped) {
    const std::string text = test::read(GetParam());
    const std::vector<piece> tokens = tokens_of(text);
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        const auto [first, last] = tokens[i];
        const auto [next_first, next_last] = tokens[i + 1];
        check(text.substr(0, first) + text.substr(last));
        check(text.substr(0, last) + " " + text.substr(first));
        check(text.substr(0, first) + text.substr(next_first, next_last - next_first) + " " +
              text.substr(first, last - first) + text.substr(next_last));
    }
    EXPECT_GT(refused_, 0u);
    EXPECT_LT(refused_, tried_);
}

INSTANTIATE_TEST_SUITE_P(files, mutation, testing::ValuesIn(test::golden_files()),
                         [](const auto& parameter) { return parameter.param.stem().string(); });

} // namespace
