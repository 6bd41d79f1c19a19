// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cublas/operation.hpp"

#include <list>

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/accounts/operation_order.hpp"
#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/core/capture_rules.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/memory/copies.hpp"

namespace softgpu::runtime::cublas {
namespace {

void tell_checks(const std::string& title, const std::vector<operand>& operands) {
    check::session* const s = checking::current();
    if (s == nullptr) {
        return;
    }
    std::vector<check::touched_range> ranges;
    for (const operand& o : operands) {
        for (std::size_t row = 0; o.writes && row < o.rows; ++row) {
            checking::written(static_cast<const char*>(o.base) + row * o.pitch, o.width);
        }
        if (s->operations() != nullptr && o.rows != 0) {
            checking::add_rows(ranges, *s, o.base, o.pitch, o.rows, o.width, o.rows, 1, o.writes);
        }
    }
    if (s->operations() != nullptr) {
        checking::transferred(title, std::move(ranges));
    }
}

// A captured call. Graphs may run it for as long as the process lives, so it is kept. To be called with the lock held.
host_work captured(std::function<void()> run) {
    static std::list<std::function<void()>>& all = *new std::list<std::function<void()>>;
    return {[](void* call) { (*static_cast<std::function<void()>*>(call))(); }, &all.emplace_back(std::move(run))};
}

} // namespace

cublasStatus_t status_of(const failure& f) {
    if (!f.message.empty()) {
        report(f.message);
    }
    return f.code == error::invalid_value || f.code == error::invalid_resource_handle ? CUBLAS_STATUS_INVALID_VALUE
                                                                                      : CUBLAS_STATUS_EXECUTION_FAILED;
}

void require_operand(context& gpu, const std::string& title, const operand& what) {
    if (what.bytes() == 0) {
        return;
    }
    try {
        require_accessible(gpu, what.base, what.bytes(), true);
    } catch (const failure& f) {
        fail(f.code, title + ": " + what.name + " has " + std::to_string(what.bytes()) +
                         " bytes, which are not all in one allocation that the device can access");
    }
}

cublasStatus_t operation::enqueue(work run) {
    context& gpu = all_devices().at(on_.device);
    locked lock(gpu.mutex());
    gpu.require_usable();
    stream& on = gpu.checked(reinterpret_cast<stream*>(on_.stream));
    for (const operand& o : operands_) {
        require_operand(gpu, title_, o);
    }
    auto carry_out = [&gpu, title = title_, operands = operands_, run = std::move(run)] {
        std::vector<operand> all = operands;
        try {
            run(all);
            tell_checks(title, all);
        } catch (const failure& f) { // of memory that the operation found out about
            report(f.message);
            gpu.set_sticky_error(error::illegal_address);
        } catch (const std::exception& e) {
            report(title + ": " + e.what());
            gpu.set_sticky_error(error::unknown);
        }
    };
    if (is_capturing(on)) {
        if (waits_) {
            fail(error::stream_capture_unsupported,
                 title_ + ": a result on the host cannot be captured; see cublasSetPointerMode");
        }
        enqueue_host_function(gpu, captured(std::move(carry_out)), on);
        return CUBLAS_STATUS_SUCCESS;
    }
    const operation_pointer issued = gpu.issue(on, operation_kind::device, std::move(carry_out));
    if (operation_journal::any()) {
        operation_journal::describe(*issued, {.on = observe::engine::host, .name = title_});
    }
    if (waits_) {
        gpu.wait(lock, issued);
    }
    return CUBLAS_STATUS_SUCCESS;
}

} // namespace softgpu::runtime::cublas
