// SPDX-License-Identifier: MIT
// Linking units of PTX: by the driver, and by the stand-in for nvJitLink.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tests/contents_of.hpp"
#include "tests/driver/driver_api.hpp"

namespace softgpu::runtime {

struct link_state;
struct link_session;

extern "C" {
result cuLinkCreate_v2(unsigned count, const jit_option* names, void** values, link_state** out);
result cuLinkAddData_v2(link_state* s, int kind, void* data, std::size_t bytes, const char* name, unsigned count,
                        const jit_option* names, void** values);
result cuLinkComplete(link_state* s, void** out, std::size_t* bytes);
result cuLinkDestroy(link_state* s);
}

namespace {

constexpr int driver_ptx = 1;
constexpr int driver_machine_code = 0;
constexpr int driver_library = 4;
constexpr int linker_machine_code = 1;
constexpr int linker_ptx = 2;
constexpr int linker_lto = 3;
constexpr int linker_library = 6;

// triple(p): p[0] = three(p[0]), which the other unit defines.
std::string caller = R"(.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b32 result) three(.param .b32 x);
.visible .entry triple(.param .u64 p)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .param .b32 in;
    .param .b32 out;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    st.param.b32 [in], %r1;
    call (out), three, (in);
    ld.param.b32 %r2, [out];
    st.global.u32 [%rd1], %r2;
    ret;
}
)";
std::string callee = R"(.version 8.0
.target sm_75
.address_size 64
.visible .func (.param .b32 result) three(.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    mul.lo.u32 %r2, %r1, 3;
    st.param.b32 [result], %r2;
    ret;
}
)";

class link_test : public testing::Test {
protected:
    void SetUp() override {
        driver_context* context = nullptr;
        ASSERT_EQ(cuInit(0), result::success);
        ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), result::success);
        ASSERT_EQ(cuCtxSetCurrent(context), result::success);
    }
    void TearDown() override { EXPECT_EQ(cuDevicePrimaryCtxReset_v2(0), result::success); }

    static void expect_triples(const void* code) {
        library* module = nullptr;
        function* triple = nullptr;
        device_address p = 0;
        ASSERT_EQ(cuModuleLoadData(&module, code), result::success);
        ASSERT_EQ(cuModuleGetFunction(&triple, module, "triple"), result::success);
        ASSERT_EQ(cuMemAlloc_v2(&p, 4), result::success);
        ASSERT_EQ(cuMemsetD32_v2(p, 14, 1), result::success);
        void* arguments[] = {&p};
        ASSERT_EQ(cuLaunchKernel(triple, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), result::success);
        std::uint32_t got = 0;
        ASSERT_EQ(cuMemcpyDtoH_v2(&got, p, 4), result::success);
        EXPECT_EQ(got, 42u);
    }
};

TEST_F(link_test, two_units_by_the_driver) {
    link_state* s = nullptr;
    void* code = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &s), result::success);
    EXPECT_EQ(cuLinkComplete(s, &code, &bytes), result::invalid_value); // nothing to link
    ASSERT_EQ(cuLinkAddData_v2(s, driver_ptx, caller.data(), caller.size() + 1, "a", 0, nullptr, nullptr),
              result::success);
    EXPECT_EQ(cuLinkAddData_v2(s, driver_machine_code, callee.data(), callee.size(), "b", 0, nullptr, nullptr),
              no_binary);
    ASSERT_EQ(cuLinkAddData_v2(s, driver_ptx, callee.data(), callee.size(), "b", 0, nullptr, nullptr), result::success);
    ASSERT_EQ(cuLinkComplete(s, &code, &bytes), result::success);
    const std::string copy(static_cast<const char*>(code), bytes);
    EXPECT_EQ(copy.back(), '\0');
    EXPECT_EQ(cuLinkDestroy(s), result::success);
    EXPECT_EQ(cuLinkDestroy(s), result::invalid_handle);
    expect_triples(copy.data());
}

