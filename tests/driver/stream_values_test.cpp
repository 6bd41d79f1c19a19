// SPDX-License-Identifier: MIT
// Streams that write values to memory and wait for them, in graphs too; their order; waits that nothing ends.
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/runtime/abi/memory_operations.hpp"
#include "softgpu/runtime/calls/driver/graph/parameters.hpp"
#include "softgpu/runtime/core/settings.hpp"
#include "tests/driver/driver_fixture.hpp"
#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {

extern "C" {

result cuStreamWaitValue32_v2(stream* s, device_address at, std::uint32_t value, unsigned flags);
result cuStreamWaitValue32_v2_ptsz(stream* s, device_address at, std::uint32_t value, unsigned flags);
result cuStreamWaitValue64_v2(stream* s, device_address at, std::uint64_t value, unsigned flags);
result cuStreamWriteValue32_v2(stream* s, device_address at, std::uint32_t value, unsigned flags);
result cuStreamWriteValue32_v2_ptsz(stream* s, device_address at, std::uint32_t value, unsigned flags);
result cuStreamWriteValue64_v2(stream* s, device_address at, std::uint64_t value, unsigned flags);
result cuStreamBatchMemOp_v2(stream* s, unsigned count, const memory_operation_parameters* list, unsigned flags);
result cuGraphCreate(graph** out, unsigned flags);
result cuGraphAddBatchMemOpNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                                const memory_batch_parameters* p);
result cuGraphBatchMemOpNodeGetParams(graph_node* n, memory_batch_parameters* p);
result cuGraphBatchMemOpNodeSetParams(graph_node* n, const memory_batch_parameters* p);
result cuGraphExecBatchMemOpNodeSetParams(executable_graph* e, graph_node* n, const memory_batch_parameters* p);
result cuGraphAddNode_v2(graph_node** out, graph* in, graph_node* const* before, const edge_data* data,
                         std::size_t count, driver_node_parameters* p);
result cuGraphGetNodes(graph* g, graph_node** nodes, std::size_t* count);
result cuGraphNodeGetType(graph_node* n, node_type* type);

} // extern "C"

namespace {

using type = memory_operation_type;

constexpr unsigned geq = 0, eq = 1, any_bit = 2, nor = 3;

memory_operation_parameters operation(type what, device_address at, std::uint64_t value, unsigned flags = 0) {
    return {.type = what, .flags_of_barrier = 0, .address = at, .value = value, .flags = flags, .alias = 0, .rest = 0};
}

class stream_values_test : public driver_fixture {
protected:
    void SetUp() override {
        driver_fixture::SetUp();
        ASSERT_EQ(cuMemAlloc_v2(&memory_, 256), result::success);
        ASSERT_EQ(cuMemsetD32_v2(memory_, 0, 64), result::success);
        ASSERT_EQ(cuCtxSynchronize(), result::success);
        ASSERT_EQ(cuStreamCreate(&one_, 1), result::success);
        ASSERT_EQ(cuStreamCreate(&other_, 1), result::success);
    }

    template <class Value = std::uint32_t>
    Value at(unsigned byte) {
        Value v{};
        EXPECT_EQ(cuMemcpyDtoH_v2(&v, memory_ + byte, sizeof v), result::success);
        return v;
    }
    bool waits() { return cuStreamQuery(one_) == static_cast<result>(600); }

