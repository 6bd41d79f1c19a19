// SPDX-License-Identifier: MIT
// A program's fat binary made by hand, so that tests without nvcc have kernels to launch.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/runtime/api.hpp"

// How the tests' PTX begins.
#define PTX_HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"

namespace softgpu::runtime {

// One container with one plain entry: kind 1 is PTX, 2 machine code.
inline std::vector<std::uint8_t> make_fat_binary(std::uint16_t kind, std::uint32_t architecture,
                                                 std::string_view body) {
    constexpr std::size_t header = 16;
    constexpr std::size_t entry = 64;
    const std::size_t padded = (body.size() + 1 + 7) / 8 * 8;
    std::vector<std::uint8_t> bytes(header + entry + padded);
    const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
    put(0, std::uint32_t{0xBA55ED50});
    put(4, std::uint16_t{1});
    put(6, std::uint16_t{header});
    put(8, std::uint64_t{entry + padded});
    put(header, kind);
    put(header + 2, std::uint16_t{0x101});
    put(header + 4, std::uint32_t{entry});
    put(header + 8, std::uint64_t{padded});
    put(header + 28, architecture);
    put(header + 40, std::uint64_t{0x11});
    std::memcpy(bytes.data() + header + entry, body.data(), body.size());
    return bytes;
}

// What nvcc puts around a container.
struct fat_binary_wrapper {
    std::uint32_t magic = 0x466243B1;
    std::uint32_t version = 1;
    const void* data = nullptr;
    void* list = nullptr;
};

// Registered for as long as it lives. Any address of the program may name a kernel or a variable.
class embedded_program {
public:
    explicit embedded_program(std::string_view ptx) : embedded_program(1, 75, ptx) {}
    embedded_program(std::uint16_t kind, std::uint32_t architecture, std::string_view body)
        : binary_(make_fat_binary(kind, architecture, body)) {
        wrapper_.data = binary_.data();
        handle_ = __cudaRegisterFatBinary(&wrapper_);
    }
    ~embedded_program() { __cudaUnregisterFatBinary(handle_); }
    embedded_program(const embedded_program&) = delete;
    embedded_program& operator=(const embedded_program&) = delete;

    void kernel(const void* host, const char* name) {
        __cudaRegisterFunction(handle_, static_cast<const char*>(host), nullptr, name, -1, nullptr, nullptr, nullptr,
                               nullptr, nullptr);
    }
    void variable(void* host, const char* name, std::size_t bytes) {
        __cudaRegisterVar(handle_, static_cast<char*>(host), nullptr, name, 0, bytes, 0, 0);
    }
    void managed(void** host, const char* name, std::size_t bytes) {
        __cudaRegisterManagedVar(handle_, host, nullptr, name, 0, bytes, 0, 0);
        __cudaRegisterFatBinaryEnd(handle_);
    }
    [[nodiscard]] void** handle() const { return handle_; }

private:
    std::vector<std::uint8_t> binary_;
    fat_binary_wrapper wrapper_;
    void** handle_ = nullptr;
};

// A program with one kernel, named by the object's address.
class embedded_kernel : public embedded_program {
public:
    embedded_kernel(std::string_view ptx, const char* name) : embedded_program(ptx) { kernel(this, name); }
};

// Grid and block have one dimension.
template <class... Arguments>
error launch_in(stream* on, const void* kernel, unsigned blocks, unsigned threads, Arguments... arguments) {
    void* list[] = {&arguments..., nullptr};
    return cudaLaunchKernel(kernel, {blocks, 1, 1}, {threads, 1, 1}, list, 0, on);
}
template <class... Arguments>
error launch(const void* kernel, unsigned blocks, unsigned threads, Arguments... arguments) {
    return launch_in(nullptr, kernel, blocks, threads, arguments...);
}

// Kernels: fill(p, value) writes value + the thread's number in the grid; wild(p) writes to p, valid or not; bounded and
// required have launch bounds; shares(p) has 40 KiB of static shared memory; swap(p): each of two warps reads what the other
// wrote, without a barrier; copy(p): p[64 + tid] = p[tid] + 1; transfer(to, from): to[tid] = from[tid]. Variables: counter,
// fixed, both.
inline constexpr std::string_view sample_ptx = PTX_HEAD R"(.visible .global .align 4 .u32 counter[4] = {7, 8, 9, 10};
.visible .const .align 4 .u32 fixed = 5;
.visible .global .align 4 .attribute(.managed) .u32 both = 3;
.visible .entry _Z4fillPjj(.param .u64 fill_p, .param .u32 fill_value)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [fill_p];
    ld.param.u32 %r1, [fill_value];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    add.s32 %r6, %r5, %r1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r6;
    ret;
}
.visible .entry _Z4wildPj(.param .u64 wild_p)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [wild_p];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 1;
    st.global.u32 [%rd2], %r1;
    ret;
}
.visible .entry _Z7boundedv()
.maxntid 128, 1, 1
{
    ret;
}
.visible .entry _Z8requiredv()
.reqntid 64, 1, 1
{
    ret;
}
.visible .entry _Z6sharesPj(.param .u64 shares_p)
{
    .reg .b32 %r<3>;
    .shared .align 4 .b8 words[40960];
    mov.u32 %r1, words;
    mov.u32 %r2, 1;
    st.shared.u32 [%r1], %r2;
    ret;
}
.visible .entry _Z4bumpv()
{
    .reg .b32 %r<3>;
    ld.global.u32 %r1, [counter];
    add.s32 %r2, %r1, 1;
    st.global.u32 [counter], %r2;
    ld.global.u32 %r1, [both];
    add.s32 %r2, %r1, 1;
    st.global.u32 [both], %r2;
    ret;
}
.visible .entry _Z4swapPj(.param .u64 out)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 words[256];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, words;
    shl.b32 %r3, %r1, 2;
    add.s32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;
    xor.b32 %r5, %r3, 128;
    add.s32 %r6, %r2, %r5;
    ld.shared.u32 %r7, [%r6];
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r7;
    ret;
}
.visible .entry _Z4copyPj(.param .u64 p)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd3+256], %r2;
    ret;
}
.visible .entry _Z8transferPjS_(.param .u64 to, .param .u64 from)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [from];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd5];
    st.global.u32 [%rd4], %r2;
    ret;
}
)";

// The sample program, registered under its own addresses.
class sample_program : public embedded_program {
public:
    sample_program() : embedded_program(sample_ptx) {
        kernel(&fill, "_Z4fillPjj");
        kernel(&wild, "_Z4wildPj");
        kernel(&bounded, "_Z7boundedv");
        kernel(&required, "_Z8requiredv");
        kernel(&shares, "_Z6sharesPj");
        kernel(&bump, "_Z4bumpv");
        kernel(&swap, "_Z4swapPj");
        kernel(&copy, "_Z4copyPj");
        kernel(&transfer, "_Z8transferPjS_");
        kernel(&absent, "_Z6absentv");
        variable(counter, "counter", sizeof counter);
        variable(&fixed, "fixed", sizeof fixed);
        managed(reinterpret_cast<void**>(&both), "both", 4);
    }

    char fill = 0, wild = 0, bounded = 0, required = 0, shares = 0, bump = 0, swap = 0, copy = 0, transfer = 0,
         absent = 0;
    std::uint32_t counter[4] = {};
    std::uint32_t fixed = 0;
    std::uint32_t* both = nullptr;
};

} // namespace softgpu::runtime
