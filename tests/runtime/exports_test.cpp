// SPDX-License-Identifier: MIT
// The names that the library exports: all of NVIDIA's, under NVIDIA's version, and nothing by accident.
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/command_output.hpp"

namespace {

// "name@@version" of every symbol that a library exports.
std::set<std::string> exports_of(const std::string& library) {
    std::set<std::string> names;
    const std::string command = "nm -D --defined-only --with-symbol-versions '" + library + "'";
    std::istringstream lines(warpfold::tests::output_of(command).text);
    for (std::string address, kind, name; lines >> address >> kind >> name;) {
        if (kind != "A") {
            names.insert(name);
        }
    }
    return names;
}

void expect_only_versioned_calls(const std::string& library, const std::string& version) {
    const std::set<std::string> ours = exports_of(library);
    EXPECT_TRUE(ours.contains("cudaMalloc@@" + version));
    EXPECT_TRUE(ours.contains("softgpu_set_launch_observer@@" + version));
    for (const std::string& name : ours) {
        EXPECT_TRUE(name.starts_with("cuda") || name.starts_with("__cuda") || name.starts_with("softgpu_")) << name;
        EXPECT_TRUE(name.ends_with("@@" + version)) << name;
    }
}

TEST(exports, carry_the_version_and_a_name_of_cudas_or_ours) {
    expect_only_versioned_calls(SOFTGPU_RUNTIME, "libcudart.so.13");
    expect_only_versioned_calls(SOFTGPU_RUNTIME_12, "libcudart.so.12");
}

#ifdef CUDAS_RUNTIME
TEST(exports, are_all_that_cudas_runtime_exports) {
    const std::string library = CUDAS_RUNTIME;
    const std::set<std::string> ours = exports_of(library.ends_with(".so.12") ? SOFTGPU_RUNTIME_12 : SOFTGPU_RUNTIME);
    const std::set<std::string> cudas = exports_of(library);
    ASSERT_GT(cudas.size(), 300u) << library;
    for (const std::string& name : cudas) {
        EXPECT_TRUE(ours.contains(name)) << name;
    }
}
#endif

} // namespace
