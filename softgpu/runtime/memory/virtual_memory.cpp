// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/virtual_memory.hpp"

#include <fcntl.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::uint64_t granularity = memory::device_memory::mapping_granularity;
constexpr std::uint64_t common_bytes = 1ull << 45; // addresses in the file, which are used once

// Stands behind the memory in the file of what can be exported, so that an import knows it.
struct export_trailer {
    char mark[16];
    std::uint64_t bytes;
    physical_properties properties;
};
constexpr char trailer_mark[16] = "softgpu memory1";
constexpr std::uint64_t trailer_bytes = 4096;

void require_whole(std::uint64_t value) { require(value != 0 && value % granularity == 0); }

// The device that has it, and the entry there.
virtual_memory::counted& counted_of(context& gpu, physical_handle h) {
    for (const auto& member : gpu.group().members()) {
        auto& all = member->part<virtual_memory>().handles;
        if (const auto found = all.find(h); found != all.end()) {
            return found->second;
        }
    }
    fail(error::invalid_value);
}

// Calls use(address, mapping) for the mappings that [at, at + bytes) is made of. Throws invalid_value if it is not made of
// whole ones.
template <class Use>
void each_mapping(context& home, memory::address at, std::uint64_t bytes, Use&& use) {
    require(bytes != 0 && bytes <= ~at);
    const auto& all = home.part<virtual_memory>().mappings;
    memory::address next = at;
    auto m = all.find(at);
    while (m != all.end() && m->first == next && next < at + bytes) {
        next += m->second.bytes;
        ++m;
    }
    require(next == at + bytes);
    for (m = all.find(at); m != all.end() && m->first < next; ++m) {
        use(m->first, m->second);
    }
}

memory::access_rights rights_of(access_flags f) {
    switch (f) {
    case access_flags::none: return memory::access_rights::none;
    case access_flags::read: return memory::access_rights::read;
    case access_flags::read_write: return memory::access_rights::read_write;
    }
    fail(error::invalid_value);
}

context& device_at(context& gpu, const memory_location& at) {
    if (at.type == location_type::host || at.type == location_type::host_numa) {
        fail(error::not_supported, "virtual memory with access for the host is not supported");
    }
    require(at.type == location_type::device && at.id >= 0 && at.id < gpu.group().count());
    return gpu.group().at(at.id);
}

} // namespace

physical_memory::~physical_memory() {
    if (account != nullptr) {
        account->bytes -= bytes;
        if (properties.handles == no_handle) { // its file lives on
            (void)fallocate(file->descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                            static_cast<off_t>(bytes));
        }
    }
}

memory::address reserve_addresses(context& gpu, std::uint64_t bytes, std::uint64_t alignment, memory::address wish) {
    require_whole(bytes);
    require(alignment == 0 || std::has_single_bit(alignment));
    return gpu.memory().reserve(bytes, std::max(alignment, granularity), wish);
}

void free_addresses(context& gpu, memory::address at, std::uint64_t bytes) {
    require(at % granularity == 0 && home_of(gpu, at).memory().unreserve(at, bytes));
}

void require_properties(context& gpu, const physical_properties& p) {
    require(p.type == pool_allocation::pinned);
    (void)device_at(gpu, p.location);
    if ((p.handles & ~file_descriptor_handle) != 0) {
        fail(error::not_supported, "memory is exported as file descriptors only");
    }
}

physical_handle create_physical(context& gpu, std::uint64_t bytes, const physical_properties& p) {
    require_properties(gpu, p);
    require_whole(bytes);
    context& home = device_at(gpu, p.location);
    if (bytes > home.memory().available()) {
        throw memory::out_of_memory("no memory for this");
    }
    auto& all = home.part<virtual_memory>();
    auto made = std::make_shared<physical_memory>();
    if (p.handles == no_handle) {
        if (all.common == nullptr || bytes > common_bytes - all.common_used) {
            all.common_used = 0;
            all.common = std::make_shared<memory::shared_file>(common_bytes);
        }
        made->file = all.common;
        made->offset = all.common_used;
        all.common_used += bytes;
    } else {
        made->file = std::make_shared<memory::shared_file>(bytes + trailer_bytes);
        export_trailer trailer{};
        std::memcpy(trailer.mark, trailer_mark, sizeof trailer.mark);
        trailer.bytes = bytes;
        trailer.properties = p;
        require(made->file->write(&trailer, sizeof trailer, bytes), error::memory_allocation);
    }
    made->bytes = bytes;
    made->properties = p;
    made->account = home.memory().physical();
    made->account->bytes += bytes;
    made->handle = gpu.next_id();
    all.handles[made->handle] = {made, 1};
    return made->handle;
}

void release_physical(context& gpu, physical_handle h) {
    if (--counted_of(gpu, h).references == 0) {
        for (const auto& member : gpu.group().members()) {
            member->part<virtual_memory>().handles.erase(h);
        }
    }
}

