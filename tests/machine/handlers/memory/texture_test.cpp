// SPDX-License-Identifier: MIT
// Textures and surfaces by descriptors that the test itself lays out, as a runtime would.
#include <gtest/gtest.h>

#include "softgpu/machine/texture.hpp"
#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

using machine::addressing;
using machine::channel_kind;
using machine::texture_descriptor;

// Four words from each of `threads` threads that read at coordinates of their own: 16 bytes of %p2 each, in
// %f0 to %f3 and %r4 to %r7; the handle is in %p1, the results belong in %r10 to %r13.
struct fetched {
    std::vector<std::uint32_t> words;
    machine::launch_result how;

    [[nodiscard]] float real(std::size_t thread, std::size_t channel = 0) const {
        return as_float(words[4 * thread + channel]);
    }
};

template <class T, class C>
fetched fetch(const std::string& instruction, texture_descriptor t, const std::vector<T>& data,
              const std::vector<C>& coordinates, std::uint64_t* kept = nullptr) {
    static_assert(sizeof(C) == 4);
    program p(kernel(".reg .b64 %own; mul.wide.u32 %own, %i, 16; add.u64 %rd0, %own, %p0; add.u64 %rd1, %own, %p2;\n"
                     "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd1]; mov.b32 %f0, %r4; mov.b32 %f1, %r5;\n"
                     "mov.b32 %f2, %r6; mov.b32 %f3, %r7; mov.u32 %r10, 77; mov.u32 %r11, 77; mov.u32 %r12, 77;\n"
                     "mov.u32 %r13, 77; mov.u16 %h0, 77; mov.u16 %h1, 77;\n" +
                     instruction + "\nst.global.v4.b32 [%rd0], {%r10, %r11, %r12, %r13}; ret;"));
    t.data = p.buffer(data);
    const std::size_t threads = coordinates.size() / 4;
    launch_options how;
    how.block.x = static_cast<std::uint32_t>(threads);
    const std::uint64_t out = p.buffer<std::uint32_t>(4 * threads);
    fetched f;
    f.how = p.attempt(how, {out, p.buffer(std::vector<texture_descriptor>{t}), p.buffer(coordinates)});
    f.words = p.contents<std::uint32_t>(out, 4 * threads);
    if (kept != nullptr) {
        const auto after = p.contents<T>(t.data, data.size());
        std::memcpy(kept, after.data(), after.size() * sizeof(T));
    }
    return f;
}

texture_descriptor shaped(std::uint32_t width, std::uint32_t height = 0, std::uint32_t depth = 0,
                          std::uint32_t layers = 0, unsigned element = 4) {
    texture_descriptor t;
    t.width = width;
    t.height = height;
    t.depth = depth;
    t.layers = layers;
    t.row_bytes = std::uint64_t{width} * element;
    t.slice_bytes = t.row_bytes * std::max(1u, height);
    return t;
}

std::vector<float> numbered(std::size_t n) {
    std::vector<float> v;
    for (std::size_t k = 0; k < n; ++k) {
        v.push_back(static_cast<float>(k * k));
    }
    return v;
}

const std::string four = "{%r10, %r11, %r12, %r13}";
// One coordinate a thread.
std::vector<float> along(const std::vector<float>& x, float y = 0, float z = 0) {
    std::vector<float> c;
    for (const float v : x) {
        c.insert(c.end(), {v, y, z, 0});
    }
    return c;
}

class Texture : public testing::Test {
protected:
    void SetUp() override {
        if (on_hardware()) {
            GTEST_SKIP() << "descriptors are this machine's own";
        }
    }
};

