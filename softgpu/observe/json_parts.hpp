// SPDX-License-Identifier: MIT
// What the files of launches and of profiles share.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "softgpu/observe/json.hpp"

namespace softgpu::observe {

[[nodiscard]] nlohmann::ordered_json facts_json(const device_facts& device);

// A text that is no UTF-8 is written with replacement characters.
[[nodiscard]] std::string text_of(const nlohmann::ordered_json& j);

// A file that appears whole, by commit(), or not at all. Throws std::runtime_error with the path and the reason.
class whole_file {
public:
    explicit whole_file(std::string path);
    ~whole_file();
    whole_file(const whole_file&) = delete;
    whole_file& operator=(const whole_file&) = delete;

    void put(const std::string& text);
    void commit();

private:
    struct closer {
        void operator()(std::FILE* f) const noexcept { std::fclose(f); }
    };
    [[noreturn]] void complain(const char* what);

    std::string path_;
    std::string unfinished_;
    std::unique_ptr<std::FILE, closer> file_;
    bool committed_ = false;
};

} // namespace softgpu::observe
