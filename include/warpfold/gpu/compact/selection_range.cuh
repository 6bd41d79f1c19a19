// SPDX-License-Identifier: MIT
// Selections in ranges: each warp reads a range of consecutive elements, and keeps what it selects in shared memory. Then blocks
// exchange their counts once, and each warp writes what it has kept. No block waits for another one in between, so memory is
// never idle. What does not fit into shared memory is read again (decision 99).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/gpu/compact/selection_bits.cuh"
#include "warpfold/gpu/compact/staged_results.cuh"
#include "warpfold/gpu/compact/warp_elements.cuh"
#include "warpfold/gpu/core/thread_items.cuh"
#include "warpfold/gpu/core/vector_load.cuh"
#include "warpfold/operation.hpp"
#include "warpfold/warp/reduce.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// *to = x, of which no cache keeps more than it must: what is read again stays there.
template <class T>
__device__ void store_streaming(T* to, const T& x) {
    if constexpr (sizeof(T) == 16 || sizeof(T) == 8 || sizeof(T) == 4) {
        using word = typename access_word<sizeof(T)>::type;
        word held;
        std::memcpy(&held, &x, sizeof(T));
        __stcs(reinterpret_cast<word*>(to), held);
    } else {
        *to = x;
    }
}

// Writes from[0] to from[count - 1] to out[position] and on, by a warp. `from` is shared memory, aligned to 16 bytes, with room for
// 4 bytes more, which change.
template <class Out, class T>
__device__ void write_by_warp(T* from, unsigned count, const Out& out, std::uint64_t position) {
    using U = element_written_t<Out, T>;
    const unsigned lane = threadIdx.x % warp::lanes;
    if constexpr (std::is_same_v<Out, T*> && sizeof(T) < sizeof(unsigned)) {
        constexpr unsigned of_word = sizeof(unsigned) / sizeof(T);
        if (lane < of_word) {
            from[count + lane] = T{};
        }
        __syncwarp();
        T* const to = out + position;
        const auto beyond = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % of_word);
        const unsigned head = min((of_word - beyond) % of_word, count), words = (count - head) / of_word;
        const auto* const source = reinterpret_cast<const unsigned*>(from) + head / of_word;
        const unsigned shift = head % of_word * (8 * sizeof(T));
        for (unsigned k = lane; k < words; k += warp::lanes) {
            detail::store_streaming(reinterpret_cast<unsigned*>(to + head) + k,
                                    __funnelshift_r(source[k], source[k + 1], shift));
        }
        const unsigned behind = head + words * of_word; // at most of_word - 1 are left, as before `head`
        const unsigned k = lane < of_word ? lane : behind + lane - of_word, end = lane < of_word ? head : count;
        if (lane < 2 * of_word && k < end) {
            to[k] = from[k];
        }
    } else {
#pragma unroll 4
        for (unsigned k = lane; k < count; k += warp::lanes) {
            if constexpr (std::is_same_v<Out, T*>) {
                detail::store_streaming(out + position + k, from[k]);
            } else {
                out[position + k] = static_cast<U>(from[k]);
            }
        }
    }
}

// A warp in its range, of parts of so many rows.
template <class Plan, unsigned Rows>
class selection_range {
public:
    using Task = typename Plan::task_type;
    using T = typename Plan::layout::T;
    using S = typename Plan::test_type::S;
    using Part = warp_elements<Plan::run, Rows>;
    static constexpr unsigned run = Plan::run, rows = Rows;

    // That the array has.
    __device__ static std::uint64_t parts_of(const Plan& plan, std::uint64_t n) {
        return (n + plan.shift + Part::of_warp - 1) / Part::of_warp;
    }
    // The number of elements that are selected in the part in the middle of the range, in lane 0.
    __device__ static unsigned sample(const Plan& plan, std::uint64_t n, unsigned number, unsigned of) {
        selection_range one(plan, n, number, of);
        const std::uint64_t middle = (one.begin_ + one.end_) / 2;
        items some;
        one.template load<cache_hint::keep>(middle, some);
        one.start(middle);
        return warp::reduce(one.find(middle, some).count(), sum{});
    }

    // Range `number` of `of`.
    __device__ selection_range(const Plan& plan, std::uint64_t n, unsigned number, unsigned of) : plan_(plan), n_(n) {
        const std::uint64_t parts = parts_of(plan, n);
        begin_ = number * parts / of;
        end_ = (number + std::uint64_t{1}) * parts / of;
    }

