// SPDX-License-Identifier: MIT
// Errors that do not stick: asked for or not, at the launch or after it; out of memory; configurations that no device
// takes. The results of a step are the codes that the runtime answers. (Parallel patterns "Error Handling in CUDA".)
// Mended: cudaThreadSynchronize of the slides is cudaDeviceSynchronize today. The slides' crashing kernel, which writes
// to address 0, leaves an error that sticks to the process: sticky.cu.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/errors/steps.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::errors {

namespace {

__global__ void foo(int* ptr) { *ptr = 7; }
__global__ void nothing() {}

int code(cudaError_t error) { return static_cast<int>(error); }

// The codes go where the results of a step are.
void leave(const engine::stage& on, const std::vector<int>& codes) {
    WARPFOLD_CUDA_CHECK(
        cudaMemcpyAsync(on.out, codes.data(), codes.size() * sizeof(int), cudaMemcpyHostToDevice, on.stream));
    WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream));
}

engine::sample expected(const std::vector<std::int32_t>& codes) { return {codes.size(), {}, engine::bytes_of(codes)}; }

// More than any device has, and more than this one.
std::size_t too_many_bytes() {
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    WARPFOLD_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    return std::max<std::size_t>(100'000'000'000, 2 * all_bytes);
}

// What a launch of such a shape answers, if asked three times: a look, the error, and once more.
std::vector<int> launch(const engine::stage& on, dim3 grid, dim3 block, std::size_t shared_bytes) {
    nothing<<<grid, block, shared_bytes, on.stream>>>();
    return {code(cudaPeekAtLastError()), code(cudaGetLastError()), code(cudaGetLastError())};
}

// Drivers of today answer invalid value, where cudaErrorInvalidConfiguration was the answer once.
engine::sample refused(std::uint64_t /*n*/, std::uint64_t /*seed*/) {
    const int wrong = code(cudaErrorInvalidValue);
    return expected({wrong, wrong, 0, 0, 0, 0, wrong, wrong, 0, wrong, wrong, 0});
}
void run_shapes(const engine::stage& on, unsigned first_threads) {
    std::vector<int> all;
    for (const auto& [grid, block] :
         {std::pair<dim3, dim3>{1, first_threads}, {1, 1024}, {1, 0}, {dim3(1, 70'000), 1}}) {
        const auto codes = launch(on, grid, block, 0);
        all.insert(all.end(), codes.begin(), codes.end());
    }
    leave(on, all);
}
void run_refused(const engine::stage& on) { run_shapes(on, 1025); }

engine::sample too_much_shared(std::uint64_t /*n*/, std::uint64_t /*seed*/) {
    const int wrong = code(cudaErrorInvalidValue);
    return expected({wrong, wrong, 0});
}
void run_too_much_shared(const engine::stage& on) { leave(on, launch(on, 1, 1, std::size_t{1} << 20)); }

engine::sample none(std::uint64_t /*n*/, std::uint64_t /*seed*/) { return expected({0, 0, 7}); }
void run_asked_twice(const engine::stage& on) {
    int* const ptr = on.temporary<int>();
    foo<<<1, 1, 0, on.stream>>>(ptr);
    const int after_launch = code(cudaGetLastError());
    const int after_end = code(cudaStreamSynchronize(on.stream));
    int value = 0;
    WARPFOLD_CUDA_CHECK(cudaMemcpy(&value, ptr, sizeof value, cudaMemcpyDeviceToHost));
    leave(on, {after_launch, after_end, value});
}

engine::sample out_of_memory(std::uint64_t /*n*/, std::uint64_t /*seed*/) {
    const int wrong = code(cudaErrorMemoryAllocation);
    return expected({wrong, wrong, 0});
}
void run_out_of_memory(const engine::stage& on) {
    void* ptr = nullptr;
    const int answer = code(cudaMalloc(&ptr, too_many_bytes()));
    leave(on, {answer, code(cudaGetLastError()), code(cudaGetLastError())});
}

engine::sample goes_on(std::uint64_t /*n*/, std::uint64_t /*seed*/) {
    return expected({code(cudaErrorMemoryAllocation), code(cudaErrorInvalidValue), 0, 7});
}
void run_goes_on(const engine::stage& on) {
    void* none_there = nullptr;
    const int memory = code(cudaMalloc(&none_there, too_many_bytes()));
    (void)cudaGetLastError();
    const int shape = launch(on, 1, 2048, 0).front();
    int* const ptr = on.temporary<int>();
    foo<<<1, 1, 0, on.stream>>>(ptr);
    const int good = code(cudaGetLastError());
    int value = 0;
    WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream));
    WARPFOLD_CUDA_CHECK(cudaMemcpy(&value, ptr, sizeof value, cudaMemcpyDeviceToHost));
    leave(on, {memory, shape, good, value});
}

// The slide's lines, which are under #ifdef DEBUG there; `said` gets what they print.
template <bool Debug>
int look_for_errors(const char* filename, int line_number, std::string& said) {
    if constexpr (Debug) {
        (void)cudaDeviceSynchronize();
        const cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) {
            said = std::string("CUDA error at ") + filename + ":" + std::to_string(line_number) + ": " +
                   cudaGetErrorString(error);
        }
        return code(error);
    }
    return code(cudaSuccess);
}

// With the slide's lines left out, and with them; what is still to be asked for in between and at the end.
std::string said_when_debugging(std::vector<int>* codes) {
    std::string said;
    foo<<<1, 2048>>>(nullptr);
    codes->push_back(look_for_errors<false>("errors.cu", __LINE__, said));
    codes->push_back(code(cudaPeekAtLastError()));
    codes->push_back(look_for_errors<true>("errors.cu", __LINE__, said));
    codes->push_back(code(cudaGetLastError()));
    return said;
}
engine::sample found_when_debugging(std::uint64_t /*n*/, std::uint64_t /*seed*/) {
    const int wrong = code(cudaErrorInvalidValue);
    return expected({0, wrong, wrong, 0});
}
void run_debugging(const engine::stage& on) {
    std::vector<int> codes;
    (void)said_when_debugging(&codes);
    leave(on, codes);
}
std::string named(std::int32_t value) {
    return std::string(cudaGetErrorName(static_cast<cudaError_t>(value))) + " (" +
           cudaGetErrorString(static_cast<cudaError_t>(value)) + ")";
}

using codes = std::span<const std::int32_t>;

// `holds` of the codes that the step has left, `least` of them or more; the figure says `what` and names the first code.
engine::check answers(std::size_t least, std::string what, bool (*holds)(codes)) {
    return [least, what = std::move(what), holds](const engine::evidence& e) {
        const codes left = engine::view<std::int32_t>(e.result);
        return seen(left.size() >= least && holds(left), what + ": " + named(left.front()));
    };
}

verdict says_file_and_line(const engine::evidence& e) {
    const codes left = engine::view<std::int32_t>(e.result);
    std::vector<int> again;
    const std::string said = said_when_debugging(&again);
    if (left.size() < 3) {
        return unseen("the codes of the check are missing");
    }
    // Without DEBUG no word, although there is an error; with it that error.
    return seen(left[0] == 0 && left[1] != 0 && left[2] == left[1] && said.rfind("CUDA error at errors.cu:", 0) == 0,
                said + "; the codes: " + named(left[0]) + " without -DDEBUG, " + named(left[2]) + " with it");
}

verdict asked_by_name(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    const std::string text = cudaGetErrorString(static_cast<cudaError_t>(codes[0]));
    return seen(text == "out of memory", "CUDA error: " + text);
}

verdict most_threads(const engine::evidence& e) {
    const codes left = engine::view<std::int32_t>(e.result);
    return seen(left.size() == 12 && left[0] != 0 && left[3] == 0,
                "a block of 1,025 threads: " + named(left[0]) +
                    (left.size() == 12 ? "; of 1,024: " + named(left[3]) : ""));
}

constexpr const char* source = "ladder/errors/errors.cu";
constexpr const char* handling = "Parallel patterns, Error Handling";
constexpr const char* last_error = "Parallel patterns, cudaError_t cudaGetLastError(void)";

std::function<std::uint64_t(std::uint64_t)> codes_of(engine::data_function data) {
    return [data](std::uint64_t) { return data(0, 0).n; };
}
std::size_t a_word(std::uint64_t) { return sizeof(int); }

engine::step_definition step(std::string id, std::string title, std::string idea, std::string lecture,
                             engine::data_function data, void (*run)(const engine::stage&),
                             std::vector<engine::claim_check> claims) {
    return {.about = {std::move(id), std::move(title), source, std::move(idea), std::move(lecture)},
            .data = data,
            .run = run,
            .size = codes_of(data),
            .scratch_bytes = a_word,
            .claims = std::move(claims)};
}

std::vector<engine::step_definition> steps() {
    return {
        step("configuration", "shapes that no device takes",
             "1,025 threads, no thread, 70,000 blocks in y; and 1,024 threads, which each takes", handling, refused,
             run_refused,
             {{"CUDA runtime will respond to questions, but won't talk without asked", handling,
               answers(3, "a launch returns nothing; cudaGetLastError answers, and then forgets",
                       [](codes c) { return c[0] != 0 && c[1] == c[0] && c[2] == 0; })
                   .refuted_by(engine::step_in_place("after"))},
              {"one block in CUDA has at the most 1024 threads", "759, Hillis & Steele: Kernel Function, Quick Remarks",
               engine::check(most_threads)
                   .refuted_by(engine::mutant("1,024 threads both times",
                                              [](const engine::stage& on) { run_shapes(on, 1024); }))}}),
        step("shared", "too much shared memory", "1 MiB at a launch", handling, too_much_shared, run_too_much_shared,
             {{"if we suspect an error has occurred during a kernel launch, we must explicitly check for it", handling,
               answers(3, "asked after the launch", [](codes c) { return c[1] != 0 && c[2] == 0; })
                   .refuted_by(engine::step_in_place("after"))}}),
        step("after", "after the launch, and after the kernel", "the same question, two times", handling, none,
             run_asked_twice,
             {{"cudaSuccess where nothing is wrong", "beyond the lectures",
               answers(3, "no error at the launch, none at the end, and what the kernel wrote is there",
                       [](codes c) { return c[0] == 0 && c[1] == 0 && c[2] == 7; })
                   .refuted_by(engine::step_in_place("shared"))}}),
        step("memory", "out of memory", "100,000,000,000 bytes, or twice what the device has",
             "Parallel patterns, Same Technique with Synchronous Calls", out_of_memory, run_out_of_memory,
             {{"the output will be: CUDA error: out of memory",
               "Parallel patterns, Same Technique with Synchronous Calls",
               engine::check(asked_by_name).refuted_by(engine::step_in_place("shared"))}}),
        step("goes on", "errors that do not stick", "after both, a kernel runs as if nothing had been", handling,
             goes_on, run_goes_on,
             {{"these errors do not stick: the next kernel runs", "beyond the lectures",
               answers(4, "two errors, and then a kernel that is right",
                       [](codes c) { return c[0] != 0 && c[1] != 0 && c[2] == 0 && c[3] == 7; })
                   .refuted_by(engine::step_in_place("sticky"))},
              {"returns a value encoding the kind of the last error it has encountered", last_error,
               answers(2, "for 2,048 threads another code than for too much memory",
                       [](codes c) { return c[0] != 0 && c[1] != 0 && c[0] != c[1]; })
                   .refuted_by(engine::step_in_place("configuration"))}}),
        step("debug", "the slide's check, with and without DEBUG", "a launch that is refused, and who says so",
             "Parallel patterns, Rules of Thumb", found_when_debugging, run_debugging,
             {{"you can enable it during debugging and disable it otherwise: CUDA error at file:line: text",
               "Parallel patterns, Rules of Thumb",
               engine::check(says_file_and_line).refuted_by(engine::step_in_place("after"))}}),
        crash(),
        sticky(),
        new_process(),
        misaligned(),
        failed_assertion(),
    };
}

} // namespace

const engine::ladder_definition& laboratory() {
    static const engine::ladder_definition all{.name = "errors",
                                               .data = "calls that fail, and what the runtime answers",
                                               .n_counted = 1,
                                               .n_timed = 1,
                                               .most = 1u << 20,
                                               .steps = steps(),
                                               .child_programs = child_programs()};
    return all;
}

} // namespace warpfold::ladder::errors

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::errors::laboratory();
}
