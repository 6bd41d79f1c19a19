// SPDX-License-Identifier: MIT
// Managed variables, which all devices of a process share.
#pragma once

#include <map>
#include <set>
#include <string>

#include "softgpu/machine/launch.hpp"

namespace softgpu::machine {

// The managed variables of a program, in a memory of their own. The first module that has one places it and writes its initial
// value. Not thread-safe.
class managed_variables {
public:
    explicit managed_variables(memory::device_memory& memory) : memory_(memory) {}
    ~managed_variables();
    managed_variables(const managed_variables&) = delete;
    managed_variables& operator=(const managed_variables&) = delete;

    // `m`, which has not been used and does not outlive this object, takes its managed variables from here.
    void share_with(module& m);
    // The next module writes the initial values again.
    void begin_anew() { written_.clear(); }

    variable_place place(const std::string& name, std::uint64_t bytes);
    // Whether this module is to write the initial value. The variable is then zero.
    [[nodiscard]] bool take_initialisation(const std::string& name);

private:
    memory::device_memory& memory_;
    std::map<std::string, variable_place> places_;
    std::set<std::string> written_; // that have their initial value
};

} // namespace softgpu::machine