TEST_F(Texture, NearestAndAddressing) {
    const std::vector<float> data = numbered(5);
    const std::vector<float> plain{-3, -0.25F, 0, 0.99F, 1, 4.5F, 4.999F, 5, 17, NAN, 1e30F, -1e30F};
    for (const bool border : {false, true}) {
        texture_descriptor t = shaped(5);
        t.mode[0] = border ? addressing::border : addressing::wrap; // not normalized: wrap is clamp
        t.border[0] = -8;
        const fetched f = fetch("tex.1d.v4.f32.f32 " + four + "|%q0, [%p1, {%f0}];", t, data, along(plain));
        ASSERT_EQ(f.how.error.message, "");
        for (std::size_t n = 0; n < plain.size(); ++n) {
            const double x = std::isnan(plain[n]) ? 0 : std::floor(static_cast<double>(plain[n]));
            const bool outside = x < 0 || x >= 5;
            const auto at = static_cast<std::size_t>(std::min(4.0, std::max(0.0, x)));
            EXPECT_EQ(f.real(n), border && outside ? -8 : data[at]) << plain[n];
            EXPECT_EQ(f.real(n, 1), 0) << "a channel that is not there";
        }
    }
    // Normalized: one period after the other, every second one reversed for mirror.
    std::vector<float> over;
    for (int k = -24; k < 24; ++k) {
        over.push_back((static_cast<float>(k) + 0.5F) / 8);
    }
    const std::vector<float> eight = numbered(8);
    for (const addressing mode : {addressing::wrap, addressing::mirror}) {
        texture_descriptor t = shaped(8);
        t.mode[0] = mode;
        t.normalized = true;
        const fetched f = fetch("tex.level.1d.v4.f32.f32 " + four + ", [%p1, {%f0}], %f1;", t, eight, along(over));
        ASSERT_EQ(f.how.error.message, "");
        for (int k = -24; k < 24; ++k) {
            const int period = (k + 24) / 8;
            const int in = (k + 24) % 8;
            // Periods 0, 1 and 2 lie before 0, period 3 is the texture itself.
            const bool reversed = mode == addressing::mirror && period % 2 == 0;
            EXPECT_EQ(f.real(static_cast<std::size_t>(k + 24)), eight[static_cast<std::size_t>(reversed ? 7 - in : in)])
                << k;
        }
    }
}

// Weights have eight bits behind the point.
TEST_F(Texture, LinearFiltering) {
    const std::vector<float> data = numbered(6);
    texture_descriptor t = shaped(6);
    t.linear = true;
    std::vector<float> x;
    for (int k = 0; k < 64; ++k) {
        x.push_back(0.3F + static_cast<float>(k) * 0.0871F);
    }
    const fetched f = fetch("tex.1d.v4.f32.f32 " + four + ", [%p1, {%f0}];", t, data, along(x));
    ASSERT_EQ(f.how.error.message, "");
    for (std::size_t n = 0; n < x.size(); ++n) {
        const double at = static_cast<double>(x[n]) - 0.5;
        const double weight = std::round((at - std::floor(at)) * 256) / 256;
        const auto element = [&](double i) {
            return static_cast<double>(data[static_cast<std::size_t>(std::min(5.0, std::max(0.0, i)))]);
        };
        const double expected = (1 - weight) * element(std::floor(at)) + weight * element(std::floor(at) + 1);
        EXPECT_NEAR(static_cast<double>(f.real(n)), expected, 1e-4) << x[n];
    }
    // Between four, and between eight: the mean of them in the middle.
    texture_descriptor plane = shaped(2, 3);
    plane.linear = true;
    const fetched g = fetch("tex.2d.v4.f32.f32 " + four + ", [%p1, {%f0, %f1}];", plane, data, along({1.0F}, 2.0F));
    EXPECT_EQ(g.real(0), (data[2] + data[3] + data[4] + data[5]) / 4);
    texture_descriptor space = shaped(2, 2, 2);
    space.linear = true;
    const fetched h = fetch("tex.3d.v4.f32.f32 " + four + ", [%p1, {%f0, %f1, %f2, %f2}];", space, numbered(8),
                            along({1.0F}, 1.0F, 1.25F));
    EXPECT_EQ(h.real(0), 0.25F * (0 + 1 + 4 + 9) / 4 + 0.75F * (16 + 25 + 36 + 49) / 4);
}

