// SPDX-License-Identifier: MIT
// Tensor maps that the driver takes or refuses; see tensor_map_facts.cu.
#include "tests/runtime/programs/facts/tensor_map_facts.hpp"

#include <cstdio>
#include <functional>

void errors() {
    alignas(64) CUtensorMap map[2];
    const auto say = [&](const char* name, const description& d, void* at = nullptr) {
        std::printf("encode, %s: %d\n", name, static_cast<int>(encode(map[0], d, at)));
    };
    description d{.size = {64, 64}, .box = {8, 8}};
    say("plain", d);
    say("address + 8", d, tensor + 8);
    say("address + 16", d, tensor + 16);
    say("no address", d, reinterpret_cast<void*>(0));
    std::printf("encode, map + 32: %d\n",
                static_cast<int>(encode(*reinterpret_cast<CUtensorMap*>(reinterpret_cast<char*>(map) + 32), d)));
    const auto with = [&](const char* name, const std::function<void(description&)>& how) {
        description changed = d;
        how(changed);
        say(name, changed);
    };
    with("size 0", [](description& x) {
        x.size = {0, 64};
        x.stride = {128};
    });
    with("size 2^32", [](description& x) { x.size = {64, 1ull << 32}; });
    with("size 2^32 + 1", [](description& x) { x.size = {64, (1ull << 32) + 1}; });
    with("stride 8", [](description& x) { x.stride = {8}; });
    with("stride 0", [](description& x) { x.stride = {0}; });
    with("stride 16, narrower than a row", [](description& x) { x.stride = {16}; });
    with("stride 2^40", [](description& x) { x.stride = {1ull << 40}; });
    with("stride 2^40 - 16", [](description& x) { x.stride = {(1ull << 40) - 16}; });
    with("strides that go down", [](description& x) {
        x.size = {64, 4, 4};
        x.box = {8, 2, 2};
        x.stride = {512, 128};
    });
    with("box 0", [](description& x) { x.box = {0, 8}; });
    with("box 256", [](description& x) { x.box = {8, 256}; });
    with("box 257", [](description& x) { x.box = {8, 257}; });
    with("box of 8 bytes", [](description& x) { x.box = {4, 8}; });
    with("box of 24 bytes", [](description& x) { x.box = {12, 8}; });
    with("box wider than the tensor", [](description& x) { x.box = {128, 8}; });
    with("box of 512 bytes", [](description& x) { x.box = {256, 8}; });
    with("box of 128 KiB", [](description& x) { x.box = {256, 256}; });
    with("box of 512 KiB", [](description& x) {
        x.size = {64, 64, 4};
        x.box = {256, 256, 4};
    });
    with("step 0", [](description& x) { x.steps = {1, 0, 1, 1, 1}; });
    with("step 8", [](description& x) { x.steps = {1, 8, 1, 1, 1}; });
    with("step 9", [](description& x) { x.steps = {1, 9, 1, 1, 1}; });
    with("step 9 of the first", [](description& x) { x.steps = {9, 1, 1, 1, 1}; });
    with("swizzle 32, box 64", [](description& x) {
        x.box = {32, 8};
        x.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    });
    with("swizzle 128, box 256", [](description& x) {
        x.box = {128, 8};
        x.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    });
    with("swizzle 7", [](description& x) { x.swizzle = static_cast<CUtensorMapSwizzle>(7); });
    with("interleave, 2d", [](description& x) { x.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
    with("interleave 32, no swizzle", [](description& x) {
        x.size = {32, 8, 8};
        x.box = {8, 2, 2};
        x.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
    });
    with("NaN of integers", [](description& x) { x.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; });
    with("type 13", [](description& x) { x.type = static_cast<CUtensorMapDataType>(13); });
    with("type 14", [](description& x) {
        x.type = static_cast<CUtensorMapDataType>(14);
        x.box = {128, 8};
        x.size = {256, 64};
    });
    with("type 15", [](description& x) {
        x.type = static_cast<CUtensorMapDataType>(15);
        x.box = {128, 8};
        x.size = {256, 64};
    });
    with("type 99", [](description& x) { x.type = static_cast<CUtensorMapDataType>(99); });
    with("rank 1", [](description& x) {
        x.size = {64};
        x.box = {8};
    });
    const cuuint64_t sizes[6] = {16, 2, 2, 2, 2, 2};
    const cuuint64_t strides[5] = {32, 64, 128, 256, 512};
    const cuuint32_t boxes[6] = {8, 1, 1, 1, 1, 1};
    const cuuint32_t ones[6] = {1, 1, 1, 1, 1, 1};
    for (const unsigned rank : {0u, 6u}) {
        std::printf(
            "encode, rank %u: %d\n", rank,
            static_cast<int>(encode_tiled(map, CU_TENSOR_MAP_DATA_TYPE_UINT16, rank, tensor, sizes, strides, boxes,
                                          ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)));
    }
    d = {.size = {16, 5, 4, 3}};
    d.channels = 8;
    d.pixels = 12;
    d.lower = {0, 0};
    d.upper = {0, 0};
    say("im2col", d);
    with("im2col, 2d", [](description& x) { x.size = {16, 5}; });
    with("im2col, lower 127", [](description& x) { x.lower = {127, 0}; });
    with("im2col, lower 128", [](description& x) { x.lower = {128, 0}; });
    with("im2col, lower -128", [](description& x) { x.lower = {-128, 0}; });
    with("im2col, lower -129", [](description& x) { x.lower = {-129, 0}; });
    with("im2col, upper below lower", [](description& x) {
        x.lower = {2, 0};
        x.upper = {-4, 0};
    });
    with("im2col, 256 channels", [](description& x) { x.channels = 256; });
    with("im2col, 257 channels", [](description& x) { x.channels = 257; });
    with("im2col, 4 channels", [](description& x) { x.channels = 4; });
    with("im2col, 1024 pixels", [](description& x) { x.pixels = 1024; });
    with("im2col, 1025 pixels", [](description& x) { x.pixels = 1025; });
}
