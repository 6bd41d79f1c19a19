// SPDX-License-Identifier: MIT
// A chunk of a reduction by key on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/compact.hpp"
#include "warpfold/host/compact/selection.hpp"

namespace warpfold::detail {

// The fold of a stretch of keyed elements: of those since the last beginning of a run, of which there are `count`. Where
// there is none, of all.
template <class A>
struct keyed_chunk_total {
    A value;
    std::uint64_t count;
};

// Folds elements [begin, end) when it is made. Elements before the first beginning of a run belong to the run that the
// chunks before have left open; its fold is written by the chunk in which it ends.
template <class A, class Keys, class Values, class KeysOut, class ValuesOut, class Op, class Equal>
struct compact_chunk<keyed_fold<A, Keys, Values, KeysOut, ValuesOut, Op, Equal>> {
    using task_type = keyed_fold<A, Keys, Values, KeysOut, ValuesOut, Op, Equal>;
    using total_type = keyed_chunk_total<A>;
    using Key = element_t<Keys>;
    static constexpr std::size_t bytes = std::max(sizeof(Key), sizeof(A));

    compact_chunk(const task_type& task, std::uint64_t begin, std::uint64_t end, std::uint64_t n)
        : task_(task), keys_(new Key[end - begin + 1]), folds_(new A[end - begin + 1]) {
        if constexpr (std::is_same_v<Values, all_ones> && std::is_same_v<Op, sum>) {
            measure(begin, end);
        } else {
            fold(begin, end);
        }
        ends_ = end == n || begins_at(end);
    }

    [[nodiscard]] total_type total() const { return total_; }
    [[nodiscard]] total_type join(const total_type& left, const total_type& right) const {
        return {right.count != 0 ? right.value : static_cast<A>(task_.op(left.value, right.value)),
                left.count + right.count};
    }
    [[nodiscard]] static std::uint64_t count_of(const total_type& total) { return total.count; }
    void write(const total_type& prefix) const {
        detail::copy_results(task_.keys_out, prefix.count, keys_.get(), total_.count);
        // folds_[0] is that of the run that is open on the left, if there is one; the last may be open on the right.
        if (joins_ && (total_.count != 0 || ends_)) {
            folds_[0] = static_cast<A>(task_.op(prefix.value, folds_[0]));
        }
        const std::uint64_t first = joins_ ? 0 : 1, last = total_.count + (ends_ ? 1 : 0);
        for (std::uint64_t k = first; k < last; ++k) {
            task_.values_out[prefix.count + k - 1] = static_cast<element_written_t<ValuesOut, A>>(folds_[k]);
        }
    }

private:
    void fold(std::uint64_t begin, std::uint64_t end) {
        A sum{};
        std::uint64_t count = 0; // runs that begin here
        for (std::uint64_t k = begin; k < end; ++k) {
            const bool head = k == 0 || begins_at(k);
            const A x = static_cast<A>(task_.values[k]);
            if (head) {
                if (k != begin) {
                    folds_[count] = sum;
                }
                keys_[count++] = task_.keys[k];
                sum = x;
            } else {
                sum = k == begin ? x : static_cast<A>(task_.op(sum, x));
            }
            if (k == begin) {
                joins_ = !head;
            }
        }
        folds_[count] = sum;
        total_ = {sum, count};
    }

    // The same for lengths of runs, which are the distances of their beginnings: without branches.
    void measure(std::uint64_t begin, std::uint64_t end) {
        std::uint64_t count = 0;
        for (std::uint64_t k = begin; k < end; ++k) {
            keys_[count] = task_.keys[k];
            folds_[count] = static_cast<A>(k);
            count += k == 0 || begins_at(k) ? 1u : 0u;
        }
        joins_ = begin != 0 && !begins_at(begin);
        folds_[count] = static_cast<A>(end);
        for (std::uint64_t run = count; run != 0; --run) {
            folds_[run] -= folds_[run - 1];
        }
        folds_[0] -= static_cast<A>(begin);
        total_ = {folds_[count], count};
    }

    [[nodiscard]] bool begins_at(std::uint64_t k) const {
        return !detail::equal_by(task_.equal, static_cast<const Key&>(task_.keys[k - 1]),
                                 static_cast<const Key&>(task_.keys[k]));
    }

    const task_type& task_;
    std::unique_ptr<Key[]> keys_;
    std::unique_ptr<A[]> folds_;
    total_type total_{};
    bool joins_ = false, ends_ = false;
};

} // namespace warpfold::detail
