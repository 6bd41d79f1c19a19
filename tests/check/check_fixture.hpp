// SPDX-License-Identifier: MIT
// Runs kernels of a few lines of PTX under all checks.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "softgpu/check/session.hpp"
#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {

using check::finding;

// NOLINTNEXTLINE(readability-identifier-naming): there is a namespace of that name
class Check : public testing::Test {
protected:
    void SetUp() override {
        if (on_hardware()) {
            GTEST_SKIP() << "the software GPU's own checks";
        }
    }

    std::uint64_t unwritten(std::uint64_t bytes) { return memory_.allocate(bytes, memory::allocation_kind::device); }
    std::uint64_t zeros(std::uint64_t bytes) {
        const std::uint64_t at = unwritten(bytes);
        std::memset(reinterpret_cast<void*>(at), 0, bytes);
        session_.written(at, bytes);
        return at;
    }

    std::vector<finding> run(const std::string& body, const launch_options& how,
                             std::vector<std::uint64_t> arguments = {}, const std::string& declarations = {}) {
        module_.emplace(kernel(body + "\nret;", declarations), memory_);
        arguments.resize(8);
        machine::launch_request request;
        request.grid = how.grid;
        request.block = how.block;
        request.dynamic_shared_bytes = how.dynamic_shared_bytes;
        request.parameters = reinterpret_cast<const std::byte*>(arguments.data());
        request.cooperative = how.cooperative;
        request.workers = how.workers;
        request.resident_blocks = how.resident_blocks;
        request.seed = how.seed;
        request.checks = &session_;
        const machine::kernel* const k = module_->find_kernel("k");
        fault_ = machine::launch(*module_, *k, request).error;
        return sink_.take();
    }
    static std::string text(const std::vector<finding>& list) {
        std::string all;
        for (const finding& f : list) {
            all += check::to_text(f);
        }
        return all;
    }
    void expect_none(const std::string& body, const launch_options& how, std::vector<std::uint64_t> arguments = {},
                     const std::string& declarations = {}) {
        const auto found = run(body, how, std::move(arguments), declarations);
        EXPECT_TRUE(found.empty()) << body << "\n" << text(found);
        EXPECT_EQ(fault_.message, "");
    }
    // Exactly one, of this kind; returns it.
    finding expect_one(const std::string& kind, const std::string& body, const launch_options& how,
                       std::vector<std::uint64_t> arguments = {}, const std::string& declarations = {}) {
        const auto found = run(body, how, std::move(arguments), declarations);
        EXPECT_EQ(found.size(), 1u) << body << "\n" << text(found);
        if (found.empty()) {
            return {};
        }
        EXPECT_EQ(found[0].kind, kind) << text(found);
        return found[0];
    }

    memory::device_memory memory_{1ull << 30};
    check::findings sink_;
    check::session session_{check::all, sink_, memory_};
    std::optional<machine::module> module_;
    machine::fault fault_;
};

inline const std::string shared_array = ".shared .align 16 .b8 s[8192];";
inline const std::string shared_race = "race in shared memory";
inline const std::string global_race = "race in global memory";

} // namespace softgpu::test
