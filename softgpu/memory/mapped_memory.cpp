// SPDX-License-Identifier: MIT
// Virtual memory: reserved addresses, and parts of shared files that are mapped there.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <mutex>
#include <system_error>
#include <utility>

#include "softgpu/memory/alignment.hpp"
#include "softgpu/memory/device_memory.hpp"

namespace softgpu::memory {
namespace {

// Replaces what is at these addresses: zeros, or nothing that can be accessed.
void map_anew(address at, std::uint64_t bytes, int protection) {
    void* const got = mmap(reinterpret_cast<void*>(at), bytes, protection,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (got == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "cannot change the map of device memory");
    }
}

// The entry that holds all of [at, at + bytes), or the end.
template <class Ranges>
auto holder(Ranges& ranges, address at, std::uint64_t bytes) {
    auto found = ranges.upper_bound(at);
    if (found == ranges.begin()) {
        return ranges.end();
    }
    --found;
    const bool holds = bytes <= found->second && at - found->first <= found->second - bytes;
    return holds ? found : ranges.end();
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

// The pages of an allocation: the first address, and that behind them.
std::pair<address, address> pages_of(const allocation& a) {
    const std::uint64_t page = page_bytes();
    return {a.base / page * page, (a.base + std::max<std::uint64_t>(a.bytes, 1) - 1) / page * page + page};
}

} // namespace

bool device_memory::take_at(address base, std::uint64_t taken) {
    const auto range = holder(free_ranges_, base, taken);
    if (range == free_ranges_.end()) {
        return false;
    }
    const auto [first, bytes] = *range;
    free_ranges_.erase(range);
    if (base != first) {
        free_ranges_.emplace(first, base - first);
    }
    if (const std::uint64_t left = first + bytes - base - taken; left != 0) {
        free_ranges_.emplace(base + taken, left);
    }
    return true;
}

address device_memory::reserve(std::uint64_t bytes, std::uint64_t page, address wish) {
    const std::unique_lock lock(mutex_);
    address base = 0;
    if (wish != 0 && wish % page == 0 && take_at(wish, bytes)) {
        base = wish;
    }
    for (auto range = free_ranges_.begin(); base == 0 && range != free_ranges_.end(); ++range) {
        // Ranges that the program has not asked to touch do not, so that an access behind an end is found.
        const auto before = reserved_.lower_bound(range->first);
        const bool touches =
            before != reserved_.begin() && std::prev(before)->first + std::prev(before)->second == range->first;
        const address first = round_up(range->first + (touches ? page : 0), page);
        const std::uint64_t skipped = first - range->first;
        if (skipped <= range->second && bytes <= range->second - skipped) {
            take_at(first, bytes);
            base = first;
            break;
        }
    }
    if (base == 0) {
        throw out_of_memory("softgpu: out of memory: no free range of " + std::to_string(bytes) + " addresses");
    }
    map_anew(base, bytes, PROT_NONE);
    reserved_.emplace(base, bytes);
    return base;
}

bool device_memory::unreserve(address base, std::uint64_t bytes) {
    const std::unique_lock lock(mutex_);
    const auto found = reserved_.find(base);
    if (found == reserved_.end() || found->second != bytes) {
        return false;
    }
    const auto inside = mappings_.lower_bound(base);
    if (inside != mappings_.end() && inside->first < base + bytes) {
        return false;
    }
    map_anew(base, bytes, PROT_READ | PROT_WRITE);
    reserved_.erase(found);
    give(base, bytes);
    return true;
}

bool device_memory::map(address at, std::uint64_t bytes, const shared_file& from, std::uint64_t offset) {
    const std::unique_lock lock(mutex_);
    if (holder(reserved_, at, bytes) == reserved_.end()) {
        return false;
    }
    const auto after = mappings_.upper_bound(at);
    if ((after != mappings_.end() && after->first < at + bytes) ||
        (after != mappings_.begin() && at < std::prev(after)->first + std::prev(after)->second)) {
        return false;
    }
    (void)from.map(at, bytes, offset);
    mappings_.emplace(at, bytes);
    return true;
}

bool device_memory::unmap(address at, std::uint64_t bytes) {
    const auto first = [&] {
        const std::unique_lock lock(mutex_);
        auto mapping = mappings_.find(at);
        address end = at;
        while (mapping != mappings_.end() && mapping->first == end && end < at + bytes) {
            end += mapping->second;
            ++mapping;
        }
        return end == at + bytes && bytes != 0;
    };
    if (!first()) {
        return false;
    }
    hide(at, bytes);
    const std::unique_lock lock(mutex_);
    mappings_.erase(mappings_.find(at), mappings_.lower_bound(at + bytes));
    map_anew(at, bytes, PROT_NONE);
    return true;
}

bool device_memory::is_reserved(address at) const {
    const std::shared_lock lock(mutex_);
    return holder(reserved_, at, 1) != reserved_.end();
}

void device_memory::show(address at, std::uint64_t bytes, access_rights rights, bool fresh) {
    const std::unique_lock lock(mutex_);
    pieces_[at] = {bytes, rights};
    if (fresh && watcher_ != nullptr) {
        watcher_->allocated({at, bytes, allocation_kind::mapped, {}, 0, 0, rights});
    }
    join_pieces(at, bytes);
}

void device_memory::hide(address at, std::uint64_t bytes) {
    const std::unique_lock lock(mutex_);
    for (auto shown = pieces_.lower_bound(at); shown != pieces_.end() && shown->first < at + bytes;) {
        if (watcher_ != nullptr) {
            watcher_->released(
                {shown->first, shown->second.bytes, allocation_kind::mapped, {}, 0, 0, shown->second.rights});
        }
        shown = pieces_.erase(shown);
    }
    join_pieces(at, bytes);
}

void device_memory::join_pieces(address at, std::uint64_t bytes) {
    // All entries of the table that touch the range go, and the pieces that they were made of come back in new ones.
    address begin = at;
    address end = at + bytes;
    auto entry = allocations_.lower_bound(begin);
    while (entry != allocations_.begin()) {
        const auto before = std::prev(entry);
        if (before->second.kind != allocation_kind::mapped || before->first + before->second.bytes < begin) {
            break;
        }
        begin = std::min(begin, before->first);
        entry = before;
    }
    while (entry != allocations_.end() && entry->first <= end && entry->second.kind == allocation_kind::mapped) {
        end = std::max(end, entry->first + entry->second.bytes);
        entry = allocations_.erase(entry);
    }
    allocation run;
    const auto put = [&] {
        if (run.bytes != 0) {
            run.serial = space_.next_serial();
            allocations_.emplace(run.base, run);
        }
    };
    for (auto shown = pieces_.lower_bound(begin); shown != pieces_.end() && shown->first < end; ++shown) {
        const auto& [base, p] = *shown;
        if (run.bytes != 0 && run.base + run.bytes == base && run.rights == p.rights) {
            run.bytes += p.bytes;
            continue;
        }
        put();
        run = {base, p.bytes, allocation_kind::mapped, {}, 0, 0, p.rights};
    }
    put();
}

access_rights device_memory::rights_at(address at) const {
    const std::shared_lock lock(mutex_);
    auto after = pieces_.upper_bound(at);
    if (after == pieces_.begin()) {
        return access_rights::none;
    }
    --after;
    return at - after->first < after->second.bytes ? after->second.rights : access_rights::none;
}

address device_memory::allocate_shared(std::uint64_t bytes, allocation_kind kind) {
    return allocate(bytes, kind, {}, page_bytes());
}

device_memory::shared_part device_memory::share(const allocation& a) {
    const std::unique_lock lock(mutex_);
    const auto [from, to] = pages_of(a);
    share_pages(from, to, false);
    return {shared_pages_.get(), a.base - arena_};
}

std::optional<device_memory::shared_part> device_memory::shared(const allocation& a) const {
    const std::shared_lock lock(mutex_);
    auto [from, to] = pages_of(a);
    while (from < to) {
        const auto next = shared_.upper_bound(from);
        if (next == shared_.begin() || std::prev(next)->second <= from) {
            return std::nullopt;
        }
        from = std::prev(next)->second;
    }
    return shared_part{shared_pages_.get(), a.base - arena_};
}

void device_memory::share_pages(address from, address to, bool fresh) {
    if (shared_pages_ == nullptr) {
        shared_pages_ = std::make_unique<shared_file>(reserved_bytes_);
    }
    while (from < to) {
        const auto next = shared_.upper_bound(from);
        if (next != shared_.begin() && std::prev(next)->second > from) {
            from = std::prev(next)->second;
            continue;
        }
        const address end = next == shared_.end() ? to : std::min(to, next->first);
        if (!fresh && !shared_pages_->write(reinterpret_cast<const void*>(from), end - from, from - arena_)) {
            throw std::system_error(errno, std::generic_category(), "cannot share device memory");
        }
        (void)shared_pages_->map(from, end - from, from - arena_);
        shared_.emplace(from, end);
        from = end;
    }
}

} // namespace softgpu::memory
