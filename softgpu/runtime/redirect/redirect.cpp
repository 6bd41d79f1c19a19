// SPDX-License-Identifier: MIT
// Programs and libraries that are linked with the static CUDA runtime, nvcc's default. `warpfold run` has this library loaded
// before the program's constructors run. It finds the runtime's functions in the symbol tables of the program and of the
// libraries that are loaded with it or later, and writes a jump to the same function of our libcudart at the start of each.
// NVIDIA's runtime then never runs. In a stripped file the functions are found by their code. A static cuBLAS leads to our
// cuBLAS, and the shared runtime of CUDA 10, which packages bring under a name of their own, to our runtime. NVRTC gives PTX
// where machine code is asked for.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softgpu/runtime/redirect/cuda_10.hpp"
#include "softgpu/runtime/redirect/stripped.hpp"
#include "softgpu/runtime/redirect/symbols.hpp"

namespace softgpu::redirect {
namespace {

#if defined(__x86_64__)
constexpr unsigned char jump_code[] = {0xFF, 0x25, 0x00, 0x00, 0x00, 0x00}; // jmp *0(%rip); the address follows
#elif defined(__aarch64__)
constexpr unsigned char jump_code[] = {0x50, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1F, 0xD6}; // ldr x16, .+8; br x16; address
#else
#error "a jump for this processor is missing"
#endif
constexpr std::size_t jump_bytes = sizeof jump_code + sizeof(std::uint64_t);

bool is_a_call(std::string_view name) { return name.starts_with("cuda") || name.starts_with("__cuda"); }

// cuBLASLt is another library.
bool is_of_cublas(std::string_view name) { return name.starts_with("cublas") && !name.starts_with("cublasLt"); }

// Texture references ended with CUDA 11, which began with the call for persisting L2.
bool is_cuda_10(const std::vector<symbol>& functions) {
    return defines(functions, "cudaBindTexture") && !defines(functions, "cudaCtxResetPersistingL2Cache");
}

// CUDA 12 has both forms of this call, CUDA 13 one.
const char* runtime_of(const std::vector<symbol>& functions) {
    return defines(functions, "cudaGetDeviceProperties_v2") ? "libcudart.so.12" : "libcudart.so.13";
}

bool write_jump(std::uint64_t from, const void* to) {
    static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t first = from / page * page;
    const std::uint64_t bytes = (from + jump_bytes - 1) / page * page + page - first;
    auto* const pages = reinterpret_cast<void*>(first);
    if (::mprotect(pages, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        return false;
    }
    auto* const code = reinterpret_cast<char*>(from);
    std::memcpy(code, jump_code, sizeof jump_code);
    std::memcpy(code + sizeof jump_code, &to, sizeof to);
    __builtin___clear_cache(code, code + jump_bytes);
    return ::mprotect(pages, bytes, PROT_READ | PROT_EXEC) == 0;
}

// Writes a jump to target_of(name) at the start of each function, if that gives one. Returns how many.
template <class Target>
unsigned lead_away(const std::vector<symbol>& functions, symbol_table table, std::uint64_t moved_by,
                   Target&& target_of) {
    const bool padded = table == symbol_table::all;
    unsigned redirected = 0;
    for (std::size_t i = 0; i < functions.size(); ++i) {
        const void* const target = target_of(functions[i].name);
        if (target == nullptr) {
            continue;
        }
        std::size_t next = i;
        while (next < functions.size() && functions[next].address == functions[i].address) {
            ++next;
        }
        // Padding up to the next function counts, but a table of exported functions may not name the next one.
        const bool room =
            functions[i].bytes >= jump_bytes ||
            (padded && next != functions.size() && functions[next].address - functions[i].address >= jump_bytes);
        redirected += room && write_jump(moved_by + functions[i].address, target) ? 1 : 0;
    }
    return redirected;
}

// One of our libraries; nullptr, and a line, if it is not there.
void* our_library(const char* name, const char* path, const char* what) {
    void* const ours = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (ours == nullptr) {
        std::fprintf(stderr, "softgpu: %s has %s, and our %s is not there\n", path, what, name);
    }
    return ours;
}

void explain(const char* path, unsigned redirected, const char* what, const char* name) {
    if (std::getenv("SOFTGPU_EXPLAIN") != nullptr) {
        std::fprintf(stderr, "softgpu: %s: %u functions of its %s lead to %s\n", path, redirected, what, name);
    }
}

// NVIDIA's libraries, such as cuFFT, hold machine code, and some do not look whether their launches have failed: that their
// runtime does not start is the clearer error.
bool is_nvidias(std::string_view last) {
    return last.starts_with("libcu") || last.starts_with("libnv") || last.starts_with("libnpp");
}

// Redirects the static runtime and the static cuBLAS of one loaded file, if it has them.
void redirect(const char* path, std::string_view last, std::uint64_t moved_by) {
    const mapped_file file(path);
    std::vector<symbol> functions = functions_of(file, symbol_table::all);
    if (functions.empty() && !is_nvidias(last)) {
        functions = functions_of_stripped(file);
    }
    if (defines(functions, "cudaGetErrorString")) {
        const bool old = is_cuda_10(functions);
        const char* const name = old ? "libcudart.so.12" : runtime_of(functions);
        if (void* const ours = our_library(name, path, "the static CUDA runtime")) {
            const auto target = [&](std::string_view f) -> const void* {
                return !is_a_call(f) ? nullptr : old ? form_of_cuda_10(f, ours) : ::dlsym(ours, f.data());
            };
            explain(path, lead_away(functions, symbol_table::all, moved_by, target), "static CUDA runtime", name);
        }
    }
    if (defines(functions, "cublasCreate_v2")) {
        const char* const name = "libcublas.so.12";
        if (void* const ours = our_library(name, path, "a static cuBLAS")) {
            const auto target = [&](std::string_view f) { return is_of_cublas(f) ? ::dlsym(ours, f.data()) : nullptr; };
            explain(path, lead_away(functions, symbol_table::all, moved_by, target), "static cuBLAS", name);
        }
    }
}

// Redirects the shared runtime of CUDA 10 that a package brings.
void redirect_cuda_10(const char* path, std::uint64_t moved_by) {
    constexpr symbol_table exported = symbol_table::exported;
    const mapped_file file(path);
    const char* const name = "libcudart.so.12";
    if (void* const ours = our_library(name, path, "the runtime of CUDA 10")) {
        const auto target = [&](std::string_view f) { return is_a_call(f) ? form_of_cuda_10(f, ours) : nullptr; };
        explain(path, lead_away(functions_of(file, exported), exported, moved_by, target), "CUDA 10", name);
    }
}

// Machine code cannot run here: where a client asks NVRTC for it, it gets the PTX, which NVRTC makes too.
void redirect_nvrtc(const char* path, std::uint64_t moved_by) {
    constexpr symbol_table exported = symbol_table::exported;
    const mapped_file file(path);
    const std::vector<symbol> functions = functions_of(file, exported, "nvrtcGetCUBIN");
    if (functions.empty()) {
        return; // a library beside NVRTC
    }
    const auto target = [&](std::string_view f) -> const void* {
        const std::string_view wanted = f == "nvrtcGetCUBIN"       ? "nvrtcGetPTX"
                                        : f == "nvrtcGetCUBINSize" ? "nvrtcGetPTXSize"
                                                                   : "";
        const auto found =
            std::find_if(functions.begin(), functions.end(), [&](const symbol& s) { return s.name == wanted; });
        return found == functions.end() ? nullptr : reinterpret_cast<const void*>(moved_by + found->address);
    };
    explain(path, lead_away(functions, exported, moved_by, target), "machine code", "those of its PTX");
}

// The files that have been looked at, by their place in memory. The dynamic linker's lock guards them.
std::vector<const link_map*>& seen() {
    static auto& all = *new std::vector<const link_map*>; // never destroyed: files are loaded until the end
    return all;
}

// Shared libraries of CUDA, ours among them, define the same functions.
bool is_a_cuda_library(std::string_view last) { return last.starts_with("libcuda") || last.starts_with("libsoftgpu"); }

void redirect_new_files() {
    std::vector<const link_map*> present;
    for (const link_map* file = _r_debug.r_map; file != nullptr; file = file->l_next) {
        present.push_back(file);
    }
    for (const link_map* const file : present) {
        if (std::find(seen().begin(), seen().end(), file) == seen().end()) {
            const bool program = file == present.front();
            const std::string_view name(file->l_name);
            const std::string_view last = name.substr(name.rfind('/') + 1); // all of it if there is no folder
            if (is_runtime_of_cuda_10(last)) {
                redirect_cuda_10(file->l_name, file->l_addr);
            } else if (last.starts_with("libnvrtc")) {
                redirect_nvrtc(file->l_name, file->l_addr);
            } else if (program || !is_a_cuda_library(last)) {
                redirect(program ? "/proc/self/exe" : file->l_name, last, file->l_addr);
            }
        }
    }
    seen() = std::move(present);
}

// The dynamic linker calls this in place of its function for debuggers, after files have been mapped and before their
// constructors run. redirect() may load our runtime, which leads here again.
void files_have_changed() {
    static bool busy = false;
    if (_r_debug.r_state == r_debug::RT_CONSISTENT && !busy) {
        busy = true;
        redirect_new_files();
        busy = false;
    }
}

// Whether the dynamic linker's function for debuggers is the empty one, with room for a jump up to the next function.
bool has_room(const unsigned char* code) {
#if defined(__x86_64__)
    constexpr unsigned char start[] = {0xF3, 0x0F, 0x1E, 0xFA}; // endbr64
    const unsigned char* at = code + (std::memcmp(code, start, sizeof start) == 0 ? sizeof start : 0);
    constexpr unsigned char padding[] = {0x66, 0x0F, 0x90, 0xCC};
    return reinterpret_cast<std::uintptr_t>(code) % 16 == 0 && *at == 0xC3 &&
           std::find(std::begin(padding), std::end(padding), at[1]) != std::end(padding);
#else
    (void)code;
    return false;
#endif
}

[[gnu::constructor]] void begin() {
    redirect_new_files();
    if (has_room(reinterpret_cast<const unsigned char*>(_r_debug.r_brk))) {
        write_jump(_r_debug.r_brk, reinterpret_cast<const void*>(&files_have_changed));
    }
}

} // namespace
} // namespace softgpu::redirect