    device_address memory_ = 0;
    stream* one_ = nullptr;
    stream* other_ = nullptr;
};

TEST_F(stream_values_test, writes_what_it_is_given) {
    EXPECT_EQ(cuStreamWriteValue32_v2(one_, memory_, 0x12345678u, 0), result::success);
    EXPECT_EQ(cuStreamWriteValue64_v2(one_, memory_ + 8, 0x1122334455667788ull, 0), result::success);
    EXPECT_EQ(cuStreamWriteValue32_v2_ptsz(nullptr, memory_ + 16, 5, 0), result::success);
    EXPECT_EQ(cuCtxSynchronize(), result::success);
    EXPECT_EQ(at(0), 0x12345678u);
    EXPECT_EQ(at(4), 0u);
    EXPECT_EQ(at<std::uint64_t>(8), 0x1122334455667788ull);
    EXPECT_EQ(at(16), 5u);
}

TEST_F(stream_values_test, waits_until_the_comparison_is_true) {
    struct comparison {
        unsigned flags;
        std::uint32_t value, not_yet, then;
    };
    for (const comparison c :
         {comparison{geq, 5, 4, 6}, comparison{geq, 0x80000001u, 1, 0x80000001u}, comparison{geq, 1, 0xFFFFFFFFu, 2},
          comparison{eq, 5, 6, 5}, comparison{any_bit, 6, 9, 4}, comparison{nor, 0xFFFFFFF0u, 0xFu, 0xEu}}) {
        ASSERT_EQ(cuMemsetD32_v2(memory_, c.not_yet, 1), result::success);
        ASSERT_EQ(cuCtxSynchronize(), result::success);
        ASSERT_EQ(cuStreamWaitValue32_v2(one_, memory_, c.value, c.flags), result::success);
        ASSERT_EQ(cuStreamWriteValue32_v2(one_, memory_ + 4, c.then, 0), result::success);
        EXPECT_TRUE(waits()) << c.flags;
        ASSERT_EQ(cuStreamWriteValue32_v2(other_, memory_, c.then, 0), result::success);
        EXPECT_EQ(cuStreamSynchronize(one_), result::success);
        EXPECT_EQ(at(4), c.then);
    }
    // Of 64 bits: the upper half counts.
    ASSERT_EQ(cuStreamWaitValue64_v2(one_, memory_ + 8, 1ull << 40, eq), result::success);
    EXPECT_TRUE(waits());
    ASSERT_EQ(cuStreamWriteValue64_v2(other_, memory_ + 8, 1ull << 40, 0), result::success);
    EXPECT_EQ(cuCtxSynchronize(), result::success);
    ASSERT_EQ(cuStreamWaitValue64_v2(one_, memory_ + 8, 1, geq), result::success); // 2^40 - 1 >= 0
    EXPECT_EQ(cuCtxSynchronize(), result::success);
}

TEST_F(stream_values_test, the_host_ends_a_wait_for_its_memory) {
    void* host = nullptr;
    ASSERT_EQ(cuMemAllocHost_v2(&host, 64), result::success);
    auto& word = *static_cast<std::uint32_t*>(host);
    word = 0;
    ASSERT_EQ(cuStreamWaitValue32_v2(one_, reinterpret_cast<device_address>(host), 3, eq), result::success);
    std::thread writer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        __atomic_store_n(&word, 3u, __ATOMIC_RELEASE);
    });
    EXPECT_EQ(cuStreamSynchronize(one_), result::success);
    writer.join();
    EXPECT_EQ(cuMemFreeHost(host), result::success);
}

TEST_F(stream_values_test, batches_run_in_their_order) {
    const memory_operation_parameters list[] = {
        operation(type::write_32, memory_, 1), operation(type::wait_32, memory_ + 4, 1, eq),
        operation(type::barrier, 0, 0), operation(type::write_64, memory_ + 8, ~0ull)};
    ASSERT_EQ(cuStreamBatchMemOp_v2(one_, 4, list, 0), result::success);
    ASSERT_EQ(cuStreamWaitValue32_v2(other_, memory_, 1, geq), result::success);
    EXPECT_EQ(cuStreamSynchronize(other_), result::success);
    EXPECT_EQ(at<std::uint64_t>(8), 0u);
    ASSERT_EQ(cuStreamWriteValue32_v2(other_, memory_ + 4, 1, 0), result::success);
    EXPECT_EQ(cuStreamSynchronize(one_), result::success);
    EXPECT_EQ(at<std::uint64_t>(8), ~0ull);
}

// As an H200 refuses them.
TEST_F(stream_values_test, refuses_what_is_wrong) {
    constexpr auto wrong = result::invalid_value;
    EXPECT_EQ(cuStreamWriteValue32_v2(one_, memory_, 1, 1), wrong);
    EXPECT_EQ(cuStreamWriteValue32_v2(one_, memory_ + 2, 1, 0), wrong);
    EXPECT_EQ(cuStreamWriteValue64_v2(one_, memory_ + 4, 1, 0), wrong);
    EXPECT_EQ(cuStreamWaitValue32_v2(one_, memory_, 0, 4), wrong);
    EXPECT_EQ(cuStreamWaitValue32_v2(one_, memory_, 0, wait_flush), result::not_supported);
    EXPECT_EQ(cuStreamWriteValue32_v2(one_, 0, 1, 0), wrong);
    alignas(8) std::uint64_t pageable = 0;
    EXPECT_EQ(cuStreamWriteValue64_v2(one_, reinterpret_cast<device_address>(&pageable), 1, 0), wrong);
    device_address managed = 0;
    ASSERT_EQ(cuMemAllocManaged(&managed, 64, 1), result::success);
    EXPECT_EQ(cuStreamWriteValue32_v2(one_, managed, 1, 0), wrong);
    std::vector<memory_operation_parameters> many(256, operation(type::write_32, memory_, 1));
    EXPECT_EQ(cuStreamBatchMemOp_v2(one_, 256, many.data(), 0), wrong);
    EXPECT_EQ(cuStreamBatchMemOp_v2(one_, 255, many.data(), 0), result::success);
    EXPECT_EQ(cuStreamBatchMemOp_v2(one_, 0, many.data(), 0), result::success);
    EXPECT_EQ(cuStreamBatchMemOp_v2(one_, 1, many.data(), 1), wrong);
    EXPECT_EQ(cuStreamBatchMemOp_v2(one_, 1, nullptr, 0), wrong);
    many[0] = operation(type::barrier, 0, 0);
    many[0].flags_of_barrier = 2;
    EXPECT_EQ(cuStreamBatchMemOp_v2(one_, 1, many.data(), 0), wrong);
    many[0] = operation(type::flush, 0, 0);
    EXPECT_EQ(cuStreamBatchMemOp_v2(one_, 1, many.data(), 0), result::not_supported);
    many[0] = operation(static_cast<type>(7), 0, 0);
    EXPECT_EQ(cuStreamBatchMemOp_v2(one_, 1, many.data(), 0), wrong);
    int value = -1;
    for (const auto& [which, expected] : {std::pair(92, 0), std::pair(122, 1), std::pair(123, 1)}) {
        ASSERT_EQ(cuDeviceGetAttribute(&value, which, 0), result::success);
        EXPECT_EQ(value, expected) << which;
    }
}

