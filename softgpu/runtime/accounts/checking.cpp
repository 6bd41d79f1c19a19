// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/checking.hpp"

#include <optional>

#include "softgpu/runtime/accounts/check_report.hpp"
#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/accounts/operation_order.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime::checking {
namespace {

class current_session final : public check::session {
public:
    current_session(check::check_set checks, const memory::address_space& addresses)
        : session(checks, current_findings(), addresses.base(), addresses.bytes()) {
        if (operations() != nullptr) {
            observer_.emplace(*operations());
        }
        set_current(this);
    }
    ~current_session() override { clear_current(this); }

private:
    std::optional<order_observer> observer_;
};

} // namespace

std::unique_ptr<check::session> begin(const settings& options, const memory::address_space& addresses) {
    return options.checks == 0 ? nullptr : std::make_unique<current_session>(options.checks, addresses);
}

void find_leaks(context& gpu, std::uint64_t after) noexcept {
    check::session* const s = current();
    if (s == nullptr || gpu.has_failed()) {
        return;
    }
    report_exceptions("the checks' report", [&] {
        const many_findings several;
        s->find_leaks(gpu.memory(), after, gpu.state().parts.unused_memory());
    });
}

} // namespace softgpu::runtime::checking
