// SPDX-License-Identifier: MIT
// Names of temporary files that do not outlive a program which a signal ends.
#pragma once

#include <string>

namespace warpfold::report {

// While one is there, SIGINT, SIGTERM, SIGHUP, SIGXFSZ and SIGPIPE remove the file before they end the program, unless
// the program handles or ignores them. Of more than sixteen at a time, or of a name of 4 KiB, nothing is removed.
class doomed_file {
public:
    explicit doomed_file(const std::string& path);
    ~doomed_file();
    doomed_file(const doomed_file&) = delete;
    doomed_file& operator=(const doomed_file&) = delete;

private:
    int slot_ = -1;
};

} // namespace warpfold::report
