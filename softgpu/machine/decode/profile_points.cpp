// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/profile_points.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "softgpu/machine/demangle.hpp"

namespace softgpu::machine {

namespace {

using position = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; // file, line, column

// The numbers and the label in "function_name L+4, inlined_at 1 2 3".
struct inlining {
    std::string label;
    std::uint64_t offset = 0;
    position call{};
    bool known = false;
};

inlining inlining_of(std::string_view text) {
    inlining found;
    constexpr std::string_view name = "function_name ";
    constexpr std::string_view from = "inlined_at ";
    if (const std::size_t at = text.find(name); at != std::string_view::npos) {
        std::string_view label = text.substr(at + name.size());
        label = label.substr(0, label.find(','));
        if (const std::size_t plus = label.find('+'); plus != std::string_view::npos) {
            std::from_chars(label.data() + plus + 1, label.data() + label.size(), found.offset);
            label = label.substr(0, plus);
        }
        found.label = label;
    }
    if (const std::size_t at = text.find(from); at != std::string_view::npos) {
        const char* p = text.data() + at + from.size();
        const char* const end = text.data() + text.size();
        std::uint32_t numbers[3] = {};
        for (std::uint32_t& n : numbers) {
            while (p != end && *p == ' ') {
                ++p;
            }
            p = std::from_chars(p, end, n).ptr;
        }
        found.call = {numbers[0], numbers[1], numbers[2]};
        found.known = true;
    }
    return found;
}

// The string behind a label of the debugging sections, which the parser passes over: "label:" and lines of ".b8 1,2,3".
std::string string_at(std::string_view ptx, const std::string& label, std::uint64_t offset) {
    std::size_t at = ptx.find("\n" + label + ":");
    std::string bytes;
    if (at == std::string_view::npos) {
        return bytes;
    }
    at += label.size() + 2;
    while (at < ptx.size()) {
        at = ptx.find_first_not_of(" \t\r\n", at);
        if (at == std::string_view::npos || !ptx.substr(at).starts_with(".b8")) {
            break;
        }
        const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
        const char* p = ptx.data() + at + 3;
        const char* const last = ptx.data() + end;
        while (p < last) {
            unsigned value = 0;
            while (p < last && (*p < '0' || *p > '9')) {
                ++p;
            }
            if (p == last) {
                break;
            }
            const auto [stop, wrong] = std::from_chars(p, last, value);
            if (wrong != std::errc{}) {
                return {};
            }
            p = stop;
            if (value == 0 && bytes.size() >= offset) {
                return bytes.substr(offset);
            }
            bytes += static_cast<char>(value);
        }
        at = end;
    }
    return {};
}

class describer {
public:
    explicit describer(const ptx::module& m) : module_(m) {}

    void describe(const ptx::function& f, std::vector<observe::profile_point>& points) {
        latest_.clear();
        const std::string name = demangled(f.name);
        std::vector<observe::source_place> at;
        for (const ptx::statement& s : f.statements) {
            if (s.kind == ptx::statement_kind::location) {
                inlining from = inlining_of(s.text);
                latest_[{s.file, s.line, s.column}] = from;
                at = chain({s.file, s.line, s.column});
            } else if (s.kind == ptx::statement_kind::instruction) {
                const ptx::instruction& i = f.instructions[s.index];
                points.push_back({name, ptx::print(f, i), i.where.line, at});
            }
        }
    }

private:
    // From a place outwards: the place itself, where that was inlined, and so on.
    std::vector<observe::source_place> chain(position here) {
        constexpr std::size_t deepest = 64;
        std::vector<observe::source_place> places;
        while (places.size() < deepest) {
            const auto& [file, line, column] = here;
            const auto from = latest_.find(here);
            const bool inlined = from != latest_.end() && from->second.known;
            if (line != 0) {
                places.push_back({file_name(file), line, column, inlined ? function_name(from->second) : ""});
            }
            if (!inlined || from->second.call == here) {
                break;
            }
            here = from->second.call;
        }
        return places;
    }

    std::string file_name(std::uint32_t number) const {
        for (const ptx::source_file& f : module_.files) {
            if (f.number == number) {
                return f.name;
            }
        }
        return {};
    }

    const std::string& function_name(const inlining& from) {
        const auto key = std::pair(from.label, from.offset);
        const auto known = names_.find(key);
        return known != names_.end()
                   ? known->second
                   : names_.emplace(key, demangled(string_at(module_.text, from.label, from.offset))).first->second;
    }

    const ptx::module& module_;
    std::map<position, inlining> latest_;
    std::map<std::pair<std::string, std::uint64_t>, std::string> names_;
};

} // namespace

std::uint32_t profile_points::first_of(const ptx::function& f, const ptx::module* home) {
    for (const numbered& n : functions_) {
        if (n.function == &f) {
            return n.first;
        }
    }
    functions_.push_back({&f, home, count_});
    count_ += static_cast<std::uint32_t>(f.instructions.size());
    return functions_.back().first;
}

std::vector<observe::profile_point> profile_points::described() const {
    std::vector<observe::profile_point> points;
    for (const numbered& n : functions_) {
        describer(*n.home).describe(*n.function, points);
    }
    return points;
}

} // namespace softgpu::machine
