// SPDX-License-Identifier: MIT
// Fetches of whole warps against the reference, bit by bit (but for those of a NaN): every geometry, format, addressing
// mode and filter, at random coordinates and edges, by warps of which some lanes fetch, from textures that differ from lane
// to lane.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

#include "tests/machine/handlers/memory/texture_reference.hpp"
#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

using machine::addressing;
using machine::channel_kind;

struct kind_of_fetch {
    std::string text; // with %f0 to %f6 and %r7
    geometry shape = geometry::line;
    bool integers = false;
    bool gathers = false;
    bool has_level = false;
    bool has_slopes = false;
};

const std::string four = " {%r10, %r11, %r12, %r13}, [%rd3, ";
const std::vector<kind_of_fetch> kinds{
    {"tex.1d.v4.f32.f32" + four + "{%f0}];", geometry::line},
    {"tex.1d.v4.f32.s32" + four + "{%r0}];", geometry::line, true},
    {"tex.2d.v4.f32.f32" + four + "{%f0, %f1}];", geometry::plane},
    {"tex.2d.v4.f32.s32" + four + "{%r0, %r1}];", geometry::plane, true},
    {"tex.3d.v4.f32.f32" + four + "{%f0, %f1, %f2, %f2}];", geometry::space},
    {"tex.a1d.v4.f32.f32" + four + "{%r7, %f0}];", geometry::lines},
    {"tex.a2d.v4.f32.f32" + four + "{%r7, %f0, %f1, %f1}];", geometry::planes},
    {"tex.cube.v4.f32.f32" + four + "{%f0, %f1, %f2, %f2}];", geometry::cube},
    {"tex.acube.v4.f32.f32" + four + "{%r7, %f0, %f1, %f2}];", geometry::cubes},
    {"tex.level.2d.v4.f32.f32" + four + "{%f0, %f1}], %f3;", geometry::plane, false, false, true},
    {"tex.grad.2d.v4.f32.f32" + four + "{%f0, %f1}], {%f3, %f4}, {%f5, %f6};", geometry::plane, false, false, false,
     true},
    {"tld4.g.2d.v4.f32.f32" + four + "{%f0, %f1}];", geometry::plane, false, true},
};

constexpr std::size_t data_bytes = 1 << 16;
constexpr std::size_t threads = 96;
constexpr std::size_t levels = 3;

// Levels of one texture at random.
std::array<texture_descriptor, levels> any_texture(random32& engine, const kind_of_fetch& kind, std::uint64_t data) {
    texture_descriptor t;
    t.data = data;
    t.channels = static_cast<std::uint8_t>(1u << engine() % 3);
    t.channel_bytes = static_cast<std::uint8_t>(1u << engine() % 3);
    t.kind = t.channel_bytes == 1 ? static_cast<channel_kind>(engine() % 2) : static_cast<channel_kind>(engine() % 3);
    t.reads_normalized = t.kind != channel_kind::real && engine() % 3 != 0;
    t.srgb =
        t.reads_normalized && t.kind == channel_kind::unsigned_integer && t.channel_bytes == 1 && engine() % 2 == 0;
    t.linear = engine() % 3 != 0;
    t.normalized = engine() % 2 == 0;
    for (addressing& m : t.mode) {
        m = static_cast<addressing>(engine() % 4);
    }
    for (float& b : t.border) {
        const float colours[] = {0, 1, -0.3F, 0.7F, 1e9F, NAN, as_float(engine())};
        b = colours[engine() % std::size(colours)];
    }
    t.levels = kind.has_level || kind.has_slopes ? levels : 1;
    t.mixes_levels = engine() % 2 == 0;
    t.level_bias = static_cast<float>(engine() % 3) / 2;
    t.most_level = engine() % 2 == 0 ? 8 : 1.3F;
    t.width = engine() % 9; // of none, too
    t.height = 1 + engine() % 8;
    t.depth = 1 + engine() % 4;
    t.layers = kind.shape == geometry::cubes ? 12 : kind.shape == geometry::cube ? 6 : 1 + engine() % 4;
    std::array<texture_descriptor, levels> all{};
    for (texture_descriptor& level : all) {
        level = t;
        level.row_bytes = std::uint64_t{t.width} * t.element_bytes() + 32 * (engine() % 2);
        level.slice_bytes = level.row_bytes * t.height;
        t.width = (t.width + 1) / 2;
        t.height = (t.height + 1) / 2;
    }
    return all;
}

std::uint32_t any_coordinate(random32& engine, const kind_of_fetch& kind) {
    if (kind.integers) {
        const std::uint32_t edges[] = {0, 7, 8, ~0u, 0x7FFFFFFFu, 0x80000000u, engine() % 12, engine() % 12};
        return edges[engine() % std::size(edges)];
    }
    const float edges[] = {0,     -0.0F,  1,      0.5F,     -1e-10F,  8,         NAN,
                           1e30F, -1e30F, 2.5e9F, -0x1p31F, INFINITY, -INFINITY, as_float(engine())};
    const std::uint32_t which = engine() % 40;
    return std::bit_cast<std::uint32_t>(which < std::size(edges) ? edges[which]
                                                                 : static_cast<float>(engine() % 4096) / 256 - 4);
}

