// SPDX-License-Identifier: MIT
// Which lines of which files explain a step, and what changes from one step to another.
#include "tool/explain/explanation.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include <fmt/format.h>

#include "tool/explain/source/source_parts.hpp"

namespace warpfold::tool {
namespace {

using softgpu::observe::counters;

constexpr std::size_t longest_constant = 3; // lines

bool of_the_ladder(std::string_view path) { return path.starts_with("ladder/"); }

std::vector<std::string> lines_without_breaks(std::string_view text) {
    std::vector<std::string> lines = lines_of(text);
    for (std::string& line : lines) {
        line.erase(line.find_last_not_of("\r\n") + 1);
    }
    return lines;
}

const ladder::source_file* find(std::string_view path, std::span<const ladder::source_file> tree) {
    const auto at = std::find_if(tree.begin(), tree.end(), [&](const auto& file) { return file.path == path; });
    return at == tree.end() ? nullptr : &*at;
}

// "rounds" of "constexpr int rounds = 16;", where it is no longer than a few lines.
std::string constant_of(const source_part& part) {
    if (part.last - part.first >= longest_constant) {
        return {};
    }
    const std::size_t begin = part.code.find_first_not_of(" \t\n");
    if (begin == std::string::npos || part.code.compare(begin, 9, "constexpr") != 0) {
        return {};
    }
    const std::string_view head =
        std::string_view(part.code).substr(begin, part.code.find_first_of("={(", begin) - begin);
    const std::size_t last = head.find_last_not_of(" \t\n[]");
    const std::size_t first = head.find_last_of(" \t\n*&", last);
    return last == std::string_view::npos || first == std::string_view::npos
               ? std::string()
               : std::string(head.substr(first + 1, last - first));
}

// What enqueues a step's work.
bool enqueues(const source_part& part) {
    return (part.names("stage") || part.names("launch_context")) && !part.names("step_definition");
}

class selection {
public:
    selection(const ladder::source_file& file, const step_profile& profile)
        : file_(file), lines_(lines_without_breaks(file.text)), parts_(parts_of(lines_)) {
        if (const auto at = profile.lines.find(std::string(file.path)); at != profile.lines.end()) {
            counted_ = &at->second;
        }
    }

    // Parts with lines that did something.
    void take_counted() {
        for (const source_part& part : parts_) {
            if (counted_ != nullptr && counted_->lower_bound(static_cast<line_number>(part.first)) !=
                                           counted_->upper_bound(static_cast<line_number>(part.last))) {
                take(part);
            }
        }
    }

    // Of the step's own file: what enqueues it, and constants that the chosen parts name.
    void take_surroundings(const std::vector<std::string>& kernels) {
        const bool kernels_here = !chosen_.empty();
        for (const source_part& part : parts_) {
            const bool of_ours =
                std::any_of(kernels.begin(), kernels.end(), [&](const auto& k) { return part.names(k); });
            if (enqueues(part) && (of_ours || !kernels_here)) {
                take(part);
                for (std::size_t n = part.first; kernels_here && n <= part.last; ++n) {
                    host_.insert(n);
                }
            }
        }
        for (bool more = true; more;) {
            more = false;
            for (const source_part& part : parts_) {
                const std::string name = constant_of(part);
                if (name.empty() || chosen_.contains(part.first)) {
                    continue;
                }
                for (const source_part& user : parts_) {
                    if (chosen_.contains(user.first) && user.names(name)) {
                        take(part);
                        more = true;
                        break;
                    }
                }
            }
        }
    }

    void take_heading() {
        for (std::size_t n = 1; n <= lines_.size() && lines_[n - 1].starts_with("//"); ++n) {
            if (!lines_[n - 1].starts_with("// SPDX-")) {
                heading_.insert(n);
            }
        }
    }

    void take_all() {
        host_.clear();
        for (std::size_t n = 1; n <= lines_.size(); ++n) {
            numbers_.insert(n);
        }
    }

    // Lines that did something, each with its neighbours.
    void take_lines() {
        if (counted_ != nullptr) {
            for (const auto& [number, counts] : *counted_) {
                for (std::size_t n = number - (number > 1 ? 1 : 0);
                     n <= std::min<std::size_t>(number + 1, lines_.size()); ++n) {
                    numbers_.insert(n);
                }
            }
        }
    }

    [[nodiscard]] bool empty() const { return numbers_.empty(); }

    [[nodiscard]] shown_file shown() const {
        shown_file out{std::string(file_.path), {}};
        std::set<std::size_t> all = numbers_;
        all.insert(heading_.begin(), heading_.end());
        for (const std::size_t n : all) {
            if (n >= 1 && n <= lines_.size()) {
                out.lines.push_back(
                    {static_cast<line_number>(n), lines_[n - 1], heading_.contains(n), host_.contains(n)});
            }
        }
        return out;
    }

private:
    void take(const source_part& part) {
        chosen_.insert(part.first);
        for (std::size_t n = part.first; n <= part.last; ++n) {
            numbers_.insert(n);
        }
    }

