// SPDX-License-Identifier: MIT
// cudaStreamGetCaptureInfo, which CUDA 12 and 13 declare differently.
#pragma once

#include "softgpu/runtime/graph/capture.hpp"

namespace softgpu::runtime {

// Writes what the pointers ask for; all but `status` may be nullptr. Throws failure.
void give_capture_information(context& gpu, stream* s, capture_status* status, unsigned long long* id, graph** into,
                              graph_node* const** dependencies, const edge_data** data, std::size_t* count);

} // namespace softgpu::runtime
