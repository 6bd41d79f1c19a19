// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/grid/thread_pool.hpp"

#include <pthread.h>

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

namespace softgpu::machine {

namespace {

// A launch that can use more threads.
struct job {
    const std::function<void(unsigned)>* work = nullptr;
    unsigned count = 0;
    unsigned begun = 1;  // work(0) is the launching thread's
    unsigned inside = 0; // helpers that have begun and not returned
    std::condition_variable left;
};

class pool {
public:
    void run(unsigned count, const std::function<void(unsigned)>& work) {
        if (count <= 1) {
            work(0);
            return;
        }
        job mine;
        mine.work = &work;
        mine.count = count;
        std::unique_lock lock(mutex_);
        while (threads_ + 1 < count) {
            // Detached: they end with the process, whatever order it takes its libraries down in.
            std::thread([this] { help(); }).detach();
            ++threads_;
        }
        const auto place = jobs_.insert(jobs_.end(), &mine);
        lock.unlock();
        wake_.notify_all();
        work(0);
        lock.lock();
        jobs_.erase(place);
        mine.left.wait(lock, [&mine] { return mine.inside == 0; });
    }

private:
    job* open_job() {
        for (job* j : jobs_) {
            if (j->begun < j->count) {
                return j;
            }
        }
        return nullptr;
    }

    void help() {
        std::unique_lock lock(mutex_);
        for (;;) {
            job* j = nullptr;
            wake_.wait(lock, [&] { return (j = open_job()) != nullptr; });
            const unsigned index = j->begun++;
            ++j->inside;
            const auto* const work = j->work;
            lock.unlock();
            (*work)(index);
            lock.lock();
            if (--j->inside == 0) {
                j->left.notify_one(); // under the lock: the job may be gone once it is released
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::list<job*> jobs_;
    unsigned threads_ = 0;
};

pool* shared = nullptr;

} // namespace

void run_on_workers(unsigned count, const std::function<void(unsigned)>& work) {
    // Never destroyed: detached threads wait on it. After fork the child has no threads and starts its own.
    static const bool once = [] {
        shared = new pool;
        pthread_atfork(nullptr, nullptr, [] { shared = new pool; });
        return true;
    }();
    (void)once;
    shared->run(count, work);
}

} // namespace softgpu::machine
