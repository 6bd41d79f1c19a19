// SPDX-License-Identifier: MIT
// What the processes of one run leave behind, each in a file of its own, and how that becomes one file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/output_file.hpp"

namespace warpfold::tool {

// What one process has left. It may have ended before it was through with it.
struct process_file {
    std::uint64_t began = 0; // nanoseconds
    std::uint64_t process = 0;
    std::string text;
};

// One kind of them: all processes that the run starts write it into a folder, and the end of it is one file, or none.
class run_files {
public:
    // Sets the variable that asks for it. `what` names it in messages and begins the files' names; `target` is where the
    // user wants it. Throws report::write_error where that could not be written.
    run_files(const std::string& folder, const char* what, const char* variable,
              const std::optional<std::string>& target);

    [[nodiscard]] const std::string& what() const noexcept { return what_; }
    [[nodiscard]] const std::string& target() const noexcept { return path_; }
    // In the order in which the processes began.
    [[nodiscard]] std::vector<process_file> left() const;
    // Writes it for the user, if he has asked for it. Throws report::write_error.
    void write(const std::string& text);

private:
    std::string folder_;
    std::string what_;
    std::string path_; // as given
    std::unique_ptr<report::output_file> target_;
};

struct merged {
    std::string text;
    std::vector<std::string> remarks; // one line each: what of it is not as the user may think
};

// Of one process and more. Launches of several processes follow each other, with "process" in each.
[[nodiscard]] merged merge_counters(const std::vector<process_file>& files);
// Of several processes that have launched kernels, the last one's.
[[nodiscard]] merged merge_profiles(const std::vector<process_file>& files);
// Processes stand beside each other, each from its own beginning.
[[nodiscard]] merged merge_timelines(const std::vector<process_file>& files);

struct merged_findings {
    std::string text;
    std::uint64_t count = 0;              // without notes
    std::vector<std::string> not_printed; // paragraphs of processes that ended before they could say them
};

// Findings of several processes follow each other, with "process" and "program" in each. Throws failure where a file is
// no list of findings.
[[nodiscard]] merged_findings merge_findings(const std::vector<process_file>& files);

} // namespace warpfold::tool
