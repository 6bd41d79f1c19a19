// SPDX-License-Identifier: MIT
// ldmatrix, stmatrix and movmatrix against the ISA's definition: elements 2 (l mod 4) and the next of row l / 4 of a matrix
// are lane l's, or those of its transpose.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {
namespace {

const std::string shared = ".shared .align 128 .b8 room[8192];";
constexpr std::size_t room_words = 2048;

std::string list(unsigned count) {
    std::string text = "{";
    for (unsigned k = 0; k < count; ++k) {
        text += (k == 0 ? "%r" : ", %r") + std::to_string(10 + k);
    }
    return text + "}";
}

// One warp: copies p1 to shared memory, runs the body with the lane's row address in %r4 (p2: offsets) and its words of p3 in
// %r10 to %r13, then stores %r10 to %r13 to p0 and shared memory to p1.
struct outcome {
    std::vector<std::uint32_t> registers, room;
    machine::launch_result how;
};
outcome run(const std::string& body, const std::vector<std::uint32_t>& offsets,
            const std::vector<std::uint32_t>& registers) {
    std::string text = "mov.u32 %r20, room; mov.u32 %r21, %i;\n"
                       "FILL: mul.wide.u32 %rd1, %r21, 4; add.u64 %rd1, %rd1, %p1; ld.global.u32 %r22, [%rd1];\n"
                       "shl.b32 %r23, %r21, 2; add.u32 %r23, %r23, %r20; st.shared.u32 [%r23], %r22;\n"
                       "add.u32 %r21, %r21, 32; setp.lt.u32 %q0, %r21, " +
                       std::to_string(room_words) +
                       "; @%q0 bra FILL;\nbar.sync 0;\n"
                       "mul.wide.u32 %rd1, %i, 4; add.u64 %rd1, %rd1, %p2; ld.global.u32 %r4, [%rd1];\n"
                       "add.u32 %r4, %r4, %r20; cvt.u64.u32 %rd4, %r4; cvta.shared.u64 %rd4, %rd4;\n"
                       "mul.wide.u32 %rd2, %i, 16; add.u64 %rd3, %rd2, %p3; add.u64 %rd2, %rd2, %p0;\n"
                       "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd3];\n" +
                       body +
                       "\nst.global.v4.u32 [%rd2], {%r10, %r11, %r12, %r13};\nbar.sync 0; mov.u32 %r21, %i;\n"
                       "BACK: mul.wide.u32 %rd1, %r21, 4; add.u64 %rd1, %rd1, %p1;\n"
                       "shl.b32 %r23, %r21, 2; add.u32 %r23, %r23, %r20; ld.shared.u32 %r22, [%r23];\n"
                       "st.global.u32 [%rd1], %r22; add.u32 %r21, %r21, 32; setp.lt.u32 %q0, %r21, " +
                       std::to_string(room_words) + "; @%q0 bra BACK;\nret;";
    program p(kernel(text, shared));
    std::vector<std::uint32_t> contents(room_words);
    for (std::size_t k = 0; k < room_words; ++k) {
        contents[k] = static_cast<std::uint32_t>(2 * k | (2 * k + 1) << 16); // each half is its own number
    }
    outcome o;
    const std::uint64_t out = p.buffer<std::uint32_t>(128);
    const std::uint64_t room = p.buffer(contents);
    o.how = p.attempt({}, {out, room, p.buffer(offsets), p.buffer(registers)});
    o.registers = p.contents<std::uint32_t>(out, 128);
    o.room = p.contents<std::uint32_t>(room, room_words);
    return o;
}

std::vector<std::uint32_t> numbered(std::size_t count) {
    std::vector<std::uint32_t> v(count);
    std::iota(v.begin(), v.end(), 0x10000u);
    return v;
}

// Rows in an order of their own.
std::vector<std::uint32_t> scattered_rows() {
    std::vector<std::uint32_t> offsets(32);
    for (std::uint32_t l = 0; l < 32; ++l) {
        offsets[l] = (l * 11 % 32) * 144 + 16 * (l % 3);
    }
    return offsets;
}

std::uint16_t half_of(const std::vector<std::uint32_t>& words, std::size_t half) {
    return static_cast<std::uint16_t>(words[half / 2] >> (16 * (half % 2)));
}

TEST(MatrixRows, LoadGivesEachLaneItsElements) {
    const auto offsets = scattered_rows();
    const auto before = numbered(128);
    for (const unsigned count : {1u, 2u, 4u}) {
        for (const bool transposed : {false, true}) {
            for (const bool generic : {false, true}) {
                const outcome o =
                    run("ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") +
                            (generic ? "" : ".shared") + ".b16 " + list(count) + (generic ? ", [%rd4];" : ", [%r4];"),
                        offsets, before);
                ASSERT_FALSE(o.how.error) << o.how.error.message;
                for (unsigned l = 0; l < 32; ++l) {
                    for (unsigned k = 0; k < 4; ++k) {
                        std::uint32_t expected = before[4 * l + k];
                        for (unsigned part = 0; part < 2 && k < count; ++part) {
                            const unsigned row = transposed ? 2 * (l % 4) + part : l / 4;
                            const unsigned column = transposed ? l / 4 : 2 * (l % 4) + part;
                            const std::uint32_t value = offsets[8 * k + row] / 2 + column;
                            expected = part == 0 ? value : expected | value << 16;
                        }
                        ASSERT_EQ(o.registers[4 * l + k], expected) << "x" << count << transposed << ", lane " << l;
                    }
                }
            }
        }
    }
}

