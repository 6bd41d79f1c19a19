// SPDX-License-Identifier: MIT
// Modules, launches, memory, streams, and the errors of each.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/driver/driver_api.hpp"
#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {
namespace {

class driver_test : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(cuInit(0), result::success);
        ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), result::success);
        ASSERT_EQ(cuCtxSetCurrent(context_), result::success);
        ASSERT_EQ(cuModuleLoadData(&module_, std::string(sample_ptx).c_str()), result::success);
        ASSERT_EQ(cuModuleGetFunction(&fill_, module_, "_Z4fillPjj"), result::success);
        ASSERT_EQ(cuMemAlloc_v2(&memory_, sizeof words_), result::success);
    }
    void TearDown() override { EXPECT_EQ(cuDevicePrimaryCtxReset_v2(0), result::success); }

    result launch_fill(std::uint32_t value, stream* on = nullptr) {
        void* arguments[] = {&memory_, &value};
        return cuLaunchKernel(fill_, 2, 1, 1, 32, 1, 1, 0, on, arguments, nullptr);
    }
    void expect_words(std::uint32_t first) {
        ASSERT_EQ(cuMemcpyDtoH_v2(words_, memory_, sizeof words_), result::success);
        for (std::uint32_t i = 0; i < 64; ++i) {
            ASSERT_EQ(words_[i], first + i);
        }
    }

    driver_context* context_ = nullptr;
    library* module_ = nullptr;
    function* fill_ = nullptr;
    device_address memory_ = 0;
    std::uint32_t words_[64] = {};
};

TEST_F(driver_test, arguments_as_pointers_and_as_a_block) {
    ASSERT_EQ(launch_fill(40), result::success);
    expect_words(40);
    struct {
        device_address p;
        std::uint32_t value;
    } block{memory_, 7};
    std::size_t bytes = 12;
    void* list[] = {reinterpret_cast<void*>(launch_list_buffer), &block, reinterpret_cast<void*>(launch_list_bytes),
                    &bytes, reinterpret_cast<void*>(launch_list_end)};
    ASSERT_EQ(cuLaunchKernel(fill_, 2, 1, 1, 32, 1, 1, 0, nullptr, nullptr, list), result::success);
    expect_words(7);
    bytes = 8; // too short for both
    EXPECT_EQ(cuLaunchKernel(fill_, 2, 1, 1, 32, 1, 1, 0, nullptr, nullptr, list), result::invalid_value);
    void* arguments[] = {&memory_, &block.value};
    EXPECT_EQ(cuLaunchKernel(fill_, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments, list), result::invalid_value);
}

TEST_F(driver_test, launches_with_attributes_and_cooperative_ones) {
    std::uint32_t value = 3;
    void* arguments[] = {&memory_, &value};
    const driver_launch what{{2, 1, 1}, {32, 1, 1}, 0, nullptr, nullptr, 0};
    ASSERT_EQ(cuLaunchKernelEx(&what, fill_, arguments, nullptr), result::success);
    expect_words(3);
    value = 5;
    ASSERT_EQ(cuLaunchCooperativeKernel(fill_, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments), result::success);
    expect_words(5);
    EXPECT_EQ(cuLaunchCooperativeKernel(fill_, 1 << 20, 1, 1, 32, 1, 1, 0, nullptr, arguments),
              static_cast<result>(720));
    EXPECT_EQ(cuLaunchKernelEx(nullptr, fill_, arguments, nullptr), result::invalid_value);
}

TEST_F(driver_test, wrong_handles_and_configurations) {
    EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), result::invalid_handle);
    EXPECT_EQ(cuLaunchKernel(reinterpret_cast<function*>(words_), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              result::invalid_handle);
    void* arguments[] = {&memory_, words_};
    EXPECT_EQ(cuLaunchKernel(fill_, 1, 1, 1, 1025, 1, 1, 0, nullptr, arguments, nullptr), result::invalid_value);
    EXPECT_EQ(cuLaunchKernel(fill_, 0, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), result::invalid_value);
    EXPECT_EQ(cuLaunchKernel(fill_, 1, 1, 1, 1, 1, 1, 0, reinterpret_cast<stream*>(words_), arguments, nullptr),
              result::invalid_handle);
    EXPECT_EQ(cuMemFree_v2(memory_ + 4), result::invalid_value);
    EXPECT_EQ(cuStreamSynchronize(reinterpret_cast<stream*>(words_)), result::invalid_handle);
    EXPECT_EQ(cuEventRecord(reinterpret_cast<event*>(words_), nullptr), result::invalid_handle);
    function* absent = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&absent, module_, "absent"), result::not_found);
    EXPECT_EQ(cuModuleGetFunction(&absent, reinterpret_cast<library*>(words_), "absent"), result::invalid_handle);
    EXPECT_EQ(cudaPeekAtLastError(), error::success); // the runtime's last error is its own
}

