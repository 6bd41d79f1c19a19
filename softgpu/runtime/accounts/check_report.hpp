// SPDX-License-Identifier: MIT
// The findings of the process, their text on stderr and the file that SOFTGPU_CHECK_JSON names.
#pragma once

#include <vector>

#include "softgpu/check/findings/finding.hpp"
#include "softgpu/runtime/core/settings.hpp"

namespace softgpu::runtime::checking {

// Where new findings go: to the process's list, which is reported, or to the sink of a recording.
[[nodiscard]] check::findings& current_findings();
// Sets that sink for the checks that begin from now on; nullptr: the process's list.
void send_findings_to(check::findings* sink) noexcept;

// The process has made its first CUDA call: creates the file, which holds every finding from then on.
void begin_report(const settings& options) noexcept;

// While it lives, findings of this thread do not rewrite the file one by one. launched() or report_all() must follow.
class many_findings {
public:
    many_findings() noexcept;
    ~many_findings();
    many_findings(const many_findings&) = delete;
    many_findings& operator=(const many_findings&) = delete;
};

// A launch is finished. After a fault the findings are printed at once, because the program may abort.
void launched(const settings& options, bool fault) noexcept;
// Gives the findings since the last call. They stay in the file and are not printed.
[[nodiscard]] std::vector<check::finding> take_findings();

// Prints the findings that are not printed yet and writes the file. From now on launches print theirs at once.
void report_all(const settings& options) noexcept;

} // namespace softgpu::runtime::checking
