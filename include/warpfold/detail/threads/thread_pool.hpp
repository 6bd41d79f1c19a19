// SPDX-License-Identifier: MIT
// Threads of the library that stay ready between calls on the host. They start with the first call that needs them and
// last as long as the process. Decision 24 has the figures.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <pthread.h>

namespace warpfold::detail {

// The processors that this process may use. The C library counts all that are online.
inline unsigned usable_processors() {
#if defined(__linux__) && defined(CPU_COUNT)
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof(usable), &usable) == 0) {
        return static_cast<unsigned>(CPU_COUNT(&usable));
    }
#endif
    return std::thread::hardware_concurrency();
}

// The number of threads that run at once. The system is asked once: that takes microseconds.
inline unsigned machine_threads() {
    static const unsigned number = std::max(1u, usable_processors());
    return number;
}

inline void spin_once() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

class thread_pool {
public:
    // Work that threads may join. It lives until withdraw() has returned.
    class task {
    public:
        explicit task(void (*run)(task&) noexcept) : run_(run) {}
        task(const task&) = delete;
        task& operator=(const task&) = delete;
        ~task() = default;

    private:
        friend thread_pool;
        void (*const run_)(task&) noexcept; // called once by each thread that joins
        task* next_ = nullptr;
        unsigned welcome_ = 0; // threads that may still join
        bool open_ = false;    // in the list
        std::atomic<unsigned> running_{0};
    };

    // The pool of this process. It is never destroyed, so calls in destructors of static objects find it, and the
    // process ends without waiting for it. A child of fork() gets a new one, since it has none of the parent's threads.
    static thread_pool& instance() {
        thread_pool* pool = current.load(std::memory_order_acquire);
        if (pool == nullptr) {
            auto* const fresh = new thread_pool;
            if (current.compare_exchange_strong(pool, fresh, std::memory_order_acq_rel)) {
                pool = fresh;
                if (!watches_fork.exchange(true)) {
                    ::pthread_atfork(nullptr, nullptr, [] { current.store(nullptr, std::memory_order_relaxed); });
                }
            } else {
                delete fresh;
            }
        }
        return *pool;
    }

    // Threads that would join at once, because they still poll after their last task.
    [[nodiscard]] unsigned polling() const noexcept { return polling_.load(std::memory_order_relaxed); }

    // Lets `more` further threads join the task. If the system gives no more threads, fewer join.
    void offer(task& one, unsigned more) noexcept {
        unsigned sleeping = 0;
        {
            const std::lock_guard lock(guard_);
            one.welcome_ += more;
            start_threads(one.welcome_ + one.running_.load(std::memory_order_relaxed));
            if (!one.open_) {
                one.open_ = true;
                one.next_ = first_;
                first_ = &one;
                any_.store(true, std::memory_order_release);
            }
            const unsigned awake = polling();
            sleeping = std::min(asleep_, more > awake ? more - awake : 0);
        }
        for (; sleeping != 0; --sleeping) {
            wake_.notify_one();
        }
    }

    // No further thread joins. Returns when those that have joined are done.
    void withdraw(task& one) noexcept {
        {
            const std::lock_guard lock(guard_);
            close(one);
        }
        const auto done = [&] { return one.running_.load(std::memory_order_acquire) == 0; };
        if (!poll(waiting_time, done)) {
            std::unique_lock lock(guard_);
            ++waiting_;
            done_.wait(lock, done);
            --waiting_;
        }
    }

private:
    static constexpr std::chrono::microseconds polling_time{50}; // of a thread without a task
    static constexpr std::chrono::microseconds waiting_time{10}; // of a caller, before it leaves its core to others

    thread_pool() = default;

    // Polls for some time; true as soon as `there` is.
    template <class There>
    static bool poll(std::chrono::microseconds time, const There& there) {
        const auto end = std::chrono::steady_clock::now() + time;
        do {
            for (unsigned k = 0; k < 64; ++k) {
                if (there()) {
                    return true;
                }
                spin_once();
            }
        } while (std::chrono::steady_clock::now() < end);
        return there();
    }

    void start_threads(unsigned number) noexcept {
        try {
            for (; threads_ < number; ++threads_) {
                std::thread([this] { work(); }).detach();
            }
        } catch (const std::exception&) {
        }
    }

    void close(task& one) noexcept {
        one.welcome_ = 0;
        if (one.open_) {
            one.open_ = false;
            task** at = &first_;
            while (*at != &one) {
                at = &(*at)->next_;
            }
            *at = one.next_;
            any_.store(first_ != nullptr, std::memory_order_relaxed);
        }
    }

    void work() noexcept {
        // glibc unloads no shared object while a thread has a destructor of it to run.
        struct keeps_loaded {
            ~keeps_loaded() { gone = true; }
            bool gone = false;
        };
        thread_local keeps_loaded here;
        (void)&here;
        std::unique_lock lock(guard_);
        for (;;) {
            if (first_ != nullptr) {
                task& mine = *first_;
                mine.running_.fetch_add(1, std::memory_order_relaxed);
                if (--mine.welcome_ == 0) {
                    close(mine);
                }
                lock.unlock();
                mine.run_(mine);
                mine.running_.fetch_sub(1, std::memory_order_release); // `mine` may end here
                lock.lock();
                if (waiting_ != 0) {
                    done_.notify_all();
                }
                continue;
            }
            lock.unlock();
            polling_.fetch_add(1, std::memory_order_relaxed);
            (void)poll(polling_time, [this] { return any_.load(std::memory_order_acquire); });
            polling_.fetch_sub(1, std::memory_order_relaxed);
            lock.lock();
            ++asleep_;
            wake_.wait(lock, [this] { return first_ != nullptr; });
            --asleep_;
        }
    }

    static inline std::atomic<thread_pool*> current{nullptr};
    static inline std::atomic<bool> watches_fork{false};

    std::mutex guard_;
    std::condition_variable wake_, done_;
    task* first_ = nullptr; // list of tasks that threads may join
    unsigned threads_ = 0, asleep_ = 0, waiting_ = 0;
    alignas(64) std::atomic<bool> any_{false}; // the list is not empty
    alignas(64) std::atomic<unsigned> polling_{0};
};

} // namespace warpfold::detail
