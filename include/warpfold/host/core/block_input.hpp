// SPDX-License-Identifier: MIT
// Inputs that copy neighbouring elements faster than they give them one by one.
#pragma once

#include <concepts>
#include <cstdint>

#include "warpfold/detail/arrays.hpp"

namespace warpfold::detail {

// in.read(first, count, to): to[j] = in[first + j] for j < count. Calls on the host may read so in place of in[k], from any thread.
template <class In>
concept reads_blocks = requires(const In& in, std::uint64_t k, element_t<In>* to) {
    in.read(k, k, to);
};

} // namespace warpfold::detail
