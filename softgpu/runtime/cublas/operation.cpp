// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cublas/operation.hpp"

#include <list>

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/accounts/operation_order.hpp"
#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"

namespace softgpu::runtime::cublas {
namespace {

// look(base, width, rows) for what an operand has in memory; the rows are o.pitch apart.
template <class Look>
void for_each_part(const operand& o, Look look) {
    const auto* const base = static_cast<const char*>(o.base);
    if (o.part == operand::whole) {
        look(base, o.width, o.rows);
        return;
    }
    for (std::size_t column = 0; column < o.rows; ++column) {
        const std::size_t skipped = o.part == operand::lower ? column * o.element : 0;
        look(base + column * o.pitch + skipped, o.part == operand::lower ? o.width - skipped : (column + 1) * o.element,
             std::size_t{1});
    }
}

void tell_checks(const std::string& title, const std::vector<operand>& operands) {
    check::session* const s = checking::current();
    if (s == nullptr) {
        return;
    }
    std::vector<check::touched_range> ranges;
    for (const operand& o : operands) {
        for_each_part(o, [&](const char* base, std::size_t width, std::size_t rows) {
            for (std::size_t row = 0; o.writes && row < rows; ++row) {
                checking::written(base + row * o.pitch, width);
            }
            if (s->operations() != nullptr && rows != 0) {
                checking::add_rows(ranges, *s, base, o.pitch, rows, width, rows, 1, o.writes);
            }
        });
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

cublasStatus_t operation::enqueue_batch(std::int64_t count,
                                        std::function<std::vector<operand>(std::int64_t)> operands_of,
                                        std::function<void(std::int64_t)> run) {
    context& gpu = all_devices().at(on_.device);
    return enqueue([=, &gpu, title = title_, operands_of = std::move(operands_of),
                    run = std::move(run)](std::vector<operand>& used) {
        {
            const locked lock(gpu.mutex());
            for (std::int64_t number = 0; number < count; ++number) {
                for (const operand& o : operands_of(number)) {
                    require_operand(gpu, title, o);
                    used.push_back(o);
                }
            }
        }
        for (std::int64_t number = 0; number < count; ++number) {
            run(number);
        }
    });
}

} // namespace softgpu::runtime::cublas
