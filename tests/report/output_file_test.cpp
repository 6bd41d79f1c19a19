// SPDX-License-Identifier: MIT
// Files that are written whole or not at all.
#include "report/output_file.hpp"

#include <csignal>
#include <fstream>
#include <iterator>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "report/json.hpp"
#include "report/passing_folder.hpp"
#include "tests/contents_of.hpp"

namespace {

namespace fs = std::filesystem;
using warpfold::report::output_file;
using warpfold::report::write_error;
using warpfold::tests::contents_of;

// Before the first file: a shell's background job ignores some, and files leave ignored signals alone.
[[maybe_unused]] const bool signals_are_not_ignored = [] {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        std::signal(signal, SIG_DFL);
    }
    return true;
}();

class output_files : public testing::Test {
protected:
    [[nodiscard]] std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
    }

    const warpfold::report::passing_folder folder_{"warpfold_test"};
};

TEST_F(output_files, appears_when_committed) {
    const fs::path path = folder_.file("a.json");
    {
        output_file file(path.string());
        EXPECT_FALSE(fs::exists(path));
        file.commit("text");
    }
    EXPECT_EQ(contents_of(path), "text");
    EXPECT_EQ(entries(), 1u);
    EXPECT_EQ(fs::status(path).permissions() & fs::perms::owner_write, fs::perms::owner_write);
}

TEST_F(output_files, leaves_the_older_one_alone_until_then) {
    const fs::path path = folder_.file("a.json");
    std::ofstream(path) << "before";
    ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
    { const output_file file(path.string()); }
    EXPECT_EQ(contents_of(path), "before");
    output_file(path.string()).commit("after");
    EXPECT_EQ(contents_of(path), "after");
    EXPECT_EQ(static_cast<unsigned>(fs::status(path).permissions()) & 0777u, 0640u);
    EXPECT_EQ(entries(), 1u);
}

TEST_F(output_files, follows_links) {
    std::ofstream(folder_.file("target")) << "before";
    fs::create_symlink("target", folder_.file("link"));
    output_file(folder_.file("link")).commit("after");
    EXPECT_TRUE(fs::is_symlink(folder_.file("link")));
    EXPECT_EQ(contents_of(folder_.file("target")), "after");
}

TEST_F(output_files, writes_devices_directly) {
    output_file("/dev/null").commit("text");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_THROW(output_file("/dev/full").commit("text"), write_error);
}

TEST_F(output_files, takes_what_somebody_else_wrote) {
    output_file file(folder_.file("a.json"));
    std::ofstream(file.temporary()) << "theirs";
    file.commit_file();
    EXPECT_EQ(contents_of(folder_.file("a.json")), "theirs");
}

TEST_F(output_files, says_at_once_what_cannot_be_written) {
    EXPECT_THROW(output_file(""), write_error);
    EXPECT_THROW(output_file(folder_.path()), write_error);
    EXPECT_THROW(output_file(folder_.file("none/a.json")), write_error);
    std::ofstream(folder_.file("file")) << "x";
    EXPECT_THROW(output_file(folder_.file("file/a.json")), write_error);
}

TEST(json, writes_what_json_cannot_hold_as_text) {
    using warpfold::report::number;
    EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()).dump(), "\"nan\"");
    EXPECT_EQ(number(std::numeric_limits<double>::infinity()).dump(), "\"inf\"");
    EXPECT_EQ(number(-std::numeric_limits<double>::infinity()).dump(), "\"-inf\"");
    EXPECT_EQ(number(0.1).dump(), "0.1");
    EXPECT_EQ(number(std::optional<double>()).dump(), "null");
    EXPECT_EQ(warpfold::report::text_of(std::string("\xff")), "\"\xEF\xBF\xBD\"\n");
}

// A process that a signal ends in the middle: of what it had begun nothing is left, and what ended it can be seen.
TEST_F(output_files, are_gone_where_a_signal_ends_the_program) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            const output_file one(folder_.file("one")), two(folder_.file("two"));
            std::ofstream(one.temporary()) << "half";
            std::raise(signal);
            ::_exit(0);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
        EXPECT_EQ(entries(), 0u);
    }
}

// A program that has its own way with a signal keeps it.
TEST_F(output_files, leave_signals_that_are_ignored) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        std::signal(SIGHUP, SIG_IGN);
        output_file file(folder_.file("kept"));
        std::raise(SIGHUP);
        file.commit("whole");
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(contents_of(folder_.file("kept")), "whole");
}

} // namespace