TEST(MatrixRows, StorePutsEachLanesElements) {
    const auto offsets = scattered_rows();
    const auto registers = numbered(128);
    for (const unsigned count : {1u, 2u, 4u}) {
        for (const bool transposed : {false, true}) {
            const outcome o = run("stmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                                      (transposed ? ".trans" : "") + ".shared.b16 [%r4], " + list(count) + ";",
                                  offsets, registers);
            ASSERT_FALSE(o.how.error) << o.how.error.message;
            std::vector<std::uint16_t> expected(2 * room_words);
            std::iota(expected.begin(), expected.end(), std::uint16_t{0});
            for (unsigned l = 0; l < 32; ++l) {
                for (unsigned k = 0; k < count; ++k) {
                    for (unsigned part = 0; part < 2; ++part) {
                        const unsigned row = transposed ? 2 * (l % 4) + part : l / 4;
                        const unsigned column = transposed ? l / 4 : 2 * (l % 4) + part;
                        expected[offsets[8 * k + row] / 2 + column] =
                            static_cast<std::uint16_t>(registers[4 * l + k] >> (16 * part));
                    }
                }
            }
            for (std::size_t h = 0; h < expected.size(); ++h) {
                ASSERT_EQ(half_of(o.room, h), expected[h]) << "x" << count << transposed << ", element " << h;
            }
        }
    }
}

// Elements of 8 bits. CUTLASS's layouts of SM100_U8x8_LDSM_T and the like, of (lane, bit) and of (row, bit), to bits of one numbering.
std::uint64_t bit_of_register(unsigned lane, unsigned r, unsigned part) {
    return 256 * (lane % 4) + 8 * (lane / 4) + 128 * (part % 2) + 64 * (part / 2) + 1024 * r;
}
std::uint64_t bit_of_loaded_row(unsigned row) {
    return 128 * (row % 2) + 1024 * (row / 2 % 2) + 256 * (row / 4 % 4) + 2048 * (row / 16);
}

std::uint8_t byte_in(const std::vector<std::uint32_t>& words, std::size_t byte) {
    return static_cast<std::uint8_t>(words[byte / 4] >> (8 * (byte % 4)));
}

// The contents of shared memory before: see run().
std::uint8_t first_byte(std::size_t byte) { return static_cast<std::uint8_t>(byte / 2 >> (8 * (byte % 2))); }
// Element k of a row whose elements have so many bits.
std::uint8_t element_of(std::size_t row, unsigned bits, unsigned k) {
    std::uint32_t value = 0;
    for (unsigned b = 0; b < bits; ++b) {
        const unsigned at = bits * k + b;
        value |= static_cast<std::uint32_t>(first_byte(row + at / 8) >> (at % 8) & 1) << b;
    }
    return static_cast<std::uint8_t>(value);
}

