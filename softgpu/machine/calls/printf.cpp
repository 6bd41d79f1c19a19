// SPDX-License-Identifier: MIT
#include "softgpu/machine/calls/printf.hpp"

#include <cstdio>
#include <cstring>
#include <string_view>

namespace softgpu::machine {

namespace {

constexpr int longest = 8 << 20;   // of one conversion, in characters: no more than CUDA's buffer
constexpr int most_arguments = 32; // conversions behind these stand in the output as they are written

class printer {
public:
    printer(lane_memory& memory, std::uint64_t arguments, std::string& out)
        : memory_(memory), next_(arguments), out_(out) {}

    // false: a fault was raised.
    bool print(std::string_view format) {
        while (!format.empty()) {
            const std::size_t percent = format.find('%');
            out_ += format.substr(0, percent);
            if (percent == std::string_view::npos) {
                return true;
            }
            format.remove_prefix(percent);
            const std::size_t length = conversion_length(format);
            if (length != 0 && format[length - 1] == '%') { // flags, width and precision mean nothing there
                out_ += '%';
                format.remove_prefix(length);
                continue;
            }
            if (length == 0) { // not one that CUDA knows
                out_ += '%';
                format.remove_prefix(1);
                continue;
            }
            if (!convert(format.substr(0, length))) {
                return false;
            }
            format.remove_prefix(length);
        }
        return true;
    }

    [[nodiscard]] int count() const noexcept { return count_; }

private:
    static bool one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

    // %[flags][width][.precision][size]type; 0 where it is none.
    static std::size_t conversion_length(std::string_view f) {
        std::size_t k = 1;
        const auto skip = [&](std::string_view set) {
            while (k < f.size() && one_of(f[k], set)) {
                ++k;
            }
        };
        skip("#0- +");
        skip("*0123456789");
        if (k < f.size() && f[k] == '.') {
            ++k;
            skip("*0123456789");
        }
        skip("hlLqjzt");
        return k < f.size() && one_of(f[k], "diouxXpcsfFeEgGaA%") ? k + 1 : 0;
    }

    template <class T>
    bool take(T& value) {
        next_ = (next_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        const std::byte* const at = memory_.read(next_, sizeof(T));
        if (at == nullptr) {
            return false;
        }
        std::memcpy(&value, at, sizeof(T));
        next_ += sizeof(T);
        ++count_;
        return true;
    }

    bool convert(std::string_view conversion) {
        std::string host = "%"; // the same for the host's printf, stars replaced
        int wide = 0;
        int narrow = 0;
        for (const char c : conversion.substr(1, conversion.size() - 2)) {
            if (c == '*') {
                std::int32_t given = 0;
                if (count_ >= most_arguments) {
                    out_ += conversion;
                    return true;
                }
                if (!take(given)) {
                    return false;
                }
                if (given < 0 && !host.empty() && host.back() == '.') {
                    host.pop_back(); // a negative precision is none
                } else {
                    host += std::to_string(given);
                }
            } else if (one_of(c, "lLqjzt")) {
                wide += c == 'l' ? 1 : 2;
            } else if (c == 'h') {
                ++narrow;
            } else {
                host += c;
            }
        }
        if (count_ >= most_arguments) {
            out_ += conversion;
            return true;
        }
        const char type = conversion.back();
        switch (type) {
        case 'c': {
            std::int32_t value = 0;
            return take(value) && put(host + 'c', static_cast<int>(static_cast<unsigned char>(value)));
        }
        case 's': {
            std::uint64_t at = 0;
            if (!take(at)) {
                return false;
            }
            const auto text = at == 0 ? std::optional<std::string>("(null)") : memory_.text(at);
            return text && put(host + 's', text->c_str());
        }
        case 'p': {
            std::uint64_t value = 0;
            return take(value) && put(host + 'p', reinterpret_cast<void*>(value));
        }
        case 'd':
        case 'i':
        case 'o':
        case 'u':
        case 'x':
        case 'X': return integer(host, type, wide, narrow);
        default: {
            double value = 0;
            return take(value) && put(host + type, value);
        }
        }
    }

    bool integer(std::string host, char type, int wide, int narrow) {
        const bool is_signed = type == 'd' || type == 'i';
        std::int64_t value = 0;
        if (wide > 0) {
            if (!take(value)) {
                return false;
            }
        } else {
            std::int32_t small = 0;
            if (!take(small)) {
                return false;
            }
            value = narrow >= 2   ? (is_signed ? static_cast<std::int64_t>(static_cast<std::int8_t>(small))
                                               : static_cast<std::int64_t>(static_cast<std::uint8_t>(small)))
                    : narrow == 1 ? (is_signed ? static_cast<std::int64_t>(static_cast<std::int16_t>(small))
                                               : static_cast<std::int64_t>(static_cast<std::uint16_t>(small)))
                    : is_signed   ? std::int64_t{small}
                                  : std::int64_t{static_cast<std::uint32_t>(small)};
        }
        host += "ll";
        return put(host + type, static_cast<long long>(value));
    }

    // The formats are made above from what a conversion may hold.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    template <class T>
    bool put(const std::string& format, T value) {
        const int length = std::snprintf(nullptr, 0, format.c_str(), value);
        if (length > 0 && length < longest) {
            const std::size_t before = out_.size();
            out_.resize(before + static_cast<std::size_t>(length) + 1);
            std::snprintf(out_.data() + before, static_cast<std::size_t>(length) + 1, format.c_str(), value);
            out_.pop_back();
        }
        return true;
    }
#pragma GCC diagnostic pop

    lane_memory& memory_;
    std::uint64_t next_;
    std::string& out_;
    int count_ = 0;
};

} // namespace

std::optional<int> print_of_lane(lane_memory& memory, std::uint64_t format, std::uint64_t arguments, std::string& out) {
    if (format == 0) {
        return -1;
    }
    const auto text = memory.text(format);
    if (!text) {
        return std::nullopt;
    }
    printer p(memory, arguments, out);
    return p.print(*text) ? std::optional<int>(p.count()) : std::nullopt;
}

} // namespace softgpu::machine
