// SPDX-License-Identifier: MIT
// The list of missing calls in the documentation is the one that the library is built with.
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/contents_of.hpp"

namespace {

std::set<std::string> known() {
    return {
#define SOFTGPU_STUB(name) #name,
#include "softgpu/runtime/abi/stubs.def"
#include "softgpu/runtime/abi/stubs_12.def"
#undef SOFTGPU_STUB
    };
}

std::set<std::string> documented() {
    const std::string text = warpfold::tests::contents_of(MISSING_CALLS);
    const std::regex call("`(_*cuda[A-Z]\\w*)`");
    std::set<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) {
        const std::string name = (*at)[1];
        if (name != "cudaErrorNotSupported") {
            found.insert(name);
        }
    }
    return found;
}

TEST(missing_calls, are_those_in_the_documentation) {
    const std::set<std::string> ours = known();
    const std::set<std::string> told = documented();
    ASSERT_FALSE(told.empty()) << MISSING_CALLS;
    for (const std::string& name : ours) {
        EXPECT_TRUE(told.contains(name)) << name << " is not there, and docs/softgpu-missing-calls.md does not say so";
    }
    for (const std::string& name : told) {
        EXPECT_TRUE(ours.contains(name)) << name << " is there, and docs/softgpu-missing-calls.md says it is not";
    }
}

} // namespace
