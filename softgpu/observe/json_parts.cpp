// SPDX-License-Identifier: MIT
#include "softgpu/observe/json_parts.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace softgpu::observe {

using json = nlohmann::ordered_json;

json facts_json(const device_facts& device) {
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
    return facts;
}

std::string text_of(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

whole_file::whole_file(std::string path)
    : path_(std::move(path)), unfinished_(path_ + ".part" + std::to_string(::getpid())),
      file_(std::fopen(unfinished_.c_str(), "w")) {
    if (file_ == nullptr) {
        complain("write");
    }
}

whole_file::~whole_file() {
    if (!committed_ && file_ != nullptr) {
        std::remove(unfinished_.c_str());
    }
}

void whole_file::complain(const char* what) {
    const std::string reason = std::strerror(errno);
    std::remove(unfinished_.c_str());
    throw std::runtime_error(std::string("cannot ") + what + " " + path_ + ": " + reason);
}

void whole_file::put(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) {
        complain("write");
    }
}

void whole_file::commit() {
    if (std::fclose(file_.release()) != 0) {
        complain("write");
    }
    if (std::rename(unfinished_.c_str(), path_.c_str()) != 0) {
        complain("rename a file to");
    }
    committed_ = true;
}

} // namespace softgpu::observe
