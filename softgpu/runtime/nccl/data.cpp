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

} // namespace

void carry_out(const call_terms& terms, std::span<const rank_call> calls) {
    const std::size_t one = terms.bytes();
    if (terms.what == call_kind::broadcast) {
        for (const rank_call& c : calls) {
            copy(c.out, calls[static_cast<std::size_t>(terms.root)].in, one);
        }
        return;
    }
    if (terms.what == call_kind::all_gather) {
        for (const rank_call& c : calls) {
            for (std::size_t r = 0; r < calls.size() && c.out != nullptr; ++r) {
                copy(at(c.out, r * one), calls[r].in, one);
            }
        }
        return;
    }
    std::vector<const void*> in, scales;
    for (const rank_call& c : calls) {
        in.push_back(c.in);
        if (c.scale != nullptr) {
            scales.push_back(c.scale->at());
        }
    }
    const bool scatters = terms.what == call_kind::reduce_scatter;
    const auto total = reduced(in, terms.count * (scatters ? calls.size() : 1), terms.type, terms.op, scales);
    for (std::size_t r = 0; r < calls.size(); ++r) {
        if (terms.what != call_kind::reduce || static_cast<int>(r) == terms.root) {
            write(calls[r].out, total.data() + (scatters ? r * one : 0), one);
        }
    }
}

void transfer(std::size_t bytes, const rank_call& from, const rank_call& to) { copy(to.out, from.in, bytes); }

void note(const std::string& title, std::span<const rank_call> calls, std::span<const sizes> used) {
    check::session* const s = checking::current();
    if (s == nullptr || s->operations() == nullptr) {
        return;
    }
    std::vector<check::touched_range> ranges;
    const auto add = [&](const void* base, std::size_t bytes, bool writes) {
        if (bytes != 0) {
            checking::add_rows(ranges, *s, base, bytes, 1, bytes, 1, 1, writes);
        }
    };
    for (std::size_t k = 0; k < calls.size(); ++k) {
        add(calls[k].in, used[k].in, false);
        add(calls[k].out, used[k].out, true);
        if (calls[k].scale != nullptr && calls[k].scale->on_device != nullptr) {
            add(calls[k].scale->on_device, bytes_of(calls[k].scale->type), false);
        }
    }
    checking::transferred(title, std::move(ranges));
}

} // namespace softgpu::runtime::nccl
