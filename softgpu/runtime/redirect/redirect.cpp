// SPDX-License-Identifier: MIT
// Programs and libraries that are linked with the static CUDA runtime, nvcc's default. `warpfold run` has this library loaded
// before the program's constructors run. It finds the runtime's functions in the symbol tables of the program and of the
// libraries that are loaded with it or later, and writes a jump to the same function of our libcudart at the start of each.
// NVIDIA's runtime then never runs. A file whose symbol table is stripped is left as it is.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

#if defined(__x86_64__)
constexpr unsigned char jump_code[] = {0xFF, 0x25, 0x00, 0x00, 0x00, 0x00}; // jmp *0(%rip); the address follows
#elif defined(__aarch64__)
constexpr unsigned char jump_code[] = {0x50, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1F, 0xD6}; // ldr x16, .+8; br x16; address
#else
#error "a jump for this processor is missing"
#endif
constexpr std::size_t jump_bytes = sizeof jump_code + sizeof(std::uint64_t);

// A file in memory, to be read.
class mapped_file {
public:
    explicit mapped_file(const char* path) {
        const int file = ::open(path, O_RDONLY | O_CLOEXEC);
        struct stat about {};
        if (file >= 0 && ::fstat(file, &about) == 0 && about.st_size > 0) {
            bytes_ = static_cast<std::size_t>(about.st_size);
            void* const at = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
            data_ = at == MAP_FAILED ? nullptr : static_cast<const char*>(at);
        }
        if (file >= 0) {
            ::close(file);
        }
    }
    ~mapped_file() {
        if (data_ != nullptr) {
            ::munmap(const_cast<char*>(data_), bytes_);
        }
    }
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    // nullptr if the records are not inside the file.
    template <class Record>
    [[nodiscard]] const Record* at(std::uint64_t offset, std::uint64_t count) const {
        const bool inside = data_ != nullptr && offset <= bytes_ && count <= (bytes_ - offset) / sizeof(Record);
        return inside ? reinterpret_cast<const Record*>(data_ + offset) : nullptr;
    }

private:
    const char* data_ = nullptr;
    std::size_t bytes_ = 0;
};

struct symbol {
    std::uint64_t address; // before the file was moved to its place
    std::string_view name;
};

// The functions of a file's symbol table, in the order of their addresses; none if it does not name a call of CUDA.
std::vector<symbol> functions_of(const mapped_file& file) {
    std::vector<symbol> found;
    const auto* const header = file.at<Elf64_Ehdr>(0, 1);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr)) {
        return found;
    }
    const auto* const sections = file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    for (unsigned i = 0; sections != nullptr && i < header->e_shnum; ++i) {
        const Elf64_Shdr& s = sections[i];
        if (s.sh_type != SHT_SYMTAB || s.sh_link >= header->e_shnum) {
            continue;
        }
        const std::uint64_t count = s.sh_size / sizeof(Elf64_Sym);
        const auto* const symbols = file.at<Elf64_Sym>(s.sh_offset, count);
        const Elf64_Shdr& texts = sections[s.sh_link];
        const auto* const names = file.at<char>(texts.sh_offset, texts.sh_size);
        if (symbols == nullptr || names == nullptr || texts.sh_size == 0 || names[texts.sh_size - 1] != '\0') {
            continue;
        }
        if (::memmem(names, texts.sh_size, "cudaGetErrorString", 18) == nullptr) {
            continue; // most files: do not look at every symbol
        }
        found.reserve(count);
        for (std::uint64_t k = 0; k < count; ++k) {
            const bool function = ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC;
            if (function && symbols[k].st_shndx != SHN_UNDEF && symbols[k].st_name < texts.sh_size) {
                found.push_back({symbols[k].st_value, names + symbols[k].st_name});
            }
        }
    }
    std::sort(found.begin(), found.end(), [](const symbol& a, const symbol& b) { return a.address < b.address; });
    return found;
}

bool is_a_call(std::string_view name) { return name.starts_with("cuda") || name.starts_with("__cuda"); }

bool defines(const std::vector<symbol>& functions, std::string_view name) {
    return std::any_of(functions.begin(), functions.end(), [&](const symbol& s) { return s.name == name; });
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

// Redirects the static runtime of one loaded file, if it has one.
void redirect(const char* path, std::uint64_t moved_by) {
    const mapped_file file(path);
    const std::vector<symbol> functions = functions_of(file);
    if (!defines(functions, "cudaGetErrorString")) {
        return;
    }
    const char* const name = runtime_of(functions);
    void* const ours = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (ours == nullptr) {
        std::fprintf(stderr, "softgpu: %s is linked with the static CUDA runtime, and our %s is not there\n", path,
                     name);
        return;
    }
    unsigned redirected = 0;
    for (std::size_t i = 0; i < functions.size(); ++i) {
        if (!is_a_call(functions[i].name)) {
            continue;
        }
        const void* const target = ::dlsym(ours, functions[i].name.data());
        std::size_t next = i;
        while (next < functions.size() && functions[next].address == functions[i].address) {
            ++next;
        }
        const bool room = next == functions.size() || functions[next].address - functions[i].address >= jump_bytes;
        if (target != nullptr && room && write_jump(moved_by + functions[i].address, target)) {
            ++redirected;
        }
    }
    if (std::getenv("SOFTGPU_EXPLAIN") != nullptr) {
        std::fprintf(stderr, "softgpu: %s: %u functions of its static CUDA runtime lead to our %s\n", path, redirected,
                     name);
    }
}

// The files that have been looked at, by their place in memory. The dynamic linker's lock guards them.
std::vector<const link_map*>& seen() {
    static auto& all = *new std::vector<const link_map*>; // never destroyed: files are loaded until the end
    return all;
}

// Shared libraries of CUDA, ours among them, define the same functions.
bool is_a_cuda_library(const char* path) {
    const std::string_view name(path);
    const std::string_view last = name.substr(name.rfind('/') + 1); // all of it if there is no folder
    return last.starts_with("libcuda") || last.starts_with("libsoftgpu");
}

void redirect_new_files() {
    std::vector<const link_map*> present;
    for (const link_map* file = _r_debug.r_map; file != nullptr; file = file->l_next) {
        present.push_back(file);
    }
    for (const link_map* const file : present) {
        if (std::find(seen().begin(), seen().end(), file) == seen().end()) {
            const bool program = file == present.front();
            if (program || !is_a_cuda_library(file->l_name)) {
                redirect(program ? "/proc/self/exe" : file->l_name, file->l_addr);
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
