// SPDX-License-Identifier: MIT
// cuGetProcAddress: entry points by name and version; cuGetExportTable; and the calls that are not there.
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include <dlfcn.h>

#include "softgpu/runtime/calls/driver/driver_call.hpp"

namespace softgpu::runtime {
namespace {

// Which function a name without a suffix means, from a version of CUDA on. The newest version comes first.
struct versioned_name {
    const char* name;
    int since;
    const char* function;
};

constexpr versioned_name versioned_names[] = {
#define SOFTGPU_VERSION(name, since, function) {#name, since, #function},
#include "softgpu/runtime/calls/driver/versions.def"
#undef SOFTGPU_VERSION
};

enum class query_result : int { success = 0, symbol_not_found = 1, version_not_sufficient = 2 };

constexpr unsigned long long flag_per_thread_stream = 2;

void* this_library() {
    static void* const handle = [] {
        Dl_info about{};
        const bool known = ::dladdr(reinterpret_cast<const void*>(&result_of), &about) != 0;
        return known ? ::dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    }();
    return handle;
}

void* find_entry(const std::string& function, bool per_thread) {
    void* const library = this_library();
    if (library == nullptr) {
        return nullptr;
    }
    if (per_thread) {
        for (const char* suffix : {"_ptsz", "_ptds"}) {
            if (void* const found = ::dlsym(library, (function + suffix).c_str())) {
                return found;
            }
        }
    }
    return ::dlsym(library, function.c_str());
}

result find_versioned(const char* name, void** out, int version, unsigned long long flags, query_result* status) {
    query_result ignored{};
    query_result& said = status != nullptr ? *status : ignored;
    if (name == nullptr || out == nullptr || flags > flag_per_thread_stream) {
        return result::invalid_value;
    }
    *out = nullptr;
    std::string function = name;
    bool too_old = false;
    for (const versioned_name& v : versioned_names) {
        if (std::strcmp(v.name, name) == 0) {
            too_old = version < v.since;
            function = v.function;
            if (!too_old) {
                break;
            }
        }
    }
    *out =
        too_old || std::strncmp(name, "cu", 2) != 0 ? nullptr : find_entry(function, flags == flag_per_thread_stream);
    if (*out == nullptr) {
        said = too_old ? query_result::version_not_sufficient : query_result::symbol_not_found;
        return result::not_found;
    }
    said = query_result::success;
    return result::success;
}

// What NVIDIA's own runtime asks for when it starts. Other libraries, such as NVRTC, ask for other tables and do without.
constexpr unsigned char runtime_table[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                             0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

// cuBLAS, cuRAND and others bring that runtime with them. One line for each library.
void say_who_brings_runtime(const void* caller) {
    report_exceptions("cuGetExportTable", [caller] {
        static std::mutex mutex;
        static std::set<std::string>& said = *new std::set<std::string>;
        Dl_info where{};
        const bool known = ::dladdr(caller, &where) != 0 && where.dli_fname != nullptr;
        const std::string library = known ? where.dli_fname : "a library";
        const std::lock_guard lock(mutex);
        if (said.insert(library).second) {
            report(library +
                   " brings NVIDIA's own CUDA runtime, which does not run on the software GPU: its calls fail. "
                   "NVIDIA's compiled libraries, such as cuSOLVER and cuRAND, hold no PTX either");
        }
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuGetProcAddress_v2(const char* name, void** out, int version, unsigned long long flags, query_result* status) {
    return find_versioned(name, out, version, flags, status);
}

result cuGetProcAddress(const char* name, void** out, int version, unsigned long long flags) {
    return find_versioned(name, out, version, flags, nullptr);
}

// The tables by which NVIDIA's own runtime talks to its driver. There are none here.
result cuGetExportTable(const void** table, const universal_id* id) {
    if (table == nullptr || id == nullptr) {
        return result::invalid_value;
    }
    static_assert(sizeof *id == sizeof runtime_table);
    if (std::memcmp(id, runtime_table, sizeof runtime_table) == 0) {
        say_who_brings_runtime(__builtin_return_address(0));
    }
    *table = nullptr;
    return result::not_found;
}

// Tells this driver from NVIDIA's.
int softgpu_is_the_driver() { return 1; }

#define SOFTGPU_STUB(name)                                                                                             \
    result name() { return refuse_driver_call(#name); }
#include "softgpu/runtime/calls/driver/stubs.def"
#undef SOFTGPU_STUB

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
