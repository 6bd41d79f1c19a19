// SPDX-License-Identifier: MIT
// Where the halos of a convolution over ranks wait: in the host's memory, or where a communicator exchanges device memory
// (ranks/nccl/halo_memory.cuh) in that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "warpfold/communicator.hpp"
#include "warpfold/ranks/target.hpp"

namespace warpfold::detail {

template <class On, class Comm>
struct halo_memory {
    template <class T>
    using array = std::vector<T>;

    // Zeros.
    template <class T>
    static array<T> allocate(const On& /*on*/, std::size_t n) {
        return array<T>(n);
    }
    // Copies rows of the target's memory, `pitch` elements apart, one behind the other.
    template <class T>
    static void take(const On& on, T* to, const T* from, std::int64_t rows, std::int64_t width, std::int64_t pitch) {
        if (pitch == width) {
            rank_target<On>::read(on, to, from, static_cast<std::uint64_t>(rows * width));
            return;
        }
        for (std::int64_t y = 0; y < rows; ++y) {
            rank_target<On>::read(on, to + y * width, from + y * pitch, static_cast<std::uint64_t>(width));
        }
    }
    template <class T>
    static void copy(const On& /*on*/, T* to, const T* from, std::int64_t n) {
        std::copy_n(from, n, to);
    }
    // interior(): work on the target that needs nothing of what is received. It runs meanwhile where the target is a GPU.
    template <class Interior>
    static void exchange(const over_ranks<On, Comm>& on, std::span<const message> sent,
                         std::span<const message> received, const char* call, const Interior& interior) {
        interior();
        on.comm->exchange(sent, received, call);
    }
    // Calls run(elements) with the elements in the target's memory.
    template <class T, class Run>
    static void on_target(const On& on, const array<T>& of, const Run& run) {
        auto copy = rank_target<On>::template allocate<T>(on, of.size());
        rank_target<On>::write(on, copy.data(), of.data(), of.size());
        run(static_cast<const T*>(copy.data()));
    }
};

} // namespace warpfold::detail
