// SPDX-License-Identifier: MIT
// Memory of which the host gives only the pages that are touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace softgpu::machine {

class lazy_memory {
public:
    lazy_memory() = default;
    // Zero throughout. Throws std::bad_alloc where the host has no addresses left.
    explicit lazy_memory(std::size_t bytes) : bytes_(bytes) {
        void* const at =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) {
            throw std::bad_alloc();
        }
        data_ = static_cast<std::byte*>(at);
    }
    ~lazy_memory() {
        if (data_ != nullptr) {
            munmap(data_, bytes_);
        }
    }
    lazy_memory(lazy_memory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    lazy_memory& operator=(lazy_memory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    [[nodiscard]] std::byte* data() const noexcept { return data_; }

private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace softgpu::machine
