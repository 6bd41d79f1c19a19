// SPDX-License-Identifier: MIT
// Calls on streams on the host's cores.
#include "warpfold/chunked.hpp"

#include <thread>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/library/chunked/chunked_cases.hpp"
#include "tests/library/chunked/chunked_scan_cases.hpp"

namespace warpfold {
namespace {

TEST(chunked, every_kind_of_source_has_the_same_sum_of_integers) { tests::sums_of_integers(host{2}); }
TEST(chunked, elements_that_fill_no_chunk_are_folded_in_order) { tests::structures_in_order(host{2}); }
TEST(chunked, places_extremes_and_counts) { tests::places_and_counts(host{2}); }
TEST(chunked, sums_of_floats_do_not_depend_on_threads) { tests::sums_of_numbers(host{2}); }
TEST(chunked, exact_sums_of_float) { tests::exact_sums<float>(host{2}); }
TEST(chunked, exact_sums_of_double) { tests::exact_sums<double>(host{2}); }
TEST(chunked, elements_that_are_stored_otherwise) { tests::stored_elements(host{2}); }
TEST(chunked, what_is_thrown_reaches_the_caller) { tests::failures(host{2}); }
TEST(chunked, running_sums) { tests::running_sums(host{2}); }
TEST(chunked, running_compositions) { tests::running_compositions(host{2}); }
TEST(chunked, failing_scans) { tests::failing_scans(host{2}); }
TEST(chunked, one_file_as_source_and_sink) { tests::one_file(host{2}); }
TEST(chunked, one_range_as_source_and_sink) { tests::one_range(host{2}); }
TEST(chunked, histograms) { tests::histograms(host{2}); }

TEST(chunked, chunks_of_the_hosts_own_multiple_give_the_sum_of_the_whole_array) {
    std::vector<float> data(1000003);
    for (std::size_t k = 0; k < data.size(); ++k) {
        data[k] = 1.0f / static_cast<float>(k + 1);
    }
    const tests::scratch_file file(data);
    for (const std::size_t bytes : {std::size_t{4} << 16, std::size_t{12} << 16, std::size_t{3} << 20}) {
        const file_source<float> source(file.path());
        EXPECT_TRUE(tests::same_bits(chunked_reduce(host{3}, source, sum{}, tests::chunks_of_bytes(bytes)),
                                     reduce(host{1}, data)));
    }
}

TEST(chunked, a_file_of_unknown_size_is_refused) {
    const char words[] = "its size is 0, and it has bytes: descriptor_source reads it";
    for (const auto& open : {+[] { (void)file_source<char>("/proc/self/status"); },
                             +[] { (void)file_source<char>("/proc/self/status", 0, 5); }}) {
        EXPECT_EQ(tests::message_of<file_error>(open), std::string("warpfold: /proc/self/status: ") + words);
    }
    const tests::scratch_file empty(std::vector<float>{});
    EXPECT_EQ(chunked_reduce(host{1}, file_source<float>(empty.path())), 0.0f);
}

TEST(chunked, a_pipe_is_read_to_its_end) {
    const auto data = tests::any_numbers<double>(50001, 3);
    for (const auto& [missing, mode] : {std::pair{0u, 0}, std::pair{3u, 0}, std::pair{0u, O_NONBLOCK}}) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        ASSERT_EQ(::fcntl(ends[0], F_SETFL, mode), 0);
        std::jthread writer([&, absent = missing] {
            const auto* from = reinterpret_cast<const char*>(data.data());
            std::size_t left = data.size() * sizeof(double) - absent;
            while (left != 0) {
                const ssize_t done = ::write(ends[1], from, std::min<std::size_t>(left, 9973));
                ASSERT_GT(done, 0);
                from += done;
                left -= static_cast<std::size_t>(done);
            }
            ::close(ends[1]);
        });
        const auto sum = [&] {
            return chunked_exact_sum(host{2}, descriptor_source<double>(ends[0]), tests::chunks_of_bytes(10000));
        };
        if (missing == 0) {
            EXPECT_TRUE(tests::same_bits(sum(), exact_sum(host{1}, data)));
        } else {
            EXPECT_EQ(tests::message_of<file_error>(sum),
                      "warpfold: descriptor: the data end inside an element of 8 bytes");
        }
        writer.join();
        ::close(ends[0]);
    }
}

// Carries between limbs, of both signs.
TEST(exact_accumulator, limbs_of_any_value_are_added) {
    detail::long_accumulator<double, 1> to;
    using layout = detail::long_accumulator<double, 1>::layout;
    std::int64_t limb[layout::limbs] = {};
    constexpr unsigned at = 1074 / 32; // limb `at` counts 2^(32 * at - 1074)
    limb[at] = std::numeric_limits<std::int64_t>::min();
    limb[at + 1] = std::int64_t{1} << 31;
    to.add_limbs(limb, 0);
    auto copy = to;
    EXPECT_EQ(copy.value(), 0.0);
    limb[at] = -1;
    limb[at + 1] = 0;
    to.add_limbs(limb, 0);
    copy = to;
    EXPECT_EQ(copy.value(), -std::ldexp(1.0, 32 * static_cast<int>(at) - 1074));
}

} // namespace
} // namespace warpfold