    // Reads the range, and keeps what fits into the warp's shared memory, aligned to 16. The number of selected elements, in all
    // lanes.
    [[nodiscard]] __device__ unsigned read(unsigned char* memory, unsigned bytes) {
        kept_ = reinterpret_cast<T*>(memory);
        room_ = (bytes - 16) / unsigned{sizeof(T)};
        unsigned of_lane = 0; // behind those that are kept
        behind_kept_ = end_;
        for_each_part<cache_hint::stream>(begin_, [&](std::uint64_t number, const items& some) {
            const bits_type bits = find(number, some);
            if (behind_kept_ != end_ || !keep(bits, some)) {
                behind_kept_ = min(behind_kept_, number);
                of_lane += bits.count();
            }
        });
        return count_ + warp::shuffle(warp::reduce(of_lane, sum{}), 0);
    }
    // Writes the selected elements; so many are selected before the range.
    __device__ void write(std::uint64_t before) {
        const auto write_kept = [&] {
            __syncwarp();
            detail::write_by_warp(kept_, count_, plan_.task.out, before);
            before += count_;
            count_ = 0;
            __syncwarp();
        };
        write_kept();
        for_each_part<cache_hint::keep>(behind_kept_, [&](std::uint64_t number, const items& some) {
            const bits_type bits = find(number, some);
            if (!keep(bits, some)) {
                write_kept();
                (void)keep(bits, some);
            }
        });
        write_kept();
    }

private:
    using bits_type = selection_bits<Part>;
    struct no_items {};
    struct items {
        T of_input[rows][run];
        std::conditional_t<Plan::test_type::has_stencil, S[rows][run], no_items> of_stencil;
    };

    // each(number, items) for the parts from `first` on, of which the next one is on its way meanwhile.
    template <cache_hint Hint, class Each>
    __device__ void for_each_part(std::uint64_t first, const Each& each) {
        if (first == end_) {
            return;
        }
        start(first);
        items next;
        load<Hint>(first, next);
#pragma unroll 1
        for (std::uint64_t number = first; number != end_; ++number) {
            const items some = next;
            if (number + 1 != end_) {
                load<Hint>(number + 1, next);
            }
            each(number, some);
        }
    }
    // Before find() of the first part.
    __device__ void start(std::uint64_t number) {
        if constexpr (Plan::test_type::elements_at != 0) {
            before_ = plan_.task.in[number == 0 ? 0 : part(number).begin - 1];
        }
    }
    [[nodiscard]] __device__ bits_type find(std::uint64_t number, const items& some) {
        const Part of = part(number);
        bits_type bits;
        const auto& tested = [&]() -> const auto& {
            if constexpr (Plan::test_type::has_stencil) {
                return some.of_stencil;
            } else {
                return some.of_input;
            }
        }
        ();
        if (of.whole) {
            bits.template find<true>(plan_.task.test, of, tested, before_);
        } else {
            bits.template find<false>(plan_.task.test, of, tested, before_);
        }
        if constexpr (Plan::test_type::elements_at != 0) {
            before_ = warp::shuffle(some.of_input[rows - 1][run - 1], warp::lanes - 1);
        }
        return bits;
    }
    // Puts the selected elements behind those that are kept; false if there is no room for them.
    [[nodiscard]] __device__ bool keep(const bits_type& bits, const items& some) {
        const auto counts = bits.counts();
        const unsigned total = counts.for_each([](unsigned, unsigned) {});
        if (total > room_ - count_) {
            return false;
        }
        counts.for_each([&](unsigned r, unsigned through) {
            const unsigned of_run = bits.row(r);
            detail::put_selected(kept_ + (count_ + through - static_cast<unsigned>(__popc(of_run))), of_run,
                                 some.of_input[r]);
        });
        count_ += total;
        return true;
    }
    template <cache_hint Hint>
    __device__ void load(std::uint64_t number, items& to) const {
        const Part of = part(number);
        load_array<Hint>(of, plan_.task.in, to.of_input);
        if constexpr (Plan::test_type::has_stencil) {
            load_array<Hint>(of, plan_.task.test.stencil, to.of_stencil);
        }
    }
    // Where there is no element, another one.
    template <cache_hint Hint, class E>
    __device__ void load_array(const Part& of, const E* in, E (&to)[rows][run]) const {
        if (of.whole) {
#pragma unroll
            for (unsigned r = 0; r < rows; ++r) {
                const E* const from = in + (of.begin + Part::place(r));
                if constexpr (sizeof(to[r]) == 16) {
                    const uint4 vector = detail::load_vector<Hint>(reinterpret_cast<const uint4*>(from));
                    std::memcpy(to[r], &vector, sizeof(vector));
                } else {
                    load_items(from, to[r]);
                }
            }
            return;
        }
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                const unsigned at = Part::place(r) + j;
                to[r][j] = in[of.has(at) ? of.begin + at : n_ - 1];
            }
        }
    }
    [[nodiscard]] __device__ Part part(std::uint64_t number) const {
        return {plan_.shift, n_, number,
                (number != 0 || plan_.shift == 0) && (number + 1) * Part::of_warp <= n_ + plan_.shift};
    }

    const Plan& plan_;
    std::uint64_t n_, begin_, end_; // parts
    std::uint64_t behind_kept_ = 0; // the part of the first selected element that is not kept
    T* kept_ = nullptr;             // selected elements
    unsigned room_ = 0, count_ = 0; // for so many; so many are kept
    [[no_unique_address]] std::conditional_t<Plan::test_type::elements_at != 0, T, S>
        before_{}; // the element before a part
};

} // namespace warpfold::detail
