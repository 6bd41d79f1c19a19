// SPDX-License-Identifier: MIT
// Any communicator as one type, so that calls over ranks are compiled once for all.
//
//      as_any any(comm);                              // comm: a communicator (communicator.hpp), which outlives it
//      any_communicator& ranks = any;
//      double total = reduce(host{}.over(ranks), part, n);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "warpfold/communicator.hpp"

namespace warpfold {

class any_communicator {
public:
    virtual ~any_communicator() = default;
    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    [[nodiscard]] virtual std::uint64_t gathers() const = 0;
    virtual void all_gather(const void* mine, void* all, std::size_t bytes, const char* call) = 0;
    virtual void add(std::uint64_t* values, std::uint64_t n, int root, const char* call) = 0;
    virtual void add(std::uint32_t* values, std::uint64_t n, int root, const char* call) = 0;
    virtual void exchange(std::span<const message> sent, std::span<const message> received, const char* call) = 0;
};

template <communicator Comm>
class as_any final : public any_communicator {
public:
    explicit as_any(Comm& comm) : comm_(comm) {}
    [[nodiscard]] int rank() const override { return comm_.rank(); }
    [[nodiscard]] int size() const override { return comm_.size(); }
    [[nodiscard]] std::uint64_t gathers() const override { return comm_.gathers(); }
    void all_gather(const void* mine, void* all, std::size_t bytes, const char* call) override {
        comm_.all_gather(mine, all, bytes, call);
    }
    void add(std::uint64_t* values, std::uint64_t n, int root, const char* call) override {
        comm_.add(values, n, root, call);
    }
    void add(std::uint32_t* values, std::uint64_t n, int root, const char* call) override {
        comm_.add(values, n, root, call);
    }
    void exchange(std::span<const message> sent, std::span<const message> received, const char* call) override {
        comm_.exchange(sent, received, call);
    }

private:
    Comm& comm_;
};

} // namespace warpfold