// Numba links it for grid groups. Nothing of it is needed.
TEST_F(link_test, the_device_runtime_is_accepted) {
    std::string archive = "!<arch>\n//\ncuda_device_runtime.o/\n machine code";
    link_state* s = nullptr;
    void* code = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &s), result::success);
    for (std::string* const unit : {&caller, &callee}) {
        ASSERT_EQ(cuLinkAddData_v2(s, driver_ptx, unit->data(), unit->size() + 1, "u", 0, nullptr, nullptr),
                  result::success);
    }
    EXPECT_EQ(cuLinkAddData_v2(s, driver_library, archive.data(), archive.size(), "a", 0, nullptr, nullptr),
              result::success);
    ASSERT_EQ(cuLinkComplete(s, &code, &bytes), result::success);
    expect_triples(code);
    archive = "!<arch>\n//\nanother.o/\n machine code";
    EXPECT_EQ(cuLinkAddData_v2(s, driver_library, archive.data(), archive.size(), "a", 0, nullptr, nullptr), no_binary);
    EXPECT_EQ(cuLinkDestroy(s), result::success);
}

// As Numba has it: one unit, and the functions of grid groups from the device runtime.
TEST_F(link_test, grid_groups) {
    std::string unit = R"(.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 s);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 f);
.visible .entry meet(.param .u64 p)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    .param .b32 scope;
    .param .b64 handle;
    .param .b32 flags;
    .param .b32 result;
    ld.param.u64 %rd1, [p];
    red.global.add.u32 [%rd1], 1;
    st.param.b32 [scope], 1;
    call (handle), cudaCGGetIntrinsicHandle, (scope);
    ld.param.b64 %rd2, [handle];
    st.param.b64 [handle], %rd2;
    st.param.b32 [flags], 0;
    call (result), cudaCGSynchronize, (handle, flags);
    ld.global.u32 %r1, [%rd1];
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd3, %rd3, %rd1;
    st.global.u32 [%rd3+4], %r1;
    ret;
}
)";
    std::string archive = "!<arch>\n//\ncuda_device_runtime.o/\n machine code";
    link_state* s = nullptr;
    void* code = nullptr;
    library* module = nullptr;
    function* meet = nullptr;
    device_address p = 0;
    ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &s), result::success);
    ASSERT_EQ(cuLinkAddData_v2(s, driver_ptx, unit.data(), unit.size() + 1, "u", 0, nullptr, nullptr), result::success);
    ASSERT_EQ(cuLinkAddData_v2(s, driver_library, archive.data(), archive.size(), "a", 0, nullptr, nullptr),
              result::success);
    ASSERT_EQ(cuLinkComplete(s, &code, nullptr), result::success);
    ASSERT_EQ(cuModuleLoadData(&module, code), result::success);
    ASSERT_EQ(cuLinkDestroy(s), result::success);
    ASSERT_EQ(cuModuleGetFunction(&meet, module, "meet"), result::success);
    ASSERT_EQ(cuMemAlloc_v2(&p, 20), result::success);
    ASSERT_EQ(cuMemsetD32_v2(p, 0, 5), result::success);
    void* arguments[] = {&p};
    ASSERT_EQ(cuLaunchCooperativeKernel(meet, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments), result::success);
    std::vector<std::uint32_t> got(5);
    ASSERT_EQ(cuMemcpyDtoH_v2(got.data(), p, 20), result::success);
    EXPECT_EQ(got, std::vector<std::uint32_t>(5, 128));
}

// Kernels that use many registers: one without a limit, one with a limit of its own, one with launch bounds.
std::string many_registers() {
    std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n// .entry in a comment {\n";
    for (const std::string header :
         {".visible .entry free(.param .u64 p)\n", ".visible .entry bound(.param .u64 p)\n.maxnreg 56\n",
          ".visible .entry sized(.param .u64 p)\n.maxntid 128, 1, 1\n"}) {
        text += header + "{\n.reg .f32 %f<100>;\n.reg .b64 %rd;\nld.param.u64 %rd, [p];\n";
        for (int k = 0; k < 100; ++k) {
            text += "ld.volatile.global.f32 %f" + std::to_string(k) + ", [%rd];\n";
        }
        for (int k = 0; k < 100; ++k) {
            text += "st.volatile.global.f32 [%rd], %f" + std::to_string(k) + ";\n";
        }
        text += "ret;\n}\n";
    }
    return text;
}

