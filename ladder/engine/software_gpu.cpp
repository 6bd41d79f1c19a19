// SPDX-License-Identifier: MIT
// Finds the software GPU's observer by name: the real runtime has none.
#include "ladder/engine/software_gpu.hpp"

#include <dlfcn.h>

namespace warpfold::ladder {

namespace {

using setter = void (*)(softgpu::observe::launch_observer, void*);

setter find_setter() { return reinterpret_cast<setter>(dlsym(RTLD_DEFAULT, "softgpu_set_launch_observer")); }

using recorder = void (*)(softgpu::observe::operation_log*);

recorder find_recorder() { return reinterpret_cast<recorder>(dlsym(RTLD_DEFAULT, "softgpu_record_operations")); }

void add_to_vector(const softgpu::observe::launch_record& record, void* user) {
    static_cast<std::vector<softgpu::observe::launch_record>*>(user)->push_back(record);
}

} // namespace

bool on_software_gpu() { return find_setter() != nullptr; }

launch_watch::launch_watch(std::vector<softgpu::observe::launch_record>* to) {
    const setter set = find_setter();
    if (to == nullptr || set == nullptr) {
        return;
    }
    set(add_to_vector, to);
    watching_ = true;
}

launch_watch::~launch_watch() {
    if (watching_) {
        find_setter()(nullptr, nullptr);
    }
}

operation_watch::operation_watch(softgpu::observe::operation_log* to) {
    const recorder record = find_recorder();
    if (to == nullptr || record == nullptr) {
        return;
    }
    record(to);
    watching_ = true;
}

operation_watch::~operation_watch() {
    if (watching_) {
        find_recorder()(nullptr);
    }
}

std::vector<softgpu::observe::predicted_machine> predicted_machines() {
    using asker = void (*)(std::vector<softgpu::observe::predicted_machine>*);
    std::vector<softgpu::observe::predicted_machine> machines;
    if (const auto ask = reinterpret_cast<asker>(dlsym(RTLD_DEFAULT, "softgpu_predicted_operations")); ask != nullptr) {
        ask(&machines);
    }
    return machines;
}

} // namespace warpfold::ladder
