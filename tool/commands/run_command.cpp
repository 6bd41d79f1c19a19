// SPDX-License-Identifier: MIT
// `warpfold run`: any program that calls CUDA, on the software GPU.
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/output_file.hpp"
#include "report/passing_folder.hpp"
#include "report/text.hpp"
#include "softgpu/check/findings/checks.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/report/page.hpp"
#include "tool/report/run_document.hpp"
#include "tool/run/elf_facts.hpp"
#include "tool/run/predicted_cards.hpp"
#include "tool/run/prediction_table.hpp"
#include "tool/run/program.hpp"
#include "tool/run/run_files.hpp"
#include "tool/run/runtime_choice.hpp"
#include "tool/run/setup.hpp"

namespace warpfold::tool {
namespace {

constexpr int status_not_executable = 126; // as shells have it
constexpr int status_not_found = 127;

struct run_options {
    std::optional<std::string> counters;
    std::optional<std::string> schedule;
    std::optional<std::string> seed;
    std::optional<std::string> check;
    std::optional<std::string> check_json;
    std::string error_exit = std::to_string(status_failure);
    std::optional<std::string> profile;
    std::optional<std::string> timeline;
    std::optional<std::string> report;
    bool explain_setup = false;
    predict_options predict;
    device_options device;
    CLI::App* app = nullptr;
};

std::uint64_t whole_number(std::string_view option, const std::string& text, std::uint64_t most) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, wrong] = std::from_chars(text.data(), end, number);
    if (at != end || wrong != std::errc{} || number > most) {
        throw usage_error(fmt::format("{}: '{}' is no whole number from 0 to {}", option, text, most));
    }
    return number;
}

int exit_status_of_findings(const run_options& o) {
    return static_cast<int>(whole_number("--error-exit", o.error_exit, 255));
}

// A seed alone asks for the schedule that takes one.
void set_schedule(const run_options& o) {
    if (o.schedule && *o.schedule != "fair" && *o.schedule != "adversarial") {
        throw usage_error(fmt::format("--schedule: '{}' is none of fair, adversarial", *o.schedule));
    }
    if (o.seed && o.schedule == "fair") {
        throw usage_error("--seed: the fair schedule takes none");
    }
    if (o.schedule || o.seed) {
        ::setenv("SOFTGPU_SCHEDULE", o.schedule.value_or("adversarial").c_str(), 1);
    }
    if (o.seed) {
        const std::uint64_t seed = whole_number("--seed", *o.seed, std::numeric_limits<std::uint64_t>::max());
        ::setenv("SOFTGPU_SEED", std::to_string(seed).c_str(), 1);
    }
}

int cannot_start(const std::string& program, int error) {
    complain(fmt::format("cannot run {}: {}", report::printable(program), std::strerror(error)));
    return error == ENOENT || error == ENOTDIR ? status_not_found : status_not_executable;
}

std::string not_reached(const std::string& program, const std::optional<elf_facts>& facts) {
    const std::string why = why_not_reached(program, facts);
    return !why.empty() ? why : fmt::format("{} made no call of CUDA's runtime or driver", report::printable(program));
}

constexpr const char* predictions_alone = "predictions"; // without a file that was asked for

// Why there is nothing.
void complain_of(const std::string& what, const std::string& program, const program_end& end,
                 const std::optional<elf_facts>& facts) {
    const std::string nothing = what == predictions_alone
                                    ? "nothing is predicted, as no kernel was launched on the software GPU"
                                    : "no " + what;
    if (end.signal != 0) {
        complain(fmt::format("{} was killed by signal {} ({}); lost with it: its {}, written only at its end",
                             report::printable(program), end.signal, ::strsignal(end.signal), what));
    } else if (facts && facts->needs_cuda_library()) {
        complain(fmt::format("{}: {} ended before its first call of CUDA, or its files could not be written", nothing,
                             report::printable(program)));
    } else {
        complain(fmt::format("{}: {}", nothing, not_reached(program, facts)));
    }
}

// The page of --report: what it needs is there before the program starts.
class run_page {
public:
    explicit run_page(const std::string& path) : library_(charts_library()), file_(path) {}

    void write(const std::vector<std::string>& arguments, const run_texts& texts) {
        const std::string command = fmt::format("{}", fmt::join(arguments, " "));
        report::json document = new_document("warpfold: " + command, command);
        document["run"] = run_document(texts);
        file_.commit(page_of(document, library_));
    }

private:
    std::string library_;
    report::output_file file_;
};

