// SPDX-License-Identifier: MIT
// mma.kind::f8f6f4: floats of 6 and 4 bits give what numbers of the same values give as e4m3, which has them all and whose
// products golden_test.cpp compares with hardware.
#include <gtest/gtest.h>

#include "tests/machine/half_values.hpp"

namespace softgpu::test {
namespace {

// Where an element stands in its byte: of 4 bits in the middle.
unsigned shift_of(const small_format& f) { return f.bits == 4 ? 2 : 0; }

struct factors {
    std::vector<std::uint32_t> own, as_e4m3; // words of four
};
factors random_factors(const small_format& f, std::size_t words, random32& engine) {
    factors all;
    for (std::size_t n = 0; n < words; ++n) {
        std::uint32_t own = 0;
        std::uint32_t other = 0;
        for (unsigned k = 0; k < 32; k += 8) {
            const unsigned p = engine() & ((1u << f.bits) - 1);
            const double x = f.value(p);
            own |= p << shift_of(f) << k;
            other |= (f.name == e4m3.name ? p : e4m3.rounded(x, direction::nearest, 0, std::signbit(x))) << k;
        }
        all.own.push_back(own);
        all.as_e4m3.push_back(other);
    }
    return all;
}

struct product {
    bool sparse;
    bool half; // D and C are f16

    [[nodiscard]] unsigned b_words() const { return sparse ? 4 : 2; }
    [[nodiscard]] unsigned c_words() const { return half ? 2 : 4; }
    [[nodiscard]] std::string text(const std::string& a, const std::string& b) const {
        const std::string d = half ? ".f16" : ".f32";
        const std::string name =
            std::string(sparse ? "mma.sp::ordered_metadata.sync.aligned.m16n8k64" : "mma.sync.aligned.m16n8k32") +
            ".row.col.kind::f8f6f4" + d + "." + a + "." + b + d;
        const std::string c = half ? "{%r10, %r11}" : "{%r10, %r11, %r12, %r13}";
        return name + " " + c + ", {%r4, %r5, %r6, %r7}, " + (sparse ? "{%r14, %r15, %r16, %r17}" : "{%r14, %r15}") +
               ", " + c + (sparse ? ", %r20, 0;" : ";");
    }
};

// One warp; operands by lane: four words of A, four of B, four of C, metadata.
std::vector<std::uint32_t> results(const product& p, const std::string& a, const std::string& b,
                                   const std::vector<std::uint32_t>& words) {
    program run(
        kernel("mul.wide.u32 %rd1, %i, 64; add.u64 %rd2, %rd1, %p1; add.u64 %rd1, %rd1, %p0;\n"
               "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd2]; ld.global.v4.b32 {%r14, %r15, %r16, %r17}, [%rd2+16];\n"
               "ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%rd2+32]; ld.global.b32 %r20, [%rd2+48];\n" +
               p.text(a, b) + "\nst.global.v4.b32 [%rd1], {%r10, %r11, %r12, %r13}; ret;"));
    const std::uint64_t out = run.buffer<std::uint32_t>(512);
    run.run({}, {out, run.buffer(words)});
    return run.contents<std::uint32_t>(out, 512);
}

TEST(SmallFloats, ProductsAreThoseOfTheSameNumbersAsE4m3) {
    if (on_hardware()) {
        GTEST_SKIP() << "compute capability 12.0";
    }
    random32 engine(5);
    const std::vector<small_format> formats{e3m2, e2m3, e2m1, e4m3};
    for (const product& p : {product{false, false}, product{false, true}, product{true, false}}) {
        for (const small_format& a : formats) {
            for (const small_format& b : formats) {
                std::vector<std::uint32_t> own(512);
                std::vector<std::uint32_t> other(512);
                for (std::size_t lane = 0; lane < 32; ++lane) {
                    const factors fa = random_factors(a, 4, engine);
                    const factors fb = random_factors(b, 4, engine);
                    for (std::size_t k = 0; k < 4; ++k) {
                        own[16 * lane + k] = fa.own[k];
                        other[16 * lane + k] = fa.as_e4m3[k];
                        own[16 * lane + 4 + k] = fb.own[k];
                        other[16 * lane + 4 + k] = fb.as_e4m3[k];
                        const auto c = static_cast<float>(static_cast<int>(engine() % 2000) - 1000) / 8;
                        const std::uint32_t pair = f16.rounded(c) | f16.rounded(-c / 2) << 16;
                        own[16 * lane + 8 + k] = other[16 * lane + 8 + k] =
                            p.half ? pair : static_cast<std::uint32_t>(bits_of(c));
                    }
                    own[16 * lane + 12] = other[16 * lane + 12] = 0x4E4E4E4E; // elements 2 and 3, 0 and 1
                }
                EXPECT_EQ(results(p, a.name, b.name, own), results(p, "e4m3", "e4m3", other)) << p.text(a.name, b.name);
            }
        }
    }
}

// By the definition, where nothing is rounded: A is 16 x 32, its lane l has rows l / 4 and l / 4 + 8.
TEST(SmallFloats, ProductsOfSmallNumbersAreExact) {
    if (on_hardware()) {
        GTEST_SKIP() << "compute capability 12.0";
    }
    random32 engine(9);
    std::vector<unsigned> a(16 * 32);
    std::vector<unsigned> b(32 * 8);
    for (std::vector<unsigned>* const m : {&a, &b}) {
        for (unsigned& p : *m) {
            p = engine() & 15;
        }
    }
    std::vector<std::uint32_t> words(512);
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned k = 0; k < 16; ++k) { // of A
            const unsigned row = lane / 4 + 8 * (k / 4 % 2);
            const unsigned column = lane % 4 * 4 + k % 4 + 16 * (k / 8);
            words[16 * lane + k / 4] |= a[row * 32 + column] << 2 << (8 * (k % 4));
        }
        for (unsigned k = 0; k < 8; ++k) { // of B
            const unsigned row = lane % 4 * 4 + k % 4 + 16 * (k / 4);
            words[16 * lane + 4 + k / 4] |= b[row * 8 + lane / 4] << 2 << (8 * (k % 4));
        }
    }
    const std::vector<std::uint32_t> d = results({false, false}, "e2m1", "e2m1", words);
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned k = 0; k < 4; ++k) {
            const unsigned row = lane / 4 + 8 * (k / 2);
            const unsigned column = lane % 4 * 2 + k % 2;
            double sum = 0;
            for (unsigned n = 0; n < 32; ++n) {
                sum += e2m1.value(a[row * 32 + n]) * e2m1.value(b[n * 8 + column]);
            }
            EXPECT_EQ(static_cast<double>(as_float(d[16 * lane + k])), sum) << lane << ", " << k;
        }
    }
}

} // namespace
} // namespace softgpu::test
