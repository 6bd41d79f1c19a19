// SPDX-License-Identifier: MIT
// wgmma with numbers whose sums are exact in every type, against a product of whole matrices. Tiles lie in shared memory as a
// tensor copy with the same swizzle writes them (PTX ISA 9.0, "Swizzling Modes").
#include <gtest/gtest.h>

#include <array>

#include "tests/machine/handlers/matrix/warpgroup_forms.hpp"
#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {
namespace {

using enum element;

struct number {
    std::uint32_t bits;
    int value;
};

number small_number(element e, unsigned which) {
    constexpr int values[] = {1, -1, 2, -2, 0};
    const auto from = [&](std::array<std::uint32_t, 5> bits) { return number{bits[which % 5], values[which % 5]}; };
    switch (e) {
    case f16: return from({0x3C00, 0xBC00, 0x4000, 0xC000, 0});
    case bf16: return from({0x3F80, 0xBF80, 0x4000, 0xC000, 0x8000});
    case tf32:
    case f32: return from({0x3F800000, 0xBF800000, 0x40000000, 0xC0000000, 0});
    case e4m3: return from({0x38, 0xB8, 0x40, 0xC0, 0});
    case e5m2: return from({0x3C, 0xBC, 0x40, 0xC0, 0x80});
    case u8: return {which % 5 + 250, static_cast<int>(which % 5 + 250)};
    case b1: return {which % 2, static_cast<int>(which % 2)};
    case s8: return {static_cast<std::uint32_t>(values[which % 5]) & 0xFF, values[which % 5]};
    default: return {static_cast<std::uint32_t>(values[which % 5]), values[which % 5]};
    }
}

unsigned chosen(unsigned row, unsigned column, unsigned salt) {
    return (row * 2654435761u ^ column * 40503u ^ salt * 97u) >> 7;
}

// The bit of an element of a tile in shared memory, without the start.
unsigned position(const matrix_view& v, bool by_mn, unsigned bits, unsigned mn, unsigned k) {
    const unsigned row_bytes = v.swizzle == 0 ? 16 : 256 >> v.swizzle;
    const unsigned chunks = row_bytes / 16;
    const unsigned bit = by_mn ? mn * bits : k * bits;
    const unsigned row = by_mn ? k : mn;
    unsigned chunk = bit / 128;
    unsigned at = 0;
    if (chunks == 1) {
        at = by_mn ? chunk * v.stride + row / 8 * v.leading : chunk * v.leading + row / 8 * v.stride;
        at += row % 8 * 16;
    } else {
        const unsigned rows_a_line = 8 / chunks; // lines have 128 bytes
        at = row / 8 * v.stride + row % 8 * row_bytes;
        at += by_mn ? chunk / chunks * v.leading : 0;
        chunk = (chunk % chunks) ^ (row / rows_a_line % chunks);
        at += chunk * 16;
    }
    return at * 8 + bit % 128;
}

void put_bits(std::vector<std::uint32_t>& words, std::size_t bit, unsigned bits, std::uint32_t value) {
    const std::uint32_t mask = bits == 32 ? ~0u : ((1u << bits) - 1) << bit % 32;
    words[bit / 32] = (words[bit / 32] & ~mask) | (value << bit % 32 & mask);
}

// false: elements of the matrices overlap in shared memory, so it has no product of whole matrices.
bool has_product(const warpgroup_form& f) {
    std::vector<bool> used(warpgroup_image_bytes * 8);
    const unsigned bits = bits_of(f.a);
    const auto take = [&](const matrix_view& v, bool by_mn, unsigned extent) {
        for (unsigned mn = 0; mn < extent; ++mn) {
            for (unsigned k = 0; k < f.k; ++k) {
                const unsigned at = v.start * 8 + position(v, by_mn, bits, mn, k);
                if (used.at(at)) {
                    return false;
                }
                used[at] = true;
            }
        }
        return true;
    };
    return (f.a_in_registers || take(f.a_view, f.transpose_a, 64)) && take(f.b_view, f.transpose_b, f.n);
}

void expect_product(const warpgroup_form& f) {
    constexpr unsigned image_words = warpgroup_image_bytes / 4;
    constexpr unsigned m_rows = 64;
    const unsigned each = a_registers(f) + f.d_registers();
    std::vector<std::uint32_t> in(image_words + 128 * each);
    std::vector<int> a(m_rows * f.k);
    std::vector<int> b(f.k * f.n);
    std::vector<int> d(m_rows * f.n);
    const unsigned bits = bits_of(f.a);
    // Fragments: a thread has the rows lane / 4 and that + 8 of its warp's 16.
    const unsigned parts = 32 / bits;
    for (unsigned m = 0; m < m_rows; ++m) {
        for (unsigned k = 0; k < f.k; ++k) {
            const number x = small_number(f.a, chosen(m, k, 1));
            a[m * f.k + k] = x.value * f.scale_a;
            if (f.a_in_registers) {
                const unsigned thread = m / 16 * 32 + m % 8 * 4 + k / parts % 4;
                const unsigned reg = m % 16 / 8 + k / parts / 4 * 2;
                put_bits(in, (std::size_t{image_words} + thread * each + reg) * 32 + k % parts * bits, bits, x.bits);
            } else {
                put_bits(in, f.a_view.start * 8 + position(f.a_view, f.transpose_a, bits, m, k), bits, x.bits);
            }
        }
    }
    for (unsigned n = 0; n < f.n; ++n) {
        for (unsigned k = 0; k < f.k; ++k) {
            const number x = small_number(f.b, chosen(n, k, 2));
            b[k * f.n + n] = x.value * f.scale_b;
            put_bits(in, f.b_view.start * 8 + position(f.b_view, f.transpose_b, bits, n, k), bits, x.bits);
        }
    }
    const auto place_of = [&](unsigned m, unsigned n) { // its thread's register, and the bit there
        const unsigned thread = m / 16 * 32 + m % 8 * 4 + n % 8 / 2;
        const unsigned element = n / 8 * 4 + m % 16 / 8 * 2 + n % 2;
        return std::array<unsigned, 3>{thread, f.d == f16 ? element / 2 : element, f.d == f16 ? element % 2 * 16 : 0};
    };
    for (unsigned m = 0; m < m_rows; ++m) {
        for (unsigned n = 0; n < f.n; ++n) {
            const number x = small_number(f.d, chosen(m, n, 3));
            const auto [thread, reg, bit] = place_of(m, n);
            put_bits(in, (std::size_t{image_words} + thread * each + a_registers(f) + reg) * 32 + bit, bits_of(f.d),
                     x.bits);
            int sum = f.scale_d ? x.value : 0;
            for (unsigned k = 0; k < f.k; ++k) {
                sum += a[m * f.k + k] * b[k * f.n + n];
            }
            d[m * f.n + n] = sum;
        }
    }
    program p(text_of(f));
    const std::uint64_t out = p.buffer<std::uint32_t>(std::size_t{128} * f.d_registers());
    launch_options how;
    how.block.x = 128;
    p.run(how, {p.buffer(in), out});
    const auto words = p.contents<std::uint32_t>(out, std::size_t{128} * f.d_registers());
    unsigned wrong = 0;
    for (unsigned m = 0; m < m_rows; ++m) {
        for (unsigned n = 0; n < f.n; ++n) {
            const auto [thread, reg, bit] = place_of(m, n);
            const std::uint32_t word = words[thread * f.d_registers() + reg] >> bit;
            double value = static_cast<std::int32_t>(word);
            if (f.d == f32) {
                float x;
                std::memcpy(&x, &word, sizeof(x));
                value = x;
            } else if (f.d == f16) {
                const unsigned exponent = word >> 10 & 31;
                value = (word >> 15 & 1 ? -1.0 : 1.0) * (exponent == 0 ? (word & 1023) : (word & 1023) + 1024) *
                        __builtin_ldexp(1, static_cast<int>(exponent == 0 ? 1 : exponent) - 25);
            }
            wrong += value != d[m * f.n + n] ? 1 : 0;
        }
    }
    EXPECT_EQ(wrong, 0u) << f.key() << " of " << m_rows * f.n;
}

// Starts that a tile does not begin at, and base offsets, are compared with hardware only.
TEST(Warpgroup, ProductsAreThoseOfWholeMatrices) {
    unsigned tried = 0;
    for (const warpgroup_form& f : warpgroup_forms()) {
        if ((f.a_view.start | f.b_view.start) % 1024 == 0 && !f.satfinite && has_product(f)) {
            expect_product(f);
            ++tried;
        }
    }
    EXPECT_GT(tried, 100u);
}

TEST(Warpgroup, ABlockNeedsWholeWarpgroups) {
    warpgroup_form f;
    f.b_view.stride = 128;
    f.b_view.leading = 128;
    program p(text_of(f));
    launch_options how;
    how.block.x = 96;
    const std::uint64_t in = p.buffer<std::uint32_t>(std::size_t{1} << 15);
    EXPECT_NE(p.attempt(how, {in, in}).error.message.find("not of a whole warpgroup"), std::string::npos);
}

// What a block of 128 threads says whose kernel has `more` before its product, and `at_end` behind everything.
std::string message_with(const std::string& more, const std::string& at_end) {
    warpgroup_form f;
    f.b_view.stride = 128;
    f.b_view.leading = 128;
    std::string text = text_of(f);
    text.insert(text.find("wgmma.fence"), more);
    text.insert(text.rfind('}'), at_end);
    program p(text);
    launch_options how;
    how.block.x = 128;
    const std::uint64_t in = p.buffer<std::uint32_t>(std::size_t{1} << 15);
    return p.attempt(how, {in, in}).error.message;
}

TEST(Warpgroup, AllFourWarpsCome) {
    const std::string last_warp = "setp.ge.u32 %q0, %r0, 96;\n@%q0 ";
    EXPECT_NE(message_with(last_warp + "exit;\n", "").find("has ended"), std::string::npos);
    const std::string message = message_with(last_warp + "bra other;\n", "other: bar.sync 0; ret;\n");
    EXPECT_NE(message.find("wait for the other warps of their warpgroup"), std::string::npos) << message;
    EXPECT_EQ(message_with(last_warp + "bra other; back:\n", "other: bra back;\n"), "");
}

TEST(Warpgroup, AllFourWarpsExecuteTheSameInstruction) {
    const std::string product = [] {
        warpgroup_form f;
        const std::string text = text_of(f);
        const std::size_t at = text.find("wgmma.mma_async");
        return text.substr(at, text.find('\n', at) - at);
    }();
    const std::string message =
        message_with("setp.ge.u32 %q0, %r0, 96;\n@%q0 bra other;\n", "other: " + product + "\nret;\n");
    EXPECT_NE(message.find("different wgmma.mma_async"), std::string::npos) << message;
}

TEST(Warpgroup, MatricesLieInSharedMemory) {
    warpgroup_form f;
    f.b_view.start = warpgroup_image_bytes - 128;
    f.b_view.leading = 128;
    f.b_view.stride = 128;
    program p(text_of(f));
    launch_options how;
    how.block.x = 128;
    const std::uint64_t in = p.buffer<std::uint32_t>(std::size_t{1} << 15);
    EXPECT_NE(p.attempt(how, {in, in}).error.message.find("cannot read a matrix in 16 bytes of shared memory"),
              std::string::npos)
        << p.attempt(how, {in, in}).error.message;
}

} // namespace
} // namespace softgpu::test