TEST(MatrixRows, LoadBytes) {
    if (on_hardware()) {
        GTEST_SKIP() << "compute capability 10.0";
    }
    const auto offsets = scattered_rows();
    const auto before = numbered(128);
    for (const unsigned count : {1u, 2u}) {
        for (const auto& [name, bits] :
             {std::pair<std::string, unsigned>{"b8", 8}, {"b8x16.b6x16_p32", 6}, {"b8x16.b4x16_p64", 4}}) {
            const outcome o = run("ldmatrix.sync.aligned.m16n16.x" + std::to_string(count) + ".trans.shared." + name +
                                      " " + list(2 * count) + ", [%r4];",
                                  offsets, before);
            ASSERT_FALSE(o.how.error) << o.how.error.message;
            for (unsigned l = 0; l < 32; ++l) {
                for (unsigned n = 0; n < 8 * count; ++n) {
                    const std::uint64_t bit = bit_of_register(l, n / 4, n % 4);
                    unsigned row = 0;
                    while (bit_of_loaded_row(row) != bit / 128 * 128) {
                        ++row;
                    }
                    ASSERT_EQ(byte_in(o.registers, 16 * l + n),
                              element_of(offsets[row], bits, static_cast<unsigned>(bit % 128 / 8)))
                        << name << " x" << count << ", lane " << l << ", byte " << n;
                }
            }
        }
    }
    for (const unsigned count : {1u, 2u, 4u}) {
        for (const auto& [name, bits] : {std::pair<std::string, unsigned>{"b6x16_p32", 6}, {"b4x16_p64", 4}}) {
            const outcome o = run("ldmatrix.sync.aligned.m8n16.x" + std::to_string(count) + ".shared.b8x16." + name +
                                      " " + list(count) + ", [%r4];",
                                  offsets, before);
            ASSERT_FALSE(o.how.error) << o.how.error.message;
            for (unsigned l = 0; l < 32; ++l) {
                for (unsigned n = 0; n < 4 * count; ++n) {
                    ASSERT_EQ(byte_in(o.registers, 16 * l + n),
                              element_of(offsets[n / 4 * 8 + l / 4], bits, l % 4 * 4 + n % 4));
                }
            }
        }
    }
}

TEST(MatrixRows, StoreBytes) {
    if (on_hardware()) {
        GTEST_SKIP() << "compute capability 10.0";
    }
    const auto offsets = scattered_rows();
    std::vector<std::uint32_t> registers(128);
    for (std::uint32_t k = 0; k < 128; ++k) {
        registers[k] = k * 0x01234567u + 0x89ABCDEFu;
    }
    for (const unsigned count : {1u, 2u, 4u}) {
        const outcome o = run("stmatrix.sync.aligned.m16n8.x" + std::to_string(count) + ".trans.shared.b8 [%r4], " +
                                  list(count) + ";",
                              offsets, registers);
        ASSERT_FALSE(o.how.error) << o.how.error.message;
        std::vector<std::uint8_t> expected(4 * room_words);
        for (std::size_t k = 0; k < expected.size(); ++k) {
            expected[k] = first_byte(k);
        }
        for (unsigned l = 0; l < 32; ++l) {
            for (unsigned n = 0; n < 4 * count; ++n) {
                const std::uint64_t bit = bit_of_register(l, n / 4, n % 4);
                expected[offsets[bit / 128] + bit % 128 / 8] = byte_in(registers, 16 * l + n);
            }
        }
        for (std::size_t k = 0; k < expected.size(); ++k) {
            ASSERT_EQ(byte_in(o.room, k), expected[k]) << "x" << count << ", byte " << k;
        }
    }
}

