// SPDX-License-Identifier: MIT
#include "softgpu/machine/pool.hpp"

#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace softgpu::machine {

namespace {

class pool {
public:
    void run(unsigned count, const std::function<void(unsigned)>& work) {
        if (count <= 1) {
            work(0);
            return;
        }
        const std::lock_guard one_at_a_time(launches_);
        {
            std::unique_lock lock(mutex_);
            while (threads_ + 1 < count) {
                // Detached: they end with the process, whatever order it takes its libraries down in.
                std::thread([this, index = ++threads_] { wait_for_work(index); }).detach();
            }
            work_ = &work;
            count_ = count;
            left_ = count - 1;
            ++round_;
        }
        wake_.notify_all();
        work(0);
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return left_ == 0; });
        work_ = nullptr;
    }

private:
    void wait_for_work(unsigned index) {
        std::uint64_t seen = 0;
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return round_ != seen; });
            seen = round_;
            if (index >= count_ || work_ == nullptr) {
                continue;
            }
            const auto* const work = work_;
            lock.unlock();
            (*work)(index);
            lock.lock();
            if (--left_ == 0) {
                done_.notify_one();
            }
        }
    }

    std::mutex launches_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    const std::function<void(unsigned)>* work_ = nullptr;
    unsigned threads_ = 0;
    unsigned count_ = 0;
    unsigned left_ = 0;
    std::uint64_t round_ = 0;
};

} // namespace

void run_on_workers(unsigned count, const std::function<void(unsigned)>& work) {
    // Never destroyed: detached threads wait on it. After fork the child has no threads and starts its own.
    static pool* shared = new pool;
    static pid_t owner = getpid();
    static std::mutex guard;
    pool* mine = nullptr;
    {
        const std::lock_guard lock(guard);
        if (owner != getpid()) {
            owner = getpid();
            shared = new pool;
        }
        mine = shared;
    }
    mine->run(count, work);
}

} // namespace softgpu::machine
