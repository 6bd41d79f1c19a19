// SPDX-License-Identifier: MIT
// What the tests of ranks of NCCL that differ or fail share.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/device_array.hpp"
#include "tests/many/nccl/ranks.cuh"
#include "tests/many/primitives.hpp"
#include "warpfold/reduce.cuh"

namespace warpfold::tests {

inline constexpr int ranks = 3;
inline constexpr std::uint64_t n = 100;

// What a call throws; empty if nothing.
struct thrown {
    std::string message;
    bool is_of_rank = false, is_of_communicator = false, is_late = false;
};
template <class Call>
thrown what_throws(const Call& call) {
    try {
        call();
    } catch (const rank_error& e) {
        return {.message = e.what(), .is_of_rank = true};
    } catch (const time_limit_error& e) {
        return {.message = e.what(), .is_late = true};
    } catch (const communicator_error& e) {
        return {.message = e.what(), .is_of_communicator = true};
    } catch (const std::exception& e) {
        return {.message = e.what()};
    }
    return {};
}

inline void expect_words(const thrown& got, const std::string& words) {
    EXPECT_NE(got.message.find(words), std::string::npos) << "not \"" << words << "\" but: " << got.message;
}

// Arrays of ones, and calls on them.
struct bench {
    template <class On>
    void expect_usable(const On& on) {
        EXPECT_EQ(reduce(on, doubles.data(), n), double{n * ranks});
        EXPECT_EQ(reduce(on.reproducible(), floats.data(), n), float{n * ranks});
        EXPECT_EQ(transform_reduce(on, ints.data(), n, times_index{}), n * ranks * (n * ranks - 1) / 2);
    }

    on_device<double> doubles{std::vector<double>(n, 1.0)}, scanned{std::vector<double>(n, -1.0)};
    on_device<float> floats{std::vector<float>(n, 1.0f)}, float_total{std::vector<float>(1, -1.0f)};
    on_device<std::int64_t> ints{std::vector<std::int64_t>(n, 1)};
    on_device<double> total{std::vector<double>(1, -1.0)};
    on_device<std::uint64_t> place{std::vector<std::uint64_t>(1, 7)};
};

struct first_of { // without an identity
    WARPFOLD_HD double operator()(double a, double /*b*/) const { return a; }
};

struct large { // more than a slot of the second gather holds of values of up to 16 bytes
    double x[4];
};
struct first_of_all {
    WARPFOLD_HD large operator()(const large& a, const large& /*b*/) const { return a; }
};

// call(on, of, differs): enqueued; differs at the last rank. Every rank throws a rank_error with `words` at check_enqueued() or
// from the call itself, writes nothing, and can go on.
template <class Call>
void expect_named(const std::string& words, const Call& call) {
    with_nccl_ranks(
        ranks,
        [&](thread_communicator& /*threads*/, nccl_communicator& comm, cudaStream_t stream) {
            bench of;
            const auto on = gpu{stream}.over(comm);
            for (int round = 0; round < 2; ++round) {
                const thrown got = what_throws([&] {
                    call(on, of, comm.rank() == ranks - 1);
                    comm.check_enqueued(stream);
                });
                EXPECT_TRUE(got.is_of_rank);
                expect_words(got, words);
                EXPECT_EQ(of.total.read()[0], -1.0);
                EXPECT_EQ(of.float_total.read()[0], -1.0f);
                EXPECT_EQ(of.place.read()[0], 7u);
                EXPECT_EQ(of.scanned.read(), std::vector<double>(n, -1.0));
                of.expect_usable(on);
            }
        },
        std::chrono::seconds(60));
}

} // namespace warpfold::tests
