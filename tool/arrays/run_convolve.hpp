// SPDX-License-Identifier: MIT
// Convolutions and correlations of images of float or double.
#pragma once

#include "tool/arrays/calls.hpp"
#include "warpfold/convolve.hpp"

namespace warpfold::calls {

template <class T, class Memory>
void run_convolve_of(Memory& memory, const convolve_request& q) {
    const image<const T> in{static_cast<const T*>(memory.in(q.in, q.width * q.height * q.count * sizeof(T))), q.width,
                            q.height, 0, q.count};
    const image<T> out{static_cast<T*>(memory.out(q.out, q.out_width * q.out_height * q.count * sizeof(T))),
                       q.out_width, q.out_height, 0, q.count};
    const image<const double> mask{q.mask, q.mask_width, q.mask_height};
    const convolve_options how{static_cast<border>(q.border), static_cast<outputs>(q.which)};
    if (q.turned) {
        convolve(memory.on(), in, mask, out, how);
    } else {
        correlate(memory.on(), in, mask, out, how);
    }
    memory.fetch();
}

template <class Memory>
void run_convolve(Memory& memory, const convolve_request& q) {
    if (q.is_double) {
        run_convolve_of<double>(memory, q);
    } else {
        run_convolve_of<float>(memory, q);
    }
}

} // namespace warpfold::calls
