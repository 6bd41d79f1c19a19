// SPDX-License-Identifier: MIT
// Launches of kernels from a fat binary made by hand: configurations, symbols, faults and their reports.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {
namespace {

constexpr dimensions one{1, 1, 1};

class launch_test : public testing::Test {
protected:
    void SetUp() override { (void)cudaGetLastError(); }
    void TearDown() override {
        softgpu_set_launch_observer(nullptr, nullptr);
        EXPECT_EQ(cudaDeviceReset(), error::success);
    }

    error fill(std::uint32_t* p, std::uint32_t value, dimensions grid, dimensions block, std::size_t shared = 0) {
        void* arguments[] = {&p, &value};
        return cudaLaunchKernel(&program.fill, grid, block, arguments, shared, nullptr);
    }
    error wild(const void* p) { return launch(&program.wild, 1, 1, p); }
    error bare(const void* kernel, dimensions grid, dimensions block, std::size_t shared = 0) {
        return cudaLaunchKernel(kernel, grid, block, nullptr, shared, nullptr);
    }

    sample_program program;
};

TEST_F(launch_test, arguments_reach_the_kernel) {
    void* p = nullptr;
    ASSERT_EQ(cudaMalloc(&p, 64 * 4), error::success);
    ASSERT_EQ(fill(static_cast<std::uint32_t*>(p), 100, {2, 1, 1}, {32, 1, 1}), error::success);
    std::vector<std::uint32_t> got(64);
    ASSERT_EQ(cudaMemcpy(got.data(), p, 256, copy_kind::device_to_host), error::success);
    for (std::uint32_t i = 0; i < 64; ++i) {
        EXPECT_EQ(got[i], 100 + i);
    }
}

TEST_F(launch_test, each_grid_has_a_number_of_its_own) {
    class : public embedded_program {
    public:
        using embedded_program::embedded_program;
        char number = 0;
    } numbers{PTX_HEAD R"(.visible .entry number(.param .u64 p)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    mov.u64 %rd2, %gridid;
    st.global.u64 [%rd1], %rd2;
    ret;
}
)"};
    numbers.kernel(&numbers.number, "number");
    void* p = nullptr;
    ASSERT_EQ(cudaMalloc(&p, 16), error::success);
    auto* const out = static_cast<std::uint64_t*>(p);
    ASSERT_EQ(launch(&numbers.number, 1, 1, out), error::success);
    ASSERT_EQ(launch(&numbers.number, 1, 1, out + 1), error::success);
    std::vector<std::uint64_t> got(2);
    ASSERT_EQ(cudaMemcpy(got.data(), p, 16, copy_kind::device_to_host), error::success);
    EXPECT_NE(got[0], got[1]);
}

TEST_F(launch_test, the_launch_syntax_pops_what_it_pushed) {
    void* p = nullptr;
    ASSERT_EQ(cudaMalloc(&p, 128), error::success);
    ASSERT_EQ(__cudaPushCallConfiguration({1, 1, 1}, {32, 1, 1}, 16, nullptr), 0u);
    dimensions grid{}, block{};
    std::size_t shared = 0;
    stream* on = reinterpret_cast<stream*>(9);
    ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &on), error::success);
    EXPECT_EQ(block.x, 32u);
    EXPECT_EQ(shared, 16u);
    EXPECT_EQ(on, nullptr);
    EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &on), error::missing_configuration);
    function* kernel = nullptr;
    ASSERT_EQ(__cudaGetKernel(&kernel, &program.fill), error::success);
    std::uint32_t value = 1;
    void* arguments[] = {&p, &value};
    EXPECT_EQ(__cudaLaunchKernel(kernel, grid, block, arguments, shared, on), error::success);
    EXPECT_EQ(__cudaGetKernel(&kernel, &value), error::invalid_device_function);
    EXPECT_EQ(__cudaLaunchKernel(nullptr, grid, block, arguments, shared, on), error::invalid_device_function);
}

