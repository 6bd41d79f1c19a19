// SPDX-License-Identifier: MIT
// The one way in which the steps launch a kernel, and the choice of a kernel by block size.
#pragma once

#include <bit>
#include <cstddef>
#include <type_traits>

#include "ladder/engine/definition/launch.hpp"
#include "ladder/reduce/definition/blocks.hpp"
#include "ladder/reduce/definition/claims.hpp"
#include "ladder/reduce/definition/reduction.hpp"
#include "ladder/reduce/definition/table.hpp"

namespace warpfold::ladder::reduce {

// Launches `kernel` on the context's stream and records it. Throws measure::cuda_error.
template <class... Parameters>
void launch(const launch_context& context, const char* name, void (*kernel)(Parameters...), std::size_t shared_bytes,
            std::type_identity_t<Parameters>... arguments) {
    engine::launch(context.on, name, kernel, static_cast<unsigned>(context.blocks), context.device.block, shared_bytes,
                   arguments...);
}

// Calls f.template operator()<Size>() with the power of two that is `threads` rounded up: the lectures' switch over the
// possible block sizes, eleven of them since blocks may have 1024 threads.
template <class F>
void with_block_size(unsigned threads, F&& f) {
    switch (std::bit_ceil(threads)) {
    case 1024: return f.template operator()<1024>();
    case 512: return f.template operator()<512>();
    case 256: return f.template operator()<256>();
    case 128: return f.template operator()<128>();
    case 64: return f.template operator()<64>();
    case 32: return f.template operator()<32>();
    case 16: return f.template operator()<16>();
    case 8: return f.template operator()<8>();
    case 4: return f.template operator()<4>();
    case 2: return f.template operator()<2>();
    case 1: return f.template operator()<1>();
    default: throw bad_request("a block has at most 1024 threads");
    }
}

} // namespace warpfold::ladder::reduce
