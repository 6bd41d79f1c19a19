// SPDX-License-Identifier: MIT
// Global memory of the software GPU: one arena of host addresses, so that a device pointer is also a host pointer, with
// a table of what is allocated where. Generic addresses of shared and local memory are windows at the arena's start.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "softgpu/memory/address_space.hpp"
#include "softgpu/memory/shared_file.hpp"

namespace softgpu::memory {

using address = std::uint64_t;

// `mapped`: memory of a shared_file, of the program's virtual memory management or of another process.
enum class allocation_kind : std::uint8_t {
    device,
    managed,
    host_mapped,
    variable,
    constant,
    heap,
    array,
    texture,
    mapped
};

enum class access_rights : std::uint8_t { none, read, read_write };

struct allocation {
    address base = 0;
    std::uint64_t bytes = 0;
    allocation_kind kind = allocation_kind::device;
    std::string name;                                 // of a __device__ or __constant__ variable
    std::uint64_t serial = 0;                         // counts the allocations of all devices from 1
    std::uint64_t taken = 0;                          // of the arena, with what is kept free behind it
    access_rights rights = access_rights::read_write; // of kernels

    [[nodiscard]] bool contains(address at, std::uint64_t length) const noexcept {
        return at >= base && length <= bytes && at - base <= bytes - length;
    }
};

// Told of what is allocated and released, with the table locked: it must not ask for it.
class watcher {
public:
    virtual void allocated(const allocation& a) = 0;
    virtual void released(const allocation& a) = 0;

protected:
    ~watcher() = default;
};

class out_of_memory : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class device_memory {
public:
    static constexpr std::uint64_t alignment = 256; // as cudaMalloc's
    static constexpr std::uint64_t window_bytes = 1ull << 24;
    static constexpr unsigned most_cluster_blocks = 16;
    static constexpr std::uint64_t gap_bytes = 1ull << 16; // behind the windows, so that no allocation is next to one
    static constexpr std::uint64_t quarantine_bytes = 1ull << 30;

    // `capacity` is what the card has; no more than that, nor more than the host can give, is ever handed out.
    explicit device_memory(std::uint64_t capacity);
    // In a part of addresses that outlive it, made for memories of this capacity. Throws std::system_error.
    device_memory(std::uint64_t capacity, address_space& in, unsigned part);
    // Addresses that a memory needs.
    [[nodiscard]] static std::uint64_t reserved_for(std::uint64_t capacity) noexcept;
    ~device_memory();
    device_memory(const device_memory&) = delete;
    device_memory& operator=(const device_memory&) = delete;

    // 256-byte aligned, zero where fresh. Throws out_of_memory. bytes > 0.
    address allocate(std::uint64_t bytes, allocation_kind kind, std::string name = {});
    // Whole pages, which are in a file from the start, as after share(). Throws out_of_memory.
    address allocate_shared(std::uint64_t bytes, allocation_kind kind);
    // false: nothing is allocated at exactly this address.
    bool release(address base);
    // Makes host memory that the program owns visible to kernels (pinned, registered), at its own address.
    void adopt(void* host, std::uint64_t bytes, allocation_kind kind);
    bool disown(void* host);

    // The allocation that holds all of [at, at + length).
    [[nodiscard]] std::optional<allocation> find(address at, std::uint64_t length = 1) const;
    // The allocation closest to an address that is in none; for messages.
    [[nodiscard]] std::optional<allocation> nearest(address at) const;

    // The allocation that held this address until it was released, where it is known still: see keep_apart().
    [[nodiscard]] std::optional<allocation> find_released(address at) const;
    // All that is allocated, by address.
    [[nodiscard]] std::vector<allocation> list() const;
    // The serial of the allocation made last; 0: there was none.
    [[nodiscard]] std::uint64_t last_serial() const noexcept { return space_.last_serial(); }

    // At most one; nullptr: none. Is told of what is allocated already.
    void watch(watcher* who);
    // From now on, or no longer, allocations do not touch each other, and what is released stays unused for as long as
    // there is room, so that an access behind an end or to freed memory meets nothing else.
    void keep_apart(bool on = true);

