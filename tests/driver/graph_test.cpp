// SPDX-License-Identifier: MIT
// Graphs of the driver: nodes and their parameters, edges, and executable graphs that change.
#include <cstdint>

#include <gtest/gtest.h>

#include "softgpu/runtime/calls/driver/graph/parameters.hpp"
#include "tests/driver/driver_fixture.hpp"
#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {

struct user_object;

extern "C" {

result cuGraphCreate(graph** out, unsigned flags);
result cuGraphAddKernelNode_v2(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                               const driver_kernel_parameters* p);
result cuGraphKernelNodeGetParams_v2(graph_node* n, driver_kernel_parameters* p);
result cuGraphKernelNodeSetParams_v2(graph_node* n, const driver_kernel_parameters* p);
result cuGraphExecKernelNodeSetParams_v2(executable_graph* e, graph_node* n, const driver_kernel_parameters* p);
result cuGraphAddKernelNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                            const kernel_parameters* p);
result cuGraphKernelNodeGetParams(graph_node* n, kernel_parameters* p);
result cuGraphKernelNodeSetParams(graph_node* n, const kernel_parameters* p);
result cuGraphExecKernelNodeSetParams(executable_graph* e, graph_node* n, const kernel_parameters* p);
result cuGraphKernelNodeSetAttribute(graph_node* n, launch_attribute_id which, const launch_attribute_value* value);
result cuGraphKernelNodeGetAttribute(graph_node* n, launch_attribute_id which, launch_attribute_value* value);
result cuGraphKernelNodeCopyAttributes(graph_node* to, graph_node* from);
result cuGraphAddMemcpyNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                            const driver_copy_3d* p, driver_context* c);
result cuGraphMemcpyNodeGetParams(graph_node* n, driver_copy_3d* p);
result cuGraphMemcpyNodeSetParams(graph_node* n, const driver_copy_3d* p);
result cuGraphExecMemcpyNodeSetParams(executable_graph* e, graph_node* n, const driver_copy_3d* p, driver_context* c);
result cuGraphAddMemsetNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                            const fill_parameters* p, driver_context* c);
result cuGraphMemsetNodeGetParams(graph_node* n, fill_parameters* p);
result cuGraphExecMemsetNodeSetParams(executable_graph* e, graph_node* n, const fill_parameters* p, driver_context* c);
result cuGraphAddHostNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                          const host_parameters* p);
result cuGraphAddChildGraphNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                                graph* child);
result cuGraphExecChildGraphNodeSetParams(executable_graph* e, graph_node* n, graph* child);
result cuGraphAddEventRecordNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count, event* e);
result cuGraphEventRecordNodeGetEvent(graph_node* n, event** e);
result cuGraphExecEventRecordNodeSetEvent(executable_graph* e, graph_node* n, event* what);
result cuGraphAddMemAllocNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                              allocate_parameters* p);
result cuGraphAddMemFreeNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                             device_address at);
result cuGraphMemFreeNodeGetParams(graph_node* n, device_address* at);
result cuGraphAddNode_v2(graph_node** out, graph* in, graph_node* const* before, const edge_data* data,
                         std::size_t count, driver_node_parameters* p);
result cuGraphNodeSetParams(graph_node* n, driver_node_parameters* p);
result cuGraphExecNodeSetParams(executable_graph* e, graph_node* n, driver_node_parameters* p);
result cuGraphGetEdges_v2(graph* g, graph_node** from, graph_node** to, edge_data* data, std::size_t* count);
result cuGraphGetEdges(graph* g, graph_node** from, graph_node** to, std::size_t* count);
result cuGraphNodeGetDependencies_v2(graph_node* n, graph_node** out, edge_data* data, std::size_t* count);
result cuGraphAddDependencies_v2(graph* g, graph_node* const* from, graph_node* const* to, const edge_data* data,
                                 std::size_t count);
result cuGraphRemoveDependencies_v2(graph* g, graph_node* const* from, graph_node* const* to, const edge_data* data,
                                    std::size_t count);
result cuGraphConditionalHandleCreate(unsigned long long* out, graph* of, driver_context* c, unsigned initial,
                                      unsigned flags);