TEST_F(launch_test, configurations_beyond_the_limits_are_refused) {
    EXPECT_EQ(bare(&program.bounded, one, {128, 1, 1}), error::success);
    EXPECT_EQ(bare(&program.bounded, one, {129, 1, 1}), error::invalid_value);
    EXPECT_EQ(bare(&program.required, one, {64, 1, 1}), error::success);
    EXPECT_EQ(bare(&program.required, one, {32, 1, 1}), error::invalid_value);
    EXPECT_EQ(bare(&program.bounded, {0, 1, 1}, one), error::invalid_value);
    EXPECT_EQ(bare(&program.bounded, {1, 65536, 1}, one), error::invalid_value);
    EXPECT_EQ(bare(&program.bounded, one, {1, 1, 65}), error::invalid_value);
    EXPECT_EQ(bare(&program.bounded, one, {1, 0, 1}), error::invalid_value);
    EXPECT_EQ(bare(&program.bounded, one, one, 48 << 10), error::success);
    EXPECT_EQ(bare(&program.bounded, one, one, (48 << 10) + 1), error::invalid_value);
    EXPECT_EQ(cudaFuncSetAttribute(&program.bounded, function_attribute::max_dynamic_shared_bytes, 100 << 10),
              error::success);
    EXPECT_EQ(bare(&program.bounded, one, one, 100 << 10), error::success);
    EXPECT_EQ(fill(nullptr, 0, one, {1025, 1, 1}), error::invalid_value);
    EXPECT_EQ(bare(&program.fill, one, one), error::invalid_value) << "a kernel with parameters, and no arguments";
    EXPECT_EQ(cudaDeviceSynchronize(), error::success) << "nothing of this has run";
}

TEST_F(launch_test, a_kernel_that_is_not_in_the_ptx) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(bare(&program.absent, one, one), error::invalid_device_function);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "softgpu: the program's PTX has no kernel absent()\n");
    EXPECT_EQ(bare(this, one, one), error::invalid_resource_handle);
    EXPECT_EQ(bare(nullptr, one, one), error::invalid_device_function);
}

TEST_F(launch_test, a_cooperative_grid_has_to_fit) {
    const auto launch = [&](unsigned blocks) {
        return cudaLaunchCooperativeKernel(&program.bounded, {blocks, 1, 1}, {128, 1, 1}, nullptr, 0, nullptr);
    };
    int each = 0;
    ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, &program.bounded, 128, 0), error::success);
    ASSERT_GT(each, 0);
    int multiprocessors = 0;
    ASSERT_EQ(cudaDeviceGetAttribute(&multiprocessors, 16, 0), error::success);
    EXPECT_EQ(launch(static_cast<unsigned>(each * multiprocessors)), error::success);
    EXPECT_EQ(launch(static_cast<unsigned>(each * multiprocessors) + 1), error::cooperative_launch_too_large);
}

TEST_F(launch_test, clusters_divide_the_grid) {
    launch_attribute attribute{};
    attribute.id = launch_attribute_id::cluster_dimensions;
    attribute.value.cluster = {2, 1, 1};
    launch_configuration configuration{{2, 1, 1}, {32, 1, 1}, 0, nullptr, &attribute, 1};
    EXPECT_EQ(cudaLaunchKernelExC(&configuration, &program.bounded, nullptr), error::success);
    attribute.value.cluster = {4, 1, 1};
    EXPECT_EQ(cudaLaunchKernelExC(&configuration, &program.bounded, nullptr), error::invalid_cluster_size);
    attribute.value.cluster = {1, 1, 1};
    EXPECT_EQ(cudaLaunchKernelExC(&configuration, &program.bounded, nullptr), error::success);
}