TEST_F(Texture, LayersIntegersAndGather) {
    const std::vector<float> data = numbered(24);
    const fetched layers =
        fetch("tex.a2d.v4.f32.f32 " + four + ", [%p1, {%r7, %f0, %f1, %f1}];", shaped(4, 3, 0, 2), data,
              std::vector<float>{1.5F, 2.5F, 0, std::bit_cast<float>(1u), 3, 0, 0, std::bit_cast<float>(9u)});
    EXPECT_EQ(layers.real(0), data[12 + 8 + 1]);
    EXPECT_EQ(layers.real(1), data[12 + 3]) << "a layer beyond the last is the last";
    const fetched ints = fetch("tex.1d.v4.f32.s32 " + four + ", [%p1, {%r4}];", shaped(24), data,
                               std::vector<std::int32_t>{7, 0, 0, 0, -1, 0, 0, 0, 24, 0, 0, 0});
    EXPECT_EQ(ints.real(0), 49);
    EXPECT_EQ(ints.real(1), 0) << "fetches outside give 0";
    EXPECT_EQ(ints.real(2), 0);
    const fetched gathered =
        fetch("tld4.r.2d.v4.f32.f32 " + four + ", [%p1, {%f0, %f1}];", shaped(4, 6), data, along({2.0F}, 3.0F));
    EXPECT_EQ(gathered.real(0, 0), data[3 * 4 + 1]);
    EXPECT_EQ(gathered.real(0, 1), data[3 * 4 + 2]);
    EXPECT_EQ(gathered.real(0, 2), data[2 * 4 + 2]);
    EXPECT_EQ(gathered.real(0, 3), data[2 * 4 + 1]);
    const fetched sizes = fetch("txq.width.b32 %r10, [%p1]; txq.height.b32 %r11, [%p1]; suq.depth.b32 %r12, [%p1];\n"
                                "txq.array_size.b32 %r13, [%p1];",
                                shaped(4, 3, 0, 2), data, along({0}));
    EXPECT_EQ(sizes.words, (std::vector<std::uint32_t>{4, 3, 0, 2}));
    // A cube: the face that the direction points to.
    texture_descriptor cube = shaped(2, 2, 0, 6);
    const fetched face = fetch("tex.cube.v4.f32.f32 " + four + ", [%p1, {%f0, %f1, %f2, %f2}];", cube, data,
                               std::vector<float>{1, 0.5F, 0.5F, 0, 0.5F, -2, 0.5F, 0, -0.5F, 0.5F, -1, 0});
    EXPECT_EQ(face.real(0), data[0 * 4 + 0]);
    EXPECT_EQ(face.real(1), data[3 * 4 + 1]);
    EXPECT_EQ(face.real(2), data[5 * 4 + 1]);
}

TEST_F(Texture, Formats) {
    texture_descriptor bytes = shaped(2, 0, 0, 0, 4);
    bytes.channels = 4;
    bytes.channel_bytes = 1;
    bytes.kind = channel_kind::unsigned_integer;
    const std::vector<std::uint8_t> raw{0, 51, 128, 255, 1, 2, 3, 4};
    const fetched plain = fetch("tex.1d.v4.u32.f32 " + four + ", [%p1, {%f0}];", bytes, raw, along({0, 1}));
    EXPECT_EQ(plain.words, (std::vector<std::uint32_t>{0, 51, 128, 255, 1, 2, 3, 4}));
    bytes.reads_normalized = true;
    const fetched scaled = fetch("tex.1d.v4.f32.f32 " + four + ", [%p1, {%f0}];", bytes, raw, along({0}));
    EXPECT_EQ(scaled.real(0, 1), 51 / 255.0F);
    EXPECT_EQ(scaled.real(0, 3), 1);
    texture_descriptor shorts = shaped(2, 0, 0, 0, 4);
    shorts.channels = 2;
    shorts.channel_bytes = 2;
    shorts.kind = channel_kind::signed_integer;
    const std::vector<std::int16_t> words{-5, 300, -32768, 32767};
    const fetched pair = fetch("tex.1d.v4.s32.f32 " + four + ", [%p1, {%f0}];", shorts, words, along({0, 1}));
    EXPECT_EQ(static_cast<std::int32_t>(pair.words[0]), -5);
    EXPECT_EQ(pair.words[1], 300u);
    shorts.reads_normalized = true;
    const fetched ends = fetch("tex.1d.v4.f32.f32 " + four + ", [%p1, {%f0}];", shorts, words, along({1}));
    EXPECT_EQ(ends.real(0, 0), -1);
    EXPECT_EQ(ends.real(0, 1), 1);
    shorts.reads_normalized = false;
    shorts.kind = channel_kind::real;
    const fetched half = fetch("tex.1d.v4.f32.f32 " + four + ", [%p1, {%f0}];", shorts,
                               std::vector<std::uint16_t>{0x3C00, 0xC100, 0x0001, 0x7C00}, along({0, 1}));
    EXPECT_EQ(half.real(0, 0), 1);
    EXPECT_EQ(half.real(0, 1), -2.5F);
    EXPECT_EQ(half.real(1, 0), 0x1p-24F);
    EXPECT_EQ(half.real(1, 1), INFINITY);
}