result cuGraphInstantiateWithParams(executable_graph** out, graph* from, instantiate_parameters* p);
result cuGraphInstantiate_v2(executable_graph** out, graph* from, graph_node** at_fault, char* log, std::size_t bytes);
result cuGraphExecUpdate_v2(executable_graph* e, graph* from, update_information* information);
result cuGraphNodeSetEnabled(executable_graph* e, graph_node* n, unsigned enabled);
result cuGraphNodeGetEnabled(executable_graph* e, graph_node* n, unsigned* enabled);
result cuUserObjectCreate(user_object** out, void* what, host_function destroy, unsigned count, unsigned flags);
result cuGraphRetainUserObject(graph* g, user_object* object, unsigned count, unsigned flags);
result cuDeviceGetGraphMemAttribute(int device, graph_memory_attribute which, void* value);

} // extern "C"

namespace {

constexpr auto update_failure = static_cast<result>(910);

class driver_graph_test : public driver_fixture {
protected:
    void SetUp() override {
        driver_fixture::SetUp();
        fill_ = kernel(sample_ptx, "_Z4fillPjj");
        ASSERT_EQ(cuMemAlloc_v2(&memory_, sizeof words_), result::success);
        ASSERT_EQ(cuGraphCreate(&graph_, 0), result::success);
    }

    driver_kernel_parameters filling(const std::uint32_t& value) {
        arguments_[0] = &memory_;
        arguments_[1] = const_cast<std::uint32_t*>(&value);
        return {{fill_, {2, 1, 1}, {32, 1, 1}, 0, arguments_, nullptr}, nullptr, nullptr};
    }
    driver_copy_3d to_host() {
        driver_copy_3d c{};
        c.source_type = driver_memory_type::device;
        c.source_device = memory_;
        c.source_pitch = sizeof words_;
        c.destination_type = driver_memory_type::host;
        c.destination_host = words_;
        c.destination_pitch = sizeof words_;
        c.width = sizeof words_;
        c.height = c.depth = 1;
        return c;
    }
    executable_graph* instantiated() {
        executable_graph* e = nullptr;
        EXPECT_EQ(cuGraphInstantiateWithFlags(&e, graph_, 0), result::success);
        return e;
    }
    std::uint32_t launched(executable_graph* e, unsigned place = 0) {
        EXPECT_EQ(cuGraphLaunch(e, nullptr), result::success);
        EXPECT_EQ(cuCtxSynchronize(), result::success);
        return words_[place];
    }

    // Of a graph that copies nothing to words_.
    std::uint32_t launched_word(executable_graph* e) {
        EXPECT_EQ(cuGraphLaunch(e, nullptr), result::success);
        EXPECT_EQ(cuMemcpyDtoH_v2(words_, memory_, sizeof words_), result::success);
        return words_[0];
    }

