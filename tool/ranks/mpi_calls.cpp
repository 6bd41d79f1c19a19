// SPDX-License-Identifier: MIT
// Calls of the command over ranks of MPI: a shared library, so that the command itself needs no MPI. Each rank reads its
// part of the file.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tool/arrays/host_memory.hpp"
#include "tool/arrays/run_convolve.hpp"
#include "tool/arrays/run_histogram.hpp"
#include "tool/arrays/run_reduce.hpp"
#include "tool/arrays/run_scan.hpp"
#include "tool/arrays/run_sum.hpp"
#include "tool/ranks/mpi_calls.hpp"
#include "tool/ranks/root_results.hpp"
#include "warpfold/exact_accumulator.hpp"
#include "warpfold/mpi.hpp"

namespace warpfold::calls {
namespace {

constexpr std::uint64_t chunk_elements = std::uint64_t{1} << 20;

// A rank's part of n things.
struct share {
    share(std::uint64_t n, int rank, int ranks) {
        const auto r = static_cast<std::uint64_t>(rank), p = static_cast<std::uint64_t>(ranks);
        first = n / p * r + std::min(r, n % p);
        count = n / p + (r < n % p ? 1 : 0);
    }

    std::uint64_t first, count;
};

// A rank's part of the elements.
class part_source final : public array_source {
public:
    part_source(const array_source& whole, const share& part) : whole_(whole), first_(part.first), size_(part.count) {}
    [[nodiscard]] array_type type() const override { return whole_.type(); }
    [[nodiscard]] std::uint64_t size() const override { return size_; }
    [[nodiscard]] std::uint64_t first() const { return first_; }
    void read(std::uint64_t first, void* to, std::uint64_t count) const override {
        whole_.read(first_ + first, to, count);
    }

private:
    const array_source& whole_;
    std::uint64_t first_, size_;
};

// Results in an array.
class array_results final : public result_sink {
public:
    explicit array_results(void* to) : to_(static_cast<unsigned char*>(to)) {}
    void write(std::uint64_t first, const void* from, std::uint64_t bytes) override {
        if (to_ + first != from) {
            std::memcpy(to_ + first, from, bytes);
        }
    }

private:
    unsigned char* to_;
};

class over_mpi final : public target {
public:
    over_mpi() : comm_(MPI_COMM_WORLD) {}

    [[nodiscard]] std::string device() const override { return "host"; }
    [[nodiscard]] bool has_results() const override { return comm_.rank() == 0; }
    [[nodiscard]] std::string sum(const sum_request& q) override {
        return together("sum", q.in, [&](const part_source& part) {
            return with_source(part, [&](const auto& source) { return sum_of(q, source); });
        });
    }
    [[nodiscard]] std::string reduce(const reduce_request& q) override {
        switch (q.type) {
        case array_type::int32: return reduce_of<std::int32_t>(q);
        case array_type::int64: return reduce_of<std::int64_t>(q);
        case array_type::float32: return reduce_of<float>(q);
        case array_type::float64: return reduce_of<double>(q);
        default: throw std::logic_error("an element type that reduce does not take");
        }
    }
    void scan(const scan_request& q) override {
        (void)together("scan", q.in, [&](const part_source& part) {
            with_source(part, [&](const auto& source) { scan_of(q, part, source); });
            return std::string();
        });
    }
    void histogram(const histogram_request& q) override {
        (void)together("histogram", q.in, [&](const part_source& part) {
            histogram_request mine{part, q.how, q.bins, q.lower, q.upper, q.edges, q.counts};
            host_memory memory;
            run_histogram(memory, mine);
            agree("histogram", q.in.type(), q.in.size(), part.size(), q.bins);
            comm_.add(q.counts, q.bins, every_rank, "histogram");
            return std::string();
        });
    }
    void convolve(const convolve_request& q) override {
        if (q.is_double) {
            convolve_of<double>(q);
        } else {
            convolve_of<float>(q);
        }
    }

private:
    using ranks = over_ranks<host, mpi_communicator>;

    [[nodiscard]] ranks on() { return host{}.over(comm_); }