TEST_F(launch_test, variables_are_copied_and_kept) {
    std::uint32_t words[4] = {};
    ASSERT_EQ(cudaMemcpyFromSymbol(words, program.counter, 16, 0, copy_kind::device_to_host), error::success);
    EXPECT_EQ(words[3], 10u);
    ASSERT_NE(__cudaInitModule(program.handle()), 0);
    ASSERT_NE(program.both, nullptr);
    EXPECT_EQ(*program.both, 3u);
    *program.both = 41;
    ASSERT_EQ(bare(&program.bump, one, one), error::success);
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(*program.both, 42u);
    ASSERT_EQ(cudaMemcpyFromSymbol(words, program.counter, 4, 0, copy_kind::device_to_host), error::success);
    EXPECT_EQ(words[0], 8u);
    words[0] = 77;
    ASSERT_EQ(cudaMemcpyToSymbol(program.counter, words, 4, 12, copy_kind::host_to_device), error::success);
    EXPECT_EQ(cudaMemcpyToSymbol(program.counter, words, 8, 12, copy_kind::host_to_device), error::invalid_value);
    void* address = nullptr;
    ASSERT_EQ(cudaGetSymbolAddress(&address, program.both), error::success) << "a managed variable, by its place";
    EXPECT_EQ(address, program.both);
    ASSERT_EQ(cudaDeviceReset(), error::success);
    ASSERT_NE(program.both, nullptr);
    EXPECT_EQ(*program.both, 3u) << "after a reset, variables have their first values again";
    std::size_t bytes = 0;
    ASSERT_EQ(cudaGetSymbolSize(&bytes, &program.fixed), error::success);
    EXPECT_EQ(bytes, 4u);
}

TEST_F(launch_test, a_fault_comes_to_light_at_the_next_synchronisation_and_stays) {
    void* p = nullptr;
    ASSERT_EQ(cudaMalloc(&p, 64), error::success);
    event* e = nullptr;
    ASSERT_EQ(cudaEventCreate(&e), error::success);
    ASSERT_EQ(cudaMemset(p, 5, 64), error::success);
    testing::internal::CaptureStderr();
    ASSERT_EQ(wild(static_cast<char*>(p) + 64), error::success) << "the launch itself is asynchronous";
    EXPECT_EQ(cudaGetLastError(), error::success);
    EXPECT_EQ(cudaMemset(p, 9, 64), error::success) << "work after the fault is accepted and not done";
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    EXPECT_EQ(*static_cast<unsigned char*>(p), 5);
    const std::string message = testing::internal::GetCapturedStderr();
    EXPECT_EQ(message.find("softgpu: "), 0u) << message;
    EXPECT_NE(message.find("wild"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), message.size() - 1) << message;
    EXPECT_EQ(cudaGetLastError(), error::illegal_address);
    EXPECT_EQ(cudaGetLastError(), error::success);
    EXPECT_EQ(cudaMalloc(&p, 4), error::illegal_address);
    EXPECT_EQ(cudaMalloc(nullptr, 4), error::invalid_value) << "arguments are looked at first";
    EXPECT_EQ(cudaEventRecord(e, nullptr), error::illegal_address);
    EXPECT_EQ(bare(&program.bounded, one, one), error::illegal_address);
    int device = 0;
    EXPECT_EQ(cudaGetDevice(&device), error::success);
    ASSERT_EQ(cudaDeviceReset(), error::success);
    EXPECT_EQ(cudaMalloc(&p, 4), error::success);
    EXPECT_EQ(bare(&program.bounded, one, one), error::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::success);
}

TEST_F(launch_test, a_fault_comes_to_light_at_a_query_too) {
    testing::internal::CaptureStderr();
    ASSERT_EQ(wild(reinterpret_cast<void*>(0x1000)), error::success);
    error e = error::not_ready;
    while (e == error::not_ready) {
        e = cudaStreamQuery(nullptr);
    }
    EXPECT_EQ(e, error::illegal_address);
    (void)testing::internal::GetCapturedStderr();
}

void remember(const observe::launch_record& record, void* user) {
    static_cast<std::vector<observe::launch_record>*>(user)->push_back(record);
    int version = 0;
    EXPECT_EQ(cudaRuntimeGetVersion(&version), error::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::success) << "an observer may call the runtime";
}

