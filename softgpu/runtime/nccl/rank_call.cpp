// SPDX-License-Identifier: MIT
#include "softgpu/runtime/nccl/rank_call.hpp"

#include "softgpu/runtime/nccl/reduction.hpp"

namespace softgpu::runtime::nccl {
namespace {

std::string name_of(ncclRedOp_t op) {
    static constexpr const char* names[] = {"ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg", "PreMulSum"};
    return names[op];
}

std::string name_of(ncclDataType_t type) {
    static constexpr const char* names[] = {"ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
                                            "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                            "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
    return names[type];
}

} // namespace

std::size_t call_terms::bytes() const noexcept { return count * bytes_of(type); }

const char* call_terms::name() const noexcept {
    static constexpr const char* names[] = {"ncclAllReduce", "ncclReduce", "ncclReduceScatter", "ncclBroadcast",
                                            "ncclAllGather", "ncclSend",   "ncclRecv",          "ncclCommSplit"};
    return names[static_cast<std::size_t>(what)];
}

std::string call_terms::title() const { return std::string(name()) + " of " + std::to_string(bytes()) + " bytes"; }

std::string difference(const call_terms& a, int rank_a, const call_terms& b, int rank_b) {
    const auto say = [&](const std::string& of_a, const std::string& of_b) {
        return "rank " + std::to_string(rank_a) + " " + of_a + ", rank " + std::to_string(rank_b) + " " + of_b;
    };
    if (a.what == call_kind::send && b.what == call_kind::receive) {
        return a.bytes() == b.bytes()
                   ? ""
                   : say("sends " + std::to_string(a.bytes()) + " bytes", "receives " + std::to_string(b.bytes()));
    }
    if (a.what != b.what) {
        return say(std::string("calls ") + a.name(), std::string("calls ") + b.name());
    }
    if (a.type != b.type) {
        return say("has elements of " + name_of(a.type), "of " + name_of(b.type));
    }
    if (a.count != b.count) {
        return say("has " + std::to_string(a.count) + " elements", "has " + std::to_string(b.count));
    }
    if (a.op != b.op) {
        return say("has the operation " + name_of(a.op), "has " + name_of(b.op));
    }
    return a.root == b.root ? "" : say("has root " + std::to_string(a.root), "has root " + std::to_string(b.root));
}

sizes sizes_of(const call_terms& terms, int rank, int ranks) {
    const std::size_t one = terms.bytes(), all = one * static_cast<std::size_t>(ranks);
    switch (terms.what) {
    case call_kind::all_reduce: return {one, one};
    case call_kind::reduce: return {one, rank == terms.root ? one : 0};
    case call_kind::reduce_scatter: return {all, one};
    case call_kind::broadcast: return {rank == terms.root ? one : 0, one};
    case call_kind::all_gather: return {one, all};
    case call_kind::send: return {one, 0};
    case call_kind::receive: return {0, one};
    case call_kind::split: break;
    }
    return {};
}

} // namespace softgpu::runtime::nccl
