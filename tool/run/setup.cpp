// SPDX-License-Identifier: MIT
#include "tool/run/setup.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/text.hpp"
#include "tool/error.hpp"
#include "tool/run/locate.hpp"
#include "tool/run/software_gpu.hpp"

namespace warpfold::tool {
namespace {

// What Triton makes for these runs here; on another card that is newer than the first, it compiles for the first.
constexpr unsigned oldest_for_triton = 80;
constexpr unsigned newest_for_triton = 90;
constexpr unsigned ptx_of_libraries = 120; // CuPy's compiled libraries: machine code for all older architectures

std::vector<std::pair<std::string, std::string>> find_client_variables(const std::string& folder) {
    std::vector<std::pair<std::string, std::string>> variables{{"CUPY_COMPILE_WITH_PTX", "1"}};
    if (chosen_card()->compute_capability() < ptx_of_libraries) {
        variables.emplace_back("CUPY_ACCELERATORS", ""); // no CUB
    }
    if (const auto assembler = find_beside_runtime("ptxas")) {
        variables.emplace_back("TRITON_PTXAS_PATH", *assembler);
        variables.emplace_back("TRITON_PTXAS_BLACKWELL_PATH", *assembler); // for sm_90 too
        variables.emplace_back("TRITON_LIBCUDA_PATH", folder);
        const unsigned own = chosen_card()->compute_capability();
        if (own > oldest_for_triton && own != newest_for_triton) {
            variables.emplace_back("TRITON_OVERRIDE_ARCH", fmt::format("sm{}", oldest_for_triton));
        }
    }
    return variables;
}

void prepend(const char* variable, const std::string& value) {
    const char* before = std::getenv(variable);
    const bool some = before != nullptr && *before != '\0';
    ::setenv(variable, (some ? value + ":" + before : value).c_str(), 1);
}

std::string runtime_text(const std::optional<elf_facts>& facts) {
    if (!facts) {
        return "no ELF file: the programs that it starts are set up in the same way";
    }
    if (!facts->dynamic) {
        return "no dynamic linker loads this program, so nothing can be put in the place of its CUDA runtime";
    }
    for (const std::string& name : facts->needed) {
        if (name.starts_with("libcudart.so")) {
            return fmt::format("the shared CUDA runtime, {}: ours is loaded in its place", name);
        }
    }
    if (facts->static_cuda_runtime) {
        return "the static CUDA runtime: each of its functions leads to the same one of our libcudart";
    }
    if (facts->embeds_cuda) {
        return "kernels, but no CUDA runtime that is found in it";
    }
    return "no CUDA of its own: libraries that it loads find our runtime and our driver";
}

} // namespace

linker_setup find_setup() {
    linker_setup setup;
    if (const auto redirect = find_beside_runtime("libsoftgpu_redirect.so")) {
        setup.preloaded.push_back(*redirect);
    }
    for (const int major : {13, 12}) {
        if (const auto path = find_software_runtime(major)) {
            setup.preloaded.push_back(*path);
            setup.folder = setup.folder.empty() ? std::filesystem::path(*path).parent_path().string() : setup.folder;
        }
    }
    // Clients look for these in their own folders first, unless they are loaded already.
    for (const char* const name :
         {"libnvJitLink.so.13", "libcublasLt.so.13", "libcublasLt.so.12", "libcublas.so.13", "libcublas.so.12"}) {
        if (const auto path = find_beside_runtime(name)) {
            setup.preloaded.push_back(*path);
        }
    }
    if (setup.folder.empty()) {
        throw failure("the software GPU (libcudart.so.13) is not where this command was built or installed");
    }
    if (setup.folder.find_first_of(":;") != std::string::npos) {
        throw failure(
            fmt::format("the dynamic linker takes no folder with a colon or semicolon in its name: {}", setup.folder));
    }
    setup.client_variables = find_client_variables(setup.folder);
    return setup;
}

// The dynamic linker finds our libraries by their names; where a program brings its own search path, by having them loaded
// first.
void set_linker_environment(const linker_setup& setup) {
    prepend("LD_LIBRARY_PATH", setup.folder);
    const std::string preload = fmt::format("{}", fmt::join(setup.preloaded, ":"));
    if (preload.find(' ') == std::string::npos) { // LD_PRELOAD is separated by blanks too
        prepend("LD_PRELOAD", preload);
    }
    for (const auto& [name, value] : setup.client_variables) {
        ::setenv(name.c_str(), value.c_str(), 0);
    }
}

std::string explain_setup(const linker_setup& setup, const std::string& program,
                          const std::optional<elf_facts>& facts) {
    std::string text = fmt::format("setup: {} has {}\n", report::printable(program), runtime_text(facts));
    text += fmt::format("setup: libraries are looked for in {} first: libcudart.so.13, libcudart.so.12, libcuda.so.1, "
                        "libnccl.so.2, libnvidia-ml.so.1, libcublas.so.13, libcublas.so.12, libcublasLt.so.13, "
                        "libcublasLt.so.12\n",
                        setup.folder);
    for (const std::string& path : setup.preloaded) {
        text += fmt::format("setup: loaded before the program: {}\n", path);
    }
    for (const auto& [name, value] : setup.client_variables) {
        const char* const own = std::getenv(name.c_str());
        text += fmt::format("setup: {}={}\n", name, own != nullptr ? own : value.c_str());
    }
    return text;
}

std::string why_not_reached(const std::string& program, const std::optional<elf_facts>& facts) {
    const std::string name = report::printable(program);
    if (facts && !facts->dynamic) {
        return fmt::format("{} is linked statically; build it against shared libraries, with -cudart shared", name);
    }
    if (facts && facts->embeds_cuda && !facts->needs_cuda_library() && !facts->static_cuda_runtime) {
        return fmt::format(
            "{} is not linked with the shared CUDA runtime, and no static one is found in it; build it with "
            "-cudart shared, or do not strip it",
            name);
    }
    return {};
}

} // namespace warpfold::tool