    function* fill_ = nullptr;
    device_address memory_ = 0;
    graph* graph_ = nullptr;
    void* arguments_[2] = {};
    std::uint32_t words_[64] = {};
};

TEST_F(driver_graph_test, kernel_and_copy_nodes_and_their_parameters) {
    graph_node* fills = nullptr;
    graph_node* copies = nullptr;
    std::uint32_t value = 5;
    const driver_kernel_parameters p = filling(value);
    ASSERT_EQ(cuGraphAddKernelNode_v2(&fills, graph_, nullptr, 0, &p), result::success);
    value = 99; // read when the node was made
    driver_copy_3d c = to_host();
    ASSERT_EQ(cuGraphAddMemcpyNode(&copies, graph_, &fills, 1, &c, context_), result::success);
    executable_graph* const e = instantiated();
    EXPECT_EQ(launched(e, 3), 8u);
    driver_kernel_parameters said{};
    ASSERT_EQ(cuGraphKernelNodeGetParams_v2(fills, &said), result::success);
    EXPECT_EQ(said.same.function, fill_);
    EXPECT_EQ(said.same.grid.x, 2u);
    EXPECT_EQ(*static_cast<std::uint32_t*>(said.same.arguments[1]), 5u);
    driver_copy_3d said_copy{};
    ASSERT_EQ(cuGraphMemcpyNodeGetParams(copies, &said_copy), result::success);
    EXPECT_EQ(said_copy.source_type, driver_memory_type::device);
    EXPECT_EQ(said_copy.source_device, memory_);
    EXPECT_EQ(said_copy.destination_host, words_);
    EXPECT_EQ(said_copy.width, sizeof words_);
    // The executable graph's nodes change alone.
    value = 20;
    const driver_kernel_parameters other = filling(value);
    ASSERT_EQ(cuGraphExecKernelNodeSetParams_v2(e, fills, &other), result::success);
    EXPECT_EQ(launched(e), 20u);
    EXPECT_EQ(launched(instantiated()), 5u);
    value = 30;
    driver_kernel_parameters by_kernel = filling(value); // a kernel of a library, where CUfunction is null
    by_kernel.kernel = fill_;
    by_kernel.same.function = nullptr;
    ASSERT_EQ(cuGraphKernelNodeSetParams_v2(fills, &by_kernel), result::success);
    EXPECT_EQ(launched(instantiated()), 30u);
    c.source_device = memory_ + 16;
    c.width = 4;
    ASSERT_EQ(cuGraphExecMemcpyNodeSetParams(e, copies, &c, context_), result::success);
    EXPECT_EQ(launched(e), 24u);
    EXPECT_EQ(launched(e, 1), 31u); // what was there
    ASSERT_EQ(cuGraphMemcpyNodeSetParams(copies, &c), result::success);
    EXPECT_EQ(cuGraphMemcpyNodeSetParams(fills, &c), result::invalid_value);
    EXPECT_EQ(cuGraphAddKernelNode_v2(&fills, graph_, nullptr, 0, nullptr), result::invalid_value);
}

// As before CUDA 12, by the names without a suffix.
TEST_F(driver_graph_test, old_forms_of_kernel_nodes) {
    graph_node* fills = nullptr;
    std::uint32_t value = 5;
    const kernel_parameters p = filling(value).same;
    ASSERT_EQ(cuGraphAddKernelNode(&fills, graph_, nullptr, 0, &p), result::success);
    executable_graph* const e = instantiated();
    EXPECT_EQ(launched_word(e), 5u);
    kernel_parameters said{};
    ASSERT_EQ(cuGraphKernelNodeGetParams(fills, &said), result::success);
    EXPECT_EQ(said.function, fill_);
    EXPECT_EQ(said.grid.x, p.grid.x);
    EXPECT_EQ(cuGraphKernelNodeGetParams(fills, nullptr), result::invalid_value);
    value = 20;
    const kernel_parameters other = filling(value).same;
    ASSERT_EQ(cuGraphExecKernelNodeSetParams(e, fills, &other), result::success);
    EXPECT_EQ(launched_word(e), 20u);
    ASSERT_EQ(cuGraphKernelNodeSetParams(fills, &other), result::success);
    EXPECT_EQ(launched_word(instantiated()), 20u);
}

TEST_F(driver_graph_test, fills_host_functions_and_disabled_nodes) {
    graph_node* fills = nullptr;
    graph_node* copies = nullptr;
    graph_node* host = nullptr;
    const fill_parameters f{reinterpret_cast<void*>(memory_), 0, 7, 4, 64, 1};
    ASSERT_EQ(cuGraphAddMemsetNode(&fills, graph_, nullptr, 0, &f, context_), result::success);
    const driver_copy_3d c = to_host();
    ASSERT_EQ(cuGraphAddMemcpyNode(&copies, graph_, &fills, 1, &c, context_), result::success);
    const host_parameters h{[](void* words) { static_cast<std::uint32_t*>(words)[1] += 100; }, words_};
    ASSERT_EQ(cuGraphAddHostNode(&host, graph_, &copies, 1, &h), result::success);
    executable_graph* const e = instantiated();
    EXPECT_EQ(launched(e, 1), 107u);
    fill_parameters said{};
    ASSERT_EQ(cuGraphMemsetNodeGetParams(fills, &said), result::success);
    EXPECT_EQ(said.value, 7u);
    EXPECT_EQ(said.width, 64u);
    fill_parameters other = f;
    other.value = 9;
    ASSERT_EQ(cuGraphExecMemsetNodeSetParams(e, fills, &other, context_), result::success);
    EXPECT_EQ(launched(e), 9u);
    ASSERT_EQ(cuGraphNodeSetEnabled(e, copies, 0), result::success);
    unsigned enabled = 1;
    ASSERT_EQ(cuGraphNodeGetEnabled(e, copies, &enabled), result::success);
    EXPECT_EQ(enabled, 0u);
    words_[0] = 1;
    EXPECT_EQ(launched(e), 1u);
    EXPECT_EQ(cuGraphNodeSetEnabled(e, host, 0), result::invalid_value);
}

TEST_F(driver_graph_test, nodes_of_any_type_and_their_edges) {
    driver_node_parameters p{};
    p.type = node_type::fill;
    p.fill.same = {reinterpret_cast<void*>(memory_), 0, 3, 4, 64, 1};
    graph_node* fills = nullptr;
    ASSERT_EQ(cuGraphAddNode_v2(&fills, graph_, nullptr, nullptr, 0, &p), result::success);
    driver_node_parameters q{};
    q.type = node_type::copy;
    q.copy.copy = to_host();
    graph_node* copies = nullptr;
    ASSERT_EQ(cuGraphAddNode_v2(&copies, graph_, nullptr, nullptr, 0, &q), result::success);
    ASSERT_EQ(cuGraphAddDependencies_v2(graph_, &fills, &copies, nullptr, 1), result::success);
    graph_node *from = nullptr, *to = nullptr, *before = nullptr;
    edge_data data{};
    std::size_t count = 1;
    ASSERT_EQ(cuGraphGetEdges_v2(graph_, &from, &to, &data, &count), result::success);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(from, fills);
    EXPECT_EQ(to, copies);
    ASSERT_EQ(cuGraphGetEdges(graph_, nullptr, nullptr, &count), result::success);
    EXPECT_EQ(count, 1u);
    ASSERT_EQ(cuGraphNodeGetDependencies_v2(copies, &before, &data, &count), result::success);
    EXPECT_EQ(before, fills);
    executable_graph* const e = instantiated();
    EXPECT_EQ(launched(e), 3u);
    p.fill.same.value = 4;
    ASSERT_EQ(cuGraphExecNodeSetParams(e, fills, &p), result::success);
    EXPECT_EQ(launched(e), 4u);
    ASSERT_EQ(cuGraphNodeSetParams(fills, &p), result::success);
    EXPECT_EQ(cuGraphNodeSetParams(copies, &p), result::invalid_value);
    ASSERT_EQ(cuGraphRemoveDependencies_v2(graph_, &fills, &copies, nullptr, 1), result::success);
    ASSERT_EQ(cuGraphGetEdges(graph_, nullptr, nullptr, &count), result::success);
    EXPECT_EQ(count, 0u);
    driver_node_parameters kernel_node{};
    kernel_node.type = node_type::kernel;
    const std::uint32_t value = 60;
    kernel_node.kernel = filling(value);
    graph_node* filling_node = nullptr;
    ASSERT_EQ(cuGraphAddNode_v2(&filling_node, graph_, &fills, nullptr, 1, &kernel_node), result::success);
    ASSERT_EQ(cuGraphAddDependencies_v2(graph_, &filling_node, &copies, nullptr, 1), result::success);
    EXPECT_EQ(launched(instantiated()), 60u);
}

TEST_F(driver_graph_test, conditional_nodes) {
    unsigned long long handle = 0;
    ASSERT_EQ(cuGraphConditionalHandleCreate(&handle, graph_, context_, 1, condition_assign_default), result::success);
    EXPECT_EQ(cuGraphConditionalHandleCreate(&handle, graph_, context_, 1, 2), result::invalid_value);
    driver_node_parameters p{};
    p.type = node_type::conditional;
    p.conditional = {{handle, conditional_type::choose, 2, nullptr}, context_};
    graph_node *chooses = nullptr, *fills = nullptr, *copies = nullptr;
    ASSERT_EQ(cuGraphAddNode_v2(&chooses, graph_, nullptr, nullptr, 0, &p), result::success);
    ASSERT_NE(p.conditional.same.bodies, nullptr);
    fill_parameters f{reinterpret_cast<void*>(memory_), 0, 7, 4, 64, 1};
    for (unsigned k = 0; k < 2; ++k, ++f.value) {
        ASSERT_EQ(cuGraphAddMemsetNode(&fills, p.conditional.same.bodies[k], nullptr, 0, &f, context_),
                  result::success);
    }
    const driver_copy_3d back = to_host();
    ASSERT_EQ(cuGraphAddMemcpyNode(&copies, graph_, &chooses, 1, &back, context_), result::success);
    EXPECT_EQ(launched(instantiated()), 8u);
    p.conditional.same.handle = handle + 100;
    EXPECT_EQ(cuGraphAddNode_v2(&chooses, graph_, nullptr, nullptr, 0, &p), result::invalid_value);
}

TEST_F(driver_graph_test, child_graphs_and_events) {
    graph* child = nullptr;
    ASSERT_EQ(cuGraphCreate(&child, 0), result::success);
    graph_node* fills = nullptr;
    fill_parameters f{reinterpret_cast<void*>(memory_), 0, 2, 4, 64, 1};
    ASSERT_EQ(cuGraphAddMemsetNode(&fills, child, nullptr, 0, &f, context_), result::success);
    graph_node *inside = nullptr, *records = nullptr, *copies = nullptr;
    event *first = nullptr, *second = nullptr, *said = nullptr;
    ASSERT_EQ(cuEventCreate(&first, 0), result::success);
    ASSERT_EQ(cuEventCreate(&second, 0), result::success);
    ASSERT_EQ(cuGraphAddChildGraphNode(&inside, graph_, nullptr, 0, child), result::success);
    ASSERT_EQ(cuGraphAddEventRecordNode(&records, graph_, &inside, 1, first), result::success);
    const driver_copy_3d c = to_host();
    ASSERT_EQ(cuGraphAddMemcpyNode(&copies, graph_, &records, 1, &c, context_), result::success);
    ASSERT_EQ(cuGraphEventRecordNodeGetEvent(records, &said), result::success);
    EXPECT_EQ(said, first);
    executable_graph* const e = instantiated();
    EXPECT_EQ(launched(e), 2u);
    f.value = 6;
    graph* next = nullptr;
    ASSERT_EQ(cuGraphCreate(&next, 0), result::success);
    ASSERT_EQ(cuGraphAddMemsetNode(&fills, next, nullptr, 0, &f, context_), result::success);
    ASSERT_EQ(cuGraphExecChildGraphNodeSetParams(e, inside, next), result::success);
    ASSERT_EQ(cuGraphExecEventRecordNodeSetEvent(e, records, second), result::success);
    EXPECT_EQ(launched(e), 6u);
    float milliseconds = -1;
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, first, second), result::success);
    EXPECT_GE(milliseconds, 0);
}

