// SPDX-License-Identifier: MIT
#include "softgpu/memory/peers.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace softgpu::memory::peers {
namespace {

struct peer_table {
    std::shared_mutex access;
    std::atomic<std::size_t> count{0}; // of members
    std::vector<const device_memory*> members;
    const device_memory* common = nullptr;                                // one of them
    std::set<std::pair<const device_memory*, const device_memory*>> open; // from, to
};

peer_table& table() {
    static peer_table& only = *new peer_table; // never destroyed: kernels may still run while the process ends
    return only;
}

bool is_for_all(const allocation& a) {
    return a.kind == allocation_kind::managed || a.kind == allocation_kind::host_mapped;
}

} // namespace

void join(const device_memory& memory) {
    const std::unique_lock lock(table().access);
    table().members.push_back(&memory);
    table().count = table().members.size();
}

void join_as_common(const device_memory& memory) {
    join(memory);
    const std::unique_lock lock(table().access);
    table().common = &memory;
}

void leave(const device_memory& memory) {
    const std::unique_lock lock(table().access);
    std::erase(table().members, &memory);
    table().count = table().members.size();
    std::erase_if(table().open, [&](const auto& pair) { return pair.first == &memory || pair.second == &memory; });
}

bool open(const device_memory& from, const device_memory& to) {
    const std::unique_lock lock(table().access);
    return table().open.emplace(&from, &to).second;
}

bool close(const device_memory& from, const device_memory& to) {
    const std::unique_lock lock(table().access);
    return table().open.erase({&from, &to}) == 1;
}

std::optional<allocation> find(const device_memory& from, address at, std::uint64_t length) {
    peer_table& all = table();
    if (all.count == 0) {
        return std::nullopt;
    }
    const std::shared_lock lock(all.access);
    if (std::ranges::find(all.members, &from) == all.members.end()) {
        return std::nullopt;
    }
    for (const device_memory* const other : all.members) {
        if (other == &from) {
            continue;
        }
        std::optional<allocation> found = other->find(at, length);
        const bool own_rights = found && found->kind == allocation_kind::mapped; // each device is given its own
        if (found && !own_rights && (is_for_all(*found) || all.open.contains({&from, other}))) {
            return found;
        }
    }
    return std::nullopt;
}

std::optional<allocation> find_reachable(const device_memory& from, address at, std::uint64_t length) {
    std::optional<allocation> found = from.find(at, length);
    return found ? found : find(from, at, length);
}

bool is_reserved(const device_memory& from, address at) {
    if (from.is_reserved(at)) {
        return true;
    }
    const std::shared_lock lock(table().access);
    return std::ranges::any_of(table().members, [at](const device_memory* m) { return m->is_reserved(at); });
}

const char* describe(const device_memory& from, address at) {
    const std::shared_lock lock(table().access);
    for (const device_memory* const other : table().members) {
        if (other != &from && other->reserves(at)) {
            return other == table().common ? "memory of managed variables, where nothing is allocated"
                   : table().open.contains({&from, other})
                       ? "memory of another device, where nothing is allocated"
                       : "memory of another device, to which this device has no peer access";
        }
    }
    return nullptr;
}

} // namespace softgpu::memory::peers
