// SPDX-License-Identifier: MIT
#include "softgpu/runtime/nccl/data.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/accounts/operation_order.hpp"
#include "softgpu/runtime/nccl/reduction.hpp"

namespace softgpu::runtime::nccl {
namespace {

std::size_t size_of(const rank_call& call) { return call.count * bytes_of(call.type); }

char* at(void* base, std::size_t offset) { return static_cast<char*>(base) + offset; }

void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes != 0 && to != nullptr) {
        std::memmove(to, from, bytes);
        checking::copied(to, from, bytes);
    }
}

void write(void* to, const std::byte* from, std::size_t bytes) {
    if (bytes != 0 && to != nullptr) {
        std::memcpy(to, from, bytes);
        checking::written(to, bytes);
    }
}

void add(std::vector<check::touched_range>& ranges, const check::session& s, const void* base, std::size_t bytes,
         bool writes) {
    if (bytes != 0) {
        checking::add_rows(ranges, s, base, bytes, 1, bytes, 1, 1, writes);
    }
}

check::session* session_of_order() {
    check::session* const s = checking::current();
    return s == nullptr || s->operations() == nullptr ? nullptr : s;
}

} // namespace

sizes sizes_of(collective what, const rank_call& call, int rank, int root, std::size_t ranks) {
    const std::size_t one = size_of(call);
    switch (what) {
    case collective::all_reduce: return {one, one};
    case collective::reduce: return {one, rank == root ? one : 0};
    case collective::reduce_scatter: return {one * ranks, one};
    case collective::broadcast: return {rank == root ? one : 0, one};
    case collective::all_gather: break;
    }
    return {one, one * ranks};
}

void carry_out(collective what, ncclRedOp_t op, int root, std::span<const rank_call> calls) {
    const std::size_t one = size_of(calls[0]);
    if (what == collective::broadcast) {
        for (const rank_call& c : calls) {
            copy(c.out, calls[static_cast<std::size_t>(root)].in, one);
        }
        return;
    }
    if (what == collective::all_gather) {
        for (const rank_call& c : calls) {
            for (std::size_t r = 0; r < calls.size() && c.out != nullptr; ++r) {
                copy(at(c.out, r * one), calls[r].in, one);
            }
        }
        return;
    }
    std::vector<const void*> in;
    for (const rank_call& c : calls) {
        in.push_back(c.in);
    }
    const bool scatters = what == collective::reduce_scatter;
    std::vector<const void*> scales;
    for (const rank_call& c : calls) {
        if (c.scale != nullptr) {
            scales.push_back(c.scale->on_device == nullptr ? c.scale->value : c.scale->on_device);
        }
    }
    const auto total = reduced(in, calls[0].count * (scatters ? calls.size() : 1), calls[0].type, op, scales);
    for (std::size_t r = 0; r < calls.size(); ++r) {
        if (what != collective::reduce || static_cast<int>(r) == root) {
            write(calls[r].out, total.data() + (scatters ? r * one : 0), one);
        }
    }
}

void carry_out(const rank_call& from, const rank_call& to) { copy(to.out, from.in, size_of(to)); }

void note(const std::string& name, collective what, int root, std::span<const rank_call> calls) {
    if (const check::session* const s = session_of_order()) {
        std::vector<check::touched_range> ranges;
        for (std::size_t r = 0; r < calls.size(); ++r) {
            const sizes used = sizes_of(what, calls[r], static_cast<int>(r), root, calls.size());
            add(ranges, *s, calls[r].in, used.in, false);
            add(ranges, *s, calls[r].out, used.out, true);
        }
        checking::transferred(name, std::move(ranges));
    }
}

void note(const std::string& name, const rank_call& from, const rank_call& to) {
    if (const check::session* const s = session_of_order()) {
        std::vector<check::touched_range> ranges;
        add(ranges, *s, from.in, size_of(from), false);
        add(ranges, *s, to.out, size_of(to), true);
        checking::transferred(name, std::move(ranges));
    }
}

void note(const std::string& name, const rank_call& of, const sizes& used) {
    if (const check::session* const s = session_of_order()) {
        std::vector<check::touched_range> ranges;
        add(ranges, *s, of.in, used.in, false);
        add(ranges, *s, of.out, used.out, true);
        checking::transferred(name, std::move(ranges));
    }
}

} // namespace softgpu::runtime::nccl
