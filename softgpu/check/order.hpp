// SPDX-License-Identifier: MIT
// Order of operations: which launches, copies, fills, allocations and frees wait for each other, by streams, events, graphs
// and the host's own waiting, and which of them touch the same memory although neither waits for the other. It goes by
// that order alone, never by when something ran.
//
// Launches leave stamps in the shadow of global memory, with serial numbers that lead back to them; copies and fills
// leave theirs only where a launch comes that is not in order with them, and are compared with each other by their ranges.
// Memory that is allocated or freed in a stream's order is compared with the allocations that launches have touched.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "softgpu/check/finding.hpp"
#include "softgpu/check/global_shadow.hpp"
#include "softgpu/check/serial_numbers.hpp"
#include "softgpu/memory/device_memory.hpp"

namespace softgpu::check {

// Where an operation stands: operations that follow each other make chains, and of each chain it knows how many are over
// before it begins. Its own place is part of what it knows.
struct moment {
    std::uint32_t chain = 0;
    std::uint32_t place = 0; // from 1
    std::vector<std::uint32_t> known;

    [[nodiscard]] std::uint32_t knows_of(std::uint32_t of) const noexcept { return of < known.size() ? known[of] : 0; }
};

// An operation as the program issued it.
struct operation_note {
    std::shared_ptr<const moment> when; // nullptr: nothing is known of its order
    std::uint64_t id = 0;               // in the order of issue
    std::string stream;                 // "stream 13"
};

// Bytes that a copy or a fill touches, and of which allocation (0: of none that is known).
struct touched_range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t allocation = 0;
    bool writes = false;
};

// What a launch can say of the stamps that it has left.
class stamp_reader {
public:
    virtual ~stamp_reader() = default;
    [[nodiscard]] virtual finding_access describe(stamp s, std::uint64_t block, bool of_write) const = 0;
    // A number for the instruction.
    [[nodiscard]] virtual std::uint64_t site(stamp s) const = 0;
    // Whether the access is made to meet others: volatile, strong or atomic.
    [[nodiscard]] virtual bool is_signal(stamp s, bool of_write) const = 0;
};

// An operation that has begun.
struct operation_record {
    enum class sort : std::uint8_t { kernel, transfer, allocation, release };

    sort what = sort::kernel;
    operation_note note;
    std::string name; // "kernel f(int*)", "copy of 16 bytes from host to device"
    bool done = false;
    std::vector<touched_range> ranges; // not of a kernel
    bool stamped = false;              // of a transfer: in the shadow as well
    std::uint64_t first_serial = 0;    // 0: none
    std::uint64_t serials = 0;
    std::map<std::uint64_t, std::uint64_t> further; // more serials of a kernel, and their blocks
    std::shared_ptr<const stamp_reader> reader;     // of a kernel
    std::set<std::uint64_t> allocations;            // that a kernel has touched

    [[nodiscard]] std::string title() const { return note.stream + ", " + name; }
    [[nodiscard]] std::uint64_t block_of(std::uint64_t serial) const;
};
using record_pointer = std::shared_ptr<operation_record>;

class order {
public:
    order(findings& sink, const memory::device_memory& device, const global_shadow& shadow, serial_numbers& serials)
        : sink_(sink), memory_(device), shadow_(shadow), serial_numbers_(serials) {}
    order(const order&) = delete;
    order& operator=(const order&) = delete;

    // The program issues an operation, after these and all that its host has waited for.
    [[nodiscard]] std::shared_ptr<const moment> issue(std::span<const moment* const> after);
    void finished(const moment& m);
    // The host goes on after this operation, or after all of them.
    void host_waited(const moment& m);
    void host_waited_for_all();

    // A launch begins: it has its serials. Gives the lowest serial of what is not in order before it.
    std::uint64_t begin_kernel(const record_pointer& record);
    void further_serial(const record_pointer& record, std::uint64_t serial, std::uint64_t block);
    void end_kernel(const record_pointer& record);
    // The launch that is not in order with `self` and has this serial; nullptr: there is none.
    [[nodiscard]] record_pointer unordered(const operation_record& self, std::uint64_t serial);
    // The block of `of` that had this serial, while launches may still be taking further ones.
    [[nodiscard]] std::uint64_t block_of(const operation_record& of, std::uint64_t serial);
    // `self` has read what `other` has written as a signal: it knows of it from now on. nullptr: of the host.
    void meet(const operation_record& self, const operation_record* other);
    // Whether this memory was freed by an operation that is not in order with `self`, and may yet be touched.
    [[nodiscard]] bool may_touch_freed(const operation_record& self, std::uint64_t allocation);

    // A copy, a fill, an allocation or a free is carried out.
    void carry_out(operation_record::sort what, operation_note note, std::string name,
                   std::vector<touched_range> ranges);

    // The serials begin anew: nothing runs, and there are no stamps.
    void forget_serials();
    // Readers are about to lose what they refer to.
    void forget_all();

    // The finding for two accesses of different operations, the one that was issued first in front.
    [[nodiscard]] static finding race_of(const operation_record& a, finding_access one, const operation_record& b,
                                         finding_access other);

private:
    struct chain {
        std::uint32_t last = 0;
        std::deque<record_pointer> records; // by place
    };
    struct meeting {
        moment who;
        moment what;
    };
    struct serial_range {
        std::uint64_t last = 0;
        record_pointer of;
    };

    [[nodiscard]] bool is_before(const moment& a, const moment& b, unsigned depth = 0) const;
    template <class Body>
    void each_unordered(const operation_record& self, Body&& body);
    void enter(const record_pointer& record);
    void name_serials(const record_pointer& record);
    void prune();
    void drop(const operation_record& record);
    void put_stamps(operation_record& record);
    // Looks at the stamps in a transfer's ranges and, where it is wished, leaves its own.
    void look_at_stamps(operation_record& record, const std::vector<record_pointer>& kernels, bool stamp_them);
    void compare(const operation_record& a, const operation_record& b);
    void compare_with_memory(const operation_record& kernel, const operation_record& owned);

    findings& sink_;
    const memory::device_memory& memory_;
    const global_shadow& shadow_;
    serial_numbers& serial_numbers_;
    std::mutex mutex_;
    std::vector<chain> chains_;
    std::vector<std::uint32_t> host_;                                      // what the host knows of
    std::map<std::pair<std::uint32_t, std::uint32_t>, moment> unfinished_; // by chain and place
    std::map<std::uint64_t, serial_range> serials_;                        // by the first
    std::vector<meeting> meetings_;
    std::size_t kept_ = 0;
    std::size_t prune_at_ = 64;
};

} // namespace softgpu::check