TEST_F(driver_test, modules_of_text_and_of_fat_binaries) {
    std::vector<std::uint8_t> binary = make_fat_binary(1, 75, sample_ptx);
    library* other = nullptr;
    ASSERT_EQ(cuModuleLoadData(&other, binary.data()), result::success);
    binary.assign(binary.size(), 0); // the module has its own copy
    device_address counter = 0;
    std::size_t bytes = 0;
    ASSERT_EQ(cuModuleGetGlobal_v2(&counter, &bytes, other, "counter"), result::success);
    EXPECT_EQ(bytes, 16u);
    function* bump = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&bump, other, "_Z4bumpv"), result::success);
    ASSERT_EQ(cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), result::success);
    std::uint32_t value = 0;
    ASSERT_EQ(cuMemcpyDtoH_v2(&value, counter, 4), result::success);
    EXPECT_EQ(value, 8u);
    EXPECT_EQ(cuModuleUnload(other), result::success);
    EXPECT_EQ(cuModuleUnload(other), result::invalid_handle);
    const std::vector<std::uint8_t> machine_code = make_fat_binary(2, 90, "\177ELF");
    EXPECT_EQ(cuModuleLoadData(&other, machine_code.data()), no_binary);
    EXPECT_EQ(cuModuleLoadData(&other, "\177ELF and so on"), no_binary);
}

TEST_F(driver_test, ptx_that_does_not_parse) {
    library* other = nullptr;
    char log[200] = {};
    const jit_option names[] = {jit_option::error_log, jit_option::error_log_bytes};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    EXPECT_EQ(cuModuleLoadDataEx(
                  &other, ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { nonsense.b32 %r1; }\n",
                  2, names, values),
              invalid_ptx);
    EXPECT_NE(std::strlen(log), 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values[1]), std::strlen(log));
    for (const auto& [code, complaint] :
         {std::pair("not PTX\n", "has no .version directive"), std::pair("\1\2\3\4", "fat binary: no container")}) {
        values[1] = reinterpret_cast<void*>(sizeof log);
        EXPECT_EQ(cuModuleLoadDataEx(&other, code, 2, names, values), static_cast<result>(200));
        EXPECT_NE(std::string(log).find(complaint), std::string::npos) << log;
    }
}

TEST_F(driver_test, bodies_that_make_no_sense_are_errors_at_loading) {
    for (const auto& [body, complaint] :
         std::initializer_list<std::pair<const char*, const char*>>{{"add.s32 %r1, %r2;", "add with 2 operands"},
                                                                    {"mul.s32 %r1, %r2, %r1;", "mul without .lo"},
                                                                    {"cvt.u32.f32 %r1, %f1;", "without .rni"},
                                                                    {"shl.s32 %r1, %r2, 1;", "shl of a type"},
                                                                    {"add.f32 %r1, %f1, %rd1;", "'%rd1' is not"},
                                                                    {"call f;", "and of a type"}}) {
        char log[400] = {};
        const jit_option names[] = {jit_option::error_log, jit_option::error_log_bytes};
        void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
        library* module = nullptr;
        std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n"
                           ".func f() { .reg .b32 %x; and.u32 %x, %x, 1; ret; }\n"
                           ".visible .entry k() { .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .f32 %f<2>;\n";
        text.append(body).append(" ret; }\n");
        EXPECT_EQ(cuModuleLoadDataEx(&module, text.c_str(), 2, names, values), invalid_ptx) << body;
        EXPECT_NE(std::string(log).find(complaint), std::string::npos) << body << " " << log;
    }
}

