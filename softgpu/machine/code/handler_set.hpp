// SPDX-License-Identifier: MIT
// The handlers as compiled for one instruction set of the host, and the choice of the best that this host has.
#pragma once

#include <string_view>

#include "softgpu/machine/code/form.hpp"

namespace softgpu::machine {

struct handler_set {
    std::string_view name;
    // nullptr: this form is not there.
    handler (*arithmetic)(const form&);
    handler (*logic)(const form&);
    handler (*compare)(const form&);
    handler (*convert)(const form&);
    handler (*memory)(const form&);
    handler (*atomic)(const form&);
    handler (*async)(const form&);
    handler (*control)(const form&);
    handler (*warp_wide)(const form&);
    handler (*texture)(const form&);
    handler (*video)(const form&);
    handler (*inspect)(const form&); // looks at an access before it happens
    // Pseudo-instructions of the decoder.
    handler enter;         // start of a block: counts it (`more` is its number)
    handler enter_meeting; // the same where lanes may meet
    handler meet;          // lanes may meet, nothing is counted
    handler
        guard_begin; // lanes where e (not, if `more`) holds run alone up to guard_end; `immediate` instructions further if there is none
    handler guard_end;
    handler skip;           // lanes where e (not, if `more`) holds go to the target: a guard around what may wait
    handler branch;         // bra with guard e (negated if `more`)
    handler jump;           // bra without one
    handler leave;          // ret and exit of a kernel, its end; with a guard e unless nowhere
    handler unsupported;    // `more` says nothing: the source instruction is named in the fault
    handler barrier_result; // the second half of bar.red
    handler mask_to_value;  // d = immediate in lanes where mask a holds, else 0: the second half of set
    handler read_clock;     // `more`: 0 %clock, 1 %clock64, 2 %globaltimer, 3 %clock_hi, 4/5 %globaltimer_lo/hi
};

[[nodiscard]] const handler_set& chosen_handlers();

} // namespace softgpu::machine
