// SPDX-License-Identifier: MIT
// The functions by which the ladder and the tool observe launches (softgpu/observe/launch_record.hpp) and operations
// (softgpu/observe/timeline.hpp, timeline_model.hpp).
#include "softgpu/observe/launch_record.hpp"
#include "softgpu/observe/timeline_model.hpp"
#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/accounts/operation_journal.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/executor.hpp"

#pragma GCC visibility push(default)
extern "C" {

void softgpu_set_launch_observer(softgpu::observe::launch_observer observer, void* user) {
    using namespace softgpu::runtime;
    (void)call([&] {
        executor::instance().wait_for_all(); // launches belong to the observer that was set when they were issued
        journal::instance().deliver();
        if (context* const gpu = existing_context()) {
            journal::instance().write_now_and_then(gpu->options());
        }
        journal::instance().set_observer(observer, user);
    });
}

void softgpu_record_operations(softgpu::observe::operation_log* to) {
    using namespace softgpu::runtime;
    (void)call([&] {
        executor::instance().wait_for_all();
        record_operations(to);
    });
}

void softgpu_predicted_operations(std::vector<softgpu::observe::predicted_machine>* to) {
    using namespace softgpu::runtime;
    (void)call([&] { *to = predicted_operations(); });
}

} // extern "C"
#pragma GCC visibility pop