    const ladder::source_file& file_;
    std::vector<std::string> lines_;
    std::vector<source_part> parts_;
    const std::map<line_number, softgpu::observe::point_counts>* counted_ = nullptr;
    std::set<std::size_t> chosen_; // first lines of parts
    std::set<std::size_t> numbers_;
    std::set<std::size_t> heading_;
    std::set<std::size_t> host_;
};

std::vector<std::string> bare_names(const std::vector<std::string>& kernels) {
    std::vector<std::string> names;
    names.reserve(kernels.size());
    for (const std::string& kernel : kernels) {
        names.push_back(bare_name(kernel));
    }
    return names;
}

counters total_of(const step_profile& profile) {
    counters all;
    for (const auto& launch : profile.launches) {
        all.add(launch.total);
    }
    return all;
}

// A line of the ladder's own files that is compared.
struct compared_line {
    std::string text;
    std::string place;
};

std::vector<compared_line> compared_lines(const std::vector<shown_file>& files) {
    std::vector<compared_line> lines;
    for (const shown_file& file : files) {
        if (!of_the_ladder(file.path)) {
            continue;
        }
        line_number last = 0;
        for (const shown_line& line : file.lines) {
            if (line.heading) {
                continue;
            }
            if (last != 0 && line.number > last + 1) {
                lines.push_back({"", ""});
            }
            lines.push_back({line.text, fmt::format("{}:{}", base_name(file.path), line.number)});
            last = line.number;
        }
    }
    return lines;
}

std::vector<std::string> texts_of(const std::vector<compared_line>& lines) {
    std::vector<std::string> texts;
    texts.reserve(lines.size());
    for (const compared_line& line : lines) {
        texts.push_back(line.text);
    }
    return texts;
}

bool runs_ladder_code(const step_profile& profile) {
    return std::any_of(profile.lines.begin(), profile.lines.end(),
                       [](const auto& file) { return of_the_ladder(file.first); });
}

} // namespace

std::vector<shown_file> files_of(const ladder::step_result& step, const step_profile& profile,
                                 std::span<const ladder::source_file> tree, bool whole) {
    std::vector<shown_file> files;
    if (const ladder::source_file* const own = find(step.source, tree)) {
        selection chosen(*own, profile);
        chosen.take_counted();
        chosen.take_surroundings(bare_names(profile.kernels));
        if (whole || !step.on_device || chosen.empty()) {
            chosen.take_all();
        } else {
            chosen.take_heading();
        }
        files.push_back(chosen.shown());
    }
    for (const bool ladder : {true, false}) {
        for (const auto& [path, lines] : profile.lines) {
            const ladder::source_file* const file = find(path, tree);
            if (path == step.source || of_the_ladder(path) != ladder || file == nullptr) {
                continue;
            }
            selection chosen(*file, profile);
            ladder ? chosen.take_counted() : chosen.take_lines();
            files.push_back(chosen.shown());
        }
    }
    return files;
}

std::string note_on(const ladder::step_result& step, const step_profile& profile) {
    if (!step.on_device) {
        return "It runs on the host: nothing is counted.";
    }
    if (step.in_child_process) {
        return "Its kernels run in a process of their own, which they leave without a device: nothing is counted.";
    }
    if (!profile.why_none.empty()) {
        return fmt::format("Nothing was counted by line: {}.", profile.why_none);
    }
    if (profile.kernels.empty()) {
        return "No kernel of it ran: nothing is counted.";
    }
    if (step.peer || profile.lines.empty()) {
        return "Its kernels are those of a library that comes with CUDA: of their source nothing is shown but what of "
               "ours "
               "they call, only what they did in all. Above is the call.";
    }
    if (runs_ladder_code(profile)) {
        return {};
    }
    return "Its kernels are those of warpfold itself: of their source in include/warpfold, only the lines that did "
           "something "
           "are shown.";
}

void compare(const explanation& here, const std::vector<shown_file>& there, next_step& next) {
    const bool sources =
        here.step.on_device && !next.about.peer && runs_ladder_code(here.profile) && runs_ladder_code(next.profile);
    if (sources) {
        const auto before = compared_lines(here.files);
        const auto after = compared_lines(there);
        const auto edits = edits_between(texts_of(before), texts_of(after));
        for (const auto hunk : hunks_of(edits, 3)) {
            for (const edit& e : hunk) {
                const compared_line& line = e.what == change::removed ? before[e.before] : after[e.after];
                next.source.push_back({e.what, line.text, line.place, &e == &hunk.front()});
            }
        }
        if (next.source.empty()) {
            next.note = "The source of both is the same; what differs is what is launched.";
        }
    } else {
        next.note = "There are no two kernels of the ladder to compare line by line.";
    }
    const counters a = total_of(here.profile);
    const counters b = total_of(next.profile);
    if (!here.profile.why_none.empty() || !next.profile.why_none.empty() || here.profile.launches.empty() ||
        next.profile.launches.empty()) {
        return;
    }
    const double size = here.profile.n == 0 || next.profile.n == 0
                            ? 1.0
                            : static_cast<double>(here.profile.n) / static_cast<double>(next.profile.n);
    const auto add = [&](std::string name, std::uint64_t x, std::uint64_t y, bool of_elements) {
        if (x != y) {
            const double ratio = static_cast<double>(y) / static_cast<double>(x) * (of_elements ? size : 1.0);
            next.counters.push_back({std::move(name), x, y, x == 0 ? std::nullopt : std::optional(ratio)});
        }
    };
    add("launches", here.profile.launches.size(), next.profile.launches.size(), false);
    std::vector<std::uint64_t> values;
    softgpu::observe::for_each_counter(
        b, [&](std::string_view, std::uint64_t value, std::string_view) { values.push_back(value); });
    std::size_t k = 0;
    softgpu::observe::for_each_counter(a, [&](std::string_view name, std::uint64_t value, std::string_view) {
        add(std::string(name), value, values[k++], name != "atomic_worst_multiplicity");
    });
}

} // namespace warpfold::tool
