// SPDX-License-Identifier: MIT
// Calls of the command over ranks of MPI: a shared library, so that the command itself needs no MPI. Each rank reads its
// part of the file.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tool/arrays/host_memory.hpp"
#include "tool/arrays/run_histogram.hpp"
#include "tool/arrays/run_sum.hpp"
#include "tool/ranks/mpi_calls.hpp"
#include "warpfold/exact_accumulator.hpp"
#include "warpfold/mpi.hpp"

namespace warpfold::calls {
namespace {

constexpr std::uint64_t chunk_elements = std::uint64_t{1} << 20;

// A rank's part of the elements.
class part_stream final : public array_stream {
public:
    part_stream(const array_stream& whole, int rank, int ranks) : whole_(whole) {
        const auto r = static_cast<std::uint64_t>(rank), p = static_cast<std::uint64_t>(ranks);
        const std::uint64_t each = whole.size() / p, more = whole.size() % p;
        first_ = each * r + std::min(r, more);
        size_ = each + (r < more ? 1 : 0);
    }
    [[nodiscard]] array_type type() const override { return whole_.type(); }
    [[nodiscard]] std::uint64_t size() const override { return size_; }
    void read(std::uint64_t first, void* to, std::uint64_t count) const override {
        whole_.read(first_ + first, to, count);
    }

private:
    const array_stream& whole_;
    std::uint64_t first_ = 0, size_ = 0;
};

class over_mpi final : public target {
public:
    over_mpi() : comm_(MPI_COMM_WORLD) {}

    [[nodiscard]] std::string device() const override { return "host"; }
    [[nodiscard]] std::string sum(const sum_request& q) override {
        return together("sum", q.in, [&](const part_stream& part) {
            return with_stream(part, [&](const auto& source) { return sum_of(q, source); });
        });
    }
    [[nodiscard]] std::string reduce(const reduce_request& /*q*/) override { refuse("reduce"); }
    void scan(const scan_request& /*q*/) override { refuse("scan"); }
    void histogram(const histogram_request& q) override {
        together("histogram", q.in, [&](const part_stream& part) {
            histogram_request mine{part, q.how, q.bins, q.lower, q.upper, q.edges, q.counts};
            host_memory memory;
            run_histogram(memory, mine);
            agree("histogram", q.in, part, q.bins);
            comm_.add(q.counts, q.bins, every_rank, "histogram");
            return std::string();
        });
    }
    void convolve(const convolve_request& /*q*/) override { refuse("convolve"); }

private:
    using ranks = over_ranks<host, mpi_communicator>;

    [[nodiscard]] ranks on() { return host{}.over(comm_); }

    // work(part), whose exceptions are told to the other ranks.
    template <class Work>
    std::string together(const char* call, const array_stream& in, const Work& work) {
        return detail::call_frame<ranks>::run(on(), call,
                                              [&] { return work(part_stream(in, comm_.rank(), comm_.size())); });
    }
    // All ranks read the same number of elements; `settings` are the same.
    template <class V = detail::no_value>
    detail::gathered<V> agree(const char* call, const array_stream& in, const array_stream& part,
                              std::uint64_t settings, const V& mine = {}) {
        const detail::rank_signature signature{
            call, std::string(report::name_of(in.type())), 0, settings, in.size(), "elements in the file"};
        return detail::gather(on(), signature, part.size(), mine);
    }

    template <class Source>
    std::string sum_of(const sum_request& q, const Source& part) {
        using A = typename Source::element;
        const std::uint64_t n = part.size();
        std::vector<unsigned char> chunk(std::min(n, chunk_elements) * part.stored_bytes());
        const auto each_chunk = [&](const auto& add) {
            for (std::uint64_t first = 0; first < n; first += chunk_elements) {
                const std::uint64_t count = std::min(chunk_elements, n - first);
                part.read(first, chunk.data(), count);
                add(part.view(chunk.data()), count);
            }
        };
        if constexpr (std::is_floating_point_v<A>) {
            exact_accumulator<A> total;
            each_chunk([&](const A* data, std::uint64_t count) { total.add(host{}, data, count); });
            exact_accumulator<A> all;
            for (const auto& one : agree("sum", q.in, part.in, 0, total).value) {
                all.add(one);
            }
            return value_text(all.value());
        } else {
            long_integer total{0, 0};
            each_chunk([&](const auto& data, std::uint64_t count) {
                total = add_long{}(total, transform_reduce(host{}, data, count, as_long{}, add_long{}));
            });
            return text_of(detail::fold_ranks(agree("sum", q.in, part.in, 0, total), add_long{}));
        }
    }

    [[noreturn]] static void refuse(const char* call) {
        throw std::runtime_error(std::string(call) + " over ranks of MPI: there are sum and histogram");
    }

    mpi_communicator comm_;
};

std::unique_ptr<over_mpi> one;

void end_mpi() {
    one.reset();
    MPI_Finalize();
}

} // namespace
} // namespace warpfold::calls

extern "C" __attribute__((visibility("default"))) warpfold::calls::target* warpfold_mpi_calls(int* rank) {
    using namespace warpfold::calls;
    if (!one) {
        MPI_Init(nullptr, nullptr);
        one = std::make_unique<over_mpi>();
        (void)std::atexit(end_mpi);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    return one.get();
}