TEST_F(stream_values_test, nodes_of_graphs) {
    graph* g = nullptr;
    graph_node* n = nullptr;
    ASSERT_EQ(cuGraphCreate(&g, 0), result::success);
    memory_operation_parameters list[] = {operation(type::write_32, memory_, 7),
                                          operation(type::wait_32, memory_, 7, eq)};
    memory_batch_parameters p{context_, 2, list, 0};
    ASSERT_EQ(cuGraphAddBatchMemOpNode(&n, g, nullptr, 0, &p), result::success);
    node_type what{};
    EXPECT_EQ(cuGraphNodeGetType(n, &what), result::success);
    EXPECT_EQ(what, node_type::memory_batch);
    driver_node_parameters any{};
    any.type = node_type::memory_batch;
    memory_operation_parameters next = operation(type::write_32, memory_ + 4, 8);
    any.memory_batch = {context_, 1, &next, 0};
    graph_node* second = nullptr;
    ASSERT_EQ(cuGraphAddNode_v2(&second, g, &n, nullptr, 1, &any), result::success);
    p.context = nullptr;
    EXPECT_EQ(cuGraphAddBatchMemOpNode(&second, g, nullptr, 0, &p), result::invalid_value);
    p.context = context_;
    executable_graph* e = nullptr;
    ASSERT_EQ(cuGraphInstantiateWithFlags(&e, g, 0), result::success);
    ASSERT_EQ(cuGraphLaunch(e, one_), result::success);
    EXPECT_EQ(cuCtxSynchronize(), result::success);
    EXPECT_EQ(at(0), 7u);
    EXPECT_EQ(at(4), 8u);
    memory_batch_parameters read{};
    EXPECT_EQ(cuGraphBatchMemOpNodeGetParams(n, &read), result::success);
    ASSERT_EQ(read.count, 2u);
    EXPECT_EQ(read.list[1].type, type::wait_32);
    EXPECT_EQ(read.list[1].value, 7u);
    list[0].value = list[1].value = 9;
    EXPECT_EQ(cuGraphExecBatchMemOpNodeSetParams(e, n, &p), result::success);
    EXPECT_EQ(cuGraphLaunch(e, one_), result::success);
    EXPECT_EQ(cuCtxSynchronize(), result::success);
    EXPECT_EQ(at(0), 9u);
    EXPECT_EQ(cuGraphBatchMemOpNodeSetParams(n, &p), result::success);
    EXPECT_EQ(cuGraphBatchMemOpNodeGetParams(n, &read), result::success);
    EXPECT_EQ(read.list[0].value, 9u);
    // In a capture they become nodes.
    graph* captured = nullptr;
    ASSERT_EQ(cuStreamBeginCapture_v2(one_, capture_mode::global), result::success);
    EXPECT_EQ(cuStreamWriteValue32_v2(one_, memory_ + 12, 3, 0), result::success);
    ASSERT_EQ(cuStreamEndCapture(one_, &captured), result::success);
    std::size_t count = 1;
    ASSERT_EQ(cuGraphGetNodes(captured, &n, &count), result::success);
    EXPECT_EQ(cuGraphNodeGetType(n, &what), result::success);
    EXPECT_EQ(what, node_type::memory_batch);
    EXPECT_EQ(at(12), 0u);
}

} // namespace
} // namespace softgpu::runtime
