// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/check_report.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/check/findings/finding_report.hpp"
#include "softgpu/observe/whole_file.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/process.hpp"

namespace softgpu::runtime::checking {
namespace {

constexpr const char* subject = "the checks' report";

// Never destroyed: kernels may still run while the process ends.
check::findings& all_findings() {
    static check::findings& only = *new check::findings;
    return only;
}

std::atomic<check::findings*> chosen_sink{nullptr};

struct report_state {
    std::mutex mutex;
    std::size_t printed = 0; // findings, of the list
    std::size_t written = 0;
    std::string path; // of the file; empty: none
    bool complained = false;
    bool ended = false;
    check::findings taken; // by take_findings(): in the file, but not printed
};

report_state& so_far() {
    static report_state& only = *new report_state;
    return only;
}

std::vector<check::finding> not_printed() {
    std::vector<check::finding> all = all_findings().list();
    std::vector<check::finding> fresh(all.begin() + static_cast<std::ptrdiff_t>(so_far().printed), all.end());
    std::stable_partition(fresh.begin(), fresh.end(), [](const check::finding& f) { return !f.is_note; });
    return fresh;
}

// Under the lock.
void write_file() {
    if (so_far().path.empty()) {
        return;
    }
    try {
        std::vector<std::string> paragraphs;
        for (const check::finding& f : not_printed()) {
            paragraphs.push_back(check::to_text(f));
        }
        observe::whole_file file(so_far().path);
        std::vector<check::finding> list = so_far().taken.list();
        for (check::finding& f : all_findings().list()) {
            list.push_back(std::move(f));
        }
        file.put(check::to_json(list, program_invocation_short_name, paragraphs));
        file.commit();
    } catch (const std::exception& e) {
        if (!std::exchange(so_far().complained, true)) {
            report(std::string("SOFTGPU_CHECK_JSON: ") + e.what());
        }
    }
}

thread_local int open_many = 0;

// Under the lock. Writes the file again, unless it is a pipe or a device, which gets one text at the end.
void rewrite_file() {
    so_far().written = all_findings().size();
    if (!observe::whole_file::is_direct(so_far().path)) {
        write_file();
    }
}

void write_new(const check::findings& to) noexcept {
    if (&to != &all_findings() || open_many != 0 || !owner_process::is_this_one()) {
        return;
    }
    report_exceptions(subject, [] {
        const std::lock_guard lock(so_far().mutex);
        rewrite_file();
    });
}

void print_new() {
    const std::vector<check::finding> fresh = not_printed();
    so_far().printed += fresh.size();
    for (const check::finding& f : fresh) {
        const std::string text = check::to_text(f);
        static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
    }
}

} // namespace

check::findings& current_findings() {
    check::findings* const chosen = chosen_sink.load();
    return chosen != nullptr ? *chosen : all_findings();
}

void send_findings_to(check::findings* sink) noexcept { chosen_sink.store(sink); }

void begin_report(const settings& options) noexcept {
    if (options.checks == 0) {
        return;
    }
    {
        const std::lock_guard lock(so_far().mutex);
        so_far().path = options.check_json_path;
    }
    write_new(all_findings());
    check::tell_of_new_findings(write_new);
}

many_findings::many_findings() noexcept { ++open_many; }
many_findings::~many_findings() { --open_many; }

void launched(const settings& options, bool fault) noexcept {
    if (options.checks == 0 || !owner_process::is_this_one()) {
        return;
    }
    report_exceptions(subject, [&] {
        const std::lock_guard lock(so_far().mutex);
        if (fault || so_far().ended) {
            print_new();
        }
        if (fault || all_findings().size() != so_far().written) {
            rewrite_file();
        }
    });
}

std::vector<check::finding> take_findings() {
    const std::lock_guard lock(so_far().mutex);
    std::vector<check::finding> taken = all_findings().take();
    so_far().printed = 0;
    if (!taken.empty()) {
        for (const check::finding& f : taken) {
            so_far().taken.add(f);
        }
        rewrite_file();
    }
    return taken;
}

void report_all(const settings& options) noexcept {
    if (options.checks == 0 || !owner_process::is_this_one()) {
        return;
    }
    report_exceptions(subject, [&] {
        const std::lock_guard lock(so_far().mutex);
        so_far().path = options.check_json_path;
        so_far().ended = true;
        print_new();
        write_file();
    });
}

} // namespace softgpu::runtime::checking
