// SPDX-License-Identifier: MIT
#include "softgpu/runtime/nccl/operations.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "softgpu/runtime/nccl/comm.hpp"
#include "softgpu/runtime/nccl/reduction.hpp"

namespace softgpu::runtime::nccl {
namespace {

struct scale_table {
    std::mutex mutex;
    int last = ncclNumOps; // one less than the next one
    std::map<int, std::shared_ptr<const input_scale>> by_number;
};

scale_table& scales() {
    static scale_table& only = *new scale_table;
    return only;
}

} // namespace

std::shared_ptr<const input_scale> scale_of(ncclRedOp_t op) {
    const std::lock_guard lock(scales().mutex);
    const auto at = scales().by_number.find(op);
    return at == scales().by_number.end() ? nullptr : at->second;
}

bool is_operation(ncclRedOp_t op, ncclDataType_t type) {
    if (op >= 0 && op < ncclNumOps) {
        return true;
    }
    const auto scaled = scale_of(op);
    return scaled != nullptr && scaled->type == type;
}

} // namespace softgpu::runtime::nccl

using namespace softgpu::runtime;
using namespace softgpu::runtime::nccl;

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type, ncclScalarResidence_t where,
                                      ncclComm_t comm) {
    return guarded([&] {
        if (op == nullptr || scalar == nullptr || comm == nullptr || static_cast<unsigned>(type) >= ncclNumTypes ||
            (where != ncclScalarDevice && where != ncclScalarHostImmediate)) {
            return ncclInvalidArgument;
        }
        auto made = std::make_shared<input_scale>();
        made->type = type;
        if (where == ncclScalarDevice) {
            context& gpu = all_devices().at(comm->device);
            const locked lock = lock_devices();
            require_memory(gpu, scalar, bytes_of(type));
            made->on_device = scalar;
        } else {
            std::memcpy(made->value, scalar, bytes_of(type));
        }
        const std::lock_guard lock(scales().mutex);
        const int number = ++scales().last;
        scales().by_number[number] = std::move(made);
        *op = static_cast<ncclRedOp_t>(number);
        return ncclSuccess;
    });
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
    const std::lock_guard lock(scales().mutex);
    return comm != nullptr && scales().by_number.erase(op) == 1 ? ncclSuccess : ncclInvalidArgument;
}
