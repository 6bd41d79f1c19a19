// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/shared_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <system_error>

#include "softgpu/memory/alignment.hpp"
#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {
namespace {

constexpr char handle_mark[8] = {'s', 'o', 'f', 't', 'g', 'p', 'u', '1'};

struct exported_pool {
    char mark[16];
    int device;
};
constexpr char pool_mark[16] = "softgpu mempool";

} // namespace

shared_handle handle_of(shared_kind kind, int device, const memory::shared_file& file, std::uint64_t offset,
                        std::uint64_t bytes) {
    shared_handle h{};
    std::memcpy(h.mark, handle_mark, sizeof h.mark);
    h.kind = kind;
    h.process = getpid();
    h.descriptor = file.descriptor();
    h.device = device;
    h.file = file.number();
    h.offset = offset;
    h.bytes = bytes;
    return h;
}

memory::shared_file open_handle(const shared_handle& h, shared_kind kind) {
    if (std::memcmp(h.mark, handle_mark, sizeof h.mark) != 0 || h.kind != kind) {
        fail(error::invalid_value, "this is no handle that a process has exported on the software GPU");
    }
    require(h.process != getpid(), error::device_uninitialized);
    try {
        memory::shared_file file = memory::shared_file::of_process(h.process, h.descriptor);
        if (file.number() == h.file && h.offset <= file.bytes() && h.bytes <= file.bytes() - h.offset) {
            return file;
        }
    } catch (const std::system_error& e) {
        fail(error::invalid_resource_handle, e.what());
    }
    fail(error::invalid_resource_handle, "process " + std::to_string(h.process) + " no longer has what it exported");
}

shared_handle share_memory(context& gpu, locked& lock, memory::address at, shared_kind kind) {
    context& home = home_of(gpu, at);
    const auto checked = [&] {
        auto found = home.memory().find(at);
        require(found && found->kind == memory::allocation_kind::device && found->name.empty());
        return *found;
    };
    memory::allocation found = checked();
    auto part = home.memory().shared(found);
    if (!part) {
        gpu.synchronize_all(lock);
        gpu.wait_until_idle(lock);
        found = checked(); // still
        part = home.memory().share(found);
    }
    return handle_of(kind, home.number(), *part->file, part->offset, found.bytes);
}

memory::address open_memory(context& gpu, const shared_handle& h, shared_kind kind) {
    const memory::shared_file file = open_handle(h, kind);
    auto& imports = gpu.part<imported_memory>();
    if (const auto known = imports.by_place.find({h.file, h.offset}); known != imports.by_place.end()) {
        ++imports.all.at(known->second).opened;
        return known->second;
    }
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t first = h.offset / page * page;
    const std::uint64_t bytes = round_up(h.offset + h.bytes, page) - first;
    const memory::address range = gpu.memory().reserve(bytes, page);
    require(gpu.memory().map(range, bytes, file, first), error::unknown);
    const memory::address at = range + (h.offset - first);
    gpu.memory().show(at, h.bytes, memory::access_rights::read_write, true);
    checking::written(reinterpret_cast<const void*>(at), h.bytes); // the other process may have
    imports.by_place[{h.file, h.offset}] = at;
    imports.all[at] = {range, bytes, 1, kind};
    return at;
}

bool is_imported(context& gpu, memory::address at, shared_kind kind) {
    const auto& all = home_of(gpu, at).part<imported_memory>().all;
    const auto found = all.find(at);
    return found != all.end() && found->second.kind == kind;
}

void close_memory(context& gpu, locked& lock, memory::address at, shared_kind kind) {
    require(is_imported(gpu, at, kind));
    gpu.synchronize_all(lock);
    require(is_imported(gpu, at, kind)); // still
    context& home = home_of(gpu, at);
    auto& imports = home.part<imported_memory>();
    const auto found = imports.all.find(at);
    if (--found->second.opened != 0) {
        return;
    }
    const auto [range, bytes, opened, of] = found->second;
    home.memory().unmap(range, bytes);
    home.memory().unreserve(range, bytes);
    std::erase_if(imports.by_place, [at](const auto& place) { return place.second == at; });
    imports.all.erase(found);
}

int export_pool(int device) {
    exported_pool facts{};
    std::memcpy(facts.mark, pool_mark, sizeof facts.mark);
    facts.device = device;
    const memory::shared_file file(sizeof facts);
    const int own = fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
    require(own >= 0 && file.write(&facts, sizeof facts, 0), error::unknown);
    return own;
}

int device_of_pool(int descriptor) {
    const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    exported_pool facts{};
    const auto file = memory::shared_file::of_descriptor(own);
    if (own < 0 || !file.read(&facts, sizeof facts, 0) || std::memcmp(facts.mark, pool_mark, sizeof pool_mark) != 0) {
        fail(error::invalid_value, "this file descriptor is no memory pool that was exported on the software GPU");
    }
    return facts.device;
}

} // namespace softgpu::runtime
