// SPDX-License-Identifier: MIT
// What a kernel may call, found before it runs: the shared variables of all of it, and how much of a thread's stack it
// takes where that can be known.
#pragma once

#include <cstdint>
#include <map>

#include "softgpu/machine/module/module.hpp"

namespace softgpu::machine {

class call_walk {
public:
    // `shared` bytes of the kernel's shared memory are taken.
    call_walk(module::implementation& home, kernel& k, std::uint64_t& shared)
        : home_(home), kernel_(k), shared_(shared) {}

    // Sets kernel::stack_bytes and needs_stack.
    void from_kernel(const ptx::function& f);

private:
    struct visit {
        bool finished = false;
        std::uint64_t stack = 0;
    };

    std::uint64_t below(module::implementation& home, const ptx::function& f); // stack that its callees take at most
    std::uint64_t of(const function_entry& f);
    void all_that_have_addresses();

    module::implementation& home_;
    kernel& kernel_;
    std::uint64_t& shared_;
    std::map<const function_entry*, visit> visits_;
    bool all_ = false;
};

// The operand of a call that names the function, or holds its address; nullptr where there is none.
[[nodiscard]] const ptx::operand* callee_operand(const ptx::instruction& call);

} // namespace softgpu::machine
