// SPDX-License-Identifier: MIT
// Errors: their names and texts, the thread's last one, and what exceptions turn into.
#include <cstdio>
#include <exception>
#include <new>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/ptx/error.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/fatbin/fatbin.hpp"
#include "softgpu/runtime/accounts/refused_launches.hpp"

namespace softgpu::runtime {
namespace {

thread_local error this_threads_last_error = error::success;

error remember(error e) noexcept {
    refused::last_error_overwritten();
    this_threads_last_error = e;
    return e;
}

error remember(error e, const char* message) noexcept {
    report(message);
    return remember(e);
}

} // namespace

const char* name_of(error e) noexcept {
    switch (e) {
#define SOFTGPU_ERROR(code, id, name, text)                                                                            \
    case error::id:                                                                                                    \
        return #name;
#include "softgpu/runtime/abi/errors.def"
#undef SOFTGPU_ERROR
    }
    return "unrecognized error code";
}

const char* text_of(error e) noexcept {
    switch (e) {
#define SOFTGPU_ERROR(code, id, name, text)                                                                            \
    case error::id:                                                                                                    \
        return text;
#include "softgpu/runtime/abi/errors.def"
#undef SOFTGPU_ERROR
    }
    return "unrecognized error code";
}

void fail(error code, std::string message) { throw failure{code, std::move(message)}; }

void report(const std::string& message) noexcept { std::fprintf(stderr, "softgpu: %s\n", message.c_str()); }

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
        return remember(error::invalid_ptx, e.what());
    } catch (const fatbin_error& e) {
        return remember(error::invalid_kernel_image, e.what());
    } catch (const std::exception& e) {
        return remember(error::unknown, e.what());
    } catch (...) {
        return remember(error::unknown);
    }
}

error last_error() noexcept { return this_threads_last_error; }

error take_last_error() noexcept { return std::exchange(this_threads_last_error, error::success); }

#pragma GCC visibility push(default)
extern "C" {

error cudaGetLastError() {
    refused::last_error_asked_for();
    return take_last_error();
}

error cudaPeekAtLastError() {
    refused::last_error_asked_for();
    return last_error();
}

const char* cudaGetErrorName(error e) { return name_of(e); }

const char* cudaGetErrorString(error e) { return text_of(e); }

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
