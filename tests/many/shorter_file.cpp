// SPDX-License-Identifier: MIT
// Preloaded into a program: the file SHORTER_FILE ends at byte SHORTER_AT once the program has begun to read there SHORTER_TIMES
// times.
#include <atomic>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

std::string setting(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool is_the_file(int descriptor, const char* path) {
    struct stat a {
    }, b{};
    return ::fstat(descriptor, &a) == 0 && ::stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

ssize_t read_at(int descriptor, void* to, std::size_t bytes, off_t at) {
    using function = ssize_t (*)(int, void*, std::size_t, off_t);
    static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "pread"));
    static const std::string path = setting("SHORTER_FILE");
    static const off_t end = std::stoll(setting("SHORTER_AT"));
    static const int times = std::stoi(setting("SHORTER_TIMES"));
    static std::atomic<int> reads{0};
    if (at == end && is_the_file(descriptor, path.c_str()) && ++reads == times && ::truncate(path.c_str(), end) != 0) {
        std::abort();
    }
    return real(descriptor, to, bytes, at);
}

} // namespace

extern "C" __attribute__((visibility("default"))) ssize_t pread(int descriptor, void* to, std::size_t bytes, off_t at) {
    return read_at(descriptor, to, bytes, at);
}
extern "C" __attribute__((visibility("default"))) ssize_t pread64(int descriptor, void* to, std::size_t bytes,
                                                                  off_t at) {
    return read_at(descriptor, to, bytes, at);
}
