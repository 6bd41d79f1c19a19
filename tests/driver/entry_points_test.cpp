// SPDX-License-Identifier: MIT
// Entry points by name and version; the exported names; the page about them.
#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tests/command_output.hpp"
#include "tests/contents_of.hpp"
#include "tests/driver/driver_api.hpp"

namespace softgpu::runtime {
namespace {

std::set<std::string> exported() {
    std::set<std::string> names;
    std::istringstream lines(warpfold::tests::output_of("nm -D --defined-only '" SOFTGPU_DRIVER "'").text);
    for (std::string address, kind, name; lines >> address >> kind >> name;) {
        names.insert(name);
    }
    return names;
}

std::set<std::string> missing() {
    return {
#define SOFTGPU_STUB(name) #name,
#include "softgpu/runtime/calls/driver/stubs.def"
#undef SOFTGPU_STUB
    };
}

TEST(entry_points, are_the_drivers_and_nothing_else) {
    const std::set<std::string> names = exported();
    ASSERT_TRUE(names.contains("cuMemAlloc_v2"));
    for (const std::string& name : names) {
        EXPECT_TRUE(name.starts_with("cu") || name == "softgpu_is_the_driver") << name;
        EXPECT_FALSE(name.starts_with("cuda")) << name;
    }
}

TEST(entry_points, by_name_and_version) {
    void* found = nullptr;
    int status = -1;
    const auto entry = [&](const char* name, int version, unsigned long long flags = 0) {
        return cuGetProcAddress_v2(name, &found, version, flags, &status);
    };
    const auto own = [](const char* name) { return ::dlsym(RTLD_DEFAULT, name); };
    EXPECT_EQ(entry("cuMemAlloc", 12000), result::success);
    EXPECT_EQ(found, own("cuMemAlloc_v2"));
    EXPECT_EQ(status, 0);
    EXPECT_EQ(entry("cuCtxCreate", 12000), result::success);
    EXPECT_EQ(found, own("cuCtxCreate_v3"));
    EXPECT_EQ(entry("cuCtxCreate", 13000), result::success);
    EXPECT_EQ(found, own("cuCtxCreate_v4"));
    // What a client of CUDA 7 or 12.8 asks for exists too.
    EXPECT_EQ(entry("cuDevicePrimaryCtxRelease", 7000), result::success);
    EXPECT_EQ(found, own("cuDevicePrimaryCtxRelease"));
    EXPECT_EQ(entry("cuMemcpyBatchAsync", 12080), result::success);
    EXPECT_EQ(found, own("cuMemcpyBatchAsync"));
    EXPECT_EQ(entry("cuLaunchKernel", 7000, 2), result::success);
    EXPECT_EQ(found, own("cuLaunchKernel_ptsz"));
    EXPECT_EQ(entry("cuMemcpyHtoD", 7000, 2), result::success);
    EXPECT_EQ(found, own("cuMemcpyHtoD_v2_ptds"));
    EXPECT_EQ(entry("cuNothing", 12000), result::not_found);
    EXPECT_EQ(found, nullptr);
    EXPECT_EQ(status, 1);
    EXPECT_EQ(entry("cuMemAlloc", 1000), result::not_found);
    EXPECT_EQ(status, 2);
    EXPECT_EQ(entry("printf", 12000), result::not_found);
    EXPECT_EQ(cuGetProcAddress_v2(nullptr, &found, 12000, 0, nullptr), result::invalid_value);
}

TEST(entry_points, say_their_name_once_if_they_are_missing) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(cuMulticastUnbind(0, 0, 0, 0), result::not_supported);
    EXPECT_EQ(cuMulticastUnbind(0, 0, 0, 0), result::not_supported);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "softgpu: cuMulticastUnbind is not supported\n");
}

// NVIDIA's runtime, in cuBLAS and others, asks for this table; it is not there, and the library that asks is named once.
TEST(entry_points, name_the_library_that_brings_nvidias_runtime) {
    const auto table_of =
        reinterpret_cast<result (*)(const void**, const void*)>(::dlsym(RTLD_DEFAULT, "cuGetExportTable"));
    const unsigned char of_runtime[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                          0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
    const unsigned char other[16] = {};
    const void* table = &table;
    testing::internal::CaptureStderr();
    EXPECT_EQ(table_of(&table, other), result::not_found);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    testing::internal::CaptureStderr();
    EXPECT_EQ(table_of(&table, of_runtime), result::not_found);
    EXPECT_EQ(table_of(&table, of_runtime), result::not_found);
    EXPECT_EQ(table, nullptr);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("test_driver brings NVIDIA's own CUDA runtime"), std::string::npos) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

// The page names every call, in one of its two lists.
TEST(entry_points, are_those_of_the_page) {
    const std::string text = warpfold::tests::contents_of(DRIVER_PAGE);
    const std::size_t divide = text.find("## What is missing");
    ASSERT_NE(divide, std::string::npos) << DRIVER_PAGE;
    const auto named = [](const std::string& part) {
        const std::regex call("`(cu[A-Z]\\w*)`");
        std::set<std::string> found;
        for (std::sregex_iterator at(part.begin(), part.end(), call), end; at != end; ++at) {
            found.insert((*at)[1]);
        }
        return found;
    };
    const std::set<std::string> said_there = named(text.substr(0, divide));
    const std::set<std::string> said_missing = named(text.substr(divide));
    EXPECT_EQ(said_missing, missing());
    std::set<std::string> there = exported();
    there.erase("softgpu_is_the_driver");
    for (const std::string& name : missing()) {
        EXPECT_EQ(there.erase(name), 1u) << name;
    }
    std::erase_if(there, [](const std::string& name) { return name.ends_with("_ptsz") || name.ends_with("_ptds"); });
    EXPECT_EQ(said_there, there);
}

} // namespace
} // namespace softgpu::runtime
