// SPDX-License-Identifier: MIT
#include "softgpu/check/findings/finding.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <utility>

namespace softgpu::check {

namespace {

std::atomic<void (*)(const findings&)> told_of_new{nullptr};

std::string place_text(const source_place& p) {
    if (!p.file.empty()) {
        return source_lines(p);
    }
    std::string text = p.ptx_line != 0 ? "line " + std::to_string(p.ptx_line) + " of the PTX" : "";
    return p.instruction.empty() ? text : text + " (" + p.instruction + ")";
}

std::string triple(const std::array<std::uint32_t, 3>& t) {
    return "(" + std::to_string(t[0]) + "," + std::to_string(t[1]) + "," + std::to_string(t[2]) + ")";
}

bool names_warp_barrier(const finding& f) { return f.message.find("__syncwarp") != std::string::npos; }

} // namespace

std::string hexadecimal(std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string source_lines(const source_place& at) {
    if (at.file.empty()) {
        return {};
    }
    std::string text = at.file + ":" + std::to_string(at.line);
    for (const auto& [file, line] : at.called_from) {
        text += ", called at " + file + ":" + std::to_string(line);
    }
    return text;
}

bool findings::add(finding f) {
    // Instructions of one source line are one, and it does not matter which of two accesses came first.
    std::vector<std::string> named;
    for (const finding_access& a : f.accesses) {
        named.push_back(!a.where.file.empty()   ? a.where.file + ":" + std::to_string(a.where.line)
                        : a.where.ptx_line != 0 ? "ptx:" + std::to_string(a.where.ptx_line)
                                                : a.what);
        for (const auto& [file, line] : a.where.called_from) {
            named.back() += "<" + file + ":" + std::to_string(line);
        }
    }
    std::sort(named.begin(), named.end());
    std::string places = named.empty() ? f.message : std::string();
    for (const std::string& one : named) {
        places += one + '\n';
    }
    {
        const std::lock_guard lock(mutex_);
        const auto [at, fresh] = known_.try_emplace({f.kind, f.kernel, f.is_note, std::move(places)}, list_.size());
        if (!fresh) {
            finding& known = list_[at->second];
            const std::uint64_t times = known.times + f.times;
            // The first that was found tells what is missing, but not where others miss more than the warp's own barrier.
            if (names_warp_barrier(known) && !names_warp_barrier(f)) {
                known = std::move(f);
            }
            known.times = times;
            return false;
        }
        list_.push_back(std::move(f));
    }
    if (const auto tell = told_of_new.load()) {
        tell(*this);
    }
    return true;
}

void tell_of_new_findings(void (*whom)(const findings&)) noexcept { told_of_new.store(whom); }

std::vector<finding> findings::list() const {
    const std::lock_guard lock(mutex_);
    return list_;
}

std::vector<finding> findings::take() {
    const std::lock_guard lock(mutex_);
    known_.clear();
    return std::exchange(list_, {});
}

std::size_t findings::size() const {
    const std::lock_guard lock(mutex_);
    return list_.size();
}

std::string to_text(const finding& f) {
    std::string text = "softgpu: ";
    text += name_of(f.check);
    if (f.kind != name_of(f.check)) {
        text += ": " + f.kind;
    }
    text += f.is_note ? " (a note)" : "";
    if (!f.kernel.empty()) {
        text += " in kernel " + f.kernel;
    }
    text += ": " + f.message + "\n";
    for (const finding_access& a : f.accesses) {
        text += "    " + a.what;
        if (a.has_thread) {
            text += " by block " + triple(a.block) + ", thread " + triple(a.thread);
        }
        if (a.value) {
            text += ", value " + *a.value;
        }
        if (const std::string place = place_text(a.where); !place.empty()) {
            text += ", " + place;
        }
        text += "\n";
    }
    if (!f.address.empty()) {
        text += "    at " + f.address + (f.allocation.empty() ? "" : ": " + f.allocation) + "\n";
    }
    if (f.times > 1) {
        text += "    " + std::to_string(f.times) + " times\n";
    }
    return text;
}

} // namespace softgpu::check