void compare(const kind_of_fetch& kind, unsigned seed) {
    // Each thread: its handle, 16 words of operands, four of results. Those whose word 15 is 0 do not fetch.
    program p(
        kernel("mul.wide.u32 %rd0, %i, 8; add.u64 %rd0, %rd0, %p0; ld.global.u64 %rd3, [%rd0];\n"
               "mul.wide.u32 %rd1, %i, 64; add.u64 %rd1, %rd1, %p1; mul.wide.u32 %rd2, %i, 16;\n"
               "add.u64 %rd2, %rd2, %p2; ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1];\n"
               "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1]; ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%rd1+16];\n"
               "ld.global.u32 %r7, [%rd1+32]; ld.global.u32 %r8, [%rd1+60]; setp.eq.u32 %q0, %r8, 0; @%q0 ret;\n" +
               kind.text + "\nst.global.v4.u32 [%rd2], {%r10, %r11, %r12, %r13}; ret;"));
    random32 engine(seed);
    std::vector<std::uint32_t> data(data_bytes / 4);
    for (std::uint32_t& word : data) {
        const float values[] = {0.0F, -0.0F, INFINITY, NAN, 1e-40F, static_cast<float>(engine() % 1000) / 7};
        word = engine() % 2 == 0 ? engine() : std::bit_cast<std::uint32_t>(values[engine() % std::size(values)]);
    }
    const std::uint64_t there = p.buffer(data);
    for (unsigned turn = 0; turn < 60; ++turn) {
        std::vector<texture_descriptor> described;
        const std::size_t textures = turn % 4 == 0 ? 3 : 1;
        for (std::size_t n = 0; n < textures; ++n) {
            const auto one = any_texture(engine, kind, there);
            described.insert(described.end(), one.begin(), one.end());
        }
        const std::uint64_t handles = p.buffer(described);
        std::vector<std::uint64_t> handle_of;
        std::vector<std::uint32_t> words(threads * 16);
        for (std::size_t n = 0; n < threads; ++n) {
            const std::size_t own = engine() % textures * levels;
            handle_of.push_back(handles + own * sizeof(texture_descriptor));
            for (std::size_t k = 0; k < 3; ++k) {
                words[n * 16 + k] = any_coordinate(engine, kind);
            }
            for (std::size_t k = 3; k < 7; ++k) {
                words[n * 16 + k] = std::bit_cast<std::uint32_t>(static_cast<float>(engine() % 1024) / 256 - 1);
            }
            words[n * 16 + 8] = engine() % 5 == 0 ? engine() : engine() % 4;
            words[n * 16 + 15] = turn % 3 == 0 ? engine() % 4 : 1;
        }
        launch_options how;
        how.block.x = threads;
        const std::uint64_t out = p.buffer<std::uint32_t>(4 * threads, 77);
        p.run(how, {p.buffer(handle_of), p.buffer(words), out});
        const auto got = p.contents<std::uint32_t>(out, 4 * threads);
        for (std::size_t n = 0; n < threads; ++n) {
            const std::uint32_t* const w = words.data() + n * 16;
            const auto* const t = reinterpret_cast<const texture_descriptor*>(handle_of[n]);
            texture_place at;
            at.integers = kind.integers;
            at.layer = w[8];
            at.level = kind.has_level ? as_float(w[3]) : 0;
            at.has_slopes = kind.has_slopes;
            for (unsigned k = 0; k < 3; ++k) {
                at.at[k] = as_float(w[k]);
                at.element[k] = static_cast<std::int32_t>(w[k]);
            }
            if (kind.shape == geometry::line || kind.shape == geometry::lines) {
                at.at[1] = 0;
            }
            at.slope_x[0] = as_float(w[3]);
            at.slope_x[1] = as_float(w[4]);
            at.slope_y[0] = as_float(w[5]);
            at.slope_y[1] = as_float(w[6]);
            const texel expected = kind.gathers ? gather(*t, at, 1) : sample(*t, kind.shape, at);
            for (unsigned k = 0; k < 4; ++k) {
                const std::uint32_t wanted = w[15] != 0 ? expected.channel[k] : 77;
                const bool both_nan = std::isnan(as_float(wanted)) && std::isnan(as_float(got[4 * n + k]));
                ASSERT_TRUE(both_nan || wanted == got[4 * n + k])
                    << std::hex << wanted << ' ' << got[4 * n + k] << std::dec << ' ' << kind.text << " turn " << turn
                    << ", thread " << n << ", channel " << k << ", at " << at.at[0] << ' ' << at.at[1] << ' '
                    << at.at[2] << ", " << t->width << 'x' << t->height << ", mode " << static_cast<int>(t->mode[0])
                    << static_cast<int>(t->mode[1]) << ", kind " << static_cast<int>(t->kind) << " of "
                    << static_cast<int>(t->channel_bytes) << " bytes, linear " << t->linear << ", normalized "
                    << t->normalized << t->reads_normalized << t->srgb;
            }
        }
    }
}

TEST(TextureOfWarps, AreAsThreadByThread) {
    if (on_hardware()) {
        GTEST_SKIP() << "descriptors are this machine's own";
    }
    unsigned seed = 1;
    for (const kind_of_fetch& kind : kinds) {
        compare(kind, seed++);
    }
}

} // namespace
} // namespace softgpu::test
