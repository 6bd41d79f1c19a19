// SPDX-License-Identifier: MIT
// Running the built command, and what came of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/passing_folder.hpp"
#include "tests/contents_of.hpp"

namespace warpfold::tests {

struct outcome {
    int status = -1; // exit status, or 128 + signal
    std::string out;
    std::string error;

    [[nodiscard]] std::size_t error_lines() const;
};

struct surroundings {
    std::map<std::string, std::string> environment; // set on top of ours
    std::string folder;                             // to run in; empty: ours
    std::string output;                             // file for standard output instead of `out`
    std::string input;                              // given on standard input
    unsigned milliseconds = 0;                      // after which SIGTERM is sent; 0: none is
    bool unread = false;                            // standard output is a pipe that nobody reads
};

// Runs the command with these arguments; the stand-ins for ladder and runtime are set unless `real`. What takes more
// than a minute is killed.
[[nodiscard]] outcome run_command(const std::vector<std::string>& arguments, const surroundings& where = {},
                                  bool real = false);

// Expects this exit status, nothing on standard output, and one line on stderr that begins "warpfold: " and has all of
// the parts.
void expect_complaint(const outcome& seen, int status, const std::vector<std::string>& parts);

// A folder that is there for one test.
class with_folder : public testing::Test {
protected:
    // Path of a file of this name in the folder, written with these bytes.
    std::string write(const std::string& name, const std::string& bytes) const;
    [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name.c_str()); }
    [[nodiscard]] std::size_t entries() const;

    const report::passing_folder folder_{"warpfold_test"};
};

// The same for tests of the command with the real ladder, which are left out where there is none.
class with_real_ladder : public with_folder {
protected:
    void SetUp() override {
#ifndef WITH_REAL_LADDER
        GTEST_SKIP() << "the ladder is not built here";
#endif
    }

    static outcome run(const std::vector<std::string>& arguments) { return run_command(arguments, {}, true); }
};

} // namespace warpfold::tests
