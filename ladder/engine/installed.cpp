// SPDX-License-Identifier: MIT
#include "ladder/engine/installed.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <stdexcept>

#include <dlfcn.h>

#include "ladder/engine/definition/catalogue.hpp"

namespace warpfold::ladder::engine {

namespace {

std::string library_path(const std::string& name) { return engine_folder() + "/libwarpfold_ladder_" + name + ".so"; }

const ladder_definition& load(const std::string& name) {
    const std::string path = library_path(name);
    if (!std::filesystem::exists(path)) {
        throw std::runtime_error("the ladder " + name + " is not built: " + path + " is not there (./dev ladder " +
                                 name + " builds it)");
    }
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw std::runtime_error(std::string("cannot load ") + ::dlerror());
    }
    const auto definition =
        reinterpret_cast<decltype(&warpfold_ladder_definition)>(::dlsym(library, "warpfold_ladder_definition"));
    if (definition == nullptr) {
        throw std::runtime_error(path + " is not the library of a ladder");
    }
    return *definition();
}

} // namespace

std::string library_of(const void* code) {
    Dl_info info{};
    if (::dladdr(code, &info) == 0 || info.dli_fname == nullptr) {
        throw std::runtime_error("the ladder's engine does not find its own library");
    }
    return std::filesystem::absolute(info.dli_fname).string();
}

std::string engine_folder() {
    return std::filesystem::path(library_of(reinterpret_cast<const void*>(&engine_folder))).parent_path().string();
}

std::vector<std::string> installed_ladders() {
    std::vector<std::string> names;
    for (const catalogue_entry& entry : catalogue) {
        if (std::filesystem::exists(library_path(entry.name))) {
            names.emplace_back(entry.name);
        }
    }
    return names;
}

const ladder_definition& find_ladder(const std::string& name) {
    if (std::none_of(catalogue.begin(), catalogue.end(), [&](const auto& entry) { return entry.name == name; })) {
        throw bad_request("there is no ladder '" + name + "'");
    }
    static std::mutex guard;
    static std::map<std::string, const ladder_definition*> loaded;
    const std::lock_guard lock(guard);
    const ladder_definition*& ladder = loaded[name];
    if (ladder == nullptr) {
        ladder = &load(name);
    }
    return *ladder;
}

} // namespace warpfold::ladder::engine