    // work(part), whose exceptions are told to the other ranks.
    template <class Work>
    std::string together(const char* call, const array_source& in, const Work& work) {
        return detail::call_frame<ranks>::run(on(), call,
                                              [&] { return work(part_source(in, part_of(in.size(), comm_.rank()))); });
    }
    [[nodiscard]] share part_of(std::uint64_t n, int rank) const { return {n, rank, comm_.size()}; }
    // All ranks have the same number of elements; `settings` are the same.
    template <class V = detail::no_value>
    detail::gathered<V> agree(const char* call, array_type type, std::uint64_t all, std::uint64_t part,
                              std::uint64_t settings, const V& mine = {}) {
        const detail::rank_signature signature{
            call, std::string(report::name_of(type)), 0, settings, all, "elements in the file"};
        return detail::gather(on(), signature, part, mine);
    }
    // Work behind agree(), where other ranks may wait for this one: a failure ends all of them.
    template <class Work>
    static void or_end_all(const Work& work) {
        try {
            work();
        } catch (const std::exception& failure) {
            (void)std::fprintf(stderr, "warpfold: %s\n", failure.what());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }

    template <class T>
    std::string reduce_of(const reduce_request& q) {
        return detail::call_frame<ranks>::run(on(), "reduce", [&] {
            const share part = part_of(q.n, comm_.rank());
            host_memory memory;
            const T mine =
                reduce_elements<T>(memory, {q.type, static_cast<const T*>(q.in) + part.first, part.count, q.op});
            return value_text(detail::fold_ranks(
                agree("reduce", q.type, q.n, part.count, static_cast<std::uint64_t>(q.op), mine), reduction<T>{q.op}));
        });
    }

    template <class Source>
    void scan_of(const scan_request& q, const part_source& part, const Source& source) {
        using A = typename Source::element;
        const chosen op{q.op};
        const chunked_options how = options_of(q.how);
        A none = op.template identity_of<A>();
        if constexpr (std::is_floating_point_v<A>) {
            none = q.op == operation::sum && !q.exclusive ? -A{} : none; // -0 + -0 is -0
        }
        const std::uint64_t settings =
            static_cast<std::uint64_t>(q.op) * 4 + (q.exclusive ? 2 : 0) + (q.reverse ? 1 : 0);
        const A total = part.size() == 0 ? none : chunked_reduce(host{}, source, op, none);
        const auto all = agree("scan", q.in.type(), q.in.size(), part.size(), settings, total);
        A before = none;
        const int count = comm_.size();
        for (int r = q.reverse ? count - 1 : 0; r != comm_.rank(); r += q.reverse ? -1 : 1) {
            before = op(before, all.value[static_cast<std::size_t>(r)]);
        }
        or_end_all([&] {
            root_results out(comm_, q.out, part.first() * sizeof(A));
            const sink_of<A> sink{out};
            if (q.exclusive && q.reverse) {
                chunked_exclusive_scan(host{}, source, sink, op, before, reversed, how);
            } else if (q.exclusive) {
                chunked_exclusive_scan(host{}, source, sink, op, before, how);
            } else if (q.reverse) {
                chunked_inclusive_scan(host{}, source, sink, op, before, reversed, how);
            } else {
                chunked_inclusive_scan(host{}, source, sink, op, before, how);
            }
            for (int r = 1; r < count && comm_.rank() == 0; ++r) {
                out.receive(r, part_of(q.in.size(), r).count * sizeof(A));
            }
        });
    }

    // Several images, or rows of an array of several dimensions, are shared out; one image is split by rows, one array by
    // elements.
    template <class T>
    void convolve_of(const convolve_request& q) {
        detail::call_frame<ranks>::run(on(), "convolve", [&] {
            const bool line = q.height == 1 && q.mask_height == 1;
            const bool many = q.count > 1;
            if (!many && static_cast<outputs>(q.which) != outputs::same) {
                throw std::runtime_error("over ranks of MPI one array is convolved with --size same");
            }
            const std::uint64_t things = many ? q.count : line ? q.width : q.height;
            const std::uint64_t in_size = many ? q.width * q.height : line ? 1 : q.width;
            const std::uint64_t out_size = many ? q.out_width * q.out_height : in_size;
            const share part = part_of(things, comm_.rank());
            convolve_request mine = q;
            mine.in = static_cast<const T*>(q.in) + part.first * in_size;
            T* const to = static_cast<T*>(q.out) + part.first * out_size;
            mine.out = to;
            if (many) {
                mine.count = part.count;
                host_memory memory;
                run_convolve_of<T>(memory, mine);
            } else if (line) {
                const convolve_options how{static_cast<border>(q.border)};
                const auto filter = [&](const auto& call) {
                    call(on(), static_cast<const T*>(mine.in), part.count, q.mask, q.mask_width, to, how);
                };
                q.turned ? filter([](const auto&... of) { warpfold::convolve(of...); })
                         : filter([](const auto&... of) { warpfold::correlate(of...); });
            } else {
                mine.height = mine.out_height = part.count;
                ranks_memory memory{on()};
                run_convolve_of<T>(memory, mine);
            }
            agree("convolve", q.is_double ? array_type::float64 : array_type::float32, q.width * q.height * q.count,
                  part.count * in_size, q.mask_width * q.mask_height);
            or_end_all([&] {
                array_results all(q.out);
                root_results out(comm_, all, part.first * out_size * sizeof(T));
                if (part.count * out_size != 0) {
                    out.write(0, to, part.count * out_size * sizeof(T));
                }
                for (int r = 1; r < comm_.size() && comm_.rank() == 0; ++r) {
                    out.receive(r, part_of(things, r).count * out_size * sizeof(T));
                }
            });
        });
    }
    // As host_memory, for calls over all ranks.
    struct ranks_memory {
        [[nodiscard]] ranks on() const { return of; }
        [[nodiscard]] static const void* in(const void* data, std::uint64_t) { return data; }
        [[nodiscard]] static void* out(void* data, std::uint64_t) { return data; }
        static void fetch() {}

        ranks of;
    };

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
            for (const auto& one : agree("sum", q.in.type(), q.in.size(), n, 0, total).value) {
                all.add(one);
            }
            return value_text(all.value());
        } else {
            long_integer total{0, 0};
            each_chunk([&](const auto& data, std::uint64_t count) {
                total = add_long{}(total, transform_reduce(host{}, data, count, as_long{}, add_long{}));
            });
            return text_of(detail::fold_ranks(agree("sum", q.in.type(), q.in.size(), n, 0, total), add_long{}));
        }
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
        int given = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given); // results may come from other threads
        one = std::make_unique<over_mpi>();
        (void)std::atexit(end_mpi);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    return one.get();
}