TEST_F(driver_test, a_version_of_ptx_that_is_too_new) {
    library* other = nullptr;
    const std::string rest = "\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
    EXPECT_EQ(cuModuleLoadData(&other, (".version 99.0" + rest).c_str()), static_cast<result>(222));
    EXPECT_EQ(cuModuleLoadData(&other, (".version 0.1" + rest).c_str()), invalid_ptx);
    ASSERT_EQ(cuModuleLoadData(&other, (".version 8.0" + rest).c_str()), result::success);
    EXPECT_EQ(cuModuleUnload(other), result::success);
}

TEST_F(driver_test, libraries_and_their_kernels) {
    library* l = nullptr;
    ASSERT_EQ(cuLibraryLoadData(&l, std::string(sample_ptx).c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
              result::success);
    function* kernel = nullptr;
    function* same = nullptr;
    library* owner = nullptr;
    driver_context* current = nullptr;
    ASSERT_EQ(cuCtxPopCurrent_v2(&current), result::success); // libraries belong to no context
    EXPECT_EQ(cuLibraryGetKernel(&kernel, l, "_Z4fillPjj"), result::success);
    EXPECT_EQ(cuKernelGetFunction(&same, kernel), result::invalid_context);
    ASSERT_EQ(cuCtxPushCurrent_v2(current), result::success);
    ASSERT_EQ(cuKernelGetFunction(&same, kernel), result::success);
    EXPECT_EQ(cuKernelGetLibrary(&owner, kernel), result::success);
    EXPECT_EQ(owner, l);
    fill_ = same;
    ASSERT_EQ(launch_fill(9), result::success);
    expect_words(9);
    EXPECT_EQ(cuLibraryUnload(l), result::success);
}

TEST_F(driver_test, attributes_and_occupancy) {
    int value = 0;
    ASSERT_EQ(cuFuncGetAttribute(&value, driver_function_attribute::max_threads_per_block, fill_), result::success);
    EXPECT_EQ(value, 1024);
    EXPECT_EQ(cuFuncGetAttribute(&value, static_cast<driver_function_attribute>(99), fill_), result::invalid_value);
    int blocks = 0;
    ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill_, 1024, 0), result::success);
    EXPECT_EQ(blocks, 2);
    int grid = 0, block = 0;
    ASSERT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, fill_, nullptr, 0, 0), result::success);
    EXPECT_EQ(block, 1024);
    EXPECT_EQ(grid, 2 * 132);
    function* bounded = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&bounded, module_, "_Z7boundedv"), result::success);
    ASSERT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, bounded, nullptr, 0, 0), result::success);
    EXPECT_LE(block, 128);
}

TEST_F(driver_test, fills_of_more_than_two_gigabytes) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "one thread, and three bytes of shadow for each";
#endif
    const std::size_t count = (std::size_t{1} << 31) + 5;
    device_address large = 0;
    ASSERT_EQ(cuMemAlloc_v2(&large, count), result::success);
    EXPECT_EQ(cuMemsetD8_v2(large, 0x5A, count), result::success);
    EXPECT_EQ(cuMemsetD8_v2(large, 0x5A, count + 1), result::invalid_value);
    EXPECT_EQ(cuMemsetD32_v2(large, 0, std::size_t{1} << 62), result::invalid_value); // its bytes are no number
    unsigned char last = 0;
    ASSERT_EQ(cuMemcpyDtoH_v2(&last, large + count - 1, 1), result::success);
    EXPECT_EQ(last, 0x5A);
    EXPECT_EQ(cuMemFree_v2(large), result::success);
}

TEST_F(driver_test, fills_of_every_width) {
    ASSERT_EQ(cuMemsetD32_v2(memory_, 0x01020304, 64), result::success);
    ASSERT_EQ(cuMemsetD16_v2(memory_, 0xABCD, 3), result::success);
    ASSERT_EQ(cuMemsetD8_v2(memory_ + 8, 0x7F, 1), result::success);
    ASSERT_EQ(cuMemsetD2D32_v2(memory_ + 64, 32, 5, 2, 3), result::success);
    ASSERT_EQ(cuMemcpyDtoH_v2(words_, memory_, sizeof words_), result::success);
    EXPECT_EQ(words_[0], 0xABCDABCDu);
    EXPECT_EQ(words_[1], 0x0102ABCDu);
    EXPECT_EQ(words_[2], 0x0102037Fu);
    for (const int i : {16, 17, 24, 25, 32, 33}) {
        EXPECT_EQ(words_[i], 5u) << i;
    }
    EXPECT_EQ(words_[18], 0x01020304u);
    EXPECT_EQ(cuMemsetD32_v2(memory_ + 2, 0, 1), result::invalid_value);
    EXPECT_EQ(cuMemsetD32_v2(memory_, 0, 65), result::invalid_value);
    EXPECT_EQ(cuMemsetD32_v2(memory_, 0, 0), result::success);
}