TEST_F(driver_graph_test, memory_nodes) {
    allocate_parameters a{};
    a.pool.allocation = pool_allocation::pinned;
    a.pool.location = {location_type::device, 0};
    a.bytes = 256;
    graph_node *allocates = nullptr, *fills = nullptr, *copies = nullptr, *frees = nullptr;
    ASSERT_EQ(cuGraphAddMemAllocNode(&allocates, graph_, nullptr, 0, &a), result::success);
    const fill_parameters f{a.pointer, 0, 11, 4, 64, 1};
    ASSERT_EQ(cuGraphAddMemsetNode(&fills, graph_, &allocates, 1, &f, context_), result::success);
    driver_copy_3d c = to_host();
    c.source_device = reinterpret_cast<device_address>(a.pointer);
    ASSERT_EQ(cuGraphAddMemcpyNode(&copies, graph_, &fills, 1, &c, context_), result::success);
    ASSERT_EQ(cuGraphAddMemFreeNode(&frees, graph_, &copies, 1, c.source_device), result::success);
    device_address freed = 0;
    ASSERT_EQ(cuGraphMemFreeNodeGetParams(frees, &freed), result::success);
    EXPECT_EQ(freed, c.source_device);
    EXPECT_EQ(launched(instantiated(), 63), 11u);
    std::uint64_t used = 1;
    ASSERT_EQ(cuDeviceGetGraphMemAttribute(0, graph_memory_attribute::used_current, &used), result::success);
    EXPECT_EQ(used, 0u);
}

