// SPDX-License-Identifier: MIT
// Instructions by what they need of a multiprocessor, for the model (docs/model.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace softgpu::observe {

// The names are those of a card's file, "throughput" and "latency".
enum class instruction_class : std::uint8_t {
    integer,  // additions, moves
    multiply, // integer products
    shift,    // shifts and fields of bits
    logic,    // logic, comparisons, selections, extremes
    fp32,
    fp64,
    half,
    special, // reciprocals, roots, sines, logarithms, counts of bits, slow conversions
    convert, // between 32 bits and 16
    shuffle,
    vote,
    tensor,  // products of matrices
    control, // branches, ends
    fence,   // of the device, or the system
    barrier, // of the block
    global_load,
    global_store,
    global_atomic,
    shared_load,
    shared_store,
    shared_atomic,
    local,    // loads and stores of local memory
    constant, // loads of constant memory by address
    texture,
    upper,           // the second instructions of 64-bit integers' additions, logic and comparisons
    tensor_products, // what `tensor` multiplies, in 32 multiply-adds of 16-bit floats: no instructions
    count_
};
inline constexpr std::size_t instruction_classes = static_cast<std::size_t>(instruction_class::count_);

// One number a class: warp instructions, or cycles.
template <class T>
struct by_class {
    std::array<T, instruction_classes> of{};

    [[nodiscard]] T& operator[](instruction_class c) noexcept { return of[static_cast<std::size_t>(c)]; }
    [[nodiscard]] const T& operator[](instruction_class c) const noexcept { return of[static_cast<std::size_t>(c)]; }
};

// Machine instructions that the PTX instructions of a launch stand for, counted once a warp.
using instruction_mix = by_class<std::uint64_t>;
// Cycles from an instruction's issue until its result can be used.
struct latency_table : by_class<double> {
    by_class<double> busy; // cycles that an instruction keeps its unit, of one scheduler
    double guard = 0;      // more, until a predicate lets an instruction begin
    double turn = 0;       // more of each turn of shared memory behind a load's first
    double past_l1 = 0;    // of a load that looks for what others write
};

} // namespace softgpu::observe
