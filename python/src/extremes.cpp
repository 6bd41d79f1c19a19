// SPDX-License-Identifier: MIT
// Indices of extremes, and both extremes in one pass.
#include <cstdint>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::python {

namespace {

inline constexpr std::uint64_t nowhere = ~std::uint64_t{0};

template <class A>
struct candidate {
    A value;
    std::uint64_t index; // in its segment
};

// The first of equal elements; zeros of both signs are equal; a NaN is before all numbers.
template <class A, bool Smallest>
struct better {
    static constexpr bool commutative = true;

    template <class C>
    static constexpr C identity() {
        return {A{}, nowhere};
    }
    static bool is_nan(const candidate<A>& c) { return c.value != c.value; }
    candidate<A> operator()(const candidate<A>& a, const candidate<A>& b) const {
        if (a.index == nowhere || b.index == nowhere) {
            return a.index == nowhere ? b : a;
        }
        const candidate<A>& first = a.index < b.index ? a : b;
        const candidate<A>& second = a.index < b.index ? b : a;
        const bool beyond = Smallest ? second.value < first.value : first.value < second.value;
        return !is_nan(first) && (beyond || is_nan(second)) ? second : first;
    }
};

template <class A>
struct candidates {
    candidate<A> operator[](std::uint64_t k) const { return {from[k], k % length}; }

    elements<A> from;
    std::uint64_t length;
};

template <class A>
class indices {
public:
    explicit indices(const array& of) : to_(of) {}

    struct place {
        const place&
        operator=(const candidate<A>& best) const { // NOLINT(cppcoreguidelines-c-copy-assignment-signature)
            to = best.index;
            return *this;
        }

        results<std::uint64_t>::place to;
    };
    place operator[](std::uint64_t s) const { return {to_[s]}; }

private:
    results<std::uint64_t> to_;
};

template <class A>
struct pair {
    A smallest, largest;
};

template <class A>
struct pairs {
    pair<A> operator[](std::uint64_t k) const {
        const A x = from[k];
        return {x, x};
    }

    elements<A> from;
};

template <class A>
struct both {
    static constexpr bool commutative = true;

    template <class P>
    static constexpr P identity() {
        return {minimum::identity<A>(), maximum::identity<A>()};
    }
    pair<A> operator()(const pair<A>& a, const pair<A>& b) const {
        return {minimum{}(a.smallest, b.smallest), maximum{}(a.largest, b.largest)};
    }
};

template <class A>
class pair_results {
public:
    pair_results(const array& smallest, const array& largest) : smallest_(smallest), largest_(largest) {}

    struct place {
        const place& operator=(const pair<A>& x) const { // NOLINT(cppcoreguidelines-c-copy-assignment-signature)
            smallest = x.smallest;
            largest = x.largest;
            return *this;
        }

        typename results<A>::place smallest, largest;
    };
    place operator[](std::uint64_t s) const { return {smallest_[s], largest_[s]}; }

private:
    results<A> smallest_, largest_;
};

template <bool Smallest>
void arg_extreme_of(element fold, const array& in, std::uint64_t length, const array& out) {
    with_fold_type(fold, [&](auto zero) {
        using A = decltype(zero);
        segmented_reduce(host{}, candidates<A>{elements<A>(in), length}, equal_segments{length}, out.size(),
                         indices<A>(out), better<A, Smallest>{});
    });
}

} // namespace

void arg_extreme(bool smallest, element fold, const array& in, std::uint64_t length, const array& out) {
    if (out.size() == 0 || length == 0) {
        return;
    }
    if (smallest) {
        arg_extreme_of<true>(fold, in, length, out);
    } else {
        arg_extreme_of<false>(fold, in, length, out);
    }
}

void min_max(element fold, const array& in, std::uint64_t length, const array& smallest, const array& largest) {
    if (smallest.size() == 0 || length == 0) {
        return;
    }
    with_fold_type(fold, [&](auto zero) {
        using A = decltype(zero);
        segmented_reduce(host{}, pairs<A>{elements<A>(in)}, equal_segments{length}, smallest.size(),
                         pair_results<A>(smallest, largest), both<A>{});
    });
}

} // namespace warpfold::python
