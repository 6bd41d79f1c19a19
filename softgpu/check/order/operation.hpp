// SPDX-License-Identifier: MIT
// Operations as the checks see them: launches, copies, fills, allocations and frees, each with its place in the order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/check/findings/finding.hpp"
#include "softgpu/check/shadow/stamp.hpp"

namespace softgpu::check {

// An operation's place in the order. Operations that follow each other make a chain. `known` has, for each chain, how many
// of its operations are over before this one begins; its own place counts.
//
// An operation within another one, such as a kernel that a kernel launches, begins after the outer one has begun and is over
// before that is. It knows what the outer one knows, and some operations within the same one.
struct moment {
    std::uint32_t chain = 0;
    std::uint32_t place = 0; // from 1
    std::vector<std::uint32_t> known;
    std::shared_ptr<const moment> within;                            // nullptr: none; else `known` is empty
    bool last = false;                                               // within it, after all that is not `last`
    std::vector<std::pair<std::uint32_t, std::uint32_t>> siblings{}; // chains, and how many of each are over

    [[nodiscard]] bool is(const moment& other) const noexcept { return chain == other.chain && place == other.place; }
    [[nodiscard]] std::uint32_t knows_of(std::uint32_t of) const noexcept;
};

struct launch_point; // launch_point.hpp

// An operation as the program issued it.
struct operation_note {
    std::shared_ptr<const moment> when;                // nullptr: nothing is known of its order
    std::uint64_t id = 0;                              // in the order of issue
    std::string stream;                                // "stream 13"
    int device = -1;                                   // where there are several
    std::shared_ptr<const launch_point> launched_at{}; // of a kernel that a kernel launches
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
    enum class kind : std::uint8_t { kernel, transfer, allocation, release };

    kind what = kind::kernel;
    operation_note note;
    std::string name; // "kernel f(int*)", "copy of 16 bytes from host to device"
    bool done = false;
    bool is_signal = false;            // of a transfer: a value that others wait for, or the wait for it
    std::vector<touched_range> ranges; // not of a kernel
    bool stamped = false;              // of a transfer: in the shadow as well
    std::uint64_t first_serial = 0;    // 0: none
    std::uint64_t serials = 0;
    std::map<std::uint64_t, std::uint64_t> further; // more serials of a kernel, and their blocks
    std::shared_ptr<const stamp_reader> reader;     // of a kernel
    std::set<std::uint64_t> allocations;            // that a kernel has touched

    [[nodiscard]] std::string title() const {
        return (note.device < 0 ? "" : "device " + std::to_string(note.device) + ", ") + note.stream + ", " + name;
    }
    [[nodiscard]] std::uint64_t block_of(std::uint64_t serial) const;
};
using record_pointer = std::shared_ptr<operation_record>;

} // namespace softgpu::check
