// SPDX-License-Identifier: MIT
// Elements of a namespace whose own functions have the names of the library's, public ones and internal ones: nothing of
// the user's is called, and no call becomes ambiguous.
#include <gtest/gtest.h>

#include <vector>

#include "warpfold/by_key.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"
#include "warpfold/segmented_reduce.hpp"
#include "warpfold/select.hpp"

namespace greedy {

struct number {
    float x;
    friend bool operator<(number a, number b) { return a.x < b.x; }
    friend bool operator==(number a, number b) { return a.x == b.x; }
};
struct add {
    number operator()(number a, number b) const { return {a.x + b.x}; }
    template <class A>
    static constexpr A identity() {
        return {};
    }
};

// Takes whatever comes, as well as anything else does.
#define GREEDY(name)                                                                                                   \
    template <class... T>                                                                                              \
    int name(const T&...) {                                                                                            \
        return 0;                                                                                                      \
    }                                                                                                                  \
    template <class... T>                                                                                              \
    int name(T&&...) {                                                                                                 \
        return 0;                                                                                                      \
    }
GREEDY(reduce)
GREEDY(transform_reduce)
GREEDY(count_if)
GREEDY(arg_max)
GREEDY(arg_value)
GREEDY(inclusive_scan)
GREEDY(exclusive_scan)
GREEDY(scan_call)
GREEDY(segmented_reduce)
GREEDY(segmented_arg_max)
GREEDY(with_segments)
GREEDY(arg_segments)
GREEDY(data_of)
GREEDY(mapped)
GREEDY(fold_value)
GREEDY(known)
GREEDY(decayed)
GREEDY(begin_of)
GREEDY(check_array)
GREEDY(select)
GREEDY(select_call)
GREEDY(partition)
GREEDY(unique)
GREEDY(reduce_by_key)
GREEDY(equal_by)
GREEDY(copy_results)
#undef GREEDY

} // namespace greedy

namespace {

using namespace warpfold;

TEST(Names, OfAUsersNamespaceAreNotCalled) {
    const std::vector<greedy::number> in(100, {1});
    std::vector<greedy::number> out(100);
    const std::vector<int> offsets{0, 50, 100};
    EXPECT_EQ(warpfold::reduce(host{}, in, greedy::add{}).x, 100);
    EXPECT_EQ(warpfold::reduce(host{}, in.data(), 100, greedy::add{}, greedy::number{2}).x, 102);
    EXPECT_EQ(warpfold::transform_reduce(host{}, in, [](greedy::number a) { return a.x; }), 100);
    EXPECT_EQ(warpfold::count_if(host{}, in, [](greedy::number a) { return a.x > 0; }), 100u);
    EXPECT_EQ(warpfold::arg_max(host{}, in).index, 0u);
    warpfold::inclusive_scan(host{}, in, out, greedy::add{});
    EXPECT_EQ(out[99].x, 100);
    std::vector<greedy::number> keys(100);
    EXPECT_EQ(warpfold::select(host{}, in, out, [](greedy::number a) { return a.x > 1; }), 0u);
    EXPECT_EQ(warpfold::partition(host{}, in, out, keys, warpfold::where(in, [](greedy::number) { return true; })),
              100u);
    EXPECT_EQ(warpfold::unique(host{}, in, out), 1u);
    EXPECT_EQ(warpfold::reduce_by_key(host{}, in, in, keys, out, greedy::add{}), 1u);
    EXPECT_EQ(out[0].x, 100);
    warpfold::segmented_reduce(host{}, in.data(), offsets.data(), 2, out.data(), greedy::add{});
    EXPECT_EQ(out[1].x, 50);
    warpfold::segmented_reduce(host{}, in, offsets, out, greedy::add{}, greedy::number{1});
    EXPECT_EQ(out[1].x, 51);
    std::vector<located<greedy::number>> places(2);
    warpfold::segmented_arg_max(host{}, in, offsets, places);
    EXPECT_EQ(places[1].index, 50u);
}

} // namespace
