// SPDX-License-Identifier: MIT
// Ranks of MPI (3.0 and later). Needs MPI's headers and library; no other header of the library does. This header serves
// the host; mpi.cuh adds the GPU.
//
//      MPI_Init(&argc, &argv);
//      {
//          mpi_communicator comm(MPI_COMM_WORLD, std::chrono::seconds(30));
//          double total = exact_sum(host{}.over(comm), part, n); // the true sum of all parts, at every rank
//      }
//      MPI_Finalize();
#pragma once

// Without MPI's C++ interface, which MPI 3 has not.
#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "warpfold/communicator.hpp"
#include "warpfold/ranks.hpp"

namespace warpfold {

// Whether MPI's library takes pointers to device memory. `ask`: what MPIX_Query_cuda_support of Open MPI says, `no` elsewhere.
enum class cuda_aware { ask, no, yes };

// A duplicate of an MPI communicator, so that its messages do not meet the program's own. Creation and destruction are
// collective. Used by one thread at a time.
class mpi_communicator {
public:
    // `limit`: how long a rank waits for the others in one step of a call, 0 for ever.
    explicit mpi_communicator(MPI_Comm of, time_limit limit = time_limit{0}, cuda_aware aware = cuda_aware::ask)
        : limit_(limit), cuda_aware_(aware == cuda_aware::ask ? asked() : aware == cuda_aware::yes) {
        check(MPI_Comm_dup(of, &comm_), "MPI_Comm_dup", "mpi_communicator");
        check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", "mpi_communicator");
        check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank", "mpi_communicator");
        check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size", "mpi_communicator");
    }
    mpi_communicator(const mpi_communicator&) = delete;
    mpi_communicator& operator=(const mpi_communicator&) = delete;
    // A communicator that was given up is left to MPI: other ranks may never free theirs.
    ~mpi_communicator() {
        if (failure_.empty()) {
            (void)MPI_Comm_free(&comm_);
        }
    }

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] std::uint64_t gathers() const { return gathers_; }
    [[nodiscard]] MPI_Comm get() const { return comm_; }
    // Halos and the counts of histograms of GPUs (mpi.cuh) are then sent from and received in device memory.
    [[nodiscard]] bool is_cuda_aware() const { return cuda_aware_; }

    void all_gather(const void* mine, void* all, std::size_t bytes, const char* call) {
        ++gathers_;
        check_usable(call);
        // In memory of its own, which stays where a time limit leaves the operation pending.
        auto buffer = std::make_unique<unsigned char[]>(bytes * (static_cast<std::size_t>(size_) + 1));
        unsigned char* const sent = buffer.get() + bytes * static_cast<std::size_t>(size_);
        std::copy_n(static_cast<const unsigned char*>(mine), bytes, sent);
        const int count = count_of(bytes, call);
        std::vector<MPI_Request> pending(1);
        check(MPI_Iallgather(sent, count, MPI_BYTE, buffer.get(), count, MPI_BYTE, comm_, pending.data()),
              "MPI_Iallgather", call);
        wait(pending, buffer, call);
        std::copy_n(buffer.get(), bytes * static_cast<std::size_t>(size_), static_cast<unsigned char*>(all));
    }

    void add(std::uint64_t* values, std::uint64_t n, int root, const char* call) {
        add_words(values, n, root, MPI_UINT64_T, call);
    }
    void add(std::uint32_t* values, std::uint64_t n, int root, const char* call) {
        add_words(values, n, root, MPI_UINT32_T, call);
    }

