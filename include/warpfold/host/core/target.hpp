// SPDX-License-Identifier: MIT
// The host as a target.
#pragma once

namespace warpfold {

// A call on the host's cores. It begins on the caller's thread; others join while the time that is left pays for them.
// It returns when the work is done. Results do not depend on the number of threads.
struct host {
    unsigned threads = 0; // the most that work; 0: the machine's number
};

} // namespace warpfold
