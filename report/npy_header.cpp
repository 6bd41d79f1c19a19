// SPDX-License-Identifier: MIT
// The header of a .npy file: a Python dictionary of three entries. Parses the subset of Python that it needs.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "report/array_file.hpp"
#include "report/text.hpp"

namespace warpfold::report {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
// NumPy writes a few hundred bytes at most for readable arrays (64 dimensions).
constexpr std::size_t longest_header = 64 * 1024;
constexpr std::size_t most_dimensions = 64;

struct header {
    std::optional<std::string> descr;
    bool structured = false; // descr is a list
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::uint64_t>> shape;
};

[[noreturn]] void malformed(std::string_view what) { throw bad_array(fmt::format("malformed .npy header: {}", what)); }

class header_reader {
public:
    explicit header_reader(std::string_view text) : text_(text) {}

    header read() {
        header h;
        expect('{');
        while (!accept('}')) {
            const std::string key = string();
            expect(':');
            if (key == "descr" && !h.descr && !h.structured) {
                read_descr(h);
            } else if (key == "fortran_order" && !h.fortran_order) {
                h.fortran_order = boolean();
            } else if (key == "shape" && !h.shape) {
                h.shape = tuple();
            } else {
                malformed(fmt::format("unexpected or repeated key '{}'", printable(key)));
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        skip_blanks();
        if (at_ != text_.size()) {
            malformed("text after the dictionary");
        }
        return h;
    }

private:
    void skip_blanks() {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
            ++at_;
        }
    }

    bool accept(char c) {
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == c) {
            ++at_;
            return true;
        }
        return false;
    }

    void expect(char c) {
        if (!accept(c)) {
            malformed(fmt::format("'{}' expected at byte {}", c, at_));
        }
    }

    std::string string() {
        skip_blanks();
        if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) {
            malformed(fmt::format("a string expected at byte {}", at_));
        }
        const char quote = text_[at_++];
        const std::size_t end = text_.find(quote, at_);
        if (end == std::string_view::npos) {
            malformed("a string does not end");
        }
        std::string value(text_.substr(at_, end - at_));
        if (value.find('\\') != std::string::npos) {
            malformed("a string with an escape");
        }
        at_ = end + 1;
        return value;
    }

    bool word(std::string_view w) {
        if (text_.substr(at_, w.size()) == w) {
            at_ += w.size();
            return true;
        }
        return false;
    }

    bool boolean() {
        skip_blanks();
        if (word("True")) {
            return true;
        }
        if (word("False")) {
            return false;
        }
        malformed("fortran_order is neither True nor False");
    }

    std::uint64_t integer() {
        skip_blanks();
        const std::size_t start = at_;
        std::uint64_t value = 0;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
            const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
            if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) {
                malformed("a dimension of more than 2^64 - 1");
            }
            value = value * 10 + digit;
            ++at_;
        }
        if (at_ == start) {
            malformed(fmt::format("a dimension expected at byte {}", at_));
        }
        static_cast<void>(word("L")); // as Python 2 wrote long integers
        return value;
    }

    std::vector<std::uint64_t> tuple() {
        std::vector<std::uint64_t> values;
        expect('(');
        while (!accept(')')) {
            if (values.size() == most_dimensions) {
                malformed("more than 64 dimensions");
            }
            values.push_back(integer());
            if (!accept(',')) {
                expect(')');
                if (values.size() == 1) {
                    malformed("shape is no tuple");
                }
                break;
            }
        }
        return values;
    }

    // A structured type is a list of fields. It is not supported, so its content does not matter.
    void read_descr(header& h) {
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == '[') {
            std::size_t depth = 0;
            do {
                const char c = text_[at_];
                if (c == '\'' || c == '"') {
                    static_cast<void>(string());
                    continue;
                }
                depth += c == '[' ? 1 : 0;
                depth -= c == ']' ? 1 : 0;
                ++at_;
            } while (depth > 0 && at_ < text_.size());
            if (depth > 0) {
                malformed("a list does not end");
            }
            h.structured = true;
            return;
        }
        h.descr = string();
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

array_type type_of(std::string_view descr) {
    if (const auto type = array_type_in_npy(descr)) {
        return *type;
    }
    if (descr.starts_with('>') && array_type_in_npy(fmt::format("<{}", descr.substr(1)))) {
        throw bad_array(fmt::format("elements of type '{}' are big-endian; convert them, as with a.astype('<{}')",
                                    printable(descr), printable(descr.substr(1))));
    }
    if (descr.find('O') != std::string_view::npos) {
        throw bad_array("elements are Python objects, not numbers");
    }
    throw bad_array(fmt::format("elements of type '{}' are none of those that can be worked with: integers of 8 to 64 "
                                "bits ('|i1' to '<u8'), float '<f4' and double '<f8'",
                                printable(descr)));
}

