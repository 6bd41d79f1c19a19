// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/streams/shared_event.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {

struct shared_event::state {
    std::atomic<std::uint64_t> recorded;
    std::atomic<std::uint64_t> finished;
    std::atomic<int> recorder; // process
};

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::chrono::microseconds shortest_pause{20};
constexpr std::chrono::microseconds longest_pause{1000};

// Whether a process runs; one that has ended, and whose parent has not waited for it, does not.
bool is_alive(int process) {
    if (kill(process, 0) != 0) {
        return errno != ESRCH;
    }
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')'); // "PID (NAME) STATE ..."
    return name_end == std::string::npos || name_end + 2 >= text.size() ||
           (text[name_end + 2] != 'Z' && text[name_end + 2] != 'X');
}

} // namespace

shared_event::shared_event() : shared_event(memory::shared_file(page)) {}

shared_event::shared_event(memory::shared_file file)
    : file_(std::move(file)), state_(reinterpret_cast<state*>(file_.map(0, page, 0))) {
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(state) <= page);
}

shared_event::~shared_event() { munmap(state_, page); }

std::uint64_t shared_event::record() noexcept {
    state_->recorder = getpid();
    return ++state_->recorded;
}

void shared_event::finish(std::uint64_t record) noexcept {
    std::uint64_t before = state_->finished;
    while (before < record && !state_->finished.compare_exchange_weak(before, record)) {
    }
}

std::uint64_t shared_event::last_record() const noexcept { return state_->recorded; }

bool shared_event::is_finished(std::uint64_t record) const noexcept { return state_->finished >= record; }

void shared_event::wait(std::uint64_t record) const noexcept {
    auto pause = shortest_pause;
    while (!is_finished(record)) {
        const int recorder = state_->recorder;
        if (!is_alive(recorder) && !is_finished(record)) {
            report("an event of process " + std::to_string(recorder) + " will not happen: the process has ended");
            return;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, longest_pause);
    }
}

} // namespace softgpu::runtime