    void exchange(std::span<const message> sent, std::span<const message> received, const char* call) {
        check_usable(call);
        std::size_t bytes = 0;
        for (const message& one : received) {
            bytes += one.bytes;
        }
        for (const message& one : sent) {
            bytes += one.bytes;
        }
        auto buffer = std::make_unique<unsigned char[]>(std::max<std::size_t>(bytes, 1));
        unsigned char* at = buffer.get();
        const auto staged = [&at](std::span<const message> of) {
            std::vector<message> messages(of.begin(), of.end());
            for (message& one : messages) {
                one.data = at;
                at += one.bytes;
            }
            return messages;
        };
        const std::vector<message> in = staged(received), out = staged(sent);
        for (std::size_t k = 0; k < out.size(); ++k) {
            std::copy_n(static_cast<const unsigned char*>(sent[k].data), sent[k].bytes,
                        static_cast<unsigned char*>(out[k].data));
        }
        std::vector<MPI_Request> pending;
        post(out, in, pending, call);
        wait(pending, buffer, call);
        at = buffer.get();
        for (const message& one : received) {
            std::copy_n(at, one.bytes, static_cast<unsigned char*>(one.data));
            at += one.bytes;
        }
    }

    // The same without copies: MPI gets the pointers as they are. After a time limit it may still use the memory.
    void exchange_in_place(std::span<const message> sent, std::span<const message> received, const char* call) {
        check_usable(call);
        std::vector<MPI_Request> pending;
        post(sent, received, pending, call);
        auto nothing = std::make_unique<unsigned char[]>(1);
        wait(pending, nothing, call);
    }
    template <class Word>
    void add_in_place(Word* values, std::uint64_t n, int root, const char* call) {
        static_assert(sizeof(Word) == 4 || sizeof(Word) == 8);
        check_usable(call);
        std::vector<MPI_Request> pending;
        const bool receives = root == every_rank || root == rank_;
        for (std::uint64_t first = 0; first < n; first += most) {
            Word* const at = values + first;
            post_sum(receives ? MPI_IN_PLACE : at, receives ? at : nullptr, std::min<std::uint64_t>(most, n - first),
                     root, sizeof(Word) == 8 ? MPI_UINT64_T : MPI_UINT32_T, pending, call);
        }
        auto nothing = std::make_unique<unsigned char[]>(1);
        wait(pending, nothing, call);
    }

private:
    static constexpr int tag = 1, late_tag = 2;
    static constexpr std::size_t most = std::size_t{1} << 30; // bytes or elements of one operation

    template <class Word>
    void add_words(Word* values, std::uint64_t n, int root, MPI_Datatype type, const char* call) {
        check_usable(call);
        auto buffer = std::make_unique<Word[]>(2 * n);
        std::copy_n(values, n, buffer.get());
        std::vector<MPI_Request> pending;
        for (std::uint64_t first = 0; first < n; first += most) {
            const std::uint64_t count = std::min<std::uint64_t>(most, n - first);
            Word *const from = buffer.get() + first, *const to = buffer.get() + n + first;
            post_sum(from, to, count, root, type, pending, call);
        }
        wait(pending, buffer, call);
        if (root == every_rank || root == rank_) {
            std::copy_n(buffer.get() + n, n, values);
        }
    }

