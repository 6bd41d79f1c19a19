// SPDX-License-Identifier: MIT
#include "tests/machine/handlers/matrix/warpgroup_forms.hpp"

#include <sstream>

#include "tests/machine/handlers/matrix/matrix_operands.hpp"

namespace softgpu::test {

namespace {

using enum element;

constexpr unsigned threads = 128;
constexpr unsigned image_bytes = warpgroup_image_bytes; // static shared memory, at a multiple of 1024

bool is_half(element e) { return e == f16 || e == bf16; }
bool is_float(element e) { return e != s8 && e != u8 && e != b1; }

// Rows of 16, 32, 64 or 128 bytes in groups of eight, without gaps. By K, a row has a matrix row's K elements or more; by MN, a
// group's elements lie side by side in M or N.
matrix_view dense(unsigned swizzle, bool transposed, unsigned start, unsigned extent) {
    const unsigned row = swizzle == 0 ? 16 : 256 >> swizzle;
    matrix_view v{start, 0, 0, 0, swizzle};
    if (!transposed) {
        v.leading = swizzle == 0 ? extent * 16 : 16; // between the two halves of K
        v.stride = swizzle == 0 ? 128 : 8 * row;
    } else {
        v.leading = swizzle == 0 ? extent / 8 * 128 : 8 * row * 2;
        v.stride = swizzle == 0 ? 128 : 8 * row;
    }
    return v;
}

std::uint64_t descriptor(const matrix_view& v) {
    const auto field = [](unsigned bytes) { return std::uint64_t{bytes >> 4 & 0x3FFF}; };
    return field(v.start) | field(v.leading) << 16 | field(v.stride) << 32 | std::uint64_t{v.base_offset} << 49 |
           std::uint64_t{v.swizzle} << 62;
}

std::string braced(char name, unsigned count) {
    std::string text = "{";
    for (unsigned k = 0; k < count; ++k) {
        text += (k == 0 ? "%" : ", %") + std::string(1, name) + std::to_string(k);
    }
    return text + "}";
}

} // namespace

unsigned a_registers(const warpgroup_form& f) { return f.a_in_registers ? 4 : 0; }

unsigned warpgroup_form::d_registers() const { return n / (d == f16 ? 4 : 2); }

std::string warpgroup_form::instruction() const {
    const auto dot = [](element e) { return "." + std::string(name_of(e)); };
    return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k" + std::to_string(k) + dot(d) + dot(a) +
           dot(b) + (satfinite ? ".satfinite" : "") + (a == b1 ? ".and.popc" : "");
}

std::string warpgroup_form::key() const { return instruction() + "@" + label; }

std::vector<warpgroup_form> warpgroup_forms() {
    std::vector<warpgroup_form> all;
    const auto k_of = [](element a) { return a == b1 ? 256u : 256 / bits_of(a); };
    const auto add = [&](const char* label, unsigned n, element d, element a, element b) -> warpgroup_form& {
        warpgroup_form f;
        f.label = label;
        f.n = n;
        f.k = k_of(a);
        f.d = d;
        f.a = a;
        f.b = b;
        f.b_view = dense(0, false, 8192, n);
        all.push_back(f);
        return all.back();
    };
    const auto in_shared = [](warpgroup_form& f, unsigned swizzle_a, unsigned swizzle_b) {
        f.a_in_registers = false;
        f.a_view = dense(swizzle_a, f.transpose_a, 0, 64);
        f.b_view = dense(swizzle_b, f.transpose_b, 12288, f.n);
        f.label += "-a" + std::to_string(swizzle_a) + (f.transpose_a ? "t" : "") + "-b" + std::to_string(swizzle_b) +
                   (f.transpose_b ? "t" : "");
    };
    for (unsigned n = 8; n <= 256; n += 8) {
        add("r", n, f32, f16, f16);
    }
    for (const unsigned n : {8u, 64u, 256u}) {
        add("r", n, f16, f16, f16);
        add("r", n, f32, bf16, bf16);
        add("r", n, f32, tf32, tf32);
    }
    for (const element a : {e4m3, e5m2}) {
        for (const element b : {e4m3, e5m2}) {
            for (const unsigned n : {8u, 40u}) {
                add("r", n, f32, a, b);
                add("r", n, f16, a, b);
            }
        }
    }
    for (const element a : {s8, u8}) {
        for (const element b : {s8, u8}) {
            add("r", 8, s32, a, b);
            add("r", 48, s32, a, b).satfinite = true;
        }
    }
    for (const unsigned n : {8u, 64u, 256u}) {
        add("r", n, s32, b1, b1);
    }
    // Layouts.
    for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
        for (const bool ta : {false, true}) {
            for (const bool tb : {false, true}) {
                warpgroup_form& f = add("s", 128, f32, f16, f16);
                f.transpose_a = ta;
                f.transpose_b = tb;
                in_shared(f, swizzle, (swizzle + 1) % 4);
                warpgroup_form& g = add("s", 64, f32, bf16, bf16);
                g.transpose_a = ta;
                g.transpose_b = tb;
                in_shared(g, swizzle, swizzle);
            }
        }
        in_shared(add("s", 64, f32, tf32, tf32), swizzle, 3 - swizzle);
        in_shared(add("s", 64, f32, e4m3, e5m2), swizzle, 3 - swizzle);
        in_shared(add("s", 64, f16, e5m2, e4m3), swizzle, swizzle);
        in_shared(add("s", 64, s32, s8, u8), swizzle, 3 - swizzle);
        in_shared(add("s", 64, s32, b1, b1), swizzle, 3 - swizzle);
    }
    // Gaps between rows and groups, starts within a swizzled row, patterns that do not start at a multiple of their size.
    {
        warpgroup_form& f = add("gaps", 64, f32, f16, f16);
        in_shared(f, 0, 0);
        f.a_view.leading = 160;
        f.a_view.stride = 368;
        f.b_view.leading = 144;
        f.b_view.stride = 416;
    }
    {
        warpgroup_form& f = add("gaps", 64, f32, f16, f16);
        f.transpose_a = f.transpose_b = true;
        in_shared(f, 0, 0);
        f.a_view.leading = 1184;
        f.a_view.stride = 272;
        f.b_view.leading = 1072;
        f.b_view.stride = 144;
    }
    for (unsigned swizzle = 1; swizzle < 4; ++swizzle) {
        for (const bool t : {false, true}) {
            warpgroup_form& f = add("gaps", 64, f32, f16, f16);
            f.transpose_a = f.transpose_b = t;
            in_shared(f, swizzle, swizzle);
            f.a_view.leading = t ? 3072 : 48;
            f.a_view.stride = 1024;
            f.b_view.leading = t ? 2048 : 0;
            f.b_view.stride = 2048;
        }
        for (const unsigned start : {32u, 96u}) {
            warpgroup_form& f = add(start == 32 ? "start32" : "start96", 64, f32, f16, f16);
            in_shared(f, swizzle, swizzle);
            f.a_view.start += start;
            f.b_view.start += start;
        }
        for (const unsigned rows : {1u, 3u, 6u}) {
            for (const bool named : {false, true}) {
                static const char* const labels[2][7] = {{"", "rows1", "", "rows3", "", "", "rows6"},
                                                         {"", "base1", "", "base3", "", "", "base6"}};
                warpgroup_form& f = add(labels[named ? 1 : 0][rows], 64, f32, f16, f16);
                in_shared(f, swizzle, swizzle);
                f.a_view.start += 128 * rows;
                f.b_view.start += 128 * rows;
                f.a_view.base_offset = f.b_view.base_offset = named ? rows : 0;
            }
        }
    }
    // A multiple of 16 and not of 32 within a row; one view over the 256 KiB that the field of 14 bits can name.
    in_shared(add("start16", 8, f32, f16, f16), 1, 1);
    all.back().a_view.start += 16;
    all.back().b_view.start += 16;
    // Scales.
    for (const element a : {f16, bf16, tf32, e4m3}) {
        for (const element d : {f32, f16}) {
            if (d == f16 && (a == bf16 || a == tf32)) {
                continue;
            }
            add("zero", 8, d, a, a).scale_d = false;
            warpgroup_form& f = add("minus-a", 8, d, a, a);
            f.scale_a = -1;
            warpgroup_form& g = add("minus-b", 8, d, a, a);
            g.scale_b = -1;
            warpgroup_form& h = add("minus-ab-zero", 8, d, a, a);
            h.scale_a = h.scale_b = -1;
            h.scale_d = false;
        }
    }
    add("zero", 8, s32, s8, s8).scale_d = false;
    add("zero", 8, s32, b1, b1).scale_d = false;
    return all;
}

