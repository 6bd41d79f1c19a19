// SPDX-License-Identifier: MIT
// Small kernels that stress one counter each. Runs on a real GPU and on the software GPU alike; every case is one
// launch, in the order in which they are listed.
//   counter_program [NAME...]   runs the cases of these names, all where none is given, and checks what they computed:
//                               one line `NAME ok` each; exit status 1 where one computed something else
//   counter_program --list      their names, one a line
#include <cstring>

#include "tests/counters/cases.hpp"

namespace counter_cases {

namespace {

bool run(const test_case& c, buffers& b) {
    for (std::size_t i = 0; i < buffer_bytes; ++i) {
        b.host_in[i] = std::byte{made_byte(i)};
    }
    std::fill(b.expected.begin(), b.expected.end(), std::byte{0});
    require(cudaMemcpy(b.in, b.host_in.data(), buffer_bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    require(cudaMemcpy(b.out, b.expected.data(), buffer_bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    c.launch(b);
    require(cudaGetLastError(), c.name.c_str());
    std::vector<std::byte> got(buffer_bytes);
    require(cudaMemcpy(got.data(), b.out, buffer_bytes, cudaMemcpyDeviceToHost), c.name.c_str());
    c.expect(b);
    for (std::size_t i = 0; i < buffer_bytes; ++i) {
        if (got[i] != b.expected[i]) {
            std::fprintf(stderr, "%s: byte %zu of the output is %u, not %u\n", c.name.c_str(), i,
                         static_cast<unsigned>(got[i]), static_cast<unsigned>(b.expected[i]));
            return false;
        }
    }
    return true;
}

} // namespace

} // namespace counter_cases

int main(int argc, char** argv) {
    using namespace counter_cases;
    case_list cases;
    add_global_cases(cases);
    add_shared_cases(cases);
    add_other_cases(cases);
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        for (const test_case& c : cases) {
            std::puts(c.name.c_str());
        }
        return 0;
    }
    for (int n = 1; n < argc; ++n) {
        if (std::none_of(cases.begin(), cases.end(), [&](const test_case& c) { return c.name == argv[n]; })) {
            std::fprintf(stderr, "there is no case '%s'\n", argv[n]);
            return 2;
        }
    }
    buffers b;
    b.host_in.resize(buffer_bytes);
    b.expected.resize(buffer_bytes);
    require(cudaMalloc(&b.in, buffer_bytes), "cudaMalloc");
    require(cudaMalloc(&b.out, buffer_bytes), "cudaMalloc");
    bool good = true;
    for (const test_case& c : cases) {
        if (argc > 1 && std::none_of(argv + 1, argv + argc, [&](const char* name) { return c.name == name; })) {
            continue;
        }
        const bool right = run(c, b);
        std::printf("%s %s\n", c.name.c_str(), right ? "ok" : "WRONG");
        good = good && right;
    }
    return good ? 0 : 1;
}
