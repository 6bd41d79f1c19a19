// SPDX-License-Identifier: MIT
// A chunk of a selection on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/compact.hpp"
#include "warpfold/detail/fold.hpp"

namespace warpfold::detail {

template <class Task>
struct compact_chunk;

// out[position + k] = from[k]
template <class Out, class T>
void copy_results(const Out& out, std::uint64_t position, const T* from, std::uint64_t count) {
    if constexpr (std::is_pointer_v<Out>) {
        std::copy_n(from, count, out + position);
    } else {
        for (std::uint64_t k = 0; k < count; ++k) {
            out[position + k] = from[k];
        }
    }
}

// Packs elements [begin, end) when it is made.
template <class In, class Out, class Rejected, class Test>
struct compact_chunk<selection<In, Out, Rejected, Test>> {
    using task_type = selection<In, Out, Rejected, Test>;
    using total_type = std::uint64_t;
    using T = element_t<In>;
    static constexpr std::size_t bytes = sizeof(T);

    compact_chunk(const task_type& task, std::uint64_t begin, std::uint64_t end, std::uint64_t /*n*/)
        : task_(task), begin_(begin), size_(end - begin), selected_(new T[size_ + 1]) {
        if constexpr (task_type::has_rejected) {
            rejected_.reset(new T[size_ + 1]);
        }
        if constexpr (has_flags) {
            std::uint64_t mixed = 0; // of every eighth group of flags
            for (std::uint64_t k = begin; k + group <= end; k += 8 * group) {
                const std::uint64_t flags = flags_at(k);
                mixed += flags != 0 && flags != all_true ? 1 : 0;
            }
            if (mixed * 4 * 8 * group < size_) { // else branches would be mispredicted
                begin = pack_groups(begin, end);
            }
        }
        pack(begin, end);
    }

    [[nodiscard]] total_type total() const { return count_; }
    [[nodiscard]] static total_type join(total_type left, total_type right) { return left + right; }
    [[nodiscard]] static std::uint64_t count_of(total_type total) { return total; }
    void write(total_type prefix) const {
        // What is where it belongs stays: another thread may read the last element.
        if (!task_.is_in_place() || prefix != begin_ || count_ != size_) {
            detail::copy_results(task_.out, prefix, selected_.get(), count_);
        }
        if constexpr (task_type::has_rejected) {
            detail::copy_results(task_.rejected, begin_ - prefix, rejected_.get(), size_ - count_);
        }
    }

private:
    // Flags are also read in groups, as one number.
    static constexpr bool has_flags = std::is_same_v<Test, stencil_test<const std::uint8_t*, is_true>> ||
                                      std::is_same_v<Test, stencil_test<const bool*, is_true>>;
    static constexpr std::uint64_t group = sizeof(std::uint64_t), all_true = 0x0101010101010101;

    [[nodiscard]] std::uint64_t flags_at(std::uint64_t k) const {
        std::uint64_t flags;
        std::memcpy(&flags, task_.test.stencil + k, sizeof(flags));
        return flags;
    }
    void pack(std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t k = begin; k < end; ++k) {
            const T& x = task_.in[k];
            const bool is_selected = test(task_.test, x, k);
            selected_[count_] = x;
            if constexpr (task_type::has_rejected) {
                rejected_[k - begin_ - count_] = x;
            }
            count_ += is_selected ? 1 : 0;
        }
    }
    // Of [begin, end) the whole groups; returns where the others begin.
    std::uint64_t pack_groups(std::uint64_t begin, std::uint64_t end) {
        const auto copy = [&](std::uint64_t k, T* to) {
            for (std::uint64_t j = 0; j < group; ++j) {
                to[j] = task_.in[k + j];
            }
        };
        for (; begin + group <= end; begin += group) {
            const std::uint64_t flags = flags_at(begin);
            if (flags == all_true) {
                copy(begin, &selected_[count_]);
                count_ += group;
            } else if (flags != 0) {
                pack(begin, begin + group);
            } else if constexpr (task_type::has_rejected) {
                copy(begin, &rejected_[begin - begin_ - count_]);
            }
        }
        return begin;
    }
    template <class Predicate>
    static bool test(const element_test<Predicate>& by, const T& x, std::uint64_t k) {
        return static_cast<bool>(detail::mapped(by.predicate, x, k));
    }
    template <class Stencil, class Predicate>
    static bool test(const stencil_test<Stencil, Predicate>& by, const T&, std::uint64_t k) {
        return static_cast<bool>(detail::mapped(by.predicate, by.stencil[k], k));
    }
    template <class Equal>
    bool test(const run_head_test<Equal>& by, const T& x, std::uint64_t k) const {
        return k == 0 || !detail::equal_by(by.equal, static_cast<const T&>(task_.in[k - 1]), x);
    }

    const task_type& task_;
    std::uint64_t begin_, size_, count_ = 0;
    std::unique_ptr<T[]> selected_, rejected_;
};

} // namespace warpfold::detail
