// SPDX-License-Identifier: MIT
// A stand-in for NVIDIA's libnvJitLink: takes units of PTX and gives, in the place of machine code, a text that our driver loads
// as a module. LTO-IR becomes PTX by NVIDIA's own library, where there is one.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "softgpu/runtime/cards/cards.hpp"
#include "softgpu/runtime/fatbin/fatbin.hpp"
#include "softgpu/runtime/program/optimiser.hpp"
#include "softgpu/runtime/program/register_limit.hpp"
#include "softgpu/runtime/program/units.hpp"

namespace softgpu::runtime {
namespace {

// nvJitLinkResult
enum class link_result : int { success = 0, unrecognized_option = 1, invalid_input = 3, ptx_compile = 4, internal = 6 };

// nvJitLinkInputType
enum class link_input : int { none = 0, machine_code = 1, ptx = 2, lto = 3, fat_binary = 4 };

// The object behind nvJitLinkHandle.
struct link_session {
    std::vector<std::string> units; // of PTX
    std::vector<lto_unit> to_optimise;
    std::vector<std::string> options; // for those
    unsigned most_registers = 0;      // of a thread; 0: any
    unsigned architecture = 0;        // 90 of -arch=sm_90; 0: any
    std::string linked;
    std::string errors;
};

link_result refuse(link_session& s, const std::string& why, link_result how = link_result::invalid_input) {
    s.errors += why + "\n";
    return how;
}

link_result add(link_session& s, link_input kind, const void* data, std::size_t bytes) {
    try {
        if (is_device_runtime(data, bytes)) {
            return link_result::success;
        }
        switch (kind) {
        case link_input::ptx: {
            const auto* const text = static_cast<const char*>(data);
            std::string unit(text, ::strnlen(text, bytes));
            if (const unsigned target = target_of(unit); s.architecture != 0 && target > s.architecture) {
                return refuse(s,
                              "softgpu: the PTX is for sm_" + std::to_string(target) + ", newer than sm_" +
                                  std::to_string(s.architecture),
                              link_result::ptx_compile);
            }
            s.units.push_back(std::move(unit));
            return link_result::success;
        }
        case link_input::fat_binary: {
            const std::vector<fatbin_entry> entries = read_fatbin(data, bytes);
            if (const auto best = best_ptx(entries, all_cards().front().newest_ptx())) {
                s.units.push_back(decompress(*best));
                return link_result::success;
            }
            if (std::ranges::none_of(entries, [](const auto& one) { return one.kind == fatbin_kind::lto; })) {
                return refuse(s, "softgpu: the fat binary holds no PTX that can run here");
            }
            [[fallthrough]]; // LTO-IR
        }
        case link_input::lto:
            s.to_optimise.push_back({static_cast<int>(kind), {static_cast<const char*>(data), bytes}});
            return link_result::success;
        default: return refuse(s, "softgpu: machine code cannot be linked here; hand over PTX");
        }
    } catch (const std::exception& e) {
        return refuse(s, std::string("softgpu: ") + e.what());
    }
}

link_result give_size(const std::string& text, std::size_t* bytes) {
    *bytes = text.size() + 1;
    return link_result::success;
}

link_result give(const std::string& text, void* out) {
    std::memcpy(out, text.c_str(), text.size() + 1);
    return link_result::success;
}

// Of -arch=: sm_90, compute_90 or lto_90. true for every other option.
bool names_architecture(std::string_view option) {
    constexpr std::string_view which = "-arch=";
    const std::string_view name = option.substr(std::min(option.size(), which.size()));
    return !option.starts_with(which) || name.starts_with("sm_") || name.starts_with("compute_") ||
           name.starts_with("lto_");
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// Other options are for a compiler: that of LTO-IR.
link_result nvJitLinkCreate(link_session** out, std::uint32_t count, const char** options) {
    if (!std::all_of(options, options + count, [](std::string_view option) { return names_architecture(option); })) {
        return link_result::unrecognized_option;
    }
    *out = new (std::nothrow) link_session;
    for (std::uint32_t i = 0; *out != nullptr && i < count; ++i) {
        constexpr std::string_view limit = "-maxrregcount=";
        const std::string_view option(options[i]);
        if (option.starts_with(limit)) {
            const std::string_view number = option.substr(limit.size());
            std::from_chars(number.data(), number.data() + number.size(), (*out)->most_registers);
        } else {
            (*out)->options.emplace_back(option);
        }
        if (option.starts_with("-arch=")) {
            const std::string_view number = option.substr(option.rfind('_') + 1);
            std::from_chars(number.data(), number.data() + number.size(), (*out)->architecture);
        }
    }
    return *out != nullptr ? link_result::success : link_result::internal;
}

link_result nvJitLinkDestroy(link_session** s) {
    delete *s;
    *s = nullptr;
    return link_result::success;
}

link_result nvJitLinkAddData(link_session* s, link_input kind, const void* data, std::size_t bytes, const char*) {
    return add(*s, kind, data, bytes);
}

link_result nvJitLinkAddFile(link_session* s, link_input kind, const char* path) {
    std::ifstream in(path, std::ios::binary);
    const std::string contents(std::istreambuf_iterator<char>(in), {});
    return in.is_open() && !std::filesystem::is_directory(path)
               ? add(*s, kind, contents.data(), contents.size())
               : refuse(*s, std::string("softgpu: cannot read ") + path);
}

link_result nvJitLinkComplete(link_session* s) {
    if (!s->to_optimise.empty()) {
        optimised made = link_by_nvidia(s->to_optimise, s->options);
        if (!made.errors.empty()) {
            return refuse(*s, "softgpu: " + made.errors);
        }
        s->units.push_back(std::move(made.ptx));
        s->to_optimise.clear();
    }
    if (s->units.empty()) {
        return refuse(*s, "softgpu: there is nothing to link");
    }
    std::string joined = join_units(s->units);
    const text_errors wrong = errors_of(joined);
    if (!wrong.ptx.empty()) {
        return refuse(*s, "softgpu: PTX " + wrong.ptx, link_result::ptx_compile);
    }
    if (!wrong.link.empty()) {
        return refuse(*s, "softgpu: " + wrong.link, link_result::internal);
    }
    s->linked = with_register_limit(std::move(joined), s->most_registers);
    return link_result::success;
}

link_result nvJitLinkGetLinkedCubinSize(link_session* s, std::size_t* bytes) { return give_size(s->linked, bytes); }
link_result nvJitLinkGetLinkedCubin(link_session* s, void* out) { return give(s->linked, out); }
link_result nvJitLinkGetLinkedPtxSize(link_session* s, std::size_t* bytes) { return give_size(s->linked, bytes); }
link_result nvJitLinkGetLinkedPtx(link_session* s, char* out) { return give(s->linked, out); }
link_result nvJitLinkGetErrorLogSize(link_session* s, std::size_t* bytes) { return give_size(s->errors, bytes); }
link_result nvJitLinkGetErrorLog(link_session* s, char* out) { return give(s->errors, out); }
link_result nvJitLinkGetInfoLogSize(link_session*, std::size_t* bytes) { return give_size({}, bytes); }
link_result nvJitLinkGetInfoLog(link_session*, char* out) { return give({}, out); }

// An early one, without LTO-IR for Numba: clients hand over PTX then, unless the user named NVIDIA's library.
link_result nvJitLinkVersion(unsigned* major, unsigned* minor) {
    if (!version_of_named(*major, *minor)) {
        *major = 12;
        *minor = 2;
    }
    return link_result::success;
}

// What the inline functions of its header call.
#define SOFTGPU_ALIAS(name) decltype(name) __##name##_13_0 [[gnu::alias(#name)]];
SOFTGPU_ALIAS(nvJitLinkCreate)
SOFTGPU_ALIAS(nvJitLinkDestroy)
SOFTGPU_ALIAS(nvJitLinkAddData)
SOFTGPU_ALIAS(nvJitLinkAddFile)
SOFTGPU_ALIAS(nvJitLinkComplete)
SOFTGPU_ALIAS(nvJitLinkGetLinkedCubinSize)
SOFTGPU_ALIAS(nvJitLinkGetLinkedCubin)
SOFTGPU_ALIAS(nvJitLinkGetLinkedPtxSize)
SOFTGPU_ALIAS(nvJitLinkGetLinkedPtx)
SOFTGPU_ALIAS(nvJitLinkGetErrorLogSize)
SOFTGPU_ALIAS(nvJitLinkGetErrorLog)
SOFTGPU_ALIAS(nvJitLinkGetInfoLogSize)
SOFTGPU_ALIAS(nvJitLinkGetInfoLog)
#undef SOFTGPU_ALIAS

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
