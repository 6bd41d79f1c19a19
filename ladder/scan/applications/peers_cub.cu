// SPDX-License-Identifier: MIT
// The peer that ships with CUDA: its calls for the applications of scan, temporary storage allocated beforehand.
#include <algorithm>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/applications/applications.hpp"

namespace warpfold::ladder::scan {

namespace {

struct is_kept {
    WARPFOLD_HD bool operator()(int value) const { return kept(value); }
};

cudaError_t select(void* scratch, std::size_t& bytes, const engine::stage& on) {
    int* const out = static_cast<int*>(on.out);
    return cub::DeviceSelect::If(scratch, bytes, on.input<int>(), out + 1, out, static_cast<int>(on.n), is_kept{},
                                 on.stream);
}

cudaError_t sort(void* scratch, std::size_t& bytes, const engine::stage& on) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, on.input<unsigned>(), on.output<unsigned>(),
                                          static_cast<int>(on.n), 0, 32, on.stream);
}

// The lengths go where the values end: their number is taken from the right result.
cudaError_t encode(void* scratch, std::size_t& bytes, const engine::stage& on) {
    const std::size_t runs = on.data == nullptr ? 0 : (on.data->right.size() / sizeof(int) - 1) / 2;
    int* const out = static_cast<int*>(on.out);
    return cub::DeviceRunLengthEncode::Encode(scratch, bytes, on.input<int>(), out + 1, out + 1 + runs, out,
                                              static_cast<int>(on.n), on.stream);
}

cudaError_t count(void* scratch, std::size_t& bytes, const engine::stage& on) {
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, on.input<unsigned>(), on.output<int>(),
                                               static_cast<int>(byte_values + 1), 0u, byte_values,
                                               static_cast<int>(on.n), on.stream);
}

using call = cudaError_t (*)(void* scratch, std::size_t& bytes, const engine::stage& on);

template <call Call>
std::size_t scratch_bytes(std::uint64_t n) {
    engine::stage on;
    on.n = n;
    on.in.push_back(nullptr);
    std::size_t bytes = 0;
    WARPFOLD_CUDA_CHECK(Call(nullptr, bytes, on));
    return std::max<std::size_t>(bytes, 1);
}

template <call Call>
void run(const engine::stage& on) {
    std::size_t bytes = on.scratch_bytes;
    WARPFOLD_CUDA_CHECK(Call(on.scratch, bytes, on));
}

template <call Call>
engine::step_definition peer(const char* id, const char* title, const char* idea, engine::data_function data) {
    return {.about = {id, title, "ladder/scan/applications/peers_cub.cu", idea, "", true},
            .data = data,
            .run = run<Call>,
            .scratch_bytes = scratch_bytes<Call>};
}

} // namespace

engine::step_definition cub_select() {
    return peer<select>("cub-select", "cub::DeviceSelect", "If of the peer that ships with CUDA", kept_numbers);
}
engine::step_definition cub_sort() {
    return peer<sort>("cub-sort", "cub::DeviceRadixSort", "SortKeys of the peer that ships with CUDA", keys_to_sort);
}
engine::step_definition cub_runs() {
    return peer<encode>("cub-runs", "cub::DeviceRunLengthEncode", "Encode of the peer that ships with CUDA",
                        runs_of_numbers);
}
engine::step_definition cub_histogram() {
    return peer<count>("cub-histogram", "cub::DeviceHistogram", "HistogramEven of the peer that ships with CUDA",
                       numbers_to_count);
}

} // namespace warpfold::ladder::scan
