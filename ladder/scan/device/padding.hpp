// SPDX-License-Identifier: MIT
// An array in shared memory with an unused word after every 32.
#pragma once

namespace warpfold::ladder::scan {

// Where element k is; of n, how many words the array takes (n a multiple of 32, or less than that).
#ifdef __CUDACC__
__host__ __device__
#endif
    constexpr unsigned
    padded(unsigned k) {
    return k + k / 32;
}

} // namespace warpfold::ladder::scan