    void post_sum(const void* from, void* to, std::uint64_t count, int root, MPI_Datatype type,
                  std::vector<MPI_Request>& pending, const char* call) {
        MPI_Request* const request = &pending.emplace_back();
        const int n = static_cast<int>(count);
        check(root == every_rank ? MPI_Iallreduce(from, to, n, type, MPI_SUM, comm_, request)
                                 : MPI_Ireduce(from, to, n, type, MPI_SUM, root, comm_, request),
              "MPI_Iallreduce", call);
    }
    void post(std::span<const message> sent, std::span<const message> received, std::vector<MPI_Request>& pending,
              const char* call) {
        for (const message& one : received) {
            each_piece(static_cast<unsigned char*>(one.data), one.bytes, [&](unsigned char* data, int count) {
                check(MPI_Irecv(data, count, MPI_BYTE, one.rank, tag, comm_, &pending.emplace_back()), "MPI_Irecv",
                      call);
            });
        }
        for (const message& one : sent) {
            each_piece(static_cast<unsigned char*>(one.data), one.bytes, [&](unsigned char* data, int count) {
                check(MPI_Isend(data, count, MPI_BYTE, one.rank, tag, comm_, &pending.emplace_back()), "MPI_Isend",
                      call);
            });
        }
    }
    static bool asked() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
        return MPIX_Query_cuda_support() == 1;
#else
        return false;
#endif
    }

    template <class Do>
    static void each_piece(unsigned char* data, std::size_t bytes, const Do& go) {
        for (std::size_t first = 0; first < bytes; first += most) {
            go(data + first, static_cast<int>(std::min(most, bytes - first)));
        }
    }

    int count_of(std::size_t bytes, const char* call) const {
        if (bytes > most) {
            throw invalid_argument(std::string("warpfold: ") + call + ": a value has more than 2^30 bytes");
        }
        return static_cast<int>(bytes);
    }

    void check(int code, const char* function, const char* call) {
        if (code != MPI_SUCCESS) {
            char text[MPI_MAX_ERROR_STRING] = "";
            int length = 0;
            (void)MPI_Error_string(code, text, &length);
            failure_ = std::string(function) + ": " + text;
            throw communicator_error(std::string("warpfold: ") + call + ": " + failure_);
        }
    }
    void check_usable(const char* call) const {
        if (!failure_.empty()) {
            throw communicator_error(std::string("warpfold: ") + call + ": the communicator was given up: " + failure_);
        }
    }

    // Waits for all operations. After the time limit their memory is kept for ever, since MPI may still write to it.
    template <class Buffer>
    void wait(std::vector<MPI_Request>& pending, Buffer& buffer, const char* call) {
        const int count = static_cast<int>(pending.size());
        if (limit_.count() == 0) {
            check(MPI_Waitall(count, pending.data(), MPI_STATUSES_IGNORE), "MPI_Waitall", call);
            return;
        }
        if (poll_until(std::chrono::steady_clock::now() + limit_, [&] {
                int done = 0;
                check(MPI_Testall(count, pending.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall", call);
                return done != 0;
            })) {
            return;
        }
        (void)buffer.release();
        failure_ = "after " + std::to_string(limit_.count()) + " ms, the time limit, " + silent_ranks(call);
        throw time_limit_error(std::string("warpfold: ") + call + ": " + failure_);
    }

    template <class Done>
    static bool poll_until(std::chrono::steady_clock::time_point end, const Done& done) {
        for (unsigned polls = 0;; ++polls) {
            if (done()) {
                return true;
            }
            if (polls >= 256) {
                if (std::chrono::steady_clock::now() >= end) {
                    return false;
                }
                std::this_thread::yield();
            }
        }
    }

    // Ranks that wait in vain tell each other so; the others are those that did not call.
    std::string silent_ranks(const char* call) {
        static char nothing = 0;
        std::vector<bool> here(static_cast<std::size_t>(size_));
        here[static_cast<std::size_t>(rank_)] = true;
        for (int r = 0; r < size_; ++r) {
            if (r != rank_) {
                MPI_Request sent = MPI_REQUEST_NULL;
                check(MPI_Isend(&nothing, 0, MPI_BYTE, r, late_tag, comm_, &sent), "MPI_Isend", call);
                (void)MPI_Request_free(&sent); // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): waits no more
            }
        }
        // On a loaded machine a rank is late by scheduling alone.
        const time_limit patience = std::max<time_limit>(limit_ / 4, std::chrono::seconds(1));
        (void)poll_until(std::chrono::steady_clock::now() + patience, [&] {
            int there = 0;
            MPI_Status status;
            check(MPI_Iprobe(MPI_ANY_SOURCE, late_tag, comm_, &there, &status), "MPI_Iprobe", call);
            if (there != 0) {
                check(MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, late_tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv",
                      call);
                here[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
            } else {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            return std::all_of(here.begin(), here.end(), [](bool one) { return one; });
        });
        std::string text = "nothing was heard of";
        for (std::size_t r = 0; r < here.size(); ++r) {
            text += here[r] ? "" : " rank " + std::to_string(r);
        }
        return text;
    }

    time_limit limit_;
    bool cuda_aware_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
    std::uint64_t gathers_ = 0;
    std::string failure_; // why the communicator is of no use; empty while it is
};

} // namespace warpfold