std::vector<int> registers_of(const void* code, unsigned count = 0, const jit_option* names = nullptr,
                              void** values = nullptr) {
    library* module = nullptr;
    EXPECT_EQ(cuModuleLoadDataEx(&module, code, count, names, values), result::success);
    std::vector<int> registers;
    for (const char* const name : {"free", "bound", "sized"}) {
        function* kernel = nullptr;
        EXPECT_EQ(cuModuleGetFunction(&kernel, module, name), result::success);
        EXPECT_EQ(cuFuncGetAttribute(&registers.emplace_back(), driver_function_attribute::registers, kernel),
                  result::success);
    }
    return registers;
}

TEST_F(link_test, a_limit_of_registers) {
    std::string text = many_registers();
    const std::vector<int> without = registers_of(text.data());
    EXPECT_GT(without[0], 80);
    EXPECT_EQ(without[1], 56);
    EXPECT_EQ(without[2], without[0]);
    const std::vector<int> limited{40, 56, without[2]};
    const jit_option names[] = {jit_option::info_log_bytes, jit_option::max_registers};
    void* values[] = {nullptr, reinterpret_cast<void*>(40)};
    EXPECT_EQ(registers_of(text.data(), 2, names, values), limited);
    link_state* s = nullptr;
    void* code = nullptr;
    ASSERT_EQ(cuLinkCreate_v2(2, names, values, &s), result::success);
    ASSERT_EQ(cuLinkAddData_v2(s, driver_ptx, text.data(), text.size() + 1, "u", 0, nullptr, nullptr), result::success);
    ASSERT_EQ(cuLinkComplete(s, &code, nullptr), result::success);
    EXPECT_EQ(registers_of(code), limited);
    EXPECT_EQ(cuLinkDestroy(s), result::success);
}

// As Numba declares functions of the C ABI that return nothing.
TEST_F(link_test, a_function_that_its_caller_declares_with_a_result) {
    std::string with_result = R"(.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b64 result) put(.param .b64 to);
.visible .entry triple(.param .u64 p)
{
    .reg .b64 %rd<3>;
    .param .b64 in;
    .param .b64 out;
    ld.param.u64 %rd1, [p];
    st.param.b64 [in], %rd1;
    call (out), put, (in);
    ld.param.b64 %rd2, [out];
    ret;
}
)";
    std::string without = R"(.version 8.0
.target sm_75
.address_size 64
.visible .func put(.param .b64 to)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    st.global.u32 [%rd1], 42;
    ret;
}
)";
    link_state* s = nullptr;
    void* code = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &s), result::success);
    for (std::string* const unit : {&with_result, &without}) {
        ASSERT_EQ(cuLinkAddData_v2(s, driver_ptx, unit->data(), unit->size() + 1, "u", 0, nullptr, nullptr),
                  result::success);
    }
    ASSERT_EQ(cuLinkComplete(s, &code, &bytes), result::success);
    expect_triples(code);
    EXPECT_EQ(cuLinkDestroy(s), result::success);
}

TEST_F(link_test, units_that_do_not_fit_together) {
    library* module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, (caller + "\n// softgpu: the next unit\n" + caller).c_str()), invalid_ptx);
}

