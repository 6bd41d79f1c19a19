// SPDX-License-Identifier: MIT
// `warpfold annotate`: the source with the counters of `warpfold run --profile` beside each line.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "report/text.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/explain/annotation.hpp"
#include "tool/explain/profile_file.hpp"

namespace warpfold::tool {
namespace {

struct annotate_options {
    std::string file;
    std::string source;
    std::optional<std::string> kernel;
    annotation_options how;
};

int run_annotate(annotate_options& o) {
    if (!o.source.empty() && !std::filesystem::is_directory(o.source)) {
        throw usage_error(fmt::format("--source: {} is no folder", report::printable(o.source)));
    }
    const profile_file file = read_profile(o.file);
    source_lines sources(o.source, file.sources);
    o.how.look = output_style();
    bool any = false;
    std::string names;
    for (const profile_kernel& kernel : file.kernels) {
        names += (names.empty() ? "" : ", ") + kernel.name;
        if (o.kernel && kernel.name.find(*o.kernel) == std::string::npos) {
            continue;
        }
        print((any ? "\n" : "") + annotated(kernel, sources, o.how));
        any = true;
    }
    if (!any) {
        throw failure(o.kernel ? fmt::format("no kernel's name contains '{}'; there are: {}",
                                             report::printable(*o.kernel), report::printable(names))
                               : fmt::format("{}: no kernel was launched", report::printable(o.file)));
    }
    return 0;
}

} // namespace

action add_annotate(CLI::App& app) {
    const auto o = std::make_shared<annotate_options>();
    app.footer("Beside each line: warp instructions executed, lanes that executed them on average, 32-byte sectors of "
               "global\nmemory for each request and how few would do, bank conflicts of shared memory, branches that "
               "diverged.\nA line that holds a tenth of the instructions or more is marked >. Compile with -lineinfo.");
    app.add_option("FILE", o->file, "what warpfold run --profile has written")->required()->type_name("");
    app.add_option("--source", o->source, "look for source files in this folder first")->type_name("DIR");
    app.add_option("--kernel", o->kernel, "only kernels whose name contains this")->type_name("NAME");
    app.add_option("--sort", o->how.sort, "lines by this counter, most first, instead of the source")
        ->type_name("COUNTER");
    app.add_flag("--ptx", o->how.ptx, "the PTX instructions below each line");
    app.add_flag("--outermost", o->how.outermost, "count inlined code at the line of the kernel that calls it");
    return [o] { return run_annotate(*o); };
}

} // namespace warpfold::tool