int run_watched(const run_options& o, const std::vector<std::string>& arguments,
                const std::optional<elf_facts>& facts) {
    const report::passing_folder passing("warpfold-run");
    const std::string folder = std::filesystem::absolute(passing.path()).string();
    struct kind {
        run_files files;
        merged (*merge)(const std::vector<process_file>&);
        std::string run_texts::*text; // of the page
    };
    std::vector<kind> kinds;
    std::optional<run_files> findings;
    std::optional<run_page> page;
    run_texts texts;
    if (o.report) {
        page.emplace(*o.report);
    }
    const bool predicts = o.predict.cards || !o.predict.files.empty();
    if (o.counters || o.report || predicts) {
        kinds.push_back({{folder, "counters", "SOFTGPU_COUNTERS", o.counters}, merge_counters, &run_texts::counters});
    }
    if (o.profile || o.report) {
        kinds.push_back({{folder, "profile", "SOFTGPU_PROFILE", o.profile}, merge_profiles, &run_texts::profile});
    }
    if (o.timeline || o.report) {
        kinds.push_back({{folder, "timeline", "SOFTGPU_TIMELINE", o.timeline}, merge_timelines, &run_texts::timeline});
    }
    if (o.check) {
        ::setenv("SOFTGPU_CHECK", o.check->c_str(), 1);
        ::setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", 0); // each tensor is an allocation with bounds of its own
        findings.emplace(folder, "findings", "SOFTGPU_CHECK_JSON", o.check_json);
    }
    const program_end end = run_program(arguments);
    if (end.start_error != 0) {
        return cannot_start(arguments.front(), end.start_error);
    }
    int status = end.status;
    const auto fail = [&] { status = status != 0 ? status : status_failure; };
    const auto write = [&](run_files& files, const std::string& text) {
        try {
            files.write(text);
        } catch (const report::write_error& error) { // the others shall be written all the same
            complain(error.what());
            fail();
        }
    };
    for (kind& k : kinds) {
        const std::vector<process_file> left = k.files.left();
        const bool asked = !k.files.target().empty();
        if (left.empty()) {
            if (asked || k.text == &run_texts::counters) { // one complaint of a page alone
                complain_of(asked  ? k.files.what()
                            : page ? "report"
                                   : predictions_alone,
                            arguments.front(), end, facts);
            }
            fail();
            continue;
        }
        const merged all = k.merge(left);
        for (const std::string& remark : all.remarks) {
            if (asked) {
                complain(fmt::format("{}: {}", k.files.target(), remark));
            }
            texts.remarks.push_back(fmt::format("{}: {}", k.files.what(), remark));
        }
        write(k.files, all.text);
        texts.*k.text = all.text;
    }
    if (predicts && !texts.counters.empty()) {
        std::fputs(prediction_table(texts.counters, end.signal != 0).c_str(),
                   stderr); // standard output is the program's own
    }
    const auto write_page = [&] {
        if (!page || texts.counters.empty()) {
            return;
        }
        try {
            page->write(arguments, texts);
        } catch (const std::runtime_error& error) { // the program's own status and its findings count all the same
            complain(error.what());
            fail();
        }
    };
    if (!findings) {
        write_page();
        return status;
    }
    const std::vector<process_file> left = findings->left();
    if (left.empty()) {
        complain_of("findings", arguments.front(), end, facts);
        fail();
        write_page();
        return status;
    }
    const merged_findings all = merge_findings(left);
    for (const std::string& paragraph : all.not_printed) {
        std::fputs(paragraph.c_str(), stderr);
    }
    complain(fmt::format(
        "{} finding{}{}{}", all.count, all.count == 1 ? "" : "s",
        left.size() > 1 ? fmt::format(" in {} processes", left.size()) : "",
        end.signal != 0 ? fmt::format(" until signal {} ({}) ended the program", end.signal, ::strsignal(end.signal))
                        : ""));
    write(*findings, all.text);
    texts.findings = all.text;
    write_page();
    return all.count != 0 ? exit_status_of_findings(o) : status;
}

void expect_a_file_each(const run_options& o) {
    const std::pair<const char*, const std::optional<std::string>*> files[] = {{"--counters", &o.counters},
                                                                               {"--check-json", &o.check_json},
                                                                               {"--profile", &o.profile},
                                                                               {"--timeline", &o.timeline},
                                                                               {"--report", &o.report}};
    std::map<std::string, const char*> option_of;
    for (const auto& [option, file] : files) {
        if (*file == "-") {
            throw usage_error(fmt::format("{}: give a file; standard output is the program's own", option));
        }
        if (*file) {
            if (const auto [at, is_new] = option_of.emplace(**file, option); !is_new) {
                throw usage_error(fmt::format("{} and {}: give two files", at->second, option));
            }
        }
    }
}

