// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/checking.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "softgpu/check/finding_report.hpp"
#include "softgpu/observe/whole_file.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/graph.hpp"
#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/accounts/order_checking.hpp"

namespace softgpu::runtime::checking {
namespace {

std::atomic<check::session*> the_session{nullptr};

// Never destroyed: kernels may still run while the process ends.
check::findings& all_findings() {
    static check::findings& only = *new check::findings;
    return only;
}

std::atomic<check::findings*> chosen_sink{nullptr};

check::findings& sink_of_the_moment() {
    check::findings* const chosen = chosen_sink.load();
    return chosen != nullptr ? *chosen : all_findings();
}

struct reported {
    std::mutex mutex;
    std::size_t printed = 0; // of the list
    std::size_t written = 0;
    std::string path; // of the file; empty: none
    bool complained = false;
    bool ended = false;
};

reported& so_far() {
    static reported& only = *new reported;
    return only;
}

// The session, for as long as nothing refers to it from elsewhere.
class owned_session final : public check::session {
public:
    owned_session(check::check_set checks, memory::device_memory& memory)
        : session(checks, sink_of_the_moment(), memory) {
        if (operations() != nullptr) {
            keeper_.emplace(*operations());
        }
        the_session.store(this, std::memory_order_release);
    }
    ~owned_session() override {
        check::session* self = this;
        the_session.compare_exchange_strong(self, nullptr);
    }

private:
    std::optional<order_keeper> keeper_;
};

std::vector<check::finding> not_printed() {
    std::vector<check::finding> all = all_findings().list();
    std::vector<check::finding> fresh(all.begin() + static_cast<std::ptrdiff_t>(so_far().printed), all.end());
    std::stable_partition(fresh.begin(), fresh.end(), [](const check::finding& f) { return !f.is_note; });
    return fresh;
}

// Under its lock.
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
        file.put(check::to_json(all_findings().list(), program_invocation_short_name, paragraphs));
        file.commit();
    } catch (const std::exception& e) {
        if (!std::exchange(so_far().complained, true)) {
            report(std::string("SOFTGPU_CHECK_JSON: ") + e.what());
        }
    }
}

thread_local int many_at_once = 0;

void write_new(const check::findings& to) noexcept {
    if (&to != &all_findings() || many_at_once != 0 || !journal::instance().is_of_this_process()) {
        return;
    }
    try {
        const std::lock_guard lock(so_far().mutex);
        so_far().written = all_findings().size();
        if (!observe::whole_file::is_direct(so_far().path)) {
            write_file();
        }
    } catch (const std::exception& e) {
        report(std::string("the checks' report: ") + e.what());
    }
}

void print_new() {
    const std::vector<check::finding> fresh = not_printed();
    so_far().printed += fresh.size();
    for (const check::finding& f : fresh) {
        const std::string text = check::to_text(f);
        static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
    }
}

bool is_child() { return !journal::instance().is_of_this_process(); }

} // namespace

std::unique_ptr<check::session> begin(const settings& options, memory::device_memory& memory) {
    return options.checks == 0 ? nullptr : std::make_unique<owned_session>(options.checks, memory);
}

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

many_findings::many_findings() noexcept { ++many_at_once; }
many_findings::~many_findings() { --many_at_once; }

void send_findings_to(check::findings* sink) noexcept { chosen_sink.store(sink); }

check::session* current() noexcept { return the_session.load(std::memory_order_acquire); }

void written(const void* at, std::uint64_t bytes) noexcept {
    if (check::session* const s = current()) {
        s->written(reinterpret_cast<std::uint64_t>(at), bytes);
    }
}

void copied(const void* to, const void* from, std::uint64_t bytes) noexcept {
    if (check::session* const s = current()) {
        s->copied(reinterpret_cast<std::uint64_t>(to), reinterpret_cast<std::uint64_t>(from), bytes);
    }
}

void launched(const settings& options, bool fault) noexcept {
    if (options.checks == 0 || is_child()) {
        return;
    }
    try {
        const std::lock_guard lock(so_far().mutex);
        if (fault || so_far().ended) {
            print_new();
        }
        if (fault || all_findings().size() != so_far().written) {
            so_far().written = all_findings().size();
            if (!observe::whole_file::is_direct(so_far().path)) {
                write_file();
            }
        }
    } catch (const std::exception& e) {
        report(std::string("the checks' report: ") + e.what());
    }
}

void find_leaks(check::session& s, std::uint64_t after) {
    const many_findings several;
    std::set<memory::address> idle;
    if (context* const gpu = context::existing()) {
        for (const auto& [base, a] : gpu->state().graphs.allocations) {
            if (!a->live) {
                idle.insert(base);
            }
        }
    }
    s.find_leaks(after, idle);
}

void memory_ends(bool poisoned) noexcept {
    try {
        if (check::session* const s = poisoned ? nullptr : current()) {
            find_leaks(*s);
        }
    } catch (const std::exception& e) {
        report(std::string("the checks' report: ") + e.what());
    }
}

void report_all(const settings& options) noexcept {
    if (options.checks == 0 || is_child()) {
        return;
    }
    try {
        const std::lock_guard lock(so_far().mutex);
        so_far().path = options.check_json_path;
        so_far().ended = true;
        print_new();
        write_file();
    } catch (const std::exception& e) {
        report(std::string("the checks' report: ") + e.what());
    }
}

} // namespace softgpu::runtime::checking