TEST_F(launch_test, an_observer_sees_every_launch) {
    std::vector<observe::launch_record> seen;
    softgpu_set_launch_observer(remember, &seen);
    void* p = nullptr;
    ASSERT_EQ(cudaMalloc(&p, 4096), error::success);
    ASSERT_EQ(fill(static_cast<std::uint32_t*>(p), 0, {4, 2, 1}, {64, 1, 1}, 32), error::success);
    ASSERT_EQ(launch(&program.shares, 1, 32, p), error::success);
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].kernel, "fill(unsigned int*, unsigned int)");
    EXPECT_EQ(seen[0].symbol, "_Z4fillPjj");
    EXPECT_EQ(seen[0].grid, (std::array<std::uint32_t, 3>{4, 2, 1}));
    EXPECT_EQ(seen[0].block, (std::array<std::uint32_t, 3>{64, 1, 1}));
    EXPECT_EQ(seen[0].dynamic_shared_bytes, 32u);
    EXPECT_EQ(seen[0].total.global_store_requests, 16u) << "8 blocks of 2 warps, one store each";
    EXPECT_EQ(seen[0].total.global_store_sectors, 64u);
    EXPECT_EQ(seen[1].static_shared_bytes, 40960u);
    softgpu_set_launch_observer(nullptr, nullptr);
    ASSERT_EQ(bare(&program.bounded, one, one), error::success);
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(seen.size(), 2u);
}

TEST_F(launch_test, a_program_without_ptx_is_told_how_to_build) {
    char kernel = 0;
    embedded_program machine_code(2, 90, "no code either");
    machine_code.kernel(&kernel, "_Z4gonev");
    testing::internal::CaptureStderr();
    EXPECT_EQ(bare(&kernel, one, one), error::no_kernel_image_for_device);
    const std::string message = testing::internal::GetCapturedStderr();
    EXPECT_NE(message.find("gone()"), std::string::npos) << message;
    EXPECT_NE(message.find("-gencode arch=compute_75,code=compute_75"), std::string::npos) << message;
}

TEST_F(launch_test, ptx_that_is_too_new_for_the_card) {
    char kernel = 0;
    embedded_program newer(1, 120,
                           ".version 9.0\n.target sm_120\n.address_size 64\n.visible .entry _Z3newv() { ret; }\n");
    newer.kernel(&kernel, "_Z3newv");
    testing::internal::CaptureStderr();
    EXPECT_EQ(bare(&kernel, one, one), error::no_kernel_image_for_device);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("9.0"), std::string::npos);
}

TEST_F(launch_test, ptx_that_does_not_parse) {
    char kernel = 0;
    embedded_program broken(PTX_HEAD ".visible .entry _Z6brokenv() { nonsense.u32 %r1; }\n");
    broken.kernel(&kernel, "_Z6brokenv");
    testing::internal::CaptureStderr();
    const error e = bare(&kernel, one, one);
    EXPECT_EQ(e == error::success ? cudaDeviceSynchronize() : e, error::invalid_ptx);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("broken()"), std::string::npos);
}

TEST_F(launch_test, a_damaged_fat_binary) {
    char kernel = 0;
    std::uint32_t nothing[4] = {0xDEADBEEF, 0, 0, 0};
    fat_binary_wrapper wrapper;
    wrapper.data = nothing;
    void** handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &kernel, nullptr, "_Z1kv", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    testing::internal::CaptureStderr();
    EXPECT_EQ(bare(&kernel, one, one), error::invalid_kernel_image);
    EXPECT_NE(testing::internal::GetCapturedStderr(), "");
    __cudaUnregisterFatBinary(handle);
    EXPECT_EQ(bare(&kernel, one, one), error::invalid_resource_handle);
}

TEST_F(launch_test, attributes_of_a_kernel) {
    function_attributes a{};
    ASSERT_EQ(cudaFuncGetAttributes(&a, &program.shares), error::success);
    EXPECT_EQ(a.shared_bytes, 40960u);
    EXPECT_EQ(a.max_dynamic_shared_bytes, 8192);
    EXPECT_EQ(a.ptx_version, 75);
    EXPECT_EQ(a.binary_version, 90);
    ASSERT_EQ(cudaFuncGetAttributes(&a, &program.bounded), error::success);
    EXPECT_EQ(a.max_threads_per_block, 128);
}

} // namespace
} // namespace softgpu::runtime
