// SPDX-License-Identifier: MIT
// Reductions by key and run-length encodings beside the ones of compact_cases.hpp, for the GPU tests of each of their kernels.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/library/compact/compact_gpu.hpp"
#include "warpfold/by_key.cuh"

namespace warpfold::tests {

template <class K>
std::vector<K> as_keys(const std::vector<std::uint32_t>& keys) {
    return std::vector<K>(keys.begin(), keys.end());
}

// Arrays begin `offset` elements behind the beginning of an allocation.
template <class U, class K, class V, class Op, class On, class Equal>
void reduces(const On& on, const std::vector<K>& keys, const std::vector<V>& values, unsigned offset, const Op& op,
             const Equal& equal) {
    const std::uint64_t n = keys.size();
    const std::string what = "n = " + std::to_string(n) + ", offset " + std::to_string(offset);
    const auto heads = heads_of(keys, equal);
    const auto folds = folded_runs<U>(heads, values, op);
    const on_device<K> keys_in(keys, offset), keys_out(n + 1);
    const on_device<V> values_in(values, offset);
    const on_device<U> values_out(n + 1);
    const on_device<std::uint32_t> count(1);
    reduce_by_key(on, keys_in.data(), n, values_in.data(), keys_out.data(), values_out.data(), count.data(), op, equal);
    EXPECT_EQ(count.read()[0], folds.size()) << what;
    expect_results(keys_out, partitioned(keys, heads).first, what);
    expect_results(values_out, folds, what);
}

// The same with an offset that depends on the number of elements.
template <class U, class K, class V, class Op, class On, class Equal>
void reduces(const On& on, const std::vector<K>& keys, const std::vector<V>& values, const Op& op, const Equal& equal) {
    reduces<U>(on, keys, values, static_cast<unsigned>(keys.size() % 5), op, equal);
}

// In the memory that run_length_workspace() says.
template <class Length, class Key, class On>
void encodes(On on, const std::vector<std::uint32_t>& keys, unsigned offset) {
    const auto data = as_keys<Key>(keys);
    workspace memory(run_length_workspace<Key, Length>(data.size(), on));
    on.memory = &memory;
    const auto heads = heads_of(data, std::equal_to<>{});
    const auto lengths = folded_runs<Length>(heads, std::vector<Length>(data.size(), 1), sum{});
    const on_device<Key> in(data, offset), out(data.size() + 1);
    const on_device<Length> got(data.size() + 1);
    EXPECT_EQ(run_length_encode(on, in.data(), data.size(), out.data(), got.data()), lengths.size());
    expect_results(out, partitioned(data, heads).first, "elements");
    expect_results(got, lengths, "lengths");
    expect_zero(memory);
}

} // namespace warpfold::tests