// `three` is declared and defined nowhere. A call of it is an error of the module; its declaration alone is not.
TEST_F(link_test, a_function_that_nobody_defines) {
    library* module = nullptr;
    const std::string complaint = "Unresolved extern function 'three'";
    char log[200] = {};
    const jit_option names[] = {jit_option::error_log, jit_option::error_log_bytes};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    EXPECT_EQ(cuModuleLoadDataEx(&module, caller.c_str(), 2, names, values), invalid_ptx);
    EXPECT_NE(std::string(log).find(complaint), std::string::npos) << log;
    std::string without = caller;
    without.erase(without.find("    call"), std::string("    call (out), three, (in);\n").size());
    EXPECT_EQ(cuModuleLoadData(&module, without.c_str()), result::success);
    link_state* s = nullptr;
    void* code = nullptr;
    values[1] = reinterpret_cast<void*>(sizeof log);
    log[0] = '\0';
    ASSERT_EQ(cuLinkCreate_v2(2, names, values, &s), result::success);
    ASSERT_EQ(cuLinkAddData_v2(s, driver_ptx, caller.data(), caller.size() + 1, "a", 0, nullptr, nullptr),
              result::success);
    EXPECT_EQ(cuLinkComplete(s, &code, nullptr), invalid_ptx);
    EXPECT_NE(std::string(log).find(complaint), std::string::npos) << log;
    EXPECT_EQ(cuLinkDestroy(s), result::success);
}

// A session of the stand-in for nvJitLink.
class stand_in {
public:
    explicit stand_in(std::vector<const char*> options) {
        EXPECT_NE(linker_, nullptr) << ::dlerror();
        EXPECT_EQ(create(&session_, std::move(options)), 0);
    }
    ~stand_in() {
        EXPECT_EQ(call("nvJitLinkDestroy", &session_), 0);
        EXPECT_EQ(session_, nullptr);
    }
    stand_in(const stand_in&) = delete;
    stand_in& operator=(const stand_in&) = delete;

    int create(link_session** out, std::vector<const char*> options) {
        return call("nvJitLinkCreate", out, static_cast<std::uint32_t>(options.size()), options.data());
    }
    int add(int kind, const std::string& unit) {
        return call("__nvJitLinkAddData_13_0", session_, kind, static_cast<const void*>(unit.data()), unit.size(), "u");
    }
    int complete() { return call("nvJitLinkComplete", session_); }
    std::string log() { return text("nvJitLinkGetErrorLog"); }
    std::string code() { return text("nvJitLinkGetLinkedCubin"); }
    std::pair<unsigned, unsigned> version() {
        unsigned major = 0, minor = 0;
        EXPECT_EQ(call("nvJitLinkVersion", &major, &minor), 0);
        return {major, minor};
    }

private:
    template <class... Arguments>
    int call(const char* name, Arguments... arguments) {
        return reinterpret_cast<int (*)(Arguments...)>(::dlsym(linker_, name))(arguments...);
    }
    std::string text(const std::string& name) {
        std::size_t bytes = 0;
        EXPECT_EQ(call((name + "Size").c_str(), session_, &bytes), 0);
        std::string found(bytes, ' ');
        EXPECT_EQ(call(name.c_str(), session_, static_cast<void*>(found.data())), 0);
        return found;
    }

    void* linker_ = ::dlopen(SOFTGPU_NVJITLINK, RTLD_NOW | RTLD_LOCAL);
    link_session* session_ = nullptr;
};

TEST_F(link_test, two_units_by_the_stand_in) {
    stand_in s({"-arch=sm_90", "-maxrregcount=40"});
    EXPECT_EQ(s.add(linker_library, "!<arch>\n//\ncuda_device_runtime.o/\n"), 0);
    EXPECT_EQ(s.add(linker_ptx, caller), 0);
    EXPECT_EQ(s.add(linker_ptx, callee), 0);
    ASSERT_EQ(s.complete(), 0) << s.log();
    expect_triples(s.code().data());
    EXPECT_NE(s.code().find(".maxnreg 40\n{"), std::string::npos) << s.code();
}

