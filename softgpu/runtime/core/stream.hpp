// SPDX-License-Identifier: MIT
// What a stream handle points to: the last operation issued to it, which what is issued next waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/core/operation.hpp"

namespace softgpu::runtime {

inline constexpr unsigned stream_non_blocking = 1;
inline constexpr int least_priority = 0;
inline constexpr int greatest_priority = -5;

struct capture;
struct graph_node;

struct stream {
    unsigned flags = 0;
    int priority = 0;
    std::uint64_t id = 0;
    launch_attribute_value window{}; // cudaStreamSetAttribute: kept, without an effect
    launch_attribute_value policy{};
    operation_pointer last{};
    std::shared_ptr<capture> capturing{};       // what is issued goes into a graph
    std::vector<graph_node*> capture_before{};  // after these

    [[nodiscard]] bool blocking() const noexcept { return (flags & stream_non_blocking) == 0; }
};

inline constexpr std::uint64_t legacy_stream_id = 1;
inline constexpr std::uint64_t per_thread_stream_id = 2;

// The default streams' handles are numbers: 0 and 1 the legacy one, 2 the calling thread's own.
[[nodiscard]] inline bool is_default(const stream* s) noexcept { return reinterpret_cast<std::uintptr_t>(s) <= 2; }
[[nodiscard]] inline bool is_legacy(const stream* s) noexcept { return reinterpret_cast<std::uintptr_t>(s) <= 1; }

// What a null handle means to the calls whose names end in _ptsz.
[[nodiscard]] inline stream* of_this_thread(stream* s) noexcept {
    return s == nullptr ? reinterpret_cast<stream*>(per_thread_stream_id) : s;
}

// Hash and equality for sets of owned objects that are looked up by handle.
struct by_address {
    using is_transparent = void;

    template <class T>
    std::size_t operator()(const std::unique_ptr<T>& p) const noexcept {
        return std::hash<const T*>{}(p.get());
    }
    template <class T>
    std::size_t operator()(const T* p) const noexcept {
        return std::hash<const T*>{}(p);
    }
    template <class T>
    bool operator()(const std::unique_ptr<T>& a, const std::unique_ptr<T>& b) const noexcept {
        return a == b;
    }
    template <class T>
    bool operator()(const T* a, const std::unique_ptr<T>& b) const noexcept {
        return a == b.get();
    }
    template <class T>
    bool operator()(const std::unique_ptr<T>& a, const T* b) const noexcept {
        return a.get() == b;
    }
};

} // namespace softgpu::runtime