TEST_F(driver_test, copies_of_rows_and_boxes) {
    std::uint32_t host[64];
    for (std::uint32_t i = 0; i < 64; ++i) {
        host[i] = i;
    }
    // A block of 2 rows of 3 words from (1, 2) of rows of 8 words, to (2, 1).
    driver_copy_2d plane{};
    plane.source_type = driver_memory_type::host;
    plane.source_host = host;
    plane.source_pitch = 32;
    plane.source_x = 4;
    plane.source_y = 2;
    plane.destination_type = driver_memory_type::device;
    plane.destination_device = memory_;
    plane.destination_pitch = 32;
    plane.destination_x = 8;
    plane.destination_y = 1;
    plane.width = 12;
    plane.height = 2;
    ASSERT_EQ(cuMemsetD32_v2(memory_, 99, 64), result::success);
    ASSERT_EQ(cuMemcpy2D_v2(&plane), result::success);
    ASSERT_EQ(cuMemcpyDtoH_v2(words_, memory_, sizeof words_), result::success);
    EXPECT_EQ(words_[1 * 8 + 2], 2u * 8 + 1);
    EXPECT_EQ(words_[2 * 8 + 4], 3u * 8 + 3);
    EXPECT_EQ(words_[1 * 8 + 5], 99u);
    // Slices of 2 rows: the box of one word in each of 2 rows and 3 slices.
    driver_copy_3d box{};
    box.source_type = driver_memory_type::unified;
    box.source_device = reinterpret_cast<device_address>(host);
    box.source_pitch = 16;
    box.source_height = 2;
    box.source_z = 1;
    box.destination_type = driver_memory_type::device;
    box.destination_device = memory_;
    box.destination_pitch = 16;
    box.destination_height = 2;
    box.width = 4;
    box.height = 2;
    box.depth = 3;
    ASSERT_EQ(cuMemsetD32_v2(memory_, 99, 64), result::success);
    ASSERT_EQ(cuMemcpy3D_v2(&box), result::success);
    ASSERT_EQ(cuMemcpyDtoH_v2(words_, memory_, sizeof words_), result::success);
    EXPECT_EQ(words_[0], 8u);
    EXPECT_EQ(words_[4], 12u);
    EXPECT_EQ(words_[2 * 8 + 4], 28u);
    EXPECT_EQ(words_[1], 99u);
    plane.destination_pitch = 8; // shorter than a row
    EXPECT_EQ(cuMemcpy2D_v2(&plane), result::invalid_value);
    EXPECT_EQ(cuMemcpy2D_v2(nullptr), result::invalid_value);
}

TEST_F(driver_test, what_is_known_of_a_pointer) {
    device_address base = 0;
    std::size_t bytes = 0;
    ASSERT_EQ(cuMemGetAddressRange_v2(&base, &bytes, memory_ + 8), result::success);
    EXPECT_EQ(base, memory_);
    EXPECT_EQ(bytes, sizeof words_);
    driver_memory_type type{};
    ASSERT_EQ(cuPointerGetAttribute(&type, driver_pointer_attribute::memory_type, memory_), result::success);
    EXPECT_EQ(type, driver_memory_type::device);
    void* pinned = nullptr;
    ASSERT_EQ(cuMemAllocHost_v2(&pinned, 64), result::success);
    const auto at = reinterpret_cast<device_address>(pinned);
    ASSERT_EQ(cuPointerGetAttribute(&type, driver_pointer_attribute::memory_type, at), result::success);
    EXPECT_EQ(type, driver_memory_type::host);
    device_address managed = 0;
    unsigned is_managed = 0;
    ASSERT_EQ(cuMemAllocManaged(&managed, 64, 1), result::success);
    ASSERT_EQ(cuPointerGetAttribute(&is_managed, driver_pointer_attribute::is_managed, managed), result::success);
    EXPECT_EQ(is_managed, 1u);
    EXPECT_EQ(
        cuPointerGetAttribute(&type, driver_pointer_attribute::memory_type, reinterpret_cast<device_address>(words_)),
        result::invalid_value);
    EXPECT_EQ(cuMemFreeHost(pinned), result::success);
}

