// SPDX-License-Identifier: MIT
// Feeds any bytes to the PTX parser: it either throws ptx::error or gives a module that prints and parses again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "softgpu/ptx/ast.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace softgpu::ptx;
    module m;
    try {
        m = parse(std::string(reinterpret_cast<const char*>(data), size));
    } catch (const error&) {
        return 0;
    }
    const std::string printed = print(m);
    if (print(parse(printed)) != printed) {
        std::abort();
    }
    return 0;
}
