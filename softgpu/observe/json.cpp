// SPDX-License-Identifier: MIT
#include "softgpu/observe/json.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace softgpu::observe {
namespace {

using json = nlohmann::ordered_json;

json counters_of(const counters& c) {
    json out = json::object();
    for_each_counter(
        c, [&](std::string_view name, std::uint64_t value, std::string_view) { out[std::string(name)] = value; });
    out["average_active_lanes"] = c.average_active_lanes();
    return out;
}

json interval_of(const counters& c) {
    json out = json::object();
    for_each_counter(c, [&](std::string_view name, std::uint64_t value, std::string_view) {
        if (value != 0) {
            out[std::string(name)] = value;
        }
    });
    return out;
}

// A name that is no UTF-8 is shown with replacement characters.
std::string text_of(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

struct file_closer {
    void operator()(std::FILE* f) const noexcept { std::fclose(f); }
};

} // namespace

std::string to_json(const launch_record& record) {
    json out;
    out["kernel"] = record.kernel;
    out["symbol"] = record.symbol;
    out["grid"] = record.grid;
    out["block"] = record.block;
    out["dynamic_shared_bytes"] = record.dynamic_shared_bytes;
    out["static_shared_bytes"] = record.static_shared_bytes;
    out["seconds"] = record.seconds;
    if (!record.fault.empty()) {
        out["fault"] = record.fault;
    }
    out["counters"] = counters_of(record.total);
    out["intervals"] = json::array();
    for (const counters& c : record.by_interval) {
        out["intervals"].push_back(interval_of(c));
    }
    return text_of(out);
}

void write_launches(const std::string& path, const device_facts& device, std::span<const launch_record> launches) {
    json facts;
    facts["name"] = device.name;
    facts["card"] = device.key;
    facts["software"] = true;
    facts["compute_capability"] = std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
    facts["multiprocessors"] = device.multiprocessors;
    facts["clock_khz"] = device.clock_khz;
    facts["memory_clock_khz"] = device.memory_clock_khz;
    facts["memory_bus_bits"] = device.memory_bus_bits;
    facts["memory_bytes"] = device.memory_bytes;
    facts["l2_bytes"] = device.l2_bytes;

    const std::string unfinished = path + ".part" + std::to_string(::getpid());
    const auto complain = [&](const std::string& what) {
        const std::string reason = std::strerror(errno);
        std::remove(unfinished.c_str());
        throw std::runtime_error("cannot " + what + " " + path + ": " + reason);
    };
    std::unique_ptr<std::FILE, file_closer> file(std::fopen(unfinished.c_str(), "w"));
    if (file == nullptr) {
        complain("write");
    }
    const auto put = [&](const std::string& text) {
        if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) {
            complain("write");
        }
    };
    put("{\"device\":" + text_of(facts) + ",\n\"launches\":[");
    for (std::size_t i = 0; i < launches.size(); ++i) {
        put((i == 0 ? "\n" : ",\n") + to_json(launches[i]));
    }
    put("\n]}\n");
    if (std::fclose(file.release()) != 0) {
        complain("write");
    }
    if (std::rename(unfinished.c_str(), path.c_str()) != 0) {
        complain("rename a file to");
    }
}

} // namespace softgpu::observe
