// SPDX-License-Identifier: MIT
// The calls about graphs that CUDA 12 declares differently, called in the library for CUDA 12.
#include <cstddef>

#include <dlfcn.h>

#include <gtest/gtest.h>

#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/abi/graph.hpp"

namespace softgpu::runtime {
namespace {

class graph_12_test : public testing::Test {
protected:
    void SetUp() override {
        library_ = ::dlopen(SOFTGPU_RUNTIME_12, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library_, nullptr) << ::dlerror();
    }
    template <class... Arguments>
    error call(const char* name, Arguments... arguments) {
        auto* const f = reinterpret_cast<error (*)(Arguments...)>(::dlsym(library_, name));
        EXPECT_NE(f, nullptr) << name;
        return f == nullptr ? error::unknown : f(arguments...);
    }
    void* library_ = nullptr;
};

TEST_F(graph_12_test, edges_without_and_with_data) {
    graph* g = nullptr;
    graph_node* a = nullptr;
    graph_node* b = nullptr;
    graph_node* c = nullptr;
    graph_node* const* const no_nodes = nullptr;
    ASSERT_EQ(call("cudaGraphCreate", &g, 0u), error::success);
    ASSERT_EQ(call("cudaGraphAddEmptyNode", &a, g, no_nodes, std::size_t{0}), error::success);
    node_parameters p{};
    p.type = node_type::empty;
    ASSERT_EQ(call("cudaGraphAddNode", &b, g, no_nodes, std::size_t{0}, &p), error::success);
    ASSERT_EQ(call("cudaGraphAddNode_v2", &c, g, static_cast<graph_node* const*>(&b),
                   static_cast<const edge_data*>(nullptr), std::size_t{1}, &p),
              error::success);
    ASSERT_EQ(call("cudaGraphAddDependencies", g, static_cast<graph_node* const*>(&a),
                   static_cast<graph_node* const*>(&b), std::size_t{1}),
              error::success);
    std::size_t count = 2;
    graph_node* from[2] = {};
    graph_node* to[2] = {};
    ASSERT_EQ(call("cudaGraphGetEdges", g, &from[0], &to[0], &count), error::success);
    EXPECT_EQ(count, 2u);
    EXPECT_EQ(from[0], a);
    EXPECT_EQ(to[0], b);
    EXPECT_EQ(from[1], b);
    EXPECT_EQ(to[1], c);
    edge_data data[2] = {{1, 1, 1, {}}, {1, 1, 1, {}}};
    count = 2;
    ASSERT_EQ(call("cudaGraphNodeGetDependencies_v2", c, &from[0], &data[0], &count), error::success);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(data[0].type, 0);
    ASSERT_EQ(call("cudaGraphNodeGetDependentNodes", a, &to[0], &count), error::success);
    EXPECT_EQ(to[0], b);
    ASSERT_EQ(call("cudaGraphRemoveDependencies", g, static_cast<graph_node* const*>(&a),
                   static_cast<graph_node* const*>(&b), std::size_t{1}),
              error::success);
    executable_graph* e = nullptr;
    ASSERT_EQ(call("cudaGraphInstantiate", &e, g, 0ull), error::success);
    ASSERT_EQ(call("cudaGraphLaunch", e, static_cast<stream*>(nullptr)), error::success);
    ASSERT_EQ(call("cudaDeviceSynchronize"), error::success);
    ASSERT_EQ(call("cudaGraphExecDestroy", e), error::success);
    ASSERT_EQ(call("cudaGraphDestroy", g), error::success);
}

TEST_F(graph_12_test, what_a_capture_says_of_itself) {
    stream* s = nullptr;
    capture_status status{};
    unsigned long long id = 0;
    graph* g = nullptr;
    graph* captured = nullptr;
    graph_node* const* dependencies = nullptr;
    std::size_t count = 9;
    ASSERT_EQ(call("cudaStreamCreateWithFlags", &s, 1u), error::success);
    ASSERT_EQ(call("cudaStreamBeginCapture", s, capture_mode::relaxed), error::success);
    ASSERT_EQ(call("cudaStreamGetCaptureInfo", s, &status, &id), error::success);
    EXPECT_EQ(status, capture_status::active);
    EXPECT_NE(id, 0u);
    ASSERT_EQ(call("cudaLaunchHostFunc", s, static_cast<host_function>([](void*) {}), static_cast<void*>(nullptr)),
              error::success);
    ASSERT_EQ(call("cudaStreamGetCaptureInfo_v2", s, &status, &id, &g, &dependencies, &count), error::success);
    ASSERT_EQ(count, 1u);
    graph_node* made = nullptr;
    ASSERT_EQ(call("cudaGraphAddEmptyNode", &made, g, dependencies, count), error::success);
    graph_node* only = made;
    ASSERT_EQ(call("cudaStreamUpdateCaptureDependencies", s, &only, std::size_t{1}, capture_dependencies_set),
              error::success);
    ASSERT_EQ(call("cudaStreamGetCaptureInfo_v3", s, &status, &id, &g, &dependencies,
                   static_cast<const edge_data**>(nullptr), &count),
              error::success);
    ASSERT_EQ(count, 1u);
    EXPECT_EQ(dependencies[0], made);
    ASSERT_EQ(call("cudaStreamEndCapture", s, &captured), error::success);
    EXPECT_EQ(captured, g);
    ASSERT_EQ(call("cudaGraphDestroy", captured), error::success);
    ASSERT_EQ(call("cudaStreamDestroy", s), error::success);
}

} // namespace
} // namespace softgpu::runtime