std::uint64_t elements_of(const std::vector<std::uint64_t>& shape) {
    if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) {
        return 0;
    }
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) {
        if (count > std::numeric_limits<std::uint64_t>::max() / 8 / extent) {
            throw bad_array("the shape in the header has more elements than a file can hold");
        }
        count *= extent;
    }
    return count;
}

unsigned byte_at(std::span<const std::byte> file, std::size_t at) { return std::to_integer<unsigned>(file[at]); }

// Where the header's text starts and how long it is.
std::pair<std::size_t, std::size_t> header_place(std::span<const std::byte> file) {
    constexpr std::size_t version_at = magic.size();
    if (file.size() < version_at + 2) {
        throw bad_array("the .npy file ends inside its header");
    }
    const unsigned major = byte_at(file, version_at);
    const unsigned minor = byte_at(file, version_at + 1);
    if (major < 1 || major > 3 || minor != 0) {
        throw bad_array(fmt::format(".npy format version {}.{} is not known (1.0, 2.0 and 3.0 are)", major, minor));
    }
    const std::size_t length_bytes = major == 1 ? 2 : 4;
    const std::size_t start = version_at + 2 + length_bytes;
    if (file.size() < start) {
        throw bad_array("the .npy file ends inside its header");
    }
    std::size_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) {
        length |= static_cast<std::size_t>(byte_at(file, version_at + 2 + i)) << (8 * i);
    }
    if (length > longest_header) {
        malformed(fmt::format("it claims to be {} bytes long", length));
    }
    if (length > file.size() - start) {
        throw bad_array("the .npy file ends inside its header");
    }
    return {start, length};
}

} // namespace

bool is_npy(std::span<const std::byte> file) noexcept {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

array_layout parse_npy(std::span<const std::byte> file) { return parse_npy(file, file.size()); }

array_layout parse_npy(std::span<const std::byte> file, std::uint64_t file_bytes) {
    if (!is_npy(file)) {
        throw bad_array("the file does not begin as a .npy file does");
    }
    const auto [start, length] = header_place(file);
    const header h = header_reader({reinterpret_cast<const char*>(file.data()) + start, length}).read();
    if (h.structured) {
        throw bad_array("elements are of a structured type; save one field at a time");
    }
    if (!h.descr || !h.fortran_order || !h.shape) {
        malformed("descr, fortran_order and shape are needed");
    }
    array_layout layout;
    layout.type = type_of(*h.descr);
    layout.shape = *h.shape;
    layout.count = elements_of(layout.shape);
    layout.data_offset = start + length;
    const auto long_dimensions =
        std::count_if(layout.shape.begin(), layout.shape.end(), [](std::uint64_t extent) { return extent > 1; });
    if (*h.fortran_order && layout.count > 0 && long_dimensions > 1) {
        throw bad_array("the array is in Fortran order; save it in C order, as with np.ascontiguousarray(a)");
    }
    const std::uint64_t expected = layout.count * size_of(layout.type);
    const std::uint64_t present = file_bytes - layout.data_offset;
    if (present < expected) {
        throw bad_array(fmt::format("the .npy file is truncated: its header promises {} bytes of data, {} are there",
                                    expected, present));
    }
    if (present > expected) {
        throw bad_array(fmt::format("the .npy file has {} bytes after its data", present - expected));
    }
    return layout;
}

std::string npy_header(array_type type, const std::vector<std::uint64_t>& shape) {
    std::string extents;
    for (const std::uint64_t extent : shape) {
        extents += fmt::format("{},{}", extent, shape.size() == 1 ? "" : " ");
    }
    if (shape.size() > 1) {
        extents.resize(extents.size() - 2);
    }
    std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", npy_name_of(type), extents);
    constexpr std::size_t alignment = 64; // of the first element, as the format asks for
    const auto padded = [&](std::size_t length_bytes) {
        const std::size_t before = magic.size() + 2 + length_bytes;
        return (before + text.size() + 1 + alignment - 1) / alignment * alignment - before;
    };
    const unsigned length_bytes = padded(2) <= std::numeric_limits<std::uint16_t>::max() ? 2 : 4;
    const std::size_t length = padded(length_bytes);
    std::string header(magic);
    header += static_cast<char>(length_bytes == 2 ? 1 : 2);
    header += '\0';
    for (unsigned k = 0; k < length_bytes; ++k) {
        header += static_cast<char>(length >> (8 * k) & 0xff);
    }
    text.resize(length - 1, ' ');
    return header + text + '\n';
}

} // namespace warpfold::report
