// SPDX-License-Identifier: MIT
// Files that the software GPU leaves for others to read.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace softgpu::observe {

// A file that appears whole, by commit(), or not at all: it is written beside the path and renamed. A symbolic link is
// followed, and what is there and no regular file (a device, a pipe) is written into directly. Throws std::runtime_error
// with the path and the reason.
class whole_file {
public:
    explicit whole_file(std::string path);
    ~whole_file();
    whole_file(const whole_file&) = delete;
    whole_file& operator=(const whole_file&) = delete;

    void put(const std::string& text);
    void commit();

    // Whether what stands there would be written into directly: a second time would come behind the first.
    [[nodiscard]] static bool is_direct(const std::string& path);

private:
    struct closer {
        void operator()(std::FILE* f) const noexcept { std::fclose(f); }
    };
    [[noreturn]] void complain(const char* what);

    std::string path_;       // as given, for messages
    std::string target_;     // behind the links
    std::string unfinished_; // empty: none
    std::unique_ptr<std::FILE, closer> file_;
};

} // namespace softgpu::observe