TEST_F(link_test, what_the_stand_in_refuses) {
    stand_in s({"-arch=sm_90"});
    link_session* none = nullptr;
    EXPECT_EQ(s.create(&none, {"-lto", "-arch=99"}), 1); // NVJITLINK_ERROR_UNRECOGNIZED_OPTION
    EXPECT_NE(s.complete(), 0);
    EXPECT_NE(s.log().find("nothing to link"), std::string::npos) << s.log();
    EXPECT_NE(s.add(linker_machine_code, "x"), 0);
    EXPECT_NE(s.log().find("machine code"), std::string::npos) << s.log();
    if (s.add(linker_lto, "x") == 0) {
        EXPECT_NE(s.complete(), 0);
    }
    EXPECT_NE(s.log().find("LTO-IR"), std::string::npos) << s.log();
}

// As NVIDIA's: 4 for PTX that is wrong or too new, 6 for what nobody defines, and the reason in the log.
TEST_F(link_test, errors_of_ptx_by_the_stand_in) {
    stand_in unresolved({"-arch=sm_90"});
    EXPECT_EQ(unresolved.add(linker_ptx, caller), 0);
    EXPECT_EQ(unresolved.complete(), 6);
    EXPECT_NE(unresolved.log().find("Undefined reference to 'three' in 'triple'"), std::string::npos)
        << unresolved.log();
    std::string text = callee + ".visible .entry k() { .reg .b32 %r<3>; add.s32 %r1, %r2; ret; }\n";
    stand_in wrong({"-arch=sm_90"});
    EXPECT_EQ(wrong.add(linker_ptx, text), 0);
    EXPECT_EQ(wrong.complete(), 4);
    EXPECT_NE(wrong.log().find("add with 2 operands"), std::string::npos) << wrong.log();
    stand_in older({"-arch=compute_70"});
    EXPECT_EQ(older.add(linker_ptx, callee), 4);
    EXPECT_NE(older.log().find("newer than sm_70"), std::string::npos) << older.log();
    EXPECT_NE(older.complete(), 0) << "the unit is no part of the link";
}

#ifdef LTO_UNITS
std::string unit_of(const std::string& name) {
    return warpfold::tests::contents_of(std::string(LTO_UNITS) + "/" + name + ".ltoir");
}

class lto_test : public link_test {
protected:
    void SetUp() override {
        link_test::SetUp();
        if (*NVIDIA_NVJITLINK == '\0') {
            GTEST_SKIP() << "the CUDA toolkit has no libnvJitLink";
        }
        ::setenv("WARPFOLD_NVJITLINK", NVIDIA_NVJITLINK, 1);
    }
    void TearDown() override {
        ::unsetenv("WARPFOLD_NVJITLINK");
        link_test::TearDown();
    }
};

TEST_F(lto_test, two_units) {
    stand_in s({"-arch=sm_75", "-lto", "-maxrregcount=40"});
    EXPECT_GE(s.version(), std::pair(12u, 3u));
    EXPECT_EQ(s.add(linker_lto, unit_of("triple")), 0);
    EXPECT_EQ(s.add(linker_lto, unit_of("three")), 0);
    ASSERT_EQ(s.complete(), 0) << s.log();
    EXPECT_EQ(s.code().find("call"), std::string::npos) << s.code(); // inlined, so it has been optimised at link time
    EXPECT_NE(s.code().find(".maxnreg 40\n{"), std::string::npos) << s.code();
    expect_triples(s.code().data());
}

TEST_F(lto_test, with_a_unit_of_ptx) {
    stand_in s({"-arch=sm_75"});
    EXPECT_EQ(s.add(linker_ptx, callee), 0);
    EXPECT_EQ(s.add(linker_lto, unit_of("triple")), 0);
    ASSERT_EQ(s.complete(), 0) << s.log();
    expect_triples(s.code().data());
}

TEST_F(lto_test, what_is_no_unit) {
    stand_in s({"-arch=sm_75"});
    EXPECT_EQ(s.add(linker_lto, "no unit"), 0);
    EXPECT_NE(s.complete(), 0);
    EXPECT_NE(s.log().find("LTO-IR"), std::string::npos) << s.log();
}
#endif

} // namespace
} // namespace softgpu::runtime
