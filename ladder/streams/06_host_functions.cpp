// SPDX-License-Identifier: MIT
// Functions of the host in a stream: each fills the page-locked memory that the copy after it reads. In one stream by
// cudaLaunchHostFunc, in the other by cudaStreamAddCallback. (759, "CUDA Streams: Overview": handling events, in today's forms.)
#include <array>
#include <cstring>
#include <memory>

#include "ladder/streams/bench.hpp"
#include "ladder/streams/steps.hpp"
#include "ladder/streams/timeline_claims.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::streams {

namespace {

struct filling {
    int* to = nullptr;
    const int* from = nullptr;
    std::size_t bytes = 0;

    static void carry_out(void* user) {
        const auto& f = *static_cast<const filling*>(user);
        std::memcpy(f.to, f.from, f.bytes);
    }
    static void carry_out(cudaStream_t /*stream*/, cudaError_t status, void* user) {
        if (status == cudaSuccess) {
            carry_out(user);
        }
    }
};

struct filled_bench : bench {
    explicit filled_bench(const engine::stage& on) : bench(on, false) {
        const auto halves = parts(on.n, 2);
        for (std::size_t k = 0; k < 2; ++k) {
            fillings[k] = {in + halves[k].first, data + halves[k].first, halves[k].count * sizeof(int)};
        }
        std::memset(in, 0x33, on.n * sizeof(int));
    }

    std::array<filling, 2> fillings; // what the functions get, for as long as they may run
};

void run_functions(const engine::stage& on) {
    auto& b = static_cast<filled_bench&>(bench_of(on));
    const auto halves = parts(on.n, 2);
    for (std::size_t k = 0; k < 2; ++k) {
        fork(on, b.streams[k].handle());
    }
    for (std::size_t k = 0; k < 2; ++k) {
        const cudaStream_t stream = b.streams[k].handle();
        engine::operate(on, stream, {"host function", device_engine::host}, [&] {
            if (k == 0) {
                WARPFOLD_CUDA_CHECK(cudaLaunchHostFunc(stream, filling::carry_out, &b.fillings[k]));
            } else {
                WARPFOLD_CUDA_CHECK(cudaStreamAddCallback(stream, filling::carry_out, &b.fillings[k], 0));
            }
        });
        copy_in(on, stream, halves[k]);
        compute(on, stream, halves[k]);
        copy_out(on, stream, halves[k]);
    }
    for (std::size_t k = 0; k < 2; ++k) {
        join(on, b.streams[k].handle());
    }
}

} // namespace

engine::step_definition host_functions() {
    engine::step_definition s =
        step("host functions", "functions of the host in a stream", "ladder/streams/06_host_functions.cpp",
             "the host fills each half of the page-locked memory when its stream has come to it",
             "759, CUDA Streams: Overview", run_functions,
             {{"what comes after the function in its stream begins when it is over", "beyond the lectures",
               streams_are_in_order()},
              {"the other stream goes on meanwhile", "beyond the lectures",
               engines_overlap(device_engine::host, device_engine::to_device)}});
    s.prepare = [](const engine::stage& on) -> std::shared_ptr<void> {
        return std::shared_ptr<bench>(std::make_shared<filled_bench>(on));
    };
    return s;
}

} // namespace warpfold::ladder::streams
