// SPDX-License-Identifier: MIT
// What the calls of a target over ranks share; there may be one rank. `Memory` is where a rank's arrays are: see host_memory.hpp
// and gpu/memory.cuh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "tool/arrays/family.hpp"
#include "warpfold/any_communicator.hpp"
#include "warpfold/chunked.hpp"
#include "warpfold/ranks.hpp"

namespace warpfold::calls {

// A rank's part of n things.
struct share {
    share(std::uint64_t n, int rank, int ranks) {
        const auto r = static_cast<std::uint64_t>(rank), p = static_cast<std::uint64_t>(ranks);
        first = n / p * r + std::min(r, n % p);
        count = n / p + (r < n % p ? 1 : 0);
    }
    share(std::uint64_t n, const any_communicator& comm) : share(n, comm.rank(), comm.size()) {}

    std::uint64_t first, count;
};

// A rank's part of the elements.
class part_source final : public array_source {
public:
    part_source(const array_source& whole, const any_communicator& comm) : whole_(whole), part_(whole.size(), comm) {}
    [[nodiscard]] array_type type() const override { return whole_.type(); }
    [[nodiscard]] std::uint64_t size() const override { return part_.count; }
    [[nodiscard]] std::uint64_t first() const { return part_.first; }
    void read(std::uint64_t first, void* to, std::uint64_t count) const override {
        whole_.read(part_.first + first, to, count);
    }

private:
    const array_source& whole_;
    share part_;
};

// A rank's memory, whose target is that of all ranks.
template <class Memory>
class memory_over : public Memory {
public:
    explicit memory_over(const rank_setup& of) : rank_(of) {}

    [[nodiscard]] any_communicator& comm() const { return rank_.comm; }
    [[nodiscard]] result_route& results() const { return rank_.results; }
    [[nodiscard]] auto on() const { return Memory::on().over(rank_.comm); }
    [[nodiscard]] bool is_first() const { return rank_.comm.rank() == 0; }
    [[nodiscard]] chunked_options options(const passage& how) const {
        chunked_options options = options_of(how);
        if (!is_first()) {
            options.progress = {};
        }
        return options;
    }
    // work() on the rank's target. All ranks make this call, on as many elements in all, and meet behind it: where one of them
    // fails, wherever that is, all throw rank_error.
    template <class Work>
    auto together(const char* call, array_type type, std::uint64_t elements, std::uint64_t settings,
                  const Work& work) const {
        const auto ranks = on();
        const detail::rank_signature signature{
            call, std::string(report::name_of(type)), 0, settings, elements, "elements in the file"};
        detail::gather(ranks, signature, 0, detail::no_value{});
        const auto guarded = [&] {
            return framed(call, [&] {
                Memory::use(rank_.place);
                return work();
            });
        };
        if (comm().size() == 1) {
            return guarded();
        }
        if constexpr (std::is_void_v<decltype(work())>) {
            meet(call, error_of(guarded));
        } else {
            std::optional<decltype(work())> result;
            meet(call, error_of([&] { result.emplace(guarded()); }));
            return std::move(*result);
        }
    }
    // Waits for all ranks behind work that they do apart. Throws rank_error if one of them failed.
    void meet(const char* call) const { detail::gather(on(), detail::rank_signature{call}, 0, detail::no_value{}); }
    void use() const { Memory::use(rank_.place); }

private:
    // work(), whose exceptions are told to the other ranks if they come before its first gather.
    template <class Work>
    decltype(auto) framed(const char* call, const Work& work) const {
        const auto ranks = on();
        return detail::call_scope<std::remove_const_t<decltype(ranks)>>::run(ranks, call, work);
    }
    template <class Work>
    static std::exception_ptr error_of(const Work& work) {
        try {
            work();
        } catch (const results_lost&) {
            throw;
        } catch (...) {
            return std::current_exception();
        }
        return nullptr;
    }
    void meet(const char* call, const std::exception_ptr& error) const {
        try {
            framed(call, [&] {
                if (error != nullptr) {
                    std::rethrow_exception(error);
                }
                meet(call);
            });
        } catch (const rank_error&) {
            throw;
        } catch (const std::exception& own) { // as the others have it
            const int rank = comm().rank();
            throw rank_error(rank, std::string("warpfold: ") + call + ": rank " + std::to_string(rank) +
                                       " failed: " + own.what());
        }
    }

    rank_setup rank_;
};

} // namespace warpfold::calls