TEST_F(Texture, Surfaces) {
    const std::vector<float> data = numbered(12);
    std::uint64_t after[6] = {};
    const fetched f =
        fetch("mov.u32 %r8, 0x40E00000; sust.b.2d.b32.trap [%p1, {%r4, %r5}], {%r8};\n"
              "suld.b.2d.v2.b32.trap {%r10, %r11}, [%p1, {%r6, %r5}]; suld.b.2d.b32.zero {%r12}, [%p1, {%r7, %r5}];\n"
              "suld.b.2d.b32.clamp {%r13}, [%p1, {%r7, %r5}];",
              shaped(4, 3), data, std::vector<std::int32_t>{4, 1, 8, 400}, after);
    ASSERT_EQ(f.how.error.message, "");
    float changed[12];
    std::memcpy(changed, after, sizeof(changed));
    for (std::size_t k = 0; k < 12; ++k) {
        EXPECT_EQ(changed[k], k == 5 ? 7.0F : data[k]);
    }
    EXPECT_EQ(f.real(0, 0), data[6]);
    EXPECT_EQ(f.real(0, 1), data[7]);
    EXPECT_EQ(f.words[2], 0u);
    EXPECT_EQ(f.real(0, 3), data[7]) << "the last of the row";
    // Bytes and halves go through registers of 16 bits.
    const fetched narrow =
        fetch("mov.u16 %h0, 0x1234; mov.u16 %h1, 0xAB; sust.b.1d.v2.b8.trap [%p1, {%r4}], {%h1, %h0};\n"
              "sust.b.1d.b16.trap [%p1, {%r5}], {%h0}; suld.b.1d.b32.trap {%r10}, [%p1, {%r6}];\n"
              "suld.b.1d.b8.trap {%h1}, [%p1, {%r4}]; cvt.u32.u16 %r11, %h1;",
              shaped(4), numbered(4), std::vector<std::int32_t>{0, 2, 0, 0});
    ASSERT_EQ(narrow.how.error.message, "");
    EXPECT_EQ(narrow.words[0], 0x123434ABu);
    EXPECT_EQ(narrow.words[1], 0xABu);
}

TEST_F(Texture, Faults) {
    using machine::fault_kind;
    const std::vector<float> data = numbered(4);
    const std::string load = "suld.b.1d.b32.trap {%r10}, [%p1, {%r4}];";
    EXPECT_EQ(fetch(load, shaped(4), data, std::vector<std::int32_t>{16, 0, 0, 0}).how.error.kind,
              fault_kind::illegal_address);
    EXPECT_EQ(fetch(load, shaped(4), data, std::vector<std::int32_t>{-4, 0, 0, 0}).how.error.kind,
              fault_kind::illegal_address);
    EXPECT_EQ(fetch(load, shaped(4), data, std::vector<std::int32_t>{2, 0, 0, 0}).how.error.kind,
              fault_kind::misaligned_address);
    const auto stray = fetch("tex.1d.v4.f32.f32 " + four + ", [%p0, {%f0}];", shaped(4), data, along({0}));
    EXPECT_EQ(stray.how.error.kind, fault_kind::illegal_address);
    EXPECT_NE(stray.how.error.message.find("not the handle of a texture"), std::string::npos)
        << stray.how.error.message;
    EXPECT_EQ(fetch("tex.1d.v4.f32.f32 " + four + ", [%p1, {%f0}];", shaped(1u << 20), data, along({0})).how.error.kind,
              fault_kind::illegal_address)
        << "memory that is shorter than the texture";
    EXPECT_EQ(fetch("tex.2d.v4.f32.f32 " + four + ", [%p1, {%f0}];", shaped(4), data, along({0})).how.error.kind,
              fault_kind::invalid_ptx);
}

} // namespace
} // namespace softgpu::test
