// SPDX-License-Identifier: MIT
// The thread's last error, the error that each exception becomes, and CUDA's calls about errors.
#include <new>
#include <utility>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/accounts/refused_launches.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/fatbin/fatbin.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {
namespace {

thread_local error this_threads_last_error = error::success;

// "Not ready" is an answer and no error: the last error stays (seen on an H200, runtime 13.0.96).
error remember(error e) noexcept {
    if (e == error::not_ready) {
        return e;
    }
    refused_launches::last_error_replaced();
    this_threads_last_error = e;
    return e;
}

error remember(error e, const char* message) noexcept {
    report(message);
    return remember(e);
}

} // namespace

error remember_current_exception() noexcept {
    try {
        throw;
    } catch (const failure& f) {
        if (!f.message.empty()) {
            report(f.message);
        }
        return remember(f.code);
    } catch (const memory::out_of_memory&) {
        return remember(error::memory_allocation);
    } catch (const std::bad_alloc&) {
        return remember(error::memory_allocation);
    } catch (const ptx::error& e) {
        return remember(error_of(e), e.what());
    } catch (const fatbin_error& e) {
        return remember(error::invalid_kernel_image, e.what());
    } catch (const std::exception& e) {
        return remember(error::unknown, e.what());
    } catch (...) {
        return remember(error::unknown);
    }
}

error last_error() noexcept { return this_threads_last_error; }

#pragma GCC visibility push(default)
extern "C" {

error cudaGetLastError() {
    refused_launches::last_error_read();
    return std::exchange(this_threads_last_error, error::success);
}

error cudaPeekAtLastError() {
    refused_launches::last_error_read();
    return last_error();
}

const char* cudaGetErrorName(error e) { return name_of(e); }

const char* cudaGetErrorString(error e) { return text_of(e); }

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