int run_program(const run_options& o) {
    std::vector<std::string> arguments = o.app->remaining();
    if (!arguments.empty() && arguments.front().starts_with('-')) {
        throw usage_error(fmt::format("unknown option {} (see warpfold run --help)", arguments.front()));
    }
    const std::vector<std::string>& after = program_arguments();
    if (!arguments.empty() && !after.empty()) {
        arguments.emplace_back("--"); // it belongs to the program, which was named before it
    }
    arguments.insert(arguments.end(), after.begin(), after.end());
    if (arguments.empty()) {
        throw usage_error("which program? warpfold run [OPTIONS] -- PROGRAM ARGUMENTS");
    }
    if (o.check) {
        try {
            static_cast<void>(softgpu::check::parse_checks(*o.check));
        } catch (const std::invalid_argument& error) {
            throw usage_error(fmt::format("--check: {}", error.what()));
        }
    } else if (o.check_json || o.app->count("--error-exit") != 0) {
        throw usage_error("--check-json and --error-exit go with --check");
    }
    static_cast<void>(exit_status_of_findings(o));
    expect_a_file_each(o);
    if (arguments.front().empty()) {
        return cannot_start("''", ENOENT);
    }
    set_software_environment(o.device);
    set_schedule(o);
    const linker_setup setup = find_setup();
    set_linker_environment(setup);
    static_cast<void>(set_predicted_cards(o.predict));
    std::optional<elf_facts> facts;
    if (const auto path = find_program(arguments.front())) {
        facts = read_elf(*path);
    }
    if (o.explain_setup) {
        std::fputs(explain_setup(setup, arguments.front(), facts).c_str(), stderr);
        ::setenv("SOFTGPU_EXPLAIN", "1", 1);
    }
    if (o.counters || o.profile || o.timeline || o.report || o.check || o.predict.cards || !o.predict.files.empty()) {
        return run_watched(o, arguments, facts);
    }
    if (const std::string why = why_not_reached(arguments.front(), facts); !why.empty()) {
        complain(why);
    }
    return cannot_start(arguments.front(), become_program(arguments));
}

} // namespace

action add_run(CLI::App& app) {
    const auto o = std::make_shared<run_options>();
    o->app = &app;
    app.prefix_command();
    app.footer(
        "The program and its arguments follow after --: warpfold run --counters counters.json -- ./program 1 2 3\n"
        "Its own exit status is returned; 127 if it is not found, 126 if it cannot be run, 128 + the signal if one "
        "killed it.");
    app.add_option("--counters", o->counters, "write what every launch did to this file, as JSON, at the program's end")
        ->type_name("FILE");
    app.add_option(
           "--schedule", o->schedule,
           "fair (default), or adversarial: lanes, warps, blocks and streams in any order that CUDA allows, drawn "
           "from --seed")
        ->type_name("NAME");
    app.add_option("--seed", o->seed,
                   "the adversarial schedule's seed; the same one gives the same order again. Alone it means "
                   "--schedule adversarial")
        ->type_name("NUMBER");
    app.add_option("--check", o->check,
                   "look for mistakes: memory, race, init, sync, leak, several with commas between, or all")
        ->type_name("CHECKS");
    app.add_option("--check-json", o->check_json, "write what the checks found to this file, as JSON")
        ->type_name("FILE");
    app.add_option("--error-exit", o->error_exit, "exit status where the checks found something")
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--profile", o->profile,
                   "write counters by source line and PTX instruction to this file; see warpfold annotate")
        ->type_name("FILE");
    app.add_option(
           "--timeline", o->timeline,
           "write when each copy, kernel and host function would run on the card, by a model of its engines, to this "
           "file; ui.perfetto.dev opens it")
        ->type_name("FILE");
    app.add_option("--report", o->report,
                   "write launches, counters, heat by source line, the timeline and findings to this file, as one HTML "
                   "page")
        ->type_name("FILE");
    app.add_flag("--explain-setup", o->explain_setup,
                 "say on stderr how the program's CUDA calls reach the software GPU");
    add_predict_options(app, o->predict);
    add_software_options(app, o->device);
    return [o] { return run_program(*o); };
}

} // namespace warpfold::tool
