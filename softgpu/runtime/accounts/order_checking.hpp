// SPDX-License-Identifier: MIT
// Tells the checks of every operation that is issued, and of all that the host waits for.
#pragma once

#include <cstdint>
#include <span>

#include "softgpu/check/order.hpp"
#include "softgpu/runtime/core/executor.hpp"

namespace softgpu::runtime::checking {

// Watches the executor for as long as it lives.
class order_keeper final : public order_watcher {
public:
    explicit order_keeper(check::order& order);
    ~order_keeper() override;
    order_keeper(const order_keeper&) = delete;
    order_keeper& operator=(const order_keeper&) = delete;

    void issued(operation& what, std::span<const operation_pointer> after) override;
    void finished(const operation& what) override;
    void host_waited(const operation& what) override;
    void host_waited_for_all() override;

private:
    [[nodiscard]] bool knows(const operation& o) const noexcept { return o.when != nullptr && o.watched_by == number_; }

    check::order& order_;
    const std::uint64_t number_; // from 1, of all that there have been
};

} // namespace softgpu::runtime::checking
