// SPDX-License-Identifier: MIT
// The entry of libFuzzer: reads any bytes as a fat binary.
#include <cstddef>
#include <cstdint>

#include "softgpu/runtime/fatbin/fatbin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace softgpu::runtime;
    try {
        const std::vector<fatbin_entry> entries = read_fatbin(data, bytes);
        (void)best_ptx(entries, 90);
        for (const fatbin_entry& entry : entries) {
            try {
                (void)decompress(entry);
            } catch (const fatbin_error&) {
            }
        }
    } catch (const fatbin_error&) {
    }
    return 0;
}
