// SPDX-License-Identifier: MIT
// An exact sum of elements that arrive in parts, or lie in different memories. It is rounded only by value(). Special
// values are those of exact_sum.hpp. This header serves the host; exact_accumulator.cuh adds the GPU.
//
//      exact_accumulator<double> sum;
//      sum.add(gpu{stream}, data, n);   // elements in the target's memory
//      sum.add(host{}, more, m);
//      sum.add(other);                  // another accumulator, from another thread or process
//      double s = sum.value();          // the true sum of all of them, rounded once
//
// An accumulator is trivially copyable: its bytes may be sent to another process of the same build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/long_accumulator.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/float16.hpp"

namespace warpfold {

// T, the type of the value: float, double, half or bfloat16.
template <class T>
class exact_accumulator {
    using term = detail::computed_t<T>;
    static_assert(std::is_same_v<term, float> || std::is_same_v<term, double>);

public:
    void add(T x) { sum_.term(static_cast<term>(x)); }
    void add(const exact_accumulator& other) {
        detail::long_accumulator<term, 1> copy = other.sum_;
        sum_.add(copy);
    }
    // Adds n elements in the target's memory and waits. Elements are double only if T is. Throws what the target throws.
    template <class On, detail::real_summable In>
    requires(sizeof(detail::term_t<In>) <= sizeof(term)) void add(const On& on, const In& in, std::uint64_t n) {
        constexpr const char* call = "exact_accumulator::add";
        detail::check_inputs(on, n, call, in);
        detail::exact_add_engine<On>::add(on, sum_, detail::converted<term>(in), n, call);
    }
    template <class On, detail::sized_range Range>
    void add(const On& on, const Range& range) {
        add(on, std::data(range), std::uint64_t{std::size(range)});
    }
    template <class On, detail::decays In>
    void add(const On& on, const In& in, std::uint64_t n) {
        add(on, detail::decayed(in), n);
    }

    // The sum of everything added, rounded to nearest, ties to even.
    [[nodiscard]] T value() const {
        detail::long_accumulator<term, 1> copy = sum_;
        return copy.template value<T>();
    }

private:
    detail::long_accumulator<term, 1> sum_;
};

} // namespace warpfold
