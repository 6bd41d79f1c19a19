// SPDX-License-Identifier: MIT
// Calls of the runtime by the program, counted.
#pragma once

namespace warpfold::tests {

struct runtime_calls {
    unsigned devices;  // cudaGetDevice
    unsigned launches; // cudaLaunchKernelExC
    unsigned others;   // memory in stream order, attributes of devices and kernels
};
extern runtime_calls counted;

} // namespace warpfold::tests
