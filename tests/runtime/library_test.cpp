// SPDX-License-Identifier: MIT
// Libraries: kernels and variables of code that the program loads while it runs.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {

struct library;

extern "C" {
error cudaLibraryLoadData(library** out, const void* code, void* options, void** values, unsigned count,
                          void* library_options, void** library_values, unsigned library_count);
error cudaLibraryLoadFromFile(library** out, const char* path, void* options, void** values, unsigned count,
                              void* library_options, void** library_values, unsigned library_count);
error cudaLibraryUnload(library* handle);
error cudaLibraryGetKernel(function** out, library* handle, const char* name);
error cudaLibraryGetKernelCount(unsigned* count, library* handle);
error cudaLibraryEnumerateKernels(function** kernels, unsigned count, library* handle);
error cudaLibraryGetUnifiedFunction(void** pointer, library* handle, const char* name);
error cudaLibraryGetGlobal(void** pointer, std::size_t* bytes, library* handle, const char* name);
error cudaLibraryGetManaged(void** pointer, std::size_t* bytes, library* handle, const char* name);
}

namespace {

class library_test : public testing::TestWithParam<bool> {
protected:
    void TearDown() override { EXPECT_EQ(cudaDeviceReset(), error::success); }
};

// As text, and in a fat binary.
TEST_P(library_test, kernels_and_variables_by_name) {
    const std::string text(sample_ptx);
    const std::vector<std::uint8_t> binary = make_fat_binary(1, 75, text);
    const void* const code = GetParam() ? static_cast<const void*>(text.c_str()) : binary.data();
    library* l = nullptr;
    ASSERT_EQ(cudaLibraryLoadData(&l, code, nullptr, nullptr, 0, nullptr, nullptr, 0), error::success);
    function* fill = nullptr;
    function* again = nullptr;
    ASSERT_EQ(cudaLibraryGetKernel(&fill, l, "_Z4fillPjj"), error::success);
    ASSERT_EQ(cudaLibraryGetKernel(&again, l, "_Z4fillPjj"), error::success);
    EXPECT_EQ(fill, again);
    EXPECT_EQ(cudaLibraryGetKernel(&again, l, "absent"), error::symbol_not_found);
    void* p = nullptr;
    std::uint32_t value = 40;
    void* arguments[] = {&p, &value};
    ASSERT_EQ(cudaMalloc(&p, 128), error::success);
    ASSERT_EQ(cudaLaunchKernel(fill, {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr), error::success);
    std::uint32_t got[32] = {};
    ASSERT_EQ(cudaMemcpy(got, p, 128, copy_kind::device_to_host), error::success);
    EXPECT_EQ(got[31], 71u);
    void* counter = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(cudaLibraryGetGlobal(&counter, &bytes, l, "counter"), error::success);
    EXPECT_EQ(bytes, 16u);
    ASSERT_EQ(cudaMemcpy(got, counter, 16, copy_kind::device_to_host), error::success);
    EXPECT_EQ(got[3], 10u);
    EXPECT_EQ(cudaLibraryGetGlobal(&counter, &bytes, l, "absent"), error::symbol_not_found);
    EXPECT_EQ(cudaLibraryGetManaged(&counter, &bytes, l, "counter"), error::symbol_not_found);
    ASSERT_EQ(cudaLibraryGetManaged(&counter, &bytes, l, "both"), error::success);
    EXPECT_EQ(*static_cast<std::uint32_t*>(counter), 3u);
    unsigned count = 0;
    ASSERT_EQ(cudaLibraryGetKernelCount(&count, l), error::success);
    ASSERT_EQ(count, 9u);
    std::vector<function*> kernels(count + 2);
    ASSERT_EQ(cudaLibraryEnumerateKernels(kernels.data(), count + 2, l), error::success);
    std::set<std::string> names;
    for (unsigned k = 0; k < count; ++k) {
        const char* name = nullptr;
        ASSERT_EQ(cudaFuncGetName(&name, kernels[k]), error::success);
        names.insert(name);
    }
    EXPECT_EQ(names, (std::set<std::string>{"_Z4fillPjj", "_Z4wildPj", "_Z7boundedv", "_Z8requiredv", "_Z6sharesPj",
                                            "_Z4bumpv", "_Z4swapPj", "_Z4copyPj", "_Z8transferPjS_"}));
    EXPECT_NE(std::find(kernels.begin(), kernels.end(), fill), kernels.end());
    EXPECT_EQ(kernels[count], nullptr);
    std::vector<function*> some(2);
    ASSERT_EQ(cudaLibraryEnumerateKernels(some.data(), 1, l), error::success);
    EXPECT_EQ(some, (std::vector<function*>{kernels[0], nullptr}));
    EXPECT_EQ(cudaLibraryEnumerateKernels(nullptr, 1, l), error::invalid_value);
    void* unified = nullptr;
    EXPECT_EQ(cudaLibraryGetUnifiedFunction(&unified, l, "_Z4fillPjj"), error::symbol_not_found);
    ASSERT_EQ(cudaLibraryUnload(l), error::success);
    EXPECT_EQ(cudaLibraryGetKernelCount(&count, l), error::invalid_resource_handle);
    EXPECT_EQ(cudaLibraryUnload(l), error::invalid_resource_handle);
    EXPECT_EQ(cudaLaunchKernel(fill, {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr), error::invalid_resource_handle);
}

INSTANTIATE_TEST_SUITE_P(code, library_test, testing::Bool(),
                         [](const auto& test) { return test.param ? "text" : "fat_binary"; });

TEST(library, machine_code_cannot_run) {
    library* l = nullptr;
    EXPECT_EQ(cudaLibraryLoadData(&l, "\177ELF and more", nullptr, nullptr, 0, nullptr, nullptr, 0),
              error::no_kernel_image_for_device);
    EXPECT_EQ(cudaLibraryLoadData(&l, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0), error::invalid_value);
}

TEST(library, neither_a_folder_nor_a_lost_file_has_code) {
    library* l = nullptr;
    for (const char* const path : {"/", "/there/is/no/such.ptx"}) {
        EXPECT_EQ(cudaLibraryLoadFromFile(&l, path, nullptr, nullptr, 0, nullptr, nullptr, 0), error::file_not_found);
    }
}

} // namespace
} // namespace softgpu::runtime
