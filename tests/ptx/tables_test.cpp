// SPDX-License-Identifier: MIT
// The tables of opcodes, suffixes and predefined registers.
#include <gtest/gtest.h>

#include <string>

#include "softgpu/ptx/ast.hpp"
#include "softgpu/ptx/isa/special_register.hpp"
#include "tests/ptx/texts.hpp"

namespace {

using namespace softgpu::ptx;

TEST(opcodes, every_name_is_found_again) {
    const opcode all[] = {
#define SOFTGPU_OPCODE(id, text, destinations, executed_by) opcode::id,
#include "softgpu/ptx/isa/opcodes.def"
#undef SOFTGPU_OPCODE
    };
    EXPECT_GT(std::size(all), 120u);
    for (const opcode op : all) {
        EXPECT_EQ(find_opcode(name_of(op)), op) << name_of(op);
        EXPECT_LE(destinations_of(op), 1u);
    }
}

TEST(opcodes, other_names_are_not_found) {
    for (const char* name : {"", "ad", "addd", "Add", "exit_", "%add", "ld.global"}) {
        EXPECT_EQ(find_opcode(name), std::nullopt) << name;
    }
}

TEST(opcodes, properties) {
    EXPECT_EQ(name_of(opcode::and_), "and");
    EXPECT_EQ(name_of(opcode::exit_), "exit");
    EXPECT_EQ(family_of(opcode::fma), family::arithmetic);
    EXPECT_EQ(family_of(opcode::lop3), family::logic);
    EXPECT_EQ(family_of(opcode::setp), family::compare);
    EXPECT_EQ(family_of(opcode::cvta), family::convert);
    EXPECT_EQ(family_of(opcode::st), family::memory);
    EXPECT_EQ(family_of(opcode::red), family::atomic);
    EXPECT_EQ(family_of(opcode::bar), family::control);
    EXPECT_EQ(family_of(opcode::shfl), family::warp);
    EXPECT_EQ(family_of(opcode::wgmma), family::matrix);
    EXPECT_EQ(destinations_of(opcode::add), 1u);
    EXPECT_EQ(destinations_of(opcode::st), 0u);
    EXPECT_EQ(destinations_of(opcode::atom), 1u);
    EXPECT_EQ(destinations_of(opcode::red), 0u);
    EXPECT_EQ(destinations_of(opcode::call), 0u);
}

unsigned destinations_written_by(const std::string& text) {
    return destinations_of(parse(test::in_kernel(text)).functions[0].instructions[0]);
}

TEST(opcodes, destinations_depend_on_the_form) {
    EXPECT_EQ(destinations_written_by("bar.sync 0;"), 0u);
    EXPECT_EQ(destinations_written_by("bar.red.popc.u32 %r1, 0, %p1;"), 1u);
    EXPECT_EQ(destinations_written_by("mbarrier.init.shared.b64 [tile], 1;"), 0u);
    EXPECT_EQ(destinations_written_by("mbarrier.arrive.shared.b64 %rd1, [tile];"), 1u);
    EXPECT_EQ(destinations_written_by("mbarrier.try_wait.shared.b64 %p1, [tile], %rd1;"), 1u);
    EXPECT_EQ(destinations_written_by("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2}, [%rd1];"), 1u);
    EXPECT_EQ(destinations_written_by("wmma.store.d.sync.aligned.row.m16n16k16.f16 [%rd1], {%r1, %r2};"), 0u);
    EXPECT_EQ(destinations_written_by("st.global.u32 [%rd1], %r1;"), 0u);
}

TEST(suffixes, every_name_is_found_again) {
    const suffix all[] = {
#define SOFTGPU_SUFFIX(id, text, kind, bytes) suffix::id,
#include "softgpu/ptx/isa/suffixes.def"
#undef SOFTGPU_SUFFIX
    };
    for (const suffix s : all) {
        EXPECT_EQ(find_suffix(name_of(s)), s) << name_of(s);
        EXPECT_EQ(bytes_of(s) != 0, kind_of(s) == suffix_kind::type) << name_of(s);
        EXPECT_NE(kind_of(s), suffix_kind::none) << name_of(s);
    }
}

TEST(suffixes, properties) {
    EXPECT_EQ(find_suffix(""), std::nullopt);
    EXPECT_EQ(find_suffix("u31"), std::nullopt);
    EXPECT_EQ(find_suffix("shared_cta"), std::nullopt);
    EXPECT_EQ(find_suffix("shared::cta"), suffix::shared_cta);
    EXPECT_EQ(find_suffix("const"), suffix::const_);
    EXPECT_EQ(bytes_of(suffix::b8), 1u);
    EXPECT_EQ(bytes_of(suffix::pred), 1u);
    EXPECT_EQ(bytes_of(suffix::f16), 2u);
    EXPECT_EQ(bytes_of(suffix::f16x2), 4u);
    EXPECT_EQ(bytes_of(suffix::f64), 8u);
    EXPECT_EQ(bytes_of(suffix::b128), 16u);
    EXPECT_EQ(bytes_of(suffix::none), 0u);
    EXPECT_EQ(kind_of(suffix::none), suffix_kind::none);
    EXPECT_EQ(kind_of(suffix::rn), suffix_kind::rounding);
    EXPECT_EQ(kind_of(suffix::ltu), suffix_kind::compare);
    EXPECT_EQ(kind_of(suffix::xor_), suffix_kind::boolean);
    EXPECT_EQ(kind_of(suffix::acq_rel), suffix_kind::order);
    EXPECT_EQ(kind_of(suffix::gpu), suffix_kind::scope);
    EXPECT_EQ(kind_of(suffix::L1_no_allocate), suffix_kind::cache);
    EXPECT_EQ(kind_of(suffix::v4), suffix_kind::vector);
    EXPECT_EQ(kind_of(suffix::ftz), suffix_kind::mode);
}

TEST(special_registers, names) {
    for (const char* name : {"%tid", "%tid.x", "%nctaid.w", "%cluster_ctaid.z", "%laneid", "%lanemask_ge", "%clock64",
                             "%clock", "%envreg0", "%envreg31", "%pm0", "%pm7_64", "%globaltimer_hi",
                             "%reserved_smem_offset_1", "%reserved_smem_offset_cap", "%total_smem_size"}) {
        EXPECT_TRUE(is_special_register(name)) << name;
    }
    for (const char* name :
         {"", "%", "tid", "%tid.", "%tid.q", "%tid.xy", "%laneid.x", "%envreg", "%envreg32", "%envreg01",
          "%envreg99999999999", "%pm8", "%pm0_32", "%pm_64", "%tidx", "%reserved_smem_offset_2", "%r1"}) {
        EXPECT_FALSE(is_special_register(name)) << name;
    }
}

} // namespace
