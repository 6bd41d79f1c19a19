// SPDX-License-Identifier: MIT
#include "softgpu/machine/grid_groups.hpp"

namespace softgpu::machine {

std::string_view grid_group_functions() noexcept {
    return R"(.version 6.0
.target sm_70
.address_size 64

// unsigned long long cudaCGGetIntrinsicHandle(enum cudaCGScope scope)
.weak .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
    .reg .pred %is_grid;
    .reg .b32 %scope, %low, %high;
    .reg .b64 %handle;
    ld.param.u32 %scope, [scope];
    mov.u32 %high, %envreg1;
    mov.u32 %low, %envreg2;
    mov.b64 %handle, {%low, %high};
    setp.eq.u32 %is_grid, %scope, 1;
    selp.b64 %handle, %handle, 0, %is_grid;
    st.param.b64 [handle], %handle;
    ret;
}

// cudaError_t cudaCGSynchronizeGrid(unsigned long long handle, unsigned int flags)
// The first thread of each block adds 1 to the barrier's counter; that of the first block what flips bit 31 with the others.
.weak .func (.param .b32 result) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags)
{
    .reg .pred %has_none, %waits, %is_other;
    .reg .b32 %x, %y, %z, %any, %count, %add, %old, %now;
    .reg .b64 %handle;
    ld.param.u64 %handle, [handle];
    setp.eq.u64 %has_none, %handle, 0;
    @%has_none trap;
    barrier.sync 0;
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %z, %tid.z;
    or.b32 %any, %x, %y;
    or.b32 %any, %any, %z;
    setp.ne.u32 %is_other, %any, 0;
    @%is_other bra together;
    mov.u32 %x, %nctaid.x;
    mov.u32 %y, %nctaid.y;
    mov.u32 %z, %nctaid.z;
    mul.lo.u32 %count, %x, %y;
    mul.lo.u32 %count, %count, %z;
    sub.u32 %add, 0x80000001, %count;
    mov.u32 %x, %ctaid.x;
    mov.u32 %y, %ctaid.y;
    mov.u32 %z, %ctaid.z;
    or.b32 %any, %x, %y;
    or.b32 %any, %any, %z;
    setp.ne.u32 %is_other, %any, 0;
    selp.b32 %add, 1, %add, %is_other;
    atom.add.release.gpu.u32 %old, [%handle + 4], %add;
again:
    ld.acquire.gpu.u32 %now, [%handle + 4];
    xor.b32 %now, %now, %old;
    setp.ge.s32 %waits, %now, 0;
    @%waits bra again;
together:
    barrier.sync 0;
    st.param.b32 [result], 0;
    ret;
}

// cudaError_t cudaCGSynchronize(unsigned long long handle, unsigned int flags)
.weak .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
    .reg .b32 %flags, %result;
    .reg .b64 %handle;
    ld.param.u64 %handle, [handle];
    ld.param.u32 %flags, [flags];
    {
        .param .b64 in;
        .param .b32 how;
        .param .b32 out;
        st.param.b64 [in], %handle;
        st.param.b32 [how], %flags;
        call (out), cudaCGSynchronizeGrid, (in, how);
        ld.param.b32 %result, [out];
    }
    st.param.b32 [result], %result;
    ret;
}

// cudaError_t cudaCGGetSize(unsigned int* numThreads, unsigned int* numGrids, unsigned long long handle)
.weak .func (.param .b32 result) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle)
{
    .reg .b32 %count, %next;
    .reg .b64 %threads, %grids;
    ld.param.u64 %threads, [threads];
    ld.param.u64 %grids, [grids];
    mov.u32 %count, %ntid.x;
    mov.u32 %next, %ntid.y;
    mul.lo.u32 %count, %count, %next;
    mov.u32 %next, %ntid.z;
    mul.lo.u32 %count, %count, %next;
    mov.u32 %next, %nctaid.x;
    mul.lo.u32 %count, %count, %next;
    mov.u32 %next, %nctaid.y;
    mul.lo.u32 %count, %count, %next;
    mov.u32 %next, %nctaid.z;
    mul.lo.u32 %count, %count, %next;
    st.u32 [%threads], %count;
    st.u32 [%grids], 1;
    st.param.b32 [result], 0;
    ret;
}

// cudaError_t cudaCGGetRank(unsigned int* threadRank, unsigned int* gridRank, unsigned long long handle)
.weak .func (.param .b32 result) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle)
{
    .reg .b32 %rank, %next, %size;
    .reg .b64 %thread, %grid;
    ld.param.u64 %thread, [thread];
    ld.param.u64 %grid, [grid];
    mov.u32 %rank, %ctaid.z;
    mov.u32 %size, %nctaid.y;
    mov.u32 %next, %ctaid.y;
    mad.lo.u32 %rank, %rank, %size, %next;
    mov.u32 %size, %nctaid.x;
    mov.u32 %next, %ctaid.x;
    mad.lo.u32 %rank, %rank, %size, %next;
    mov.u32 %size, %ntid.z;
    mov.u32 %next, %tid.z;
    mad.lo.u32 %rank, %rank, %size, %next;
    mov.u32 %size, %ntid.y;
    mov.u32 %next, %tid.y;
    mad.lo.u32 %rank, %rank, %size, %next;
    mov.u32 %size, %ntid.x;
    mov.u32 %next, %tid.x;
    mad.lo.u32 %rank, %rank, %size, %next;
    st.u32 [%thread], %rank;
    st.u32 [%grid], 0;
    st.param.b32 [result], 0;
    ret;
}
)";
}

} // namespace softgpu::machine
