// SPDX-License-Identifier: MIT
#include "softgpu/runtime/program/optimiser.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <link.h>

namespace softgpu::runtime {
namespace {

constexpr const char* variable = "WARPFOLD_NVJITLINK";

// Its own functions call each other, not ours of the same names.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int apart = 0; // the sanitizers do not take the flag
#else
constexpr int apart = RTLD_DEEPBIND;
#endif

void add_folders(std::vector<std::string>& folders, const char* list) {
    std::string_view rest = list != nullptr ? list : "";
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        folders.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

// Of a wheel of CUDA 13 that is the folder of all libraries; those of CUDA 12 have a folder each.
int add_folder_of(dl_phdr_info* loaded, std::size_t, void* folders) {
    const std::filesystem::path path(loaded->dlpi_name);
    const std::string name = path.filename();
    if (name.starts_with("libnvrtc.so") || name.starts_with("libnvvm.so") || name.starts_with("libcudart.so")) {
        auto& all = *static_cast<std::vector<std::string>*>(folders);
        all.push_back(path.parent_path());
        all.push_back(path.parent_path() / "../../nvjitlink/lib");
        all.push_back(path.parent_path() / "../../lib"); // of libnvvm in its folder nvvm/lib64
    }
    return 0;
}

// Of this library, and of our stand-in for libnvJitLink.
std::filesystem::path own_folder() {
    Dl_info found{};
    const bool is_found = ::dladdr(reinterpret_cast<const void*>(&own_folder), &found) != 0;
    return is_found ? std::filesystem::path(found.dli_fname).parent_path() : std::filesystem::path();
}

std::string path_of_library() {
    if (const char* const named = std::getenv(variable)) {
        return named;
    }
    std::vector<std::string> folders;
    ::dl_iterate_phdr(add_folder_of, &folders);
    add_folders(folders, std::getenv("LD_LIBRARY_PATH"));
    for (const char* const root : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* const toolkit = std::getenv(root)) {
            folders.push_back(std::string(toolkit) + "/lib64");
            folders.push_back(std::string(toolkit) + "/lib");
        }
    }
    folders.insert(folders.end(), {"/usr/local/cuda/lib64", "/usr/local/cuda/lib"});
    const std::filesystem::path ours = own_folder();
    for (const std::string& folder : folders) {
        std::error_code none;
        if (std::filesystem::equivalent(folder, ours, none)) {
            continue;
        }
        for (const char* const name : {"libnvJitLink.so.13", "libnvJitLink.so.12"}) {
            if (std::string path = folder + "/" + name; std::filesystem::exists(path, none)) {
                return path;
            }
        }
    }
    return {};
}

class library {
public:
    library() : path_(path_of_library()) {
        handle_ = path_.empty() ? nullptr : ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL | apart);
        if (handle_ == nullptr && !path_.empty()) {
            error_ = ::dlerror();
        }
    }

    // Empty if the library is there.
    [[nodiscard]] std::string missing() const {
        if (handle_ != nullptr) {
            return {};
        }
        return "LTO-IR is linked by NVIDIA's libnvJitLink, which " +
               (path_.empty() ? std::string("was not found; name one in ") + variable : "cannot be loaded: " + error_);
    }
    // nvJitLinkResult of a call; 6, an internal error, if the library does not have it.
    template <class... Arguments>
    int call(const std::string& name, Arguments... arguments) const {
        for (const std::string& symbol : {name, "__" + name + "_13_0", "__" + name + "_12_0"}) {
            if (void* const found = ::dlsym(handle_, symbol.c_str())) {
                return reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
            }
        }
        return 6;
    }

private:
    std::string path_, error_;
    void* handle_ = nullptr;
};

const library& nvidia() {
    static const library loaded;
    return loaded;
}

std::string text_of(void* session, const char* name) {
    std::size_t bytes = 0;
    if (nvidia().call(name + std::string("Size"), session, &bytes) != 0 || bytes == 0) {
        return {};
    }
    std::string text(bytes, '\0');
    if (nvidia().call(name, session, text.data()) != 0) {
        return {};
    }
    text.resize(text.find_last_not_of(std::string_view("\0\n", 2)) + 1);
    return text;
}

} // namespace

optimised link_by_nvidia(const std::vector<lto_unit>& units, const std::vector<std::string>& options) {
    if (std::string why = nvidia().missing(); !why.empty()) {
        return {{}, std::move(why)};
    }
    std::vector<const char*> given{"-lto", "-ptx"};
    for (const std::string& option : options) {
        if (option != "-lto" && option != "-ptx") {
            given.push_back(option.c_str());
        }
    }
    void* session = nullptr;
    int code = nvidia().call("nvJitLinkCreate", &session, static_cast<std::uint32_t>(given.size()), given.data());
    for (const lto_unit& unit : units) {
        if (code == 0) {
            code = nvidia().call("nvJitLinkAddData", session, unit.kind, static_cast<const void*>(unit.contents.data()),
                                 unit.contents.size(), "unit");
        }
    }
    if (code == 0) {
        code = nvidia().call("nvJitLinkComplete", session);
    }
    optimised result;
    if (code == 0) {
        result.ptx = text_of(session, "nvJitLinkGetLinkedPtx");
    }
    if (result.ptx.empty()) {
        const std::string log = session != nullptr ? text_of(session, "nvJitLinkGetErrorLog") : std::string();
        result.errors = "NVIDIA's libnvJitLink cannot link the LTO-IR (error " + std::to_string(code) + ")" +
                        (log.empty() ? std::string() : ": " + log);
    }
    if (session != nullptr) {
        nvidia().call("nvJitLinkDestroy", &session);
    }
    return result;
}

bool version_of_named(unsigned& major, unsigned& minor) {
    return std::getenv(variable) != nullptr && nvidia().missing().empty() &&
           nvidia().call("nvJitLinkVersion", &major, &minor) == 0;
}

} // namespace softgpu::runtime
