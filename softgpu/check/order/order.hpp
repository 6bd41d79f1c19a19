// SPDX-License-Identifier: MIT
// Order of operations. Streams, events, graphs and waits of the host order launches, copies, fills, allocations and frees.
// Two operations without an order that touch the same memory are a finding, at whatever times they ran.
//
// A launch leaves stamps in the shadow of global memory, with serial numbers that lead back to it. Copies and fills are
// compared with each other by their ranges; they leave stamps only where a launch without an order to them begins. Memory
// that is allocated or freed in a stream's order is compared with the allocations that launches have touched.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "softgpu/check/order/address_cover.hpp"
#include "softgpu/check/order/operation.hpp"
#include "softgpu/check/order/operation_races.hpp"
#include "softgpu/check/shadow/serial_numbers.hpp"

namespace softgpu::check {

class order {
public:
    order(findings& sink, const memories& of, const global_shadow& shadow, serial_numbers& serials)
        : races_(sink, of, shadow), serial_numbers_(serials) {}
    order(const order&) = delete;
    order& operator=(const order&) = delete;

    // The program issues an operation of a device, after these and all that its host has waited for.
    [[nodiscard]] std::shared_ptr<const moment> issue(std::span<const moment* const> after, int device = 0);
    // Within another operation, which has begun: after what that one knows, and after these, which are within it too. `last`:
    // after all that are within it and not `last`.
    [[nodiscard]] std::shared_ptr<const moment> issue_within(std::shared_ptr<const moment> outer,
                                                             std::span<const moment* const> after, bool last);
    void finished(const moment& m);
    // The host goes on after this operation, or after all of them, or all of a device.
    void host_waited(const moment& m);
    void host_waited_for_all();
    void host_waited_for_all_of(int device);

    // A launch begins: it has its serials. Gives the lowest serial of what is not in order before it.
    std::uint64_t begin_kernel(const record_pointer& record);
    void further_serial(const record_pointer& record, std::uint64_t serial, std::uint64_t block);
    void end_kernel(const record_pointer& record);
    // The operation that has this serial and is not in order with `self`; nullptr: there is none.
    [[nodiscard]] record_pointer unordered(const operation_record& self, std::uint64_t serial);
    // The serials, one of them this one, of an operation that is in order before `self`; {1, 0}: it is not, or unknown.
    struct serial_span {
        std::uint64_t first = 1;
        std::uint64_t last = 0;
    };
    [[nodiscard]] serial_span ordered_before(const operation_record& self, std::uint64_t serial);
    // The block of `of` that had this serial, while launches may still be taking further ones.
    [[nodiscard]] std::uint64_t block_of(const operation_record& of, std::uint64_t serial);
    // `self` has read what `other` has written as a signal: it knows of it from now on. nullptr: of the host.
    void meet(const operation_record& self, const operation_record* other);
    // Whether this memory was freed by an operation that is not in order with `self`, and may yet be touched.
    [[nodiscard]] bool may_touch_freed(const operation_record& self, std::uint64_t allocation);

    // A copy, a fill, an allocation or a free is carried out. is_signal: a value is written for those who wait for it, or was
    // waited for; the wait comes after who has written it.
    void carry_out(operation_record::kind what, operation_note note, std::string name,
                   std::vector<touched_range> ranges, bool is_signal = false);

    // The serials begin anew: nothing runs, and there are no stamps.
    void forget_serials();
    // Readers are about to lose what they refer to.
    void forget_all();

private:
    // What can be said of all records of a stretch of a chain: group_places places.
    struct group {
        address_cover touched;
        std::uint64_t first_serial = ~0ull; // the lowest
        bool has_kernels = false;
        bool has_transfers = false;
        bool has_memory = false; // allocations or frees
    };
    static constexpr std::uint32_t group_places = 64;
    struct chain {
        std::uint32_t last = 0;
        std::deque<record_pointer> records;    // by place
        std::map<std::uint32_t, group> groups; // by place / group_places
    };
    struct meeting {
        moment who;
        moment what;
    };
    struct serial_range {
        std::uint64_t last = 0;
        record_pointer of;
    };

    // `knowledge` includes `of` from now on.
    static void join(std::vector<std::uint32_t>& knowledge, const std::vector<std::uint32_t>& of);
    [[nodiscard]] bool is_before(const moment& a, const moment& b, unsigned depth = 0) const;
    void enter_chain(moment& made, std::span<const moment* const> after);
    // body(record) for each that has begun and is neither before nor after it, but for groups of which
    // nobody_of(group, whole) is true; whole: it holds nothing that `self` is after by its own order.
    template <class Skip, class Body>
    void each_unordered(const operation_record& self, Skip&& nobody_of, Body&& body);
    void enter(const record_pointer& record);
    void add_meeting(const moment& who, moment what);
    // What has written the ranges that `self` has seen, and meant them to be seen.
    void meet_writers(const operation_record& self);
    void name_serials(const record_pointer& record);
    // The operation that has this serial; nullptr: there is none.
    [[nodiscard]] record_pointer named(std::uint64_t serial) const;
    void prune();
    void drop(const operation_record& record);

    operation_races races_;
    serial_numbers& serial_numbers_;
    std::mutex mutex_;
    std::vector<chain> chains_;
    std::vector<std::uint32_t> host_;                                      // what the host knows of
    std::map<int, std::vector<std::uint32_t>> of_device_;                  // what the device's operations know of
    std::map<std::pair<std::uint32_t, std::uint32_t>, moment> unfinished_; // by chain and place
    std::map<std::uint64_t, serial_range> serials_;                        // by the first
    std::vector<meeting> meetings_;
    std::size_t kept_ = 0;
    std::size_t prune_at_ = 64;
};

} // namespace softgpu::check
