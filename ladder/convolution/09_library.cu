// SPDX-License-Identifier: MIT
// Convolution, steps 9 and 10: the library's own calls, in one dimension, and of an image with a separable mask.
#include "ladder/convolution/steps.hpp"
#include "ladder/engine/definition/library_workspace.hpp"
#include "warpfold/convolve.cuh"

namespace warpfold::ladder::convolution {

namespace {

void run(const engine::stage& on) {
    static engine::kept_workspace memory;
    if (on.n == 0) {
        return;
    }
    const auto mask = mask_of(mask_width);
    const gpu target = memory.target(on, convolve_workspace<float, float>(mask.size()));
    warpfold::correlate(target, on.input<float>(), on.n, mask.data(), mask.size(), on.output<float>());
}

void run_2d(const engine::stage& on) {
    static engine::kept_workspace memory;
    const extent e = image_of(on.n);
    if (on.n == 0) {
        return;
    }
    const auto width = static_cast<std::uint64_t>(e.width);
    const auto height = static_cast<std::uint64_t>(e.height);
    const auto mask = mask_of(side);
    const gpu target =
        memory.target(on, convolve_separable_workspace<float, float>(width, height, 1, mask.size(), mask.size()));
    warpfold::correlate_separable(target, warpfold::image<const float>{on.input<float>(), width, height}, mask.data(),
                                  mask.size(), mask.data(), mask.size(),
                                  warpfold::image<float>{on.output<float>(), width, height});
}

constexpr const char* source = "ladder/convolution/09_library.cu";

} // namespace

engine::step_definition library() {
    return {.about = {"9", "warpfold::correlate", source, "the library's call, one dimension", "beyond the lectures"},
            .data = line,
            .run = run,
            .least_bytes = engine::read_and_written,
            .claims = {{"faster than step 3", "beyond the lectures", engine::faster_than("3")}}};
}

engine::step_definition library_2d() {
    return {
        .about = {"10", "warpfold::correlate_separable", source, "the library's call, an image", "beyond the lectures"},
        .data = image,
        .run = run_2d,
        .size = [](std::uint64_t n) { return pixels(n); },
        .least_bytes = engine::read_and_written,
        .claims = {{"faster than step 8", "beyond the lectures", engine::faster_than("8")}}};
}

} // namespace warpfold::ladder::convolution
