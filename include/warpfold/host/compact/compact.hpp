// SPDX-License-Identifier: MIT
// Compactions and reductions by key on the host, in one pass over memory. A thread takes the next chunk of the input,
// packs its results into a buffer that fits its cache, waits for the prefix from the previous chunk's thread, passes the
// next prefix on, and copies the buffer to its place. Chunks depend on the types only, so results do not depend on the
// number of threads. A chunk is read before its prefix is passed on, so results may be written over the input.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "warpfold/detail/compact.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/compact/keyed_fold.hpp"
#include "warpfold/host/compact/selection.hpp"
#include "warpfold/host/core/chunk_chain.hpp"
#include "warpfold/host/core/target.hpp"

namespace warpfold::detail {

template <class Chunk, class Task>
std::uint64_t compact_on_host(const host& on, const Task& task, std::uint64_t n) {
    using Total = typename Chunk::total_type;
    constexpr std::uint64_t each = std::clamp<std::uint64_t>(std::bit_floor(65536 / Chunk::bytes), 256, 16384);
    const std::uint64_t chunks = (n + each - 1) / each;
    if (chunks == 0) {
        return 0;
    }
    chunk_chain<Total> chain(chunks);
    parallel_for(on.threads, chunks, [&](std::uint64_t k) {
        try {
            Chunk chunk(task, k * each, std::min(n, (k + 1) * each), n);
            Total prefix{};
            if (k != 0 && !chain.wait(k - 1, prefix)) {
                return;
            }
            chain.hand_on(k, k == 0 ? chunk.total() : chunk.join(prefix, chunk.total()));
            chunk.write(prefix);
        } catch (...) {
            chain.fail();
            throw;
        }
    });
    Total all{};
    (void)chain.wait(chunks - 1, all);
    return Chunk::count_of(all);
}

template <>
struct compact_engine<host> {
    template <class Task, class Count>
    static std::uint64_t value(const host& on, const Task& task, const Count& count, const char* /*call*/) {
        return compact_on_host<compact_chunk<Task>>(on, task, count.value());
    }
    template <class Task, class Count, class Place>
    static void into(const host& on, const Task& task, const Count& count, const Place& place, const char* /*call*/) {
        detail::write_number(place, compact_on_host<compact_chunk<Task>>(on, task, count.value()));
    }
};

} // namespace warpfold::detail