namespace {

std::shared_ptr<physical_memory> mapped_at(context& home, memory::address at) {
    const auto& mappings = home.part<virtual_memory>().mappings;
    auto found = mappings.upper_bound(at);
    if (found == mappings.begin() || at - std::prev(found)->first >= std::prev(found)->second.bytes) {
        return nullptr;
    }
    return std::prev(found)->second.what;
}

} // namespace

std::shared_ptr<const physical_memory> physical_at(context& home, memory::address at) { return mapped_at(home, at); }

physical_handle retain_physical(context& gpu, memory::address at) {
    const std::shared_ptr<physical_memory> what = mapped_at(home_of(gpu, at), at);
    require(what != nullptr);
    auto& handles = gpu.group().at(what->properties.location.id).part<virtual_memory>().handles;
    const auto [entry, anew] = handles.try_emplace(what->handle, virtual_memory::counted{what, 1});
    entry->second.references += anew ? 0 : 1;
    return what->handle;
}

const physical_memory& physical_of(context& gpu, physical_handle h) { return *counted_of(gpu, h).what; }

int export_physical(context& gpu, physical_handle h) {
    const physical_memory& what = physical_of(gpu, h);
    require(what.properties.handles == file_descriptor_handle);
    const int own = fcntl(what.file->descriptor(), F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        fail(error::unknown, std::string("cannot export memory: ") + std::strerror(errno));
    }
    return own;
}

physical_handle import_physical(context& gpu, int descriptor) {
    const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    require(own >= 0);
    auto file = std::make_shared<const memory::shared_file>(memory::shared_file::of_descriptor(own));
    export_trailer trailer{};
    const std::uint64_t bytes = file->bytes();
    if (bytes <= trailer_bytes || !file->read(&trailer, sizeof trailer, bytes - trailer_bytes) ||
        std::memcmp(trailer.mark, trailer_mark, sizeof trailer.mark) != 0 || trailer.bytes != bytes - trailer_bytes) {
        fail(error::invalid_value, "this file descriptor is no memory that was exported on the software GPU");
    }
    auto made = std::make_shared<physical_memory>();
    made->file = std::move(file);
    made->bytes = trailer.bytes;
    made->properties = trailer.properties;
    made->fresh = false;
    made->handle = gpu.next_id();
    device_at(gpu, made->properties.location).part<virtual_memory>().handles[made->handle] = {made, 1};
    return made->handle;
}

void map_physical(context& gpu, memory::address at, std::uint64_t bytes, std::uint64_t offset, physical_handle h) {
    require_whole(bytes);
    require(at % granularity == 0 && offset % granularity == 0);
    const std::shared_ptr<physical_memory> what = counted_of(gpu, h).what;
    require(offset <= what->bytes && bytes <= what->bytes - offset);
    context& home = home_of(gpu, at);
    require(home.memory().map(at, bytes, *what->file, what->offset + offset));
    home.part<virtual_memory>().mappings[at] = {what, bytes};
}

void unmap_physical(context& gpu, locked& lock, memory::address at, std::uint64_t bytes) {
    gpu.synchronize_all(lock);
    context& home = home_of(gpu, at);
    each_mapping(home, at, bytes, [](memory::address, const virtual_memory::mapping&) {});
    for (const auto& member : gpu.group().members()) {
        if (member.get() != &home) {
            member->memory().hide(at, bytes);
        }
    }
    require(home.memory().unmap(at, bytes));
    auto& all = home.part<virtual_memory>().mappings;
    all.erase(all.find(at), all.lower_bound(at + bytes));
}

void set_access(context& gpu, memory::address at, std::uint64_t bytes, const memory_access* list, std::size_t count) {
    require(list != nullptr && count != 0);
    context& home = home_of(gpu, at);
    each_mapping(home, at, bytes, [](memory::address, const virtual_memory::mapping&) {});
    for (std::size_t i = 0; i < count; ++i) {
        (void)device_at(gpu, list[i].location);
        (void)rights_of(list[i].flags);
    }
    for (std::size_t i = 0; i < count; ++i) {
        context& user = device_at(gpu, list[i].location);
        const memory::access_rights rights = rights_of(list[i].flags);
        each_mapping(home, at, bytes, [&](memory::address begin, const virtual_memory::mapping& m) {
            const bool first = home.memory().rights_at(begin) == memory::access_rights::none;
            if (&user != &home && first) { // the host finds it where its addresses are
                home.memory().show(begin, m.bytes, memory::access_rights::none, m.what->fresh);
            }
            user.memory().show(begin, m.bytes, rights, &user == &home && first && m.what->fresh);
            if (first && !m.what->fresh) {
                checking::written(reinterpret_cast<const void*>(begin), m.bytes);
            }
            m.what->fresh = false;
        });
    }
}

access_flags access_at(context& gpu, const memory_location& by, memory::address at) {
    require(home_of(gpu, at).memory().is_reserved(at));
    switch (device_at(gpu, by).memory().rights_at(at)) {
    case memory::access_rights::read: return access_flags::read;
    case memory::access_rights::read_write: return access_flags::read_write;
    case memory::access_rights::none: break;
    }
    return access_flags::none;
}

} // namespace softgpu::runtime
