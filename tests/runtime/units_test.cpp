// SPDX-License-Identifier: MIT
// Programs built with -rdc=true, as nvcc's linker registers them: the linked container, usually without PTX, and a list of
// the units' containers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/contents_of.hpp"
#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {
namespace {

const std::string unit_of_kernel = PTX_HEAD ".extern .func _Z5storePj(.param .b64 p)\n;\n.extern .global .u32 x;\n"
                                            ".visible .entry _Z1kPj(.param .u64 q)\n{ .reg .b64 %rd; .reg .b32 %r;\n"
                                            "ld.param.u64 %rd, [q]; ld.global.u32 %r, [x]; add.u32 %r, %r, 1;\n"
                                            "st.global.u32 [x], %r;\n{ .param .b64 a; st.param.b64 [a], %rd;\n"
                                            "call _Z5storePj, (a); }\nret; }\n";
const std::string unit_of_function =
    PTX_HEAD ".visible .global .u32 x = 41;\n.visible .func _Z5storePj(.param .b64 p)\n"
             "{ .reg .b64 %rd; .reg .b32 %r; ld.param.u64 %rd, [p];\n"
             "ld.global.u32 %r, [x]; st.u32 [%rd], %r; ret; }\n";

constexpr std::uint16_t ptx = 1;
constexpr std::uint16_t machine_code = 2;
constexpr std::uint16_t intermediate_code = 8;
constexpr std::uint16_t whole_container = 0; // not an entry's contents

struct unit {
    std::uint16_t kind = ptx;
    std::string body;
    unsigned architecture = 75;
};

// Registered for as long as it lives, under its own addresses: the kernel k(unsigned*) and the variable x.
class linked_program {
public:
    explicit linked_program(const std::vector<unit>& units)
        : linked_(make_fat_binary(machine_code, 75, "what the linker made")) {
        for (const unit& u : units) {
            containers_.push_back(u.kind == whole_container ? std::vector<std::uint8_t>(u.body.begin(), u.body.end())
                                                            : make_fat_binary(u.kind, u.architecture, u.body));
        }
        for (const auto& c : containers_) {
            list_.push_back(c.data());
        }
        list_.push_back(nullptr);
        wrapper_.version = 2;
        wrapper_.data = linked_.data();
        wrapper_.list = list_.data();
        handle_ = __cudaRegisterFatBinary(&wrapper_);
        __cudaRegisterFunction(handle_, &kernel, nullptr, "_Z1kPj", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
        __cudaRegisterVar(handle_, reinterpret_cast<char*>(&x), nullptr, "x", 0, 4, 0, 0);
    }
    ~linked_program() { __cudaUnregisterFatBinary(handle_); }
    linked_program(const linked_program&) = delete;
    linked_program& operator=(const linked_program&) = delete;

    error launch(unsigned* out) { return runtime::launch(&kernel, 1, 1, out); }
    // What the first launch prints on stderr.
    std::string complaint(error expected) {
        testing::internal::CaptureStderr();
        EXPECT_EQ(launch(nullptr), expected);
        return testing::internal::GetCapturedStderr();
    }

    char kernel = 0;
    std::uint32_t x = 0;

private:
    std::vector<std::uint8_t> linked_;
    std::vector<std::vector<std::uint8_t>> containers_;
    std::vector<const void*> list_;
    fat_binary_wrapper wrapper_;
    void** handle_ = nullptr;
};

class units_test : public testing::Test {
protected:
    void TearDown() override { (void)cudaGetLastError(); }
};

// The kernel adds 1 to x, which begins with 41, and gives it.
void expect_counts(linked_program& program) {
    void* out = nullptr;
    ASSERT_EQ(cudaMalloc(&out, 4), error::success);
    ASSERT_EQ(program.launch(static_cast<unsigned*>(out)), error::success);
    unsigned seen = 0;
    EXPECT_EQ(cudaMemcpy(&seen, out, 4, copy_kind::device_to_host), error::success);
    EXPECT_EQ(seen, 42u);
    seen = 70;
    EXPECT_EQ(cudaMemcpyToSymbol(&program.x, &seen, 4, 0, copy_kind::host_to_device), error::success);
    ASSERT_EQ(program.launch(static_cast<unsigned*>(out)), error::success);
    EXPECT_EQ(cudaMemcpy(&seen, out, 4, copy_kind::device_to_host), error::success);
    EXPECT_EQ(seen, 71u);
    EXPECT_EQ(cudaFree(out), error::success);
}

TEST_F(units_test, are_linked) {
    linked_program program({{ptx, unit_of_kernel}, {ptx, unit_of_function}});
    expect_counts(program);
}

TEST_F(units_test, a_symbol_that_none_defines) {
    linked_program program({{ptx, unit_of_kernel}});
    EXPECT_EQ(program.complaint(error::invalid_ptx),
              "softgpu: the program's units cannot be linked: no unit defines variable x (wanted by unit 1), function "
              "store(unsigned int*) (wanted by unit 1)\n");
}

TEST_F(units_test, a_symbol_that_only_a_unit_without_ptx_defines) {
    linked_program program({{ptx, unit_of_kernel}, {machine_code, "machine code of store and x"}});
    const std::string message = program.complaint(error::invalid_ptx);
    EXPECT_NE(message.find("1 of its units hold machine code only"), std::string::npos) << message;
}

TEST_F(units_test, a_symbol_that_two_define) {
    linked_program program({{ptx, unit_of_kernel}, {ptx, unit_of_function}, {ptx, unit_of_function}});
    EXPECT_EQ(program.complaint(error::invalid_ptx),
              "softgpu: the program's units cannot be linked: x is defined twice, in unit 2 and in unit 3\n");
}

TEST_F(units_test, without_ptx) {
    linked_program program({{machine_code, "something"}, {machine_code, "something"}});
    const std::string message = program.complaint(error::no_kernel_image_for_device);
    EXPECT_NE(message.find("embeds no PTX for k(unsigned int*)"), std::string::npos) << message;
    EXPECT_NE(message.find("as machine code (code=sm_75) cannot run here"), std::string::npos) << message;
}

TEST_F(units_test, lto_ir_for_a_later_card) {
    linked_program program({{intermediate_code, "something", 120}});
    const std::string message = program.complaint(error::no_kernel_image_for_device);
    EXPECT_NE(message.find("embeds no PTX for k(unsigned int*), only LTO-IR"), std::string::npos) << message;
    EXPECT_NE(message.find("build with -gencode"), std::string::npos) << message;
}

#ifdef LTO_UNITS
unit unit_of(const std::string& name) {
    return {whole_container, warpfold::tests::contents_of(std::string(LTO_UNITS) + "/" + name + ".fatbin")};
}

class lto_units_test : public units_test {
protected:
    void SetUp() override {
        if (*NVIDIA_NVJITLINK == '\0') {
            GTEST_SKIP() << "the CUDA toolkit has no libnvJitLink";
        }
        ::setenv("WARPFOLD_NVJITLINK", NVIDIA_NVJITLINK, 1);
    }
    void TearDown() override {
        ::unsetenv("WARPFOLD_NVJITLINK");
        units_test::TearDown();
    }
};

TEST_F(lto_units_test, are_linked) {
    linked_program program({unit_of("kernel"), unit_of("function")});
    expect_counts(program);
}

TEST_F(lto_units_test, with_a_unit_of_ptx) {
    linked_program program({unit_of("kernel"), {ptx, unit_of_function}});
    expect_counts(program);
}

TEST_F(lto_units_test, without_the_library) {
    ::setenv("WARPFOLD_NVJITLINK", "/nowhere/libnvJitLink.so.13", 1);
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    // A process of its own: the library is looked for once.
    EXPECT_EXIT(
        {
            linked_program program({unit_of("kernel"), unit_of("function")});
            (void)program.launch(nullptr);
            std::_Exit(3);
        },
        testing::ExitedWithCode(3),
        "k.unsigned int.. needs units that the program has as LTO-IR alone .*libnvJitLink, which cannot be loaded.*"
        "or build with -gencode");
}
#endif

TEST_F(units_test, ptx_that_does_not_parse) {
    linked_program program({{ptx, unit_of_kernel}, {ptx, PTX_HEAD ".visible .nonsense x;\n"}});
    const std::string message = program.complaint(error::invalid_ptx);
    EXPECT_NE(message.find("nonsense"), std::string::npos) << message;
}

} // namespace
} // namespace softgpu::runtime
