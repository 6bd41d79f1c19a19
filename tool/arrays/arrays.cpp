// SPDX-License-Identifier: MIT
// Array files in and out, and the target of a call.
#include "tool/arrays/arrays.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "report/number.hpp"
#include "report/text.hpp"
#include "tool/console.hpp"
#include "tool/error.hpp"
#include "tool/ranks/ranks.hpp"

namespace warpfold::tool {
namespace {

constexpr std::uint64_t most_chunk_bytes = std::uint64_t{1} << 32;
constexpr std::uint64_t most_gpus = 64;

template <class Array>
std::unique_ptr<Array> opened(const std::string& path, const array_options& options) {
    std::optional<report::array_type> raw;
    if (options.type) {
        raw = report::array_type_named(*options.type);
        if (!raw) {
            throw usage_error(fmt::format("--type: '{}' is none of {}", *options.type, array_type_names));
        }
    }
    try {
        return std::make_unique<Array>(path, raw);
    } catch (const report::bad_array& error) {
        throw failure(fmt::format("{}: {}", report::printable(path), error.what()));
    }
}

// Of --gpus; nothing for all.
std::optional<int> number_of_gpus(const std::optional<std::string>& text) {
    if (!text || *text == "all") {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    try {
        number = report::parse_count(*text);
    } catch (const report::bad_number& error) {
        throw usage_error(fmt::format("--gpus: {}", error.what()));
    }
    if (number == 0 || number > most_gpus) {
        throw usage_error(fmt::format("--gpus: {} is neither all nor between 1 and {}", *text, most_gpus));
    }
    return static_cast<int>(number);
}

template <class T>
std::string text_at(const void* data, std::uint64_t index) {
    const T value = static_cast<const T*>(data)[index];
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(value)) {
            return "nan"; // a NaN's sign says nothing
        }
    }
    return fmt::format("{}", value);
}

} // namespace

void add_array_options(CLI::App& app, array_options& options, const char* types) {
    app.add_option("--type", options.type, fmt::format("element type of raw files: {}", types))->type_name("T");
    app.add_option("--device", options.device.device,
                   "auto (the GPU if there is one, else the host's cores), gpu, softgpu or host")
        ->type_name("DEVICE")
        ->capture_default_str();
    app.add_option("--gpus", options.gpus, "share the work out to so many GPUs, or to all (default: one)")
        ->type_name("N");
    add_software_options(app, options.device);
}

array_input::array_input(std::string path, const array_options& options)
    : path_(std::move(path)), reader_(opened<report::array_reader>(path_, options)) {}

void array_input::read(std::uint64_t first, void* to, std::uint64_t count) const {
    try {
        reader_->read(first, to, count);
    } catch (const report::bad_array& error) {
        throw failure(fmt::format("{}: {}", report::printable(path_), error.what()));
    }
}

void add_chunk_option(CLI::App& app, array_options& options) {
    app.add_option("--chunk", options.chunk,
                   "bytes that are read and worked on in one go: 2^24 (default: as suits the device)")
        ->type_name("N");
}

calls::passage passage_of(const array_options& options, progress& line, const std::string& what) {
    calls::passage how;
    if (options.chunk) {
        try {
            how.chunk_bytes = report::parse_count(*options.chunk);
        } catch (const report::bad_number& error) {
            throw usage_error(fmt::format("--chunk: {}", error.what()));
        }
        if (how.chunk_bytes == 0 || how.chunk_bytes > most_chunk_bytes) {
            throw usage_error(fmt::format("--chunk: {} is not between 1 and 2^32", *options.chunk));
        }
    }
    if (line.visible()) {
        how.progress = [&line, what](std::uint64_t done, std::uint64_t of) { line.show_share(what, done, of); };
    }
    return how;
}

std::unique_ptr<calls::target> choose_target(const array_options& o) {
    device_options device = o.device;
    const bool software = device.card || device.workers;
    constexpr std::array<std::string_view, 4> devices{"auto", "gpu", "softgpu", "host"};
    if (std::find(devices.begin(), devices.end(), device.device) == devices.end()) {
        throw usage_error(fmt::format("--device: '{}' is none of {}", device.device, fmt::join(devices, ", ")));
    }
    if (device.device == "host" && (software || o.gpus)) {
        throw usage_error("--gpus, --card and --workers are not for --device host");
    }
    const bool ranks = started_as_ranks();
    if (ranks && o.gpus) {
        throw usage_error("under mpirun each rank has one GPU: --gpus is for one process");
    }
    const std::optional<int> gpus = number_of_gpus(o.gpus);
    if (o.gpus && device.device == "auto" && !software) {
        device.device = "gpu";
    }
    const bool on_host = device.device == "host" || (device.device == "auto" && !software && !has_gpu());
    if (!on_host && gpus) {
        ::setenv("SOFTGPU_DEVICES", std::to_string(*gpus).c_str(), 0);
    }
    const calls_library library = on_host ? load_host_calls() : load_calls(choose_device(device), device);
    if (ranks) {
        return target_over_ranks(library);
    }
    return o.gpus ? target_over_gpus(library, gpus) : target_alone(library);
}

std::string element_text(report::array_type type, const void* data, std::uint64_t index) {
    switch (type) {
    case report::array_type::int64: return text_at<std::int64_t>(data, index);
    case report::array_type::uint64: return text_at<std::uint64_t>(data, index);
    case report::array_type::float32: return text_at<float>(data, index);
    case report::array_type::float64: return text_at<double>(data, index);
    default: break;
    }
    throw failure(fmt::format("results of type {}", report::name_of(type)));
}

result_array::result_array(report::array_type type, const std::vector<std::uint64_t>& shape) : type_(type) {
    file_ = report::npy_header(type, shape);
    header_ = file_.size();
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) {
        count *= extent;
    }
    file_.resize(header_ + count * report::size_of(type));
}

std::string result_array::lines() const {
    std::string text;
    const std::uint64_t count = (file_.size() - header_) / report::size_of(type_);
    for (std::uint64_t k = 0; k < count; ++k) {
        text += element_text(type_, file_.data() + header_, k) + '\n';
    }
    return text;
}

result_place::result_place(const std::optional<std::string>& path) {
    if (path) {
        file_.emplace(*path);
    }
}

void result_place::put(const result_array& result) {
    if (file_) {
        file_->commit(result.npy());
    } else {
        print_exactly(result.lines());
    }
}

} // namespace warpfold::tool
