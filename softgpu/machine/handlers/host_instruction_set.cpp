// SPDX-License-Identifier: MIT
// The choice of the instruction set, and the handlers that are compiled only once.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "softgpu/machine/calls/builtins.hpp"
#include "softgpu/machine/calls/calls.hpp"
#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/inspect/async/bulk_checks.hpp"
#include "softgpu/machine/inspect/async/copy_checks.hpp"
#include "softgpu/machine/inspect/async/warpgroup_checks.hpp"
#include "softgpu/machine/inspect/barrier_checks.hpp"
#include "softgpu/machine/inspect/profile.hpp"
#include "softgpu/machine/inspect/races/release_checks.hpp"
#include "softgpu/machine/inspect/uninitialized.hpp"
#include "softgpu/machine/run/schedule/adversary.hpp"
#include "softgpu/machine/run/schedule/deadlock.hpp"
#include "softgpu/machine/run/warp/warp_sync_checks.hpp"

namespace softgpu::machine {

#ifdef SOFTGPU_HAS_PLAIN
namespace plain {
handler_set make_set();
}
#endif
#ifdef SOFTGPU_HAS_AVX2
namespace avx2 {
handler_set make_set();
}
#endif
#ifdef SOFTGPU_HAS_AVX512
namespace avx512 {
handler_set make_set();
}
#endif

namespace {

handler_set choose_set() {
    // SOFTGPU_INSTRUCTION_SET=plain|avx2 limits the choice, for tests and benchmarks. The runtime refuses other values.
    const char* const wish = std::getenv("SOFTGPU_INSTRUCTION_SET");
    [[maybe_unused]] const std::string_view most = wish != nullptr && *wish != '\0' ? wish : "avx512";
#ifdef SOFTGPU_HAS_AVX512
    if (most == "avx512" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd")) {
        return avx512::make_set();
    }
#endif
#ifdef SOFTGPU_HAS_AVX2
    if (most != "plain" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) {
        return avx2::make_set();
    }
#endif
#ifdef SOFTGPU_HAS_PLAIN
    return plain::make_set();
#else
    // No result can be returned: the runtime's calls all need handlers.
    std::fprintf(stderr,
                 "softgpu: this build has no handlers for %s; configure it with "
                 "-DSOFTGPU_INSTRUCTION_SETS='plain;avx2;avx512'\n",
                 wish != nullptr ? wish : "this processor");
    std::abort();
#endif
}

handler_set complete(handler_set s) {
    s.call = call_function;
    s.after_call = after_call;
    s.return_lanes = return_lanes;
    s.load_parameter = load_parameter;
    s.store_parameter = store_parameter;
    s.find_builtin = find_builtin;
    s.poll = poll;
    s.schedule_point = schedule_point;
    s.count_instruction = count_instruction;
    s.check_warp_sync = check_warp_sync;
    s.check_barrier = check_barrier;
    s.check_fence = check_fence;
    s.check_acquire = check_acquire;
    s.check_copy_wait = check_copy_wait;
    s.check_warpgroup = check_warpgroup;
    s.note_bulk_site = note_bulk_site;
    s.follow_values = follow_values;
    return s;
}

} // namespace

const handler_set& chosen_handlers() {
    static const handler_set chosen = complete(choose_set());
    return chosen;
}

std::string_view instruction_set() noexcept { return chosen_handlers().name; }

} // namespace softgpu::machine
