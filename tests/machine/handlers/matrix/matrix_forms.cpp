// SPDX-License-Identifier: MIT
#include "tests/machine/handlers/matrix/matrix_forms.hpp"

#include <sstream>
#include <string_view>

namespace softgpu::test {

std::string_view name_of(element e) {
    constexpr std::string_view names[] = {"f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2",
                                          "s8",  "u8",   "s4",   "u4",  "b1",  "s32"};
    return names[static_cast<unsigned>(e)];
}

unsigned register_words(element e) { return e == element::f64 ? 2 : 1; }

namespace {

std::string_view register_type(element e) { return e == element::f64 ? "f64" : e == element::f32 ? "f32" : "b32"; }

std::string list(char name, unsigned count) {
    std::string text = "{";
    for (unsigned k = 0; k < count; ++k) {
        text += (k == 0 ? "%" : ", %") + std::string(1, name) + std::to_string(k);
    }
    return text + "}";
}

std::string head(std::string_view version) {
    return ".version " + std::string(version) +
           "\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, "
           ".param .u64 p3, .param .u64 p4, .param .u64 p5, .param .u64 p6, .param .u64 p7) {\n"
           ".reg .b64 %p<4>; .reg .b32 %r<4>;\nld.param.u64 %p0, [p0]; ld.param.u64 %p1, [p1];\n";
}

unsigned words_of(element e, unsigned elements) { return bits_of(e) * elements / 32; }

// A holds half of K. `selectors`: how many values the last operand may have.
void add_sparse(std::vector<mma_form>& all) {
    using enum element;
    const auto add = [&](unsigned k, element d, element a, element b, unsigned registers, unsigned selectors,
                         const std::string& end = {}) {
        for (const char* const kind : {"mma.sp.sync.aligned.", "mma.sp::ordered_metadata.sync.aligned."}) {
            for (unsigned selector = 0; selector < selectors; ++selector) {
                const auto dot = [](element e) { return "." + std::string(name_of(e)); };
                const unsigned nd = d == f16 ? 2 : 4;
                all.push_back(
                    {kind + ("m16n8k" + std::to_string(k)) + ".row.col" + end + dot(d) + dot(a) + dot(b) + dot(d), a, b,
                     d, d, registers, registers, nd, nd, static_cast<int>(selector)});
            }
        }
    };
    for (const unsigned k : {16u, 32u}) {
        add(k, f16, f16, f16, k / 8, k == 16 ? 4 : 2);
        add(k, f32, f16, f16, k / 8, k == 16 ? 4 : 2);
        add(k, f32, bf16, bf16, k / 8, k == 16 ? 4 : 2);
    }
    add(8, f32, tf32, tf32, 2, 4);
    add(16, f32, tf32, tf32, 4, 2);
    for (const auto& [x, y] : {std::pair{s8, u8}, std::pair{s4, u4}}) {
        const unsigned k = x == s8 ? 32 : 64;
        for (const element a : {x, y}) {
            for (const element b : {x, y}) {
                add(k, s32, a, b, 2, 2, a == b ? "" : ".satfinite");
                add(2 * k, s32, a, b, 4, 1);
            }
        }
    }
    for (const element a : {e4m3, e5m2}) {
        for (const element b : {e4m3, e5m2}) {
            add(64, f32, a, b, 4, 1);
        }
    }
}

} // namespace

std::string mma_form::key() const { return selector < 0 ? name : name + "@" + std::to_string(selector); }

unsigned bits_of(element e) {
    switch (e) {
    case element::f16:
    case element::bf16: return 16;
    case element::f64: return 64;
    case element::e4m3:
    case element::e5m2:
    case element::s8:
    case element::u8: return 8;
    case element::s4:
    case element::u4: return 4;
    case element::b1: return 1;
    default: return 32;
    }
}

std::vector<mma_form> mma_forms() {
    using enum element;
    std::vector<mma_form> all;
    const auto add = [&](const std::string& middle, element d, element a, element b, element c, unsigned na,
                         unsigned nb, unsigned nd, const std::string& end = {}) {
        const auto dot = [](element e) { return "." + std::string(name_of(e)); };
        all.push_back(
            {"mma.sync.aligned." + middle + dot(d) + dot(a) + dot(b) + dot(c) + end, a, b, c, d, na, nb, nd, nd});
    };
    for (const char* const layout : {"row.col", "row.row", "col.col", "col.row"}) {
        add(std::string("m8n8k4.") + layout, f32, f16, f16, f32, 2, 2, 8);
        add(std::string("m8n8k4.") + layout, f16, f16, f16, f16, 2, 2, 4);
        add(std::string("m8n8k4.") + layout, f32, f16, f16, f16, 2, 2, 8);
        all.back().c_registers = 4;
    }
    for (const unsigned k : {8u, 16u}) {
        const std::string shape = "m16n8k" + std::to_string(k) + ".row.col";
        add(shape, f16, f16, f16, f16, k / 4, k / 8, 2);
        add(shape, f32, f16, f16, f32, k / 4, k / 8, 4);
        add(shape, f32, bf16, bf16, f32, k / 4, k / 8, 4);
    }
    add("m16n8k4.row.col", f32, tf32, tf32, f32, 2, 1, 4);
    add("m16n8k8.row.col", f32, tf32, tf32, f32, 4, 2, 4);
    add("m8n8k4.row.col", f64, f64, f64, f64, 1, 1, 2);
    add("m16n8k4.row.col", f64, f64, f64, f64, 2, 1, 4);
    add("m16n8k8.row.col", f64, f64, f64, f64, 4, 2, 4);
    add("m16n8k16.row.col", f64, f64, f64, f64, 8, 4, 4);
    for (const element a : {e4m3, e5m2}) {
        for (const element b : {e4m3, e5m2}) {
            add("m16n8k32.row.col", f32, a, b, f32, 4, 2, 4);
        }
    }
    for (const char* const saturate : {"", ".satfinite"}) {
        const std::string layout = std::string(".row.col") + saturate;
        for (const auto& [x, y] : {std::pair{s8, u8}, std::pair{s4, u4}}) {
            const unsigned k = x == s8 ? 16 : 32;
            for (const element a : {x, y}) {
                for (const element b : {x, y}) {
                    add("m8n8k" + std::to_string(k) + layout, s32, a, b, s32, 1, 1, 2);
                    add("m16n8k" + std::to_string(k) + layout, s32, a, b, s32, 2, 1, 4);
                    add("m16n8k" + std::to_string(2 * k) + layout, s32, a, b, s32, 4, 2, 4);
                }
            }
        }
    }
    for (const char* const operation : {".xor.popc", ".and.popc"}) {
        add("m8n8k128.row.col", s32, b1, b1, s32, 1, 1, 2, operation);
        add("m16n8k128.row.col", s32, b1, b1, s32, 2, 1, 4, operation);
        add("m16n8k256.row.col", s32, b1, b1, s32, 4, 2, 4, operation);
    }
    for (const element a : {e4m3, e5m2}) {
        for (const element b : {e4m3, e5m2}) {
            add("m16n8k16.row.col", f32, a, b, f32, 2, 1, 4);
            add("m16n8k16.row.col", f16, a, b, f16, 2, 1, 2);
            add("m16n8k32.row.col", f16, a, b, f16, 4, 2, 2);
        }
    }
    add_sparse(all);
    return all;
}

std::vector<wmma_form> wmma_forms() {
    using enum element;
    std::vector<wmma_form> all;
    const auto add = [&](unsigned m, unsigned n, unsigned k, element ab, element c, element d, unsigned na, unsigned nb,
                         unsigned nc, unsigned nd, bool all_layouts, const char* operation = "") {
        const std::string shape = "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
        for (const bool a_by_rows : {true, false}) {
            for (const bool b_by_rows : {false, true}) {
                if (all_layouts || (a_by_rows && !b_by_rows)) {
                    all.push_back(
                        {shape, a_by_rows, b_by_rows, a_by_rows, ab, c, d, m, n, k, na, nb, nc, nd, operation});
                }
            }
        }
    };
    struct extent {
        unsigned m, n;
    };
    for (const auto& [m, n] : {extent{16, 16}, extent{8, 32}, extent{32, 8}}) {
        for (const element c : {f32, f16}) {
            for (const element d : {f32, f16}) {
                add(m, n, 16, f16, c, d, 8, 8, c == f32 ? 8 : 4, d == f32 ? 8 : 4, c == d);
            }
        }
        add(m, n, 16, bf16, f32, f32, m / 4, n / 4, 8, 8, true);
        add(m, n, 16, s8, s32, s32, m / 8, n / 8, 8, 8, true);
        add(m, n, 16, u8, s32, s32, m / 8, n / 8, 8, 8, false, ".satfinite");
    }
    add(16, 16, 8, tf32, f32, f32, 4, 4, 8, 8, true);
    add(8, 8, 4, f64, f64, f64, 1, 1, 2, 2, true);
    add(8, 8, 32, s4, s32, s32, 1, 1, 2, 2, false);
    add(8, 8, 32, u4, s32, s32, 1, 1, 2, 2, false, ".satfinite");
    add(8, 8, 128, b1, s32, s32, 1, 1, 2, 2, false, ".xor.popc");
    add(8, 8, 128, b1, s32, s32, 1, 1, 2, 2, false, ".and.popc");
    return all;
}

std::string wmma_form::name() const {
    const auto layout = [](bool rows) { return rows ? ".row" : ".col"; };
    return "wmma." + shape + layout(a_by_rows) + layout(b_by_rows) + layout(c_by_rows) + "." + std::string(name_of(d)) +
           "." + std::string(name_of(ab)) + "." + std::string(name_of(c)) + operation;
}

unsigned words_in(const mma_form& f) {
    return register_words(f.a) * (f.a_registers + f.b_registers + f.c_registers) + (f.selector >= 0 ? 1 : 0);
}
unsigned words_out(const mma_form& f) { return register_words(f.d) * f.d_registers; }
unsigned words_in(const wmma_form& f) {
    return words_of(f.ab, f.m * f.k) + words_of(f.ab, f.k * f.n) + words_of(f.c, f.m * f.n);
}
unsigned words_out(const wmma_form& f) {
    return 32 * register_words(f.ab) * (f.a_registers + f.b_registers + f.c_registers + f.d_registers) +
           words_of(f.d, f.m * f.n);
}

std::string text_of(const mma_form& f) {
    std::ostringstream text;
    text << head("8.7") << ".reg ." << register_type(f.a) << " %a<8>; .reg ." << register_type(f.b) << " %b<8>; .reg ."
         << register_type(f.c) << " %c<8>; .reg ." << register_type(f.d) << " %d<8>;\n"
         << "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 32, %r0;\n"
         << "mad.wide.u32 %p0, %r0, " << 4 * words_in(f) << ", %p0; mad.wide.u32 %p1, %r0, " << 4 * words_out(f)
         << ", %p1;\n";
    unsigned at = 0;
    const auto load = [&](char name, element e, unsigned count) {
        for (unsigned k = 0; k < count; ++k) {
            text << "ld.global." << register_type(e) << " %" << name << k << ", [%p0+" << 4 * at << "];\n";
            at += register_words(e);
        }
    };
    load('a', f.a, f.a_registers);
    load('b', f.b, f.b_registers);
    load('c', f.c, f.c_registers);
    if (f.selector >= 0) {
        text << "ld.global.b32 %r2, [%p0+" << 4 * at << "];\n";
    }
    text << f.name << ' ' << list('d', f.d_registers) << ", " << list('a', f.a_registers) << ", "
         << list('b', f.b_registers) << ", " << list('c', f.c_registers)
         << (f.selector >= 0 ? ", %r2, " + std::to_string(f.selector) : "") << ";\n";
    for (unsigned k = 0; k < f.d_registers; ++k) {
        text << "st.global." << register_type(f.d) << " [%p1+" << 4 * k * register_words(f.d) << "], %d" << k << ";\n";
    }
    text << "ret;\n}\n";
    return text.str();
}

std::string text_of(const wmma_form& f) {
    const auto layout = [](bool rows) { return rows ? ".row" : ".col"; };
    const std::string ab = "." + std::string(name_of(f.ab));
    const std::string c = "." + std::string(name_of(f.c));
    const std::string d = "." + std::string(name_of(f.d));
    const unsigned a_words = words_of(f.ab, f.m * f.k);
    const unsigned b_words = words_of(f.ab, f.k * f.n);
    std::ostringstream text;
    text << head("8.4") << ".reg ." << register_type(f.ab) << " %a<8>; .reg ." << register_type(f.ab)
         << " %b<8>; .reg ." << register_type(f.c) << " %c<8>; .reg ." << register_type(f.d) << " %d<8>;\n"
         << "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n"
         << "mad.wide.u32 %p0, %r1, " << 4 * words_in(f) << ", %p0; mad.wide.u32 %p1, %r1, " << 4 * words_out(f)
         << ", %p1;\n"
         << "add.u64 %p2, %p0, " << 4 * a_words << "; add.u64 %p3, %p0, " << 4 * (a_words + b_words) << ";\n"
         << "wmma.load.a.sync.aligned" << layout(f.a_by_rows) << '.' << f.shape << ".global" << ab << ' '
         << list('a', f.a_registers) << ", [%p0], " << (f.a_by_rows ? f.k : f.m) << ";\n"
         << "wmma.load.b.sync.aligned" << layout(f.b_by_rows) << '.' << f.shape << ".global" << ab << ' '
         << list('b', f.b_registers) << ", [%p2], " << (f.b_by_rows ? f.n : f.k) << ";\n"
         << "wmma.load.c.sync.aligned" << layout(f.c_by_rows) << '.' << f.shape << ".global" << c << ' '
         << list('c', f.c_registers) << ", [%p3], " << (f.c_by_rows ? f.n : f.m) << ";\n";
    // The operation's place in the name depends on the type.
    const bool bits = f.ab == element::b1;
    const bool halves = f.ab == element::f16;
    text << "wmma.mma" << (bits ? f.operation : "") << ".sync.aligned" << layout(f.a_by_rows) << layout(f.b_by_rows)
         << '.' << f.shape << d << (halves ? "" : ab + ab) << c << (bits ? "" : f.operation) << ' '
         << list('d', f.d_registers) << ", " << list('a', f.a_registers) << ", " << list('b', f.b_registers) << ", "
         << list('c', f.c_registers) << ";\n"
         << "add.u64 %p2, %p1, " << 4 * (words_out(f) - words_of(f.d, f.m * f.n)) << ";\n"
         << "wmma.store.d.sync.aligned" << layout(f.c_by_rows) << '.' << f.shape << ".global" << d << " [%p2], "
         << list('d', f.d_registers) << ", " << (f.c_by_rows ? f.n : f.m) << ";\n";
    const unsigned own = register_words(f.ab) * (f.a_registers + f.b_registers + f.c_registers + f.d_registers);
    text << "mad.wide.u32 %p1, %r0, " << 4 * own << ", %p1;\n";
    unsigned at = 0;
    const auto store = [&](char name, element e, unsigned count) {
        for (unsigned k = 0; k < count; ++k) {
            text << "st.global." << register_type(e) << " [%p1+" << 4 * at << "], %" << name << k << ";\n";
            at += register_words(e);
        }
    };
    store('a', f.ab, f.a_registers);
    store('b', f.ab, f.b_registers);
    store('c', f.c, f.c_registers);
    store('d', f.d, f.d_registers);
    text << "ret;\n}\n";
    return text.str();
}

} // namespace softgpu::test
