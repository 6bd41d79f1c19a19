// SPDX-License-Identifier: MIT
// Signal handlers that remove temporary files.
#include "report/temporary_files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <iterator>
#include <mutex>

#include <unistd.h>

namespace warpfold::report {
namespace {

// In static storage, so that a signal handler may read it at any time.
struct doomed_name {
    std::atomic<bool> taken{false};
    std::atomic<bool> written{false};
    char path[4096];
};
std::array<doomed_name, 16> names;

extern "C" void remove_and_end(int signal) {
    for (doomed_name& name : names) {
        if (name.written.load(std::memory_order_acquire)) {
            ::unlink(name.path);
        }
    }
    std::raise(signal); // its default action: the handler was reset
}

void handle_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXFSZ, SIGPIPE}) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
            struct sigaction ours {};
            ours.sa_handler = remove_and_end;
            ours.sa_flags = static_cast<int>(SA_RESETHAND);
            ::sigaction(signal, &ours, nullptr);
        }
    }
}

} // namespace

doomed_file::doomed_file(const std::string& path) {
    static std::once_flag once;
    std::call_once(once, handle_signals);
    if (path.size() >= std::size(names[0].path)) {
        return;
    }
    for (int slot = 0; slot < static_cast<int>(names.size()); ++slot) {
        doomed_name& name = names[static_cast<std::size_t>(slot)];
        if (!name.taken.exchange(true)) {
            *std::copy(path.begin(), path.end(), name.path) = '\0';
            name.written.store(true, std::memory_order_release);
            slot_ = slot;
            return;
        }
    }
}

doomed_file::~doomed_file() {
    if (slot_ >= 0) {
        doomed_name& name = names[static_cast<std::size_t>(slot_)];
        name.written.store(false, std::memory_order_release);
        name.taken.store(false);
    }
}

} // namespace warpfold::report
