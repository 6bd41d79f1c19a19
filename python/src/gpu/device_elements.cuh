// SPDX-License-Identifier: MIT
// Arrays of any type and layout in kernels, and arrays of one call.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "python/src/array.hpp"
#include "python/src/elements.hpp"
#include "warpfold/error.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::python::on_gpu {

// Element k of an array as a number of type A, in a kernel. `data` is null for an array that is missing.
struct device_elements {
    device_elements() = default;
    explicit device_elements(const array& of) : data(of.data), type(of.type) {
        const auto& joined = of.at.axes();
        if (joined.size() > most_axes) {
            throw invalid_argument("warpfold: an array on a GPU has " + std::to_string(joined.size()) +
                                   " axes that cannot be joined, more than " + std::to_string(most_axes));
        }
        rank = static_cast<unsigned>(joined.size());
        for (unsigned d = 0; d < rank; ++d) {
            extents[d] = joined[d].extent;
            strides[d] = joined[d].stride;
        }
        is_short = of.size() <= std::numeric_limits<std::uint32_t>::max();
    }
    explicit device_elements(const array* of) {
        if (of != nullptr) {
            *this = device_elements(*of);
        }
    }

    template <class A>
    __device__ A load(std::uint64_t k) const {
        return load_as<A>(type, place(k));
    }
    template <class A>
    __device__ void store(std::uint64_t k, A x) const {
        store_as(type, place(k), x);
    }

    char* data = nullptr;

private:
    static constexpr unsigned most_axes = 16;

    // Divisions of 64 bits take several times as long as those of 32.
    template <class Index>
    __device__ std::int64_t offset(Index k) const {
        std::int64_t at = 0;
        for (unsigned d = rank - 1; d != 0; --d) {
            const Index rest = k / static_cast<Index>(extents[d]);
            at += static_cast<std::int64_t>(k - rest * static_cast<Index>(extents[d])) * strides[d];
            k = rest;
        }
        return at + static_cast<std::int64_t>(k) * strides[0];
    }
    __device__ char* place(std::uint64_t k) const {
        return data + (is_short ? offset(static_cast<std::uint32_t>(k)) : offset(k));
    }

    element type = element::boolean;
    unsigned rank = 1;
    bool is_short = true;
    std::uint64_t extents[most_axes] = {};
    std::int64_t strides[most_axes] = {};
};

// A row-major array in memory of this call, freed in the order of the stream.
class temporary {
public:
    temporary(const gpu& on, element type, const std::vector<std::int64_t>& shape)
        : memory_(on.stream, bytes_of(type, shape)),
          array_(static_cast<char*>(memory_.data()), type, shape, row_major(shape, size_of(type))) {}

    [[nodiscard]] const array& get() const noexcept { return array_; }
    template <class T>
    [[nodiscard]] T* as() const noexcept {
        return reinterpret_cast<T*>(array_.data);
    }

private:
    static std::size_t bytes_of(element type, const std::vector<std::int64_t>& shape) {
        std::size_t bytes = static_cast<std::size_t>(size_of(type));
        for (const std::int64_t extent : shape) {
            bytes *= static_cast<std::size_t>(extent);
        }
        return bytes;
    }

    detail::stream_ordered_memory memory_;
    array array_;
};

// Elements of any type, layout and mask as A, row-major: `none` where the mask is false. A is int64, uint64, float or
// double.
template <class A>
void convert(const gpu& on, const array& in, const array* mask, A none, const array& out);

// The type in which integers of 64 bits are summed and multiplied: those without sign have the same bits.
constexpr element signed_of(element type) { return type == element::uint64 ? element::int64 : type; }

template <class A>
constexpr element element_of() {
    return std::is_same_v<A, float>          ? element::float32
           : std::is_same_v<A, double>       ? element::float64
           : std::is_same_v<A, std::int64_t> ? element::int64
                                             : element::uint64;
}

// The array itself if it is contiguous of the type A, else a copy. An integer of 64 bits may be read with the other sign.
template <class A>
class contiguous_input {
public:
    contiguous_input(const gpu& on, const array& in) : data_(in.contiguous<const A>(element_of<A>())) {
        if (data_ == nullptr && std::is_same_v<A, std::int64_t>) {
            data_ = in.contiguous<const A>(element::uint64);
        }
        if (data_ == nullptr) {
            copy_.emplace(on, element_of<A>(), std::vector<std::int64_t>{static_cast<std::int64_t>(in.size())});
            convert<A>(on, in, nullptr, A{}, copy_->get());
            data_ = copy_->template as<const A>();
        }
    }
    [[nodiscard]] const A* data() const noexcept { return data_; }

private:
    const A* data_;
    std::optional<temporary> copy_;
};

// The array itself if it is contiguous of the type A, else memory whose contents finish() converts and copies there.
template <class A>
class contiguous_output {
public:
    contiguous_output(const gpu& on, const array& out) : on_(on), out_(out), data_(out.contiguous<A>(element_of<A>())) {
        if (data_ == nullptr && std::is_same_v<A, std::int64_t>) {
            data_ = out.contiguous<A>(element::uint64);
        }
        if (data_ == nullptr) {
            copy_.emplace(on, element_of<A>(), std::vector<std::int64_t>{static_cast<std::int64_t>(out.size())});
            data_ = copy_->template as<A>();
        }
    }
    [[nodiscard]] A* data() const noexcept { return data_; }
    void finish() const {
        if (copy_) {
            convert<A>(on_, copy_->get(), nullptr, A{}, out_);
        }
    }

private:
    const gpu& on_;
    const array& out_;
    A* data_;
    std::optional<temporary> copy_;
};

} // namespace warpfold::python::on_gpu