TEST_F(driver_graph_test, updates_of_executable_graphs) {
    graph_node* fills = nullptr;
    std::uint32_t value = 1;
    driver_kernel_parameters p = filling(value);
    ASSERT_EQ(cuGraphAddKernelNode_v2(&fills, graph_, nullptr, 0, &p), result::success);
    instantiate_parameters how{};
    executable_graph* e = nullptr;
    ASSERT_EQ(cuGraphInstantiateWithParams(&e, graph_, &how), result::success);
    EXPECT_EQ(how.result, instantiate_result::success);
    char log[8] = "text";
    executable_graph* old_style = nullptr;
    ASSERT_EQ(cuGraphInstantiate_v2(&old_style, graph_, nullptr, log, sizeof log), result::success);
    EXPECT_STREQ(log, "");
    value = 2;
    graph* next = nullptr;
    graph_node* other = nullptr;
    ASSERT_EQ(cuGraphCreate(&next, 0), result::success);
    ASSERT_EQ(cuGraphAddKernelNode_v2(&other, next, nullptr, 0, &p), result::success);
    update_information said{};
    ASSERT_EQ(cuGraphExecUpdate_v2(e, next, &said), result::success);
    EXPECT_EQ(said.result, update_result::success);
    ASSERT_EQ(cuGraphLaunch(e, nullptr), result::success);
    ASSERT_EQ(cuMemcpyDtoH_v2(words_, memory_, 4), result::success);
    EXPECT_EQ(words_[0], 2u);
    ASSERT_EQ(cuGraphAddKernelNode_v2(&other, next, &other, 1, &p), result::success);
    EXPECT_EQ(cuGraphExecUpdate_v2(e, next, &said), update_failure);
    EXPECT_EQ(said.result, update_result::topology_changed);
}

