// SPDX-License-Identifier: MIT
// `warpfold convolve FILE --mask FILE`: filters an array or images.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/text.hpp"
#include "tool/arrays/arrays.hpp"
#include "tool/arrays/family.hpp"
#include "tool/command.hpp"
#include "tool/progress.hpp"
#include "warpfold/convolve.hpp"

namespace warpfold::tool {
namespace {

struct convolve_options {
    std::string file;
    std::string mask;
    std::string border = "zero";
    std::string size = "same";
    bool correlate = false;
    std::optional<std::string> out;
    array_options array;
};

constexpr std::array<std::pair<const char*, border>, 5> borders{{{"zero", border::zero},
                                                                 {"clamp", border::clamp},
                                                                 {"mirror", border::mirror},
                                                                 {"reflect", border::reflect},
                                                                 {"wrap", border::wrap}}};
constexpr std::array<std::pair<const char*, outputs>, 3> sizes{
    {{"same", outputs::same}, {"full", outputs::full}, {"valid", outputs::valid}}};

template <class Names>
int number_of(const Names& names, const std::string& name, const char* option, const char* all) {
    for (const auto& [known, value] : names) {
        if (name == known) {
            return static_cast<int>(value);
        }
    }
    throw usage_error(fmt::format("{}: '{}' is none of {}", option, name, all));
}

template <class To>
std::vector<To> converted(const array_input& array) {
    std::vector<To> values(array.size());
    calls::each_chunk(array, [&](std::uint64_t first, std::uint64_t count, const auto& in) {
        for (std::uint64_t k = 0; k < count; ++k) {
            values[first + k] = static_cast<To>(in[k]);
        }
    });
    return values;
}

// Sums of these are made in float without a loss of what stands in the array.
bool fits_float(report::array_type type) { return report::size_of(type) <= 2 || type == report::array_type::float32; }

int run_convolve(const convolve_options& o) {
    calls::convolve_request q;
    q.border = number_of(borders, o.border, "--border", "zero, clamp, mirror, reflect, wrap");
    q.which = number_of(sizes, o.size, "--size", "same, full, valid");
    q.turned = !o.correlate;
    const array_input array(o.file, o.array);
    const array_input mask_file(o.mask, o.array);
    const std::vector<std::uint64_t>& mask_shape = mask_file.layout().shape;
    std::vector<std::uint64_t> shape = array.layout().shape;
    if (mask_shape.empty() || mask_shape.size() > 2 || mask_file.layout().count == 0) {
        throw failure(fmt::format("{}: a mask has one dimension or two, and is not empty", report::printable(o.mask)));
    }
    if (shape.size() < mask_shape.size()) {
        throw failure(fmt::format("{}: the mask has {} dimension{}, the array {}", report::printable(o.file),
                                  mask_shape.size(), mask_shape.size() == 1 ? "" : "s", shape.size()));
    }
    const std::vector<double> mask = converted<double>(mask_file);
    q.mask = mask.data();
    q.mask_width = mask_shape.back();
    q.mask_height = mask_shape.size() == 2 ? mask_shape.front() : 1;
    // A mask of one dimension goes along rows, one of two over images; what is further out is so many of them.
    const std::size_t within = mask_shape.size();
    q.width = shape.back();
    q.height = within == 2 ? shape[shape.size() - 2] : 1;
    for (std::size_t k = 0; k + within < shape.size(); ++k) {
        q.count *= shape[k];
    }
    const auto which = static_cast<outputs>(q.which);
    q.out_width = convolve_outputs(q.width, q.mask_width, which);
    q.out_height = convolve_outputs(q.height, q.mask_height, which);
    shape.back() = q.out_width;
    if (within == 2) {
        shape[shape.size() - 2] = q.out_height;
    }
    const std::unique_ptr<calls::target> chosen = choose_target(o.array);
    calls::target& target = *chosen;
    result_place place(target.has_results() ? o.out : std::nullopt);
    q.is_double = !fits_float(array.type());
    result_array result(q.is_double ? report::array_type::float64 : report::array_type::float32, shape);
    q.out = result.data();
    const std::vector<float> floats = q.is_double ? std::vector<float>{} : converted<float>(array);
    const std::vector<double> doubles = q.is_double ? converted<double>(array) : std::vector<double>{};
    q.in = q.is_double ? static_cast<const void*>(doubles.data()) : floats.data();
    {
        progress line;
        line.show(o.file, 0, 1);
        target.convolve(q);
    }
    if (target.has_results()) {
        place.put(result);
    }
    return 0;
}

} // namespace

action add_convolve(CLI::App& app) {
    const auto o = std::make_shared<convolve_options>();
    app.add_option("FILE", o->file, std::string(array_help) + "; its last dimension, or its last two, are filtered")
        ->required();
    app.add_option("--mask", o->mask, "an array of one dimension or two")->type_name("FILE")->required();
    app.add_option("--border", o->border, "what stands outside: zero, clamp, mirror, reflect or wrap")
        ->type_name("B")
        ->capture_default_str();
    app.add_option("--size", o->size, "same as the array, full (wherever the mask touches it) or valid (only inside)")
        ->type_name("S")
        ->capture_default_str();
    app.add_flag("--correlate", o->correlate, "do not turn the mask about");
    app.add_option("--out", o->out, out_help)->type_name("FILE");
    add_array_options(app, o->array);
    app.footer("Results are float for elements of 8 or 16 bits and floats, else double.");
    return [o] { return run_convolve(*o); };
}

} // namespace warpfold::tool
