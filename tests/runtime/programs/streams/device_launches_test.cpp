// SPDX-License-Identifier: MIT
// What the records of a program say of kernels that kernels launch.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "report/passing_folder.hpp"
#include "tests/contents_of.hpp"

namespace {

nlohmann::json written(const std::string& variable) {
    const warpfold::report::passing_folder folder("launches");
    const std::string file = folder.file("written.json");
    const std::string command =
        "LD_LIBRARY_PATH='" SOFTGPU_FOLDER "' " + variable + "='" + file + "' '" PROGRAM "' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return nlohmann::json::parse(warpfold::tests::contents_of(file), nullptr, false);
}

std::string without_namespace(const std::string& kernel) {
    const std::string prefix = "(anonymous namespace)::";
    return kernel.substr(kernel.starts_with(prefix) ? prefix.size() : 0);
}

TEST(DeviceLaunches, ARecordEachWithItsParent) {
    const nlohmann::json all = written("SOFTGPU_COUNTERS");
    ASSERT_TRUE(all.contains("launches"));
    std::map<std::string, int> by_host;
    std::map<std::pair<std::string, std::string>, int> by_kernel;
    for (const auto& launch : all["launches"]) {
        const std::string kernel = without_namespace(launch["kernel"]);
        EXPECT_GT(launch["counters"]["warp_instructions"], 0) << kernel;
        if (launch.contains("launched_by")) {
            ++by_kernel[{without_namespace(launch["launched_by"]), kernel}];
        } else {
            ++by_host[kernel];
        }
    }
    const std::string chain = "link_of_chain(int*, int*, int*, int)";
    const std::string append = "append(int*, int*, int)";
    const std::string deeper = "deeper(int*, cudaError*, int)";
    EXPECT_EQ(by_host[chain], 1 + 2);
    EXPECT_EQ((by_kernel[{chain, chain}]), 5 + 2 * 2) << "five in chains(), two in each launch of the graph";
    EXPECT_EQ((by_kernel[{chain, append}]), 2 * (6 + 2 * 3));
    EXPECT_EQ(by_host[deeper], 1);
    EXPECT_EQ((by_kernel[{deeper, deeper}]), 24);
}

// A timeline shows a launch of the host with all that is launched within it.
TEST(DeviceLaunches, ATimelineHasLaunchesOfTheHost) {
    const nlohmann::json all = written("SOFTGPU_TIMELINE");
    ASSERT_TRUE(all.contains("traceEvents"));
    int mandelbrot = 0; // launched once by the host, and by itself
    int orders = 0;     // launched once by the host only
    int below = 0;
    for (const auto& e : all["traceEvents"]) {
        const std::string name = e.value("name", "");
        mandelbrot += name.find("mandelbrot(") != std::string::npos ? 1 : 0;
        orders += name.find("orders(") != std::string::npos ? 1 : 0;
        below += name.find("each_pixel(") != std::string::npos ? 1 : 0;
    }
    EXPECT_GT(orders, 0);
    EXPECT_EQ(mandelbrot, orders);
    EXPECT_EQ(below, 0);
}

} // namespace
