// SPDX-License-Identifier: MIT
// Ranks as threads of one process: for tests of code that runs over ranks, and for several GPUs with one thread each.
//
//      thread_ranks ranks(4);                                // shared by the threads
//      ranks.run([&](thread_communicator& comm) {            // calls it once in each of 4 threads
//          double total = reduce(host{1}.over(comm), part_of(comm.rank()), n);
//      });
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "warpfold/communicator.hpp"
#include "warpfold/error.hpp"
#include "warpfold/ranks.hpp"

namespace warpfold {

class thread_communicator;

// What the threads share.
class thread_ranks {
public:
    // Throws invalid_argument if there are no ranks.
    explicit thread_ranks(int ranks, time_limit limit = time_limit{0})
        : limit_(limit),
          step_(ranks < 1 ? 0 : static_cast<std::size_t>(ranks)),
          ended_(step_.size()),
          told_(step_.size()),
          posted_(step_.size()) {
        if (ranks < 1) {
            throw invalid_argument("warpfold: thread_ranks: there must be one rank or more");
        }
    }
    thread_ranks(const thread_ranks&) = delete;
    thread_ranks& operator=(const thread_ranks&) = delete;
    ~thread_ranks() = default;

    [[nodiscard]] int size() const { return static_cast<int>(step_.size()); }

    // Calls work(comm) in a new thread for each rank and waits. A call that waits for a rank whose work has ended throws
    // communicator_error. Throws what the lowest rank threw that failed, if possible by itself.
    template <class Work>
    void run(const Work& work);

private:
    friend class thread_communicator;

    // What a rank shows to the others during a step.
    struct post {
        const void* data = nullptr;
        std::span<const message> sent;
    };

    // Waits until every rank has come here as often as this one. Throws time_limit_error, and communicator_error if
    // another rank gave up.
    void meet(int rank, const char* call) {
        std::unique_lock lock(guard_);
        const std::uint64_t mine = ++step_[static_cast<std::size_t>(rank)];
        changed_.notify_all();
        const auto all_here = [&] {
            return std::all_of(step_.begin(), step_.end(), [mine](std::uint64_t step) { return step >= mine; });
        };
        std::size_t gone = 0; // the first rank that will not come, or their number
        const auto is_decided = [&] {
            for (gone = 0; gone < ended_.size() && (ended_[gone] == 0 || step_[gone] >= mine); ++gone) {
            }
            return !failure_.empty() || gone != ended_.size() || all_here();
        };
        const bool in_time =
            limit_.count() == 0 ? (changed_.wait(lock, is_decided), true) : changed_.wait_for(lock, limit_, is_decided);
        if (!failure_.empty() || gone != ended_.size()) {
            told_[static_cast<std::size_t>(rank)] = 1;
            throw communicator_error(std::string("warpfold: ") + call + ": " +
                                     (failure_.empty() ? "the work of rank " + std::to_string(gone) + " has ended"
                                                       : "the communicator was given up: " + failure_));
        }
        if (!in_time) {
            failure_ = "after " + std::to_string(limit_.count()) + " ms, the time limit, of";
            for (std::size_t r = 0; r < step_.size(); ++r) {
                failure_ += step_[r] < mine ? " rank " + std::to_string(r) : "";
            }
            failure_ += " nothing was heard";
            changed_.notify_all();
            throw time_limit_error(std::string("warpfold: ") + call + ": " + failure_);
        }
    }

    // The rank makes no more calls.
    void end(std::size_t rank) {
        const std::scoped_lock lock(guard_);
        ended_[rank] = 1;
        changed_.notify_all();
    }

    time_limit limit_;
    std::mutex guard_;
    std::condition_variable changed_;
    std::vector<std::uint64_t> step_;  // of each rank
    std::vector<unsigned char> ended_; // the ranks whose work has ended, in run()
    std::vector<unsigned char> told_;  // the ranks that threw because of another's failure
    std::vector<post> posted_;         // written by its rank before a step, read by others until the next
    std::string failure_;
};

// A rank of thread_ranks, used by one thread at a time.
class thread_communicator {
public:
    // Throws invalid_argument if there is no such rank.
    thread_communicator(thread_ranks& ranks, int rank) : ranks_(&ranks), rank_(rank) {
        if (rank < 0 || rank >= ranks.size()) {
            throw invalid_argument("warpfold: thread_communicator: there is no rank " + std::to_string(rank));
        }
    }

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return ranks_->size(); }
    [[nodiscard]] std::uint64_t gathers() const { return gathers_; }

    void all_gather(const void* mine, void* all, std::size_t bytes, const char* call) {
        ++gathers_;
        show({mine, {}}, call);
        for (std::size_t r = 0; r < ranks_->posted_.size(); ++r) {
            std::memcpy(static_cast<char*>(all) + r * bytes, ranks_->posted_[r].data, bytes);
        }
        ranks_->meet(rank_, call);
    }

    template <class Word>
    void add(Word* values, std::uint64_t n, int root, const char* call) {
        show({values, {}}, call);
        std::vector<Word> total(root == every_rank || root == rank_ ? n : 0);
        for (const auto& other : ranks_->posted_) {
            for (std::size_t k = 0; k < total.size(); ++k) {
                total[k] += static_cast<const Word*>(other.data)[k];
            }
        }
        ranks_->meet(rank_, call);
        std::copy(total.begin(), total.end(), values);
    }

    void exchange(std::span<const message> sent, std::span<const message> received, const char* call) {
        show({nullptr, sent}, call);
        std::vector<std::size_t> next(ranks_->posted_.size());
        for (const message& to : received) {
            const auto from = static_cast<std::size_t>(to.rank);
            const std::span<const message> offered = ranks_->posted_[from].sent;
            while (next[from] < offered.size() && offered[next[from]].rank != rank_) {
                ++next[from];
            }
            if (to.bytes != 0 && next[from] < offered.size()) {
                std::memcpy(to.data, offered[next[from]].data, to.bytes);
            }
            ++next[from];
        }
        ranks_->meet(rank_, call);
    }

private:
    void show(const thread_ranks::post& mine, const char* call) {
        ranks_->posted_[static_cast<std::size_t>(rank_)] = mine;
        ranks_->meet(rank_, call);
    }

    thread_ranks* ranks_;
    int rank_;
    std::uint64_t gathers_ = 0;
};

template <class Work>
void thread_ranks::run(const Work& work) {
    std::vector<std::exception_ptr> failed(step_.size());
    std::fill(told_.begin(), told_.end(), static_cast<unsigned char>(0));
    std::vector<std::thread> threads;
    threads.reserve(step_.size());
    for (int r = 0; r < size(); ++r) {
        threads.emplace_back([this, r, &work, &failed] {
            try {
                thread_communicator comm(*this, r);
                work(comm);
            } catch (...) {
                failed[static_cast<std::size_t>(r)] = std::current_exception();
            }
            end(static_cast<std::size_t>(r));
        });
    }
    for (std::thread& one : threads) {
        one.join();
    }
    std::fill(ended_.begin(), ended_.end(), static_cast<unsigned char>(0));
    std::fill(step_.begin(), step_.end(), 0); // ranks that failed made fewer
    for (const bool by_itself : {true, false}) {
        for (std::size_t r = 0; r < failed.size(); ++r) {
            if (failed[r] && !(by_itself && told_[r] != 0)) {
                std::rethrow_exception(failed[r]);
            }
        }
    }
}

} // namespace warpfold
