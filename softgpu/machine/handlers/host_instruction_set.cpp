// SPDX-License-Identifier: MIT
#include "softgpu/machine/code/handler_set.hpp"

#include <cstdlib>
#include <string>

namespace softgpu::machine {

namespace plain {
handler_set make_set();
}
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

handler_set choose() {
    // SOFTGPU_INSTRUCTION_SET=plain|avx2 holds the choice down, for tests and benchmarks.
    const char* const wish = std::getenv("SOFTGPU_INSTRUCTION_SET");
    [[maybe_unused]] const std::string_view most = wish != nullptr ? wish : "avx512";
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
    return plain::make_set();
}

} // namespace

const handler_set& chosen_handlers() {
    static const handler_set chosen = choose();
    return chosen;
}

std::string_view instruction_set() noexcept { return chosen_handlers().name; }

} // namespace softgpu::machine
