// SPDX-License-Identifier: MIT
// A communicator of the software GPU's libnccl.so.2 over three devices of this process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/runtime/nccl/nccl.h"
#include "tests/runtime/devices/devices.hpp"

namespace softgpu::runtime {

inline constexpr int ranks = device_count;

class nccl_fixture : public devices_test {
protected:
    void SetUp() override {
        devices_test::SetUp();
        for (int device = 0; device < ranks; ++device) {
            use(device);
            streams_.push_back(make_stream());
        }
        comms_.resize(ranks);
        ASSERT_EQ(ncclCommInitAll(comms_.data(), ranks, nullptr), ncclSuccess);
    }
    void TearDown() override {
        for (auto* const c : comms_) {
            EXPECT_EQ(ncclCommDestroy(c), ncclSuccess);
        }
        devices_test::TearDown();
    }

    [[nodiscard]] cudaStream_t on(int rank) const {
        return reinterpret_cast<cudaStream_t>(streams_[static_cast<std::size_t>(rank)]);
    }
    [[nodiscard]] ncclComm_t comm(int rank) const { return comms_[static_cast<std::size_t>(rank)]; }

    // call(rank) for each rank in a group of this thread.
    static void together(const std::function<ncclResult_t(int)>& call) {
        ASSERT_EQ(ncclGroupStart(), ncclSuccess);
        for (int rank = 0; rank < ranks; ++rank) {
            EXPECT_EQ(call(rank), ncclSuccess);
        }
        ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    }

    template <class T>
    static T* on_device(int device, const std::vector<T>& values) {
        use(device);
        void* p = nullptr;
        EXPECT_EQ(cudaMalloc(&p, std::max<std::size_t>(values.size() * sizeof(T), 1)), error::success);
        EXPECT_EQ(cudaMemcpy(p, values.data(), values.size() * sizeof(T), copy_kind::automatic), error::success);
        return static_cast<T*>(p);
    }
    template <class T>
    std::vector<T> read_after(int rank, const T* p, std::size_t count) {
        EXPECT_EQ(cudaStreamSynchronize(streams_[static_cast<std::size_t>(rank)]), error::success);
        std::vector<T> values(count);
        EXPECT_EQ(cudaMemcpy(values.data(), p, count * sizeof(T), copy_kind::automatic), error::success);
        return values;
    }

    std::vector<stream*> streams_;
    std::vector<ncclComm_t> comms_;
};

} // namespace softgpu::runtime
