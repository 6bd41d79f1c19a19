// SPDX-License-Identifier: MIT
// Runs PTX in a test: a program in a memory of its own, on the software GPU or, where SOFTGPU_TEST_ON=gpu is set, on
// the GPU of this host, so that what the tests expect can itself be checked against hardware.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/machine/launch.hpp"

namespace softgpu::test {

// The tests run on real hardware: counters, faults and schedules are not looked at then.
[[nodiscard]] bool on_hardware();

struct launch_options {
    machine::extent grid{1, 1, 1};
    machine::extent block{32, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    bool cooperative = false;
    unsigned workers = 1;
    unsigned resident_blocks = 0;
    bool count = true;
    std::optional<std::uint64_t> seed = std::nullopt; // of an adversarial schedule
    double deadlock_seconds = 0.3;
    std::function<bool()> outside = {};
};

// What a program runs on.
class device {
public:
    virtual ~device() = default;
    virtual std::uint64_t allocate(std::uint64_t bytes) = 0;
    virtual void release(std::uint64_t at) = 0;
    virtual void write(std::uint64_t at, const void* from, std::uint64_t bytes) = 0;
    virtual void read(void* to, std::uint64_t at, std::uint64_t bytes) = 0;
    virtual std::uint64_t variable(const std::string& name) = 0;
    virtual machine::launch_result launch(const std::string& kernel, const launch_options& how,
                                          const std::vector<std::uint64_t>& arguments) = 0;
};
[[nodiscard]] std::unique_ptr<device> make_software_device(const std::string& ptx);
[[nodiscard]] std::unique_ptr<device> make_hardware_device(const std::string& ptx);

// A PTX module with its memory. All kernels take eight .u64 parameters, as kernel() below writes them.
class program {
public:
    explicit program(const std::string& ptx);

    template <class T>
    std::uint64_t buffer(const std::vector<T>& contents) {
        const std::uint64_t at = on_->allocate(contents.size() * sizeof(T));
        on_->write(at, contents.data(), contents.size() * sizeof(T));
        return at;
    }
    template <class T>
    std::uint64_t buffer(std::size_t count, T value = T{}) {
        return buffer(std::vector<T>(count, value));
    }
    template <class T>
    std::vector<T> contents(std::uint64_t at, std::size_t count) {
        std::vector<T> result(count);
        on_->read(result.data(), at, count * sizeof(T));
        return result;
    }
    void release(std::uint64_t at) { on_->release(at); }
    std::uint64_t variable(const std::string& name) { return on_->variable(name); }

    // Launches the kernel "k" and expects no fault.
    machine::launch_result run(const launch_options& how, std::initializer_list<std::uint64_t> arguments);
    // The same where a fault may be what is expected.
    machine::launch_result attempt(const launch_options& how, std::initializer_list<std::uint64_t> arguments);

private:
    std::unique_ptr<device> on_;
};

// "k(.param .u64 p0, ... p7)" around a body, with `declarations` at module scope. The body finds the parameters'
// values in %p0 to %p7 (b64), its thread's number over the whole 1D grid in %i, and the registers %r0-%r31,
// %rd0-%rd31, %f0-%f15, %fd0-%fd15, %h0-%h15 (b16), %b0-%b3 (b8), %q0-%q15 (pred).
[[nodiscard]] std::string kernel(std::string_view body, std::string_view declarations = {});

// One launch of kernel(body) with 32-bit words out: thread number t writes words of its own at [%rd0 + ...]. The
// buffer, `words` long for each thread and zero at first, is %p0; %rd0 is the thread's part of it.
struct threads_result {
    std::vector<std::uint32_t> words;
    machine::launch_result how;
};
[[nodiscard]] threads_result run_threads(std::string_view body, const launch_options& how, std::size_t words = 1,
                                         std::string_view declarations = {},
                                         std::initializer_list<std::uint64_t> more = {});

// An instruction, or several, over a table of operands: registers %a %b %c %e of types `in` are read, %d %f %g %k of
// types `out` are written. Types are register types: b16 b32 b64 f32 f64 pred. `before` holds declarations and
// instructions that no guard applies to. %own is the address of 32 bytes of global memory, each thread's own.
struct operation {
    std::string text;
    std::vector<std::string> in;
    std::vector<std::string> out;
    std::string before = {};
};
using row = std::vector<std::uint64_t>;

// What a result has to be: nothing where PTX leaves it open.
using reference = std::function<std::optional<row>(const row&)>;
// How two bit patterns are compared; they are equal as a rule.
using likeness = std::function<bool(std::uint64_t expected, std::uint64_t actual)>;

// Every row of operands gives a row of results, one thread each. Runs it a second time with the guard @%odd on each
// instruction and expects that only odd threads are written.
[[nodiscard]] std::vector<row> evaluate(const operation& what, const std::vector<row>& operands,
                                        const likeness& alike = {});

// Expects evaluate() to be as the reference says. Names the operation and the operands of the first rows that differ.
void check(const operation& what, const std::vector<row>& operands, const reference& expected,
           const likeness& alike = {});

} // namespace softgpu::test
