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
    current_session(check::check_set checks, memory::device_memory& memory)
        : session(checks, current_findings(), memory) {
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

std::unique_ptr<check::session> begin(const settings& options, memory::device_memory& memory) {
    return options.checks == 0 ? nullptr : std::make_unique<current_session>(options.checks, memory);
}

void find_leaks(check::session& s, std::uint64_t after, const std::set<memory::address>& unused) {
    const many_findings several;
    s.find_leaks(after, unused);
}

void find_leaks_at_end(bool has_failed, const std::set<memory::address>& unused) noexcept {
    report_exceptions("the checks' report", [&] {
        if (check::session* const s = has_failed ? nullptr : current()) {
            find_leaks(*s, 0, unused);
        }
    });
}

} // namespace softgpu::runtime::checking
