// SPDX-License-Identifier: MIT
// The interpreter's lock, released while a call computes.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace warpfold::python {

// As nanobind's gil_scoped_release, but a thread that is still in a call when the interpreter ends does not abort the process. Before
// Python 3.14 such a thread is ended by an exception when it takes the lock again. It must not leave a destructor; here the thread
// waits for the end of the process, as Python 3.14 has it.
class lock_released {
public:
    lock_released() : thread_(PyEval_SaveThread()) {}
    lock_released(const lock_released&) = delete;
    lock_released(lock_released&&) = delete;
    lock_released& operator=(const lock_released&) = delete;
    lock_released& operator=(lock_released&&) = delete;
    ~lock_released() {
        try {
            PyEval_RestoreThread(thread_);
        } catch (...) {
            for (;;) {
                ::pause();
            }
        }
    }

private:
    PyThreadState* thread_;
};

} // namespace warpfold::python
