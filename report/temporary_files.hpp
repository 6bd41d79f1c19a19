// SPDX-License-Identifier: MIT
// Temporary files that are removed if a signal ends the program.
#pragma once

#include <string>

namespace warpfold::report {

// While an object exists, SIGINT, SIGTERM, SIGHUP, SIGXFSZ and SIGPIPE remove the file before they end the program,
// unless the program handles or ignores them. Limits: sixteen files at a time, names below 4 KiB; others are not removed.
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
