// SPDX-License-Identifier: MIT
// The programs of all laboratories that run apart.
#include "ladder/errors/steps.hpp"
#include "ladder/frame/apart.hpp"
#include "ladder/histogram/steps.hpp"
#include "ladder/streams/steps.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::frame {

const std::vector<apart_program>& apart_programs() {
    static const std::vector<apart_program> all = [] {
        std::vector<apart_program> programs = errors::apart_programs();
        for (const auto& more : {histogram::apart_programs(), streams::apart_programs(), warps::apart_programs()}) {
            programs.insert(programs.end(), more.begin(), more.end());
        }
        return programs;
    }();
    return all;
}

} // namespace warpfold::ladder::frame
