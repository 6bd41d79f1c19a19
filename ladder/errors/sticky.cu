// SPDX-License-Identifier: MIT
// Errors that stick: a kernel that writes to address 0, and one whose assertion fails. The launch says nothing, the
// next call that waits says it, and from then on every call does, until the process is gone. (Parallel patterns "Error
// Handling in CUDA", "Error Handling".) The results of a step are the codes that the runtime answers, in a process of
// its own. Mended: cudaThreadSynchronize of the slides is cudaDeviceSynchronize today.
#undef NDEBUG
#include <algorithm>
#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/errors/steps.hpp"

namespace warpfold::ladder::errors {

namespace {

__global__ void foo(int* ptr) { *ptr = 7; }

__global__ void read_two(int* out, const int2* in) { *out = in->x + in->y; }

__global__ void expect_seven(const int* ptr) { assert(*ptr == 7); }

std::int32_t code(cudaError_t error) { return static_cast<std::int32_t>(error); }

// The slides' main(): asked after the launch, and after the kernel has finished.
std::vector<std::int32_t> crash_program() {
    foo<<<1, 1>>>(nullptr);
    const auto after_launch = code(cudaGetLastError());
    const auto after_end = code(cudaDeviceSynchronize());
    return {after_launch, after_end, code(cudaGetLastError())};
}

// The same, and then whatever else a program would do.
std::vector<std::int32_t> sticky_program() {
    int* good = nullptr;
    std::vector<std::int32_t> codes{code(cudaMalloc(&good, sizeof(int)))};
    foo<<<1, 1>>>(nullptr);
    codes.push_back(code(cudaDeviceSynchronize()));
    (void)cudaGetLastError();
    codes.push_back(code(cudaGetLastError())); // it is forgotten where it was asked for
    codes.push_back(code(cudaDeviceSynchronize()));
    foo<<<1, 1>>>(good);
    codes.push_back(code(cudaGetLastError()));
    int value = 0;
    codes.push_back(code(cudaMemcpy(&value, good, sizeof value, cudaMemcpyDeviceToHost)));
    void* more = nullptr;
    codes.push_back(code(cudaMalloc(&more, sizeof(int))));
    return codes;
}

std::vector<std::int32_t> good_program() {
    int* good = nullptr;
    int value = 0;
    std::vector<std::int32_t> codes{code(cudaMalloc(&good, sizeof(int)))};
    foo<<<1, 1>>>(good);
    codes.push_back(code(cudaMemcpy(&value, good, sizeof value, cudaMemcpyDeviceToHost)));
    codes.push_back(value);
    (void)cudaFree(good);
    return codes;
}

// Two words at once, from where two words begin, and from a word behind that.
std::vector<std::int32_t> misaligned_program() {
    int* words = nullptr;
    std::vector<std::int32_t> codes{code(cudaMalloc(&words, 4 * sizeof(int)))};
    (void)cudaMemset(words, 0, 4 * sizeof(int));
    for (const int first : {0, 1}) {
        read_two<<<1, 1>>>(words + 3, reinterpret_cast<const int2*>(words + first));
        codes.push_back(code(cudaDeviceSynchronize()));
    }
    codes.push_back(code(cudaMalloc(&words, sizeof(int))));
    return codes;
}

std::vector<std::int32_t> assertion_program() {
    int* ptr = nullptr;
    std::vector<std::int32_t> codes{code(cudaMalloc(&ptr, sizeof(int))), code(cudaMemset(ptr, 0, sizeof(int)))};
    expect_seven<<<1, 1>>>(ptr);
    codes.push_back(code(cudaGetLastError()));
    codes.push_back(code(cudaDeviceSynchronize()));
    codes.push_back(code(cudaMalloc(&ptr, sizeof(int))));
    return codes;
}

constexpr std::int32_t address = cudaErrorIllegalAddress;
constexpr std::int32_t assertion = cudaErrorAssert;
constexpr std::int32_t alignment = cudaErrorMisalignedAddress;

engine::sample of(const std::vector<std::int32_t>& codes) { return {codes.size(), {}, engine::bytes_of(codes)}; }

engine::sample crashed(std::uint64_t /*n*/, std::uint64_t /*seed*/) { return of({0, address, address}); }
engine::sample stuck(std::uint64_t /*n*/, std::uint64_t /*seed*/) {
    return of({0, address, 0, address, address, address, address});
}
engine::sample well_again(std::uint64_t /*n*/, std::uint64_t /*seed*/) { return of({0, address, address, 0, 0, 7}); }
engine::sample asserted(std::uint64_t /*n*/, std::uint64_t /*seed*/) { return of({0, 0, 0, assertion, assertion}); }
engine::sample off_by_a_word(std::uint64_t /*n*/, std::uint64_t /*seed*/) { return of({0, 0, alignment, alignment}); }

std::string text_of(std::int32_t error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }
std::string named(std::int32_t error) {
    return std::string(cudaGetErrorName(static_cast<cudaError_t>(error))) + " (" + std::to_string(error) + ")";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

verdict silent_launch(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    return seen(codes[0] == 0 && codes[1] != 0,
                "after the launch " + named(codes[0]) + ", after the kernel's end " + named(codes[1]));
}

verdict words_of_the_slide(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    return seen(text_of(codes[2]) == "unspecified launch failure", "CUDA error: " + text_of(codes[2]));
}

verdict every_call(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    std::string named_codes;
    for (std::size_t k = 3; k < codes.size(); ++k) {
        named_codes += (k == 3 ? "" : ", ") + named(codes[k]);
    }
    const bool same = codes.size() > 3 && codes[1] != 0 &&
                      std::all_of(codes.begin() + 3, codes.end(), [&](std::int32_t c) { return c == codes[1]; });
    return seen(same, "a wait, a launch, a copy, an allocation: " + named_codes);
}

verdict forgotten_and_back(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    return seen(codes[1] != 0 && codes[2] == 0 && codes[3] == codes[1],
                "asked once more " + named(codes[2]) + ", and by the next call that waits " + named(codes[3]));
}

verdict process_alone(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    const bool well = codes[1] != 0 && codes[3] == 0 && codes[4] == 0 && codes[5] == 7; // the second process' codes
    return seen(well, "one process ends in " + named(codes[1]) + ", the next one's kernel leaves " +
                          std::to_string(codes[5]));
}

verdict names_the_assertion(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    return seen(codes[3] == assertion && codes[4] == assertion &&
                    e.said.find("Assertion `*ptr == 7` failed") != std::string::npos,
                named(codes[3]) + ": " + text_of(codes[3]) + "; on standard error: " +
                    first_line(e.said.substr(std::min(e.said.find("sticky.cu"), e.said.size()))));
}

verdict word_boundaries(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    return seen(codes[1] == 0 && codes[2] == alignment,
                "8 bytes at a multiple of 8: " + named(codes[1]) + "; 4 bytes further on: " + named(codes[2]));
}

// What the software GPU itself writes, whether checks are on or not.
verdict says_where(const engine::evidence& e) {
    const auto at = e.said.find("block (0,0,0)");
    if (at == std::string::npos) {
        return unseen("needs the software GPU: a GPU says no more than the code");
    }
    const std::string told = e.said.substr(at, e.said.find_first_of(";\n", at) - at);
    return seen(told.find("cannot write 4 bytes of global memory at 0x0") != std::string::npos, told);
}

constexpr const char* source = "ladder/errors/sticky.cu";
constexpr const char* handling = "Parallel patterns, Error Handling";

engine::step_definition step(const char* id, const char* title, const char* idea, engine::data_function data,
                             const char* programs, const char* finds, std::vector<engine::claim_check> claims) {
    return {.about = {id, title, source, idea, handling},
            .data = data,
            .child_programs = programs,
            .size = [data](std::uint64_t) { return data(0, 0).n; },
            .finds = finds,
            .claims = std::move(claims)};
}

} // namespace

std::vector<engine::child_program> child_programs() {
    return {{"crash", crash_program},
            {"sticky", sticky_program},
            {"good", good_program},
            {"assertion", assertion_program},
            {"misaligned", misaligned_program}};
}

engine::step_definition crash() {
    return step("crash", "the slides' crash", "a kernel that writes to address 0", crashed, "crash", "out of bounds",
                {{"check for the error only after we're sure a kernel has finished executing: kernel calls are async",
                  "Parallel patterns, cudaError_t cudaGetLastError(void)",
                  engine::check(silent_launch).refuted_by(engine::step_in_place("configuration"))},
                 {"$ ./crash prints: CUDA error: unspecified launch failure", "Parallel patterns, crash.cu",
                  engine::check(words_of_the_slide).refuted_by(engine::step_in_place("configuration"))},
                 {"the software GPU says who wrote where", "beyond the lectures",
                  engine::check(says_where).refuted_by(engine::step_in_place("misaligned"))}});
}

engine::step_definition sticky() {
    return step("sticky", "and every call after it", "a wait, a launch, a copy and an allocation after the crash",
                stuck, "sticky", "out of bounds",
                {{"from now on every call answers with this error", "beyond the lectures",
                  engine::check(every_call).refuted_by(engine::step_in_place("goes on"))},
                 {"cudaGetLastError forgets the error, but this one comes back", "beyond the lectures",
                  engine::check(forgotten_and_back).refuted_by(engine::step_in_place("goes on"))}});
}

engine::step_definition new_process() {
    return step("process", "a new process", "the crash, and then another process on the same device", well_again,
                "crash,good", "out of bounds",
                {{"the error is the process': the next one finds the device well", "beyond the lectures",
                  engine::check(process_alone).refuted_by(engine::step_in_place("sticky"))}});
}

engine::step_definition misaligned() {
    auto s = step("misaligned", "an address that is not aligned", "a load of 8 bytes a word behind a multiple of 8",
                  off_by_a_word, "misaligned", "misaligned",
                  {{"addresses must be aligned on word-size boundary", "380, Access Via L1",
                    engine::check(word_boundaries).refuted_by(engine::step_in_place("crash"))}});
    s.about.lecture = "380, Access Via L1";
    return s;
}

engine::step_definition failed_assertion() {
    return step("assert", "an assertion", "assert() in a kernel", asserted, "assertion", "failed assertion",
                {{"a device-side assertion sticks too, and says where it failed", "beyond the lectures",
                  engine::check(names_the_assertion).refuted_by(engine::step_in_place("sticky"))}});
}

} // namespace warpfold::ladder::errors
