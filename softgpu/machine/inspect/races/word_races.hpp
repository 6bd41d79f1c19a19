// SPDX-License-Identifier: MIT
// One lane's access to one word: who touched the word before, and whether anything orders the two accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/module/source_place.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

class word_access {
public:
    word_access(const instruction* i, std::byte* frame, warp* w, access_space space);

    // Reports what races with the access, and leaves its stamp. `at`: the word's address; `offset`: where the word begins in
    // the lane's access; `byte_mask`: bytes of the word that are accessed. Threads of other blocks may update the same
    // stamps at the same time: an update may be lost, as if it had come just before.
    void look(check::stamp& written_now, check::stamp& read_now, std::uint64_t at, unsigned lane, unsigned offset,
              unsigned byte_mask);

private:
    using stamp = check::stamp;
    using event = check::event;

    [[nodiscard]] bool is_own_block(stamp s) const;
    [[nodiscard]] bool is_of_warp(stamp s) const { return is_own_block(s) && check::warp_of(s) == w_->index; }
    // Both accesses are synchronizing: atomics, or volatile ones of two warps.
    [[nodiscard]] bool agrees(stamp s) const;
    // This is an atomic behind a plain write of its own thread, without synchronization between the two. The plain write is
    // the one that races with the atomics of others.
    [[nodiscard]] bool hides(stamp s) const;

    // Reports the stamp of an operation that is not in order with this launch.
    void look_at_operations(stamp s, bool of_write, unsigned byte_mask);
    // The event of a stamp in the block's own time. false: it is in order anyway.
    [[nodiscard]] bool event_of(stamp s, std::uint64_t& block, event& e) const;
    [[nodiscard]] bool is_known_of_others(stamp s) const { return in_global_ && clock_.view.known.contains(s); }
    [[nodiscard]] bool is_known(const event& e) const { return clock_.is_ordered(e, w_->index, lane_); }
    // In order by releases and acquires.
    [[nodiscard]] bool knows_acquisition(event by) const; // of its block, in the times of global memory
    [[nodiscard]] bool is_released(std::uint64_t block, event e) const;
    [[nodiscard]] bool is_released_directly(std::uint64_t block, event e) const; // without a search
    // A search has found an order behind another block. Keeps for all threads of this block what the same acquisition covers,
    // if a barrier is behind it. Requires the graph's mutex to be held.
    void note_known(std::uint64_t block) const;
    [[nodiscard]] bool follows_write(stamp s) const;
    [[nodiscard]] bool follows_read(stamp s) const;
    // Nothing of the read `s`, of the event e, is lost where this read's stamp replaces it.
    [[nodiscard]] bool replaces_read(stamp s, std::uint64_t block, const event& e) const;
    [[nodiscard]] bool has_acquired_since(std::uint64_t time) const;
    [[nodiscard]] bool has_acquired_itself_since(std::uint64_t time) const; // the thread
    [[nodiscard]] bool has_acquired() const;

    // Bytes of each lane's element where the stamp is that of a row, 0 elsewhere.
    [[nodiscard]] unsigned row_element(stamp s) const;
    // In the row this lane, and no other, has the bytes of this access.
    [[nodiscard]] bool is_alone_in_row(stamp s) const;
    // A lane that has accessed bytes of this access; another one than this lane if there is one.
    [[nodiscard]] unsigned lane_before(stamp s) const;
    // `s`, of the event e, is of several lanes of this warp.
    [[nodiscard]] bool follows_row(stamp s, event e) const;
    // The stamp that `mine` leaves where it is in order with `old`. `several`: the bit of a row.
    [[nodiscard]] stamp with_row(stamp old, stamp mine, stamp several) const;

    // `read` is of a product of wgmma. Reports a write that no warp's wait for it precedes; returns whether it is under way.
    bool look_at_products(stamp read, bool writes);
    [[nodiscard]] static stamp stamp_of_wait(const event& e, stamp read);
    [[nodiscard]] bool follows_wait(const event& e) const;

    [[nodiscard]] const access_site* site_before(stamp s) const {
        return b_.checks->sites->by_id[check::site_of(s)].load(std::memory_order_acquire);
    }
    [[nodiscard]] instruction_place place_before(stamp s) const;
    [[nodiscard]] instruction_place own_place() const { return {site_.function, site_.source}; }
    [[nodiscard]] const char* kind() const;
    // This pair of instructions has had so many findings that nothing more is looked up.
    [[nodiscard]] bool has_enough(stamp s) const;
    void note_read(stamp& read, stamp mine) const;

    // Bytes of the word that the access has.
    [[nodiscard]] unsigned width() const { return site_.bytes < 4 ? site_.bytes : 4; }
    // Others may write it at the same time.
    [[nodiscard]] std::uint32_t in_memory() const { return in_memory(at_, width()); }
    [[nodiscard]] std::uint32_t in_memory(std::uint64_t at, unsigned bytes) const;
    // The word that the lane stores, at this offset of its access.
    [[nodiscard]] std::optional<std::uint32_t> in_register(unsigned offset) const;
    [[nodiscard]] std::optional<std::uint32_t> in_register() const { return in_register(offset_); }
    [[nodiscard]] std::optional<std::uint32_t> in_matrix(unsigned offset) const;
    // The whole element as text.
    [[nodiscard]] std::optional<std::string> register_text() const;
    [[nodiscard]] std::string memory_text(const access_site& site) const;

    // Lanes of a warp write different values to a word of shared memory: an error only where the word is read.
    bool loses(stamp s);
    // Nothing has been ordered since.
    [[nodiscard]] bool is_lost_still() const;
    void report_lost();
    [[nodiscard]] bool is_same_instruction(stamp s) const;
    // ... and the lane before has not written yet: its value is in its register.
    [[nodiscard]] bool writes_now(stamp s) const;
    // A copy to this word is under way, and nobody has waited for it.
    void report_under_way(stamp s);
    // The lane writes what a copy to global memory still reads.
    void report_read_under_way(stamp s);
    void report_copy(stamp s, const char* kind, const char* message);
    void report_race(stamp s, bool of_write);

    const access_site& site_;
    std::byte* frame_;
    warp* w_;
    block& b_;
    launch_state& l_;
    check::block_clock& clock_;
    bool in_global_;
    stamp mine_ = 0;
    unsigned lane_ = 0;
    std::uint64_t at_ = 0;
    unsigned offset_ = 0;
    unsigned byte_mask_ = 0;
};

} // namespace softgpu::machine