TEST(MatrixRows, MoveTransposes) {
    const auto before = numbered(128);
    const outcome o = run("movmatrix.sync.aligned.m8n8.trans.b16 %r11, %r10;", scattered_rows(), before);
    ASSERT_FALSE(o.how.error) << o.how.error.message;
    for (unsigned l = 0; l < 32; ++l) {
        for (unsigned part = 0; part < 2; ++part) {
            const unsigned row = 2 * (l % 4) + part;
            const unsigned column = l / 4;
            const std::uint32_t from = before[4 * (4 * row + column / 2)] >> (16 * (column % 2)) & 0xFFFF;
            EXPECT_EQ(o.registers[4 * l + 1] >> (16 * part) & 0xFFFF, from) << "lane " << l;
        }
    }
}

// Wavefronts of one ldmatrix and one stmatrix, beyond those of the kernel around them.
observe::counters counted(std::uint32_t row_stride, unsigned count) {
    std::vector<std::uint32_t> offsets(32);
    for (std::uint32_t l = 0; l < 32; ++l) {
        offsets[l] = l * row_stride;
    }
    const std::string name = "matrix.sync.aligned.m8n8.x" + std::to_string(count) + ".shared.b16 ";
    observe::counters c =
        run("ld" + name + list(count) + ", [%r4]; st" + name + "[%r4], " + list(count) + ";", offsets, numbered(128))
            .how.total;
    const observe::counters around = run("", offsets, numbered(128)).how.total;
    c.shared_load_wavefronts -= around.shared_load_wavefronts;
    c.shared_load_bank_conflicts -= around.shared_load_bank_conflicts;
    c.shared_store_wavefronts -= around.shared_store_wavefronts;
    c.shared_store_bank_conflicts -= around.shared_store_bank_conflicts;
    c.shared_load_requests -= around.shared_load_requests;
    return c;
}

TEST(MatrixRows, AMatrixIsAWavefront) {
    if (on_hardware()) {
        GTEST_SKIP() << "counters";
    }
    for (const unsigned count : {1u, 2u, 4u}) {
        const observe::counters fine = counted(144, count); // rows 36 words apart: all banks
        EXPECT_EQ(fine.shared_load_requests, 1u);
        EXPECT_EQ(fine.shared_load_wavefronts, count);
        EXPECT_EQ(fine.shared_load_bank_conflicts, 0u);
        EXPECT_EQ(fine.shared_store_wavefronts, count);
        const observe::counters met = counted(128, count); // all rows at one bank
        EXPECT_EQ(met.shared_load_wavefronts, 8 * count);
        EXPECT_EQ(met.shared_load_bank_conflicts, 7 * count);
        EXPECT_EQ(met.shared_store_bank_conflicts, 7 * count);
    }
}

TEST(MatrixRows, WrongAddressesAreFaults) {
    if (on_hardware()) {
        GTEST_SKIP() << "faults";
    }
    auto offsets = scattered_rows();
    const std::string load = "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r4];";
    offsets[20] = 8; // not used: two matrices have 16 rows
    EXPECT_FALSE(run(load, offsets, numbered(128)).how.error);
    offsets[9] = 8;
    EXPECT_EQ(run(load, offsets, numbered(128)).how.error.kind, machine::fault_kind::misaligned_address);
    offsets[9] = 8192 - 8;
    EXPECT_TRUE(run(load, offsets, numbered(128)).how.error);
    offsets[9] = 8192;
    EXPECT_EQ(run(load, offsets, numbered(128)).how.error.kind, machine::fault_kind::illegal_address);
}

TEST(MatrixRows, AddressesElsewhereAreNamed) {
    if (on_hardware()) {
        GTEST_SKIP() << "faults";
    }
    const auto message = [](const std::string& body) {
        return run(body, scattered_rows(), numbered(128)).how.error.message;
    };
    const std::string generic =
        message("mov.u64 %rd4, 0x1234567890; ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%rd4];");
    EXPECT_NE(generic.find("0x1234567890: it is not in shared memory"), std::string::npos) << generic;
    const std::string wide =
        message("mov.u64 %rd4, 0x1234567890; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%rd4];");
    EXPECT_NE(wide.find("out of bounds"), std::string::npos) << wide;
}

} // namespace
} // namespace softgpu::test
