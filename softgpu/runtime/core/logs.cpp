// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/logs.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace softgpu::runtime::logs {

struct registration {
    listener who;
    void* user;
};

namespace {

constexpr int error_level = 0;

struct book {
    std::mutex access;
    std::deque<std::string> lines; // the last is number next - 1
    std::size_t bytes = 0;
    std::uint32_t next = 0;
    std::vector<std::unique_ptr<registration>> listeners;
};

book& all() {
    static book& only = *new book; // never destroyed: static destructors make calls too
    return only;
}

std::string dropped(std::uint64_t count) {
    return count == 0 ? "" : "(" + std::to_string(count) + " earlier messages left out)\n";
}

} // namespace

void add(const std::string& message) noexcept {
    try {
        std::vector<registration> listeners;
        {
            book& b = all();
            const std::lock_guard lock(b.access);
            b.lines.push_back(message + "\n");
            b.bytes += message.size() + 1;
            ++b.next;
            while (b.bytes > most_bytes && b.lines.size() > 1) {
                b.bytes -= b.lines.front().size();
                b.lines.pop_front();
            }
            for (const auto& r : b.listeners) {
                listeners.push_back(*r);
            }
        }
        std::string text = message;
        for (const registration& r : listeners) {
            r.who(r.user, error_level, text.data(), text.size());
        }
    } catch (...) { // it is on stderr
    }
}

std::uint32_t next() noexcept {
    const std::lock_guard lock(all().access);
    return all().next;
}

std::optional<std::string> since(std::uint32_t first, std::size_t bytes) {
    book& b = all();
    const std::lock_guard lock(b.access);
    const std::uint32_t oldest = b.next - static_cast<std::uint32_t>(b.lines.size());
    for (std::uint32_t from = std::max(first, oldest); from <= b.next; ++from) {
        std::string text = dropped(from - std::min(first, from));
        for (std::uint32_t n = from; n < b.next; ++n) {
            text += b.lines[n - oldest];
        }
        if (text.size() <= bytes && (from < b.next || first >= b.next)) {
            return text;
        }
    }
    return std::nullopt;
}

registration* listen(listener who, void* user) {
    book& b = all();
    const std::lock_guard lock(b.access);
    b.listeners.push_back(std::make_unique<registration>(registration{who, user}));
    return b.listeners.back().get();
}

bool unlisten(registration* r) {
    book& b = all();
    const std::lock_guard lock(b.access);
    return std::erase_if(b.listeners, [r](const auto& known) { return known.get() == r; }) != 0;
}

} // namespace softgpu::runtime::logs
