// SPDX-License-Identifier: MIT
// Memory of the host that kernels write: a call that waits for a few numbers needs no copy, and no memory of the device.
#pragma once

#include <cstddef>

namespace warpfold::python::on_gpu {

// 64 bytes, used again by later calls. What kernels wrote there is seen by the host after a wait for their stream.
class page_locked {
public:
    static constexpr std::size_t bytes = 64;

    // Throws cuda_error.
    page_locked();
    page_locked(const page_locked&) = delete;
    page_locked& operator=(const page_locked&) = delete;
    ~page_locked();

    [[nodiscard]] char* data() const noexcept { return data_; }

private:
    char* data_;
};

} // namespace warpfold::python::on_gpu