unsigned words_out(const warpgroup_form& f) { return f.d_registers(); }

std::string text_of(const warpgroup_form& f) {
    const unsigned each = a_registers(f) + f.d_registers();
    const unsigned case_bytes = image_bytes + 4 * threads * each;
    const char* const d_type = f.d == f32 ? "f32" : "b32";
    std::ostringstream text;
    text << ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1, "
            ".param .u64 p2, .param .u64 p3, .param .u64 p4, .param .u64 p5, .param .u64 p6, .param .u64 p7) {\n"
         << ".reg .b64 %p<4>; .reg .b64 %w<4>; .reg .b32 %r<8>; .reg .pred %q<2>; .reg .b32 %a<4>; .reg ." << d_type
         << " %d<" << f.d_registers() << ">;\n"
         << ".shared .align 1024 .b8 image[" << image_bytes << "];\n"
         << "ld.param.u64 %p0, [p0]; ld.param.u64 %p1, [p1];\n"
         << "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, image;\n"
         << "mad.wide.u32 %p0, %r1, " << case_bytes << ", %p0; mad.lo.u32 %r3, %r1, " << threads << ", %r0;\n"
         << "mad.wide.u32 %p1, %r3, " << 4 * f.d_registers() << ", %p1;\n"
         << "mad.wide.u32 %p2, %r0, 16, %p0; mad.lo.u32 %r3, %r0, 16, %r2; mov.u32 %r4, %r0;\n"
         << "fill: ld.global.v4.u32 {%r5, %r6, %r7, %r1}, [%p2]; st.shared.v4.u32 [%r3], {%r5, %r6, %r7, %r1};\n"
         << "add.u64 %p2, %p2, " << 16 * threads << "; add.u32 %r3, %r3, " << 16 * threads << "; add.u32 %r4, %r4, "
         << threads << "; setp.lt.u32 %q0, %r4, " << image_bytes / 16 << "; @%q0 bra fill;\n"
         << "fence.proxy.async; bar.sync 0;\n"
         << "mad.wide.u32 %p0, %r0, " << 4 * each << ", %p0;\n";
    for (unsigned k = 0; k < a_registers(f); ++k) {
        text << "ld.global.b32 %a" << k << ", [%p0+" << image_bytes + 4 * k << "];\n";
    }
    for (unsigned k = 0; k < f.d_registers(); ++k) {
        text << "ld.global." << d_type << " %d" << k << ", [%p0+" << image_bytes + 4 * (a_registers(f) + k) << "];\n";
    }
    text << "shr.u32 %r2, %r2, 4; cvt.u64.u32 %w2, %r2;\n"
         << "add.u64 %w0, %w2, " << descriptor(f.a_view) << "; add.u64 %w1, %w2, " << descriptor(f.b_view) << ";\n"
         << "setp.ne.u32 %q1, " << (f.scale_d ? 1 : 0) << ", 0;\n"
         << "wgmma.fence.sync.aligned;\n"
         << f.instruction() << ' ' << braced('d', f.d_registers()) << ", "
         << (f.a_in_registers ? braced('a', a_registers(f)) : "%w0") << ", %w1, %q1";
    if (is_float(f.a)) {
        text << ", " << f.scale_a << ", " << f.scale_b;
    }
    if (is_half(f.a)) {
        text << (f.a_in_registers ? "" : f.transpose_a ? ", 1" : ", 0") << (f.transpose_b ? ", 1" : ", 0");
    }
    text << ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    for (unsigned k = 0; k < f.d_registers(); ++k) {
        text << "st.global." << d_type << " [%p1+" << 4 * k << "], %d" << k << ";\n";
    }
    text << "ret;\n}\n";
    return text.str();
}

std::vector<std::uint32_t> operands_of(const warpgroup_form& f, unsigned number) {
    std::vector<std::uint32_t> words;
    // A's part of the image comes first; where it is in registers, B's begins there.
    const std::string name = f.key();
    const unsigned a_bytes = f.a_in_registers ? 0 : 12288;
    append_elements(words, name + "a", number, f.a, a_bytes * 8 / bits_of(f.a));
    append_elements(words, name + "b", number, f.b, (image_bytes - a_bytes) * 8 / bits_of(f.b));
    for (unsigned t = 0; t < threads; ++t) {
        const std::string own = name + std::to_string(t);
        append_elements(words, own + "a", number, f.a, a_registers(f) * 32 / bits_of(f.a));
        append_elements(words, own + "d", number, f.d, std::size_t{f.d_registers()} * 32 / bits_of(f.d));
    }
    return words;
}

} // namespace softgpu::test
