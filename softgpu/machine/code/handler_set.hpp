// SPDX-License-Identifier: MIT
// The table of handlers from which the decoder takes them. handlers/ fills one for each instruction set of the host;
// chosen_handlers() is the best that this host has.
#pragma once

#include <string_view>

#include "softgpu/machine/code/form.hpp"
#include "softgpu/machine/code/function_entry.hpp"
#include "softgpu/machine/code/instruction.hpp"

namespace softgpu::machine {

struct handler_set {
    std::string_view name; // "avx512", "avx2" or "plain"

    // The handler of a form, by family of the opcode; nullptr: this form is not supported.
    handler (*arithmetic)(const form&);
    handler (*logic)(const form&);
    handler (*compare)(const form&);
    handler (*convert)(const form&);
    handler (*memory)(const form&);
    handler (*atomic)(const form&);
    handler (*async)(const form&);
    handler (*control)(const form&);
    handler (*warp_wide)(const form&);
    handler (*matrix)(const form&);
    handler (*texture)(const form&);
    handler (*video)(const form&);
    handler (*check_access)(const form&); // runs before an access and checks it

    // Pseudo-instructions of control flow (handlers/control.cpp).
    handler enter;         // start of a basic block: counts it (`more` is its number)
    handler enter_meeting; // the same where lanes may reconverge
    handler meet;          // lanes may reconverge, nothing is counted
    // Start of a block behind a loop: the lanes do not come to meetings within it. Of the block `more` is the innermost loop, of the
    // meetings `e`.
    handler leave_loops;
    handler
        guard_begin; // lanes where e (not, if `more`) holds run up to guard_end; with none, skips `immediate` instructions
    handler guard_end;
    handler skip;           // lanes where e (not, if `more`) holds go to the target: a guard around what may wait
    handler branch;         // bra with guard e (negated if `more`)
    handler jump;           // bra without a guard
    handler leave;          // ret and exit of a kernel, its end; with a guard e unless nowhere
    handler unsupported;    // the fault names the source instruction
    handler barrier_result; // the second half of bar.red
    handler mask_to_value;  // d = immediate in lanes where mask a holds, else 0: the second half of set
    handler read_clock;     // `more`: 0 %clock, 1 %clock64, 2 %globaltimer, 3 %clock_hi, 4/5 %globaltimer_lo/hi

    // Calls (calls/calls.hpp).
    handler call;
    handler after_call; // where the lanes of a call reconverge
    handler return_lanes;
    handler load_parameter;
    handler store_parameter;
    builtin (*find_builtin)(std::string_view name); // nullptr where there is none of this name

    // Scheduling and counting.
    handler poll;           // before the branch that closes a loop which only reads memory (run/schedule/deadlock.hpp)
    handler schedule_point; // where an adversarial schedule may switch (run/schedule/adversary.hpp)
    handler count_instruction; // before each instruction that is profiled (inspect/profile.hpp)

    // Checks that do not depend on the form.
    handler check_warp_sync; // run/warp/warp_sync_checks.hpp
    handler check_barrier;   // inspect/barrier_checks.hpp
    handler check_fence;     // inspect/races/release_checks.hpp
    handler check_acquire;   // behind an access that may acquire
    handler check_copy_wait; // inspect/async/copy_checks.hpp
    handler check_warpgroup; // inspect/async/warpgroup_checks.hpp
    handler note_bulk_site;  // inspect/async/bulk_checks.hpp
    handler follow_values;   // inspect/uninitialized.hpp
};

[[nodiscard]] const handler_set& chosen_handlers();

} // namespace softgpu::machine