TEST_F(driver_graph_test, attributes_go_from_the_source_to_the_destination) {
    graph_node *to = nullptr, *from = nullptr;
    const std::uint32_t value = 1;
    const driver_kernel_parameters p = filling(value);
    ASSERT_EQ(cuGraphAddKernelNode_v2(&to, graph_, nullptr, 0, &p), result::success);
    ASSERT_EQ(cuGraphAddKernelNode_v2(&from, graph_, nullptr, 0, &p), result::success);
    launch_attribute_value v{};
    v.cooperative = 1;
    ASSERT_EQ(cuGraphKernelNodeSetAttribute(from, launch_attribute_id::cooperative, &v), result::success);
    ASSERT_EQ(cuGraphKernelNodeCopyAttributes(to, from), result::success);
    launch_attribute_value said{};
    ASSERT_EQ(cuGraphKernelNodeGetAttribute(to, launch_attribute_id::cooperative, &said), result::success);
    EXPECT_EQ(said.cooperative, 1);
}

TEST_F(driver_graph_test, objects_live_as_long_as_the_graph) {
    int destroyed = 0;
    user_object* object = nullptr;
    ASSERT_EQ(cuUserObjectCreate(
                  &object, &destroyed, [](void* count) { ++*static_cast<int*>(count); }, 1, 1),
              result::success);
    ASSERT_EQ(cuGraphRetainUserObject(graph_, object, 1, 1), result::success);
    EXPECT_EQ(destroyed, 0);
    ASSERT_EQ(cuGraphDestroy(graph_), result::success);
    ASSERT_EQ(cuCtxSynchronize(), result::success);
    EXPECT_EQ(destroyed, 1);
}

} // namespace
} // namespace softgpu::runtime