TEST_F(driver_test, streams_events_and_host_functions) {
    stream* s = nullptr;
    event* before = nullptr;
    event* after = nullptr;
    ASSERT_EQ(cuStreamCreate(&s, 1), result::success);
    ASSERT_EQ(cuEventCreate(&before, 0), result::success);
    ASSERT_EQ(cuEventCreate(&after, 0), result::success);
    int calls = 0;
    ASSERT_EQ(cuEventRecord(before, s), result::success);
    ASSERT_EQ(launch_fill(1, s), result::success);
    ASSERT_EQ(cuLaunchHostFunc(
                  s, [](void* count) { ++*static_cast<int*>(count); }, &calls),
              result::success);
    ASSERT_EQ(cuEventRecord(after, s), result::success);
    ASSERT_EQ(cuEventSynchronize(after), result::success);
    EXPECT_EQ(calls, 1);
    float milliseconds = -1;
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, before, after), result::success);
    EXPECT_GE(milliseconds, 0);
    device_address other = 0;
    ASSERT_EQ(cuMemAllocAsync(&other, sizeof words_, s), result::success);
    ASSERT_EQ(cuMemcpyDtoDAsync_v2(other, memory_, sizeof words_, s), result::success);
    ASSERT_EQ(cuMemFreeAsync(other, s), result::success);
    EXPECT_EQ(cuStreamSynchronize(s), result::success);
    EXPECT_EQ(cuStreamQuery(s), result::success);
    EXPECT_EQ(cuStreamDestroy_v2(s), result::success);
    EXPECT_EQ(cuEventDestroy_v2(before), result::success);
    EXPECT_EQ(cuEventDestroy_v2(before), result::invalid_handle);
}

TEST_F(driver_test, a_captured_launch) {
    stream* s = nullptr;
    graph* g = nullptr;
    executable_graph* e = nullptr;
    ASSERT_EQ(cuStreamCreate(&s, 1), result::success);
    ASSERT_EQ(cuMemsetD32_v2(memory_, 0, 64), result::success);
    ASSERT_EQ(cuStreamBeginCapture_v2(s, capture_mode::global), result::success);
    ASSERT_EQ(launch_fill(20, s), result::success);
    ASSERT_EQ(cuStreamEndCapture(s, &g), result::success);
    ASSERT_EQ(cuMemcpyDtoH_v2(words_, memory_, sizeof words_), result::success);
    EXPECT_EQ(words_[0], 0u);
    ASSERT_EQ(cuGraphInstantiateWithFlags(&e, g, 0), result::success);
    ASSERT_EQ(cuGraphLaunch(e, s), result::success);
    ASSERT_EQ(cuStreamSynchronize(s), result::success);
    expect_words(20);
    EXPECT_EQ(cuGraphExecDestroy(e), result::success);
    EXPECT_EQ(cuGraphDestroy(g), result::success);
}

TEST_F(driver_test, a_fault_is_sticky) {
    function* wild = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&wild, module_, "_Z4wildPj"), result::success);
    device_address nowhere = 16;
    void* arguments[] = {&nowhere};
    ASSERT_EQ(cuLaunchKernel(wild, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), result::success);
    EXPECT_EQ(cuCtxSynchronize(), illegal_address);
    device_address p = 0;
    EXPECT_EQ(cuMemAlloc_v2(&p, 4), illegal_address);
    EXPECT_EQ(launch_fill(1), illegal_address);
    ASSERT_EQ(cuDevicePrimaryCtxReset_v2(0), result::success);
    EXPECT_EQ(cuMemAlloc_v2(&p, 4), result::success);
}

} // namespace
} // namespace softgpu::runtime
