// SPDX-License-Identifier: MIT
// A set of owned objects whose handles are their addresses: an unknown handle is an error instead of a crash.
#pragma once

#include <functional>
#include <memory>
#include <unordered_set>

namespace softgpu::runtime {

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

template <class T>
using handle_set = std::unordered_set<std::unique_ptr<T>, by_address, by_address>;

} // namespace softgpu::runtime