    [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::uint64_t used() const noexcept { return used_.load() + physical_->bytes.load(); }
    [[nodiscard]] std::uint64_t available() const; // what allocate would still give, host memory considered
    // What cudaMemGetInfo calls free. It falls by every allocation, touched or not.
    [[nodiscard]] std::uint64_t unused() const;

    [[nodiscard]] address shared_window() const noexcept { return arena_; }
    [[nodiscard]] std::uint64_t reserved_bytes() const noexcept { return reserved_bytes_; } // from shared_window() on
    // Whether an address is one of the memory's own, allocated or not.
    [[nodiscard]] bool reserves(address at) const noexcept { return at >= arena_ && at - arena_ < reserved_bytes_; }
    [[nodiscard]] address local_window() const noexcept { return arena_ + window_bytes; }
    // Of the block of rank 0 in a cluster; the others' follow by rank.
    [[nodiscard]] address cluster_window() const noexcept { return arena_ + 3 * window_bytes; }
    // Bytes of these, with one window for a rank that no cluster has.
    static constexpr std::uint64_t cluster_window_bytes = (most_cluster_blocks + 1) * window_bytes;

    // Functions have addresses too, where no data can be. One for each `what`, which code_at() gives back; nullptr where
    // there is no function at exactly this address.
    address place_code(const void* what);
    void remove_code(const void* what);
    [[nodiscard]] const void* code_at(address at) const;

    // The heap of malloc in kernels: an allocation each, together no more than `limit`. 0: it is full.
    address allocate_on_heap(std::uint64_t bytes, std::uint64_t limit);
    // false: the heap has given nothing at exactly this address.
    bool release_on_heap(address base);

    // Virtual memory (mapped_memory.cpp): ranges of addresses, without memory until a part of a file is mapped there.
    static constexpr std::uint64_t mapping_granularity = 1ull << 21;

    // Whole pages, aligned, at the wished address if it is free. Throws out_of_memory.
    address reserve(std::uint64_t bytes, std::uint64_t page = mapping_granularity, address wish = 0);
    // false: this is not what reserve() has given, or something is mapped there.
    bool unreserve(address base, std::uint64_t bytes);
    // [at, at + bytes) of a reserved range. Kernels have no access before show(). false: the range is not free.
    // Throws std::system_error.
    bool map(address at, std::uint64_t bytes, const shared_file& from, std::uint64_t offset);
    // Ends mappings, which must lie in the range as wholes, and the access to them. false: they do not.
    bool unmap(address at, std::uint64_t bytes);
    [[nodiscard]] bool is_reserved(address at) const;
    // Lets kernels of this device use mapped memory, of any device of the process; or changes their rights. Pieces that touch
    // and have the same rights are one allocation. fresh: nothing has been written there.
    void show(address at, std::uint64_t bytes, access_rights rights, bool fresh);
    void hide(address at, std::uint64_t bytes);
    [[nodiscard]] access_rights rights_at(address at) const;
    // Puts the pages of an allocation into a file, where they stay, so that other processes can map them. To be called while
    // nothing uses them. The offset is that of the allocation's first byte. Throws std::system_error.
    struct shared_part {
        const shared_file* file = nullptr;
        std::uint64_t offset = 0;
    };
    shared_part share(const allocation& a);
    // nullopt: not all pages of the allocation are in the file.
    [[nodiscard]] std::optional<shared_part> shared(const allocation& a) const;

    // Memory that has been created and waits to be mapped. It may outlive the device's memory.
    struct physical_account {
        std::atomic<std::uint64_t> bytes{0};
    };
    [[nodiscard]] const std::shared_ptr<physical_account>& physical() const noexcept { return physical_; }

private:
    // Shared memory, local memory, functions; then the shared memory of each block of a cluster, and one window more for
    // ranks that no cluster has.
    static constexpr unsigned windows = 3 + most_cluster_blocks + 1;
    static constexpr std::uint64_t code_step = 16;

    address take(std::uint64_t taken); // a free range; 0: none. The lock is held
    address allocate(std::uint64_t bytes, allocation_kind kind, std::string name, std::uint64_t page);
    void share_pages(address from, address to, bool fresh); // whole ones; fresh: their bytes are lost. The lock is held
    bool take_at(address base, std::uint64_t taken);        // this one; false: it is not free
    void join_pieces(address at, std::uint64_t bytes); // makes allocations of the pieces from before `at` to behind it
    void give(address base, std::uint64_t taken);
    [[nodiscard]] std::uint64_t taken_by(std::uint64_t bytes) const; // of the arena
    void keep_released(const allocation& gone, std::uint64_t taken); // the lock is held
    void forget_oldest();                                            // likewise

    device_memory(std::uint64_t capacity, std::unique_ptr<address_space> own);

    std::unique_ptr<address_space> own_; // nullptr: of several memories
    address_space& space_;
    unsigned part_;
    std::uint64_t capacity_;
    mutable std::atomic<std::uint64_t> host_share_; // of the capacity: see unused()
    std::uint64_t reserved_bytes_;
    address arena_;
    mutable std::shared_mutex mutex_;
    std::map<address, allocation> allocations_;    // by base, adopted host memory too
    std::map<address, std::uint64_t> free_ranges_; // of the arena, by base, merged
    std::atomic<std::uint64_t> used_{0};
    std::uint64_t heap_used_ = 0;
    std::vector<const void*> code_; // by address in their window, in steps of code_step
    watcher* watcher_ = nullptr;
    bool apart_ = false;
    std::map<address, allocation> released_;                                    // kept from use, by base
    std::map<std::uint64_t, std::pair<address, std::uint64_t>> released_order_; // base and extent, the oldest first
    std::uint64_t released_bytes_ = 0;
    std::uint64_t release_serial_ = 0;
    struct piece {
        std::uint64_t bytes = 0;
        access_rights rights = access_rights::none;
    };
    std::map<address, std::uint64_t> reserved_; // bytes by base
    std::map<address, std::uint64_t> mappings_; // likewise, in reserved ranges
    std::map<address, piece> pieces_;           // what show() has shown
    std::unique_ptr<shared_file> shared_pages_; // of share(): the arena's, nullptr before
    std::map<address, address> shared_;         // the pages that are in it: ranges, first to last + 1
    std::shared_ptr<physical_account> physical_ = std::make_shared<physical_account>();
};

} // namespace softgpu::memory
