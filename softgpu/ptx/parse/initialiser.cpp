// SPDX-License-Identifier: MIT
// Initialisers: numbers, addresses, parts of addresses, strings, and braces around them.
#include "softgpu/ptx/parse/initialiser.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "softgpu/ptx/parse/constant.hpp"

namespace softgpu::ptx {

namespace {

constexpr std::size_t most_padding = std::uint64_t{1} << 22; // zeros written out between nested braces

bool is_opaque(suffix type) noexcept {
    return type == suffix::texref || type == suffix::samplerref || type == suffix::surfref;
}

[[noreturn]] void fail_mismatch(const constant& c, suffix type) {
    const char* what = c.kind == constant_kind::integer ? "an integer" : "a floating-point number";
    throw error(c.where, std::string(what) + " cannot initialise a variable of type ." + std::string(name_of(type)));
}

// The bits that a variable of this type holds for this constant; integers are cut to the type's width.
std::uint64_t converted(const constant& c, suffix type) {
    const bool is_float = type == suffix::f32 || type == suffix::f64;
    const std::uint32_t bytes = bytes_of(type);
    switch (c.kind) {
    case constant_kind::integer:
        if (is_float) {
            fail_mismatch(c, type);
        }
        return bytes >= 8 ? c.bits : c.bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
    case constant_kind::float32:
        if (type == suffix::f64) {
            return std::bit_cast<std::uint64_t>(double{std::bit_cast<float>(static_cast<std::uint32_t>(c.bits))});
        }
        if (bytes != 4) {
            fail_mismatch(c, type);
        }
        return c.bits;
    case constant_kind::float64:
        if (type == suffix::f32) {
            return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(c.bits)));
        }
        if (bytes != 8) {
            fail_mismatch(c, type);
        }
        return c.bits;
    }
    return 0;
}

class list_reader {
public:
    list_reader(token_stream& in, variable& v) : in_(in), v_(v), sizes_(v.dimensions) {
        if (v.vector > 1) {
            sizes_.push_back(v.vector);
        }
    }

    void read() {
        if (sizes_.empty()) {
            v_.initial.push_back(element());
        } else if (in_.at_kind(token_kind::string)) {
            string();
        } else if (in_.at('{')) {
            braces(0);
        } else {
            in_.fail_expected("'{' or a string: '" + v_.name + "' is an array");
        }
        if (v_.is_array && v_.dimensions[0] == 0) {
            const std::uint64_t inner = elements_below(0);
            v_.dimensions[0] = inner == 0 ? 0 : (v_.initial.size() + inner - 1) / inner;
        }
    }

private:
    // How many elements one entry of the list at this level takes.
    [[nodiscard]] std::uint64_t elements_below(std::size_t level) const noexcept {
        std::uint64_t n = 1;
        for (std::size_t i = level + 1; i < sizes_.size(); ++i) {
            n *= sizes_[i];
        }
        return n;
    }

    // How many elements may stand in the list at this level; unlimited for an array of unknown length.
    [[nodiscard]] std::uint64_t room(std::size_t level) const noexcept {
        return level == 0 && sizes_[0] == 0 ? ~std::uint64_t{0} : sizes_[level] * elements_below(level);
    }

    void require_room(std::size_t used, std::uint64_t available) const {
        if (used >= available) {
            throw error(in_.peek().where, "too many initial values: '" + v_.name + "' has room for " +
                                              std::to_string(available) + " here");
        }
    }

    void braces(std::size_t level) {
        in_.expect('{', "");
        const std::size_t first = v_.initial.size();
        const std::uint64_t available = room(level);
        while (!in_.at('}')) {
            require_room(v_.initial.size() - first, available);
            if (level + 1 < sizes_.size()) {
                if (!in_.at('{')) {
                    in_.fail_expected("'{' around each row of '" + v_.name + "'");
                }
                nested(level);
            } else {
                if (in_.at('{')) {
                    throw error(in_.peek().where, "too many braces: '" + v_.name + "' has " +
                                                      std::to_string(sizes_.size()) + " dimensions");
                }
                v_.initial.push_back(element());
            }
            if (!in_.accept(',')) {
                break;
            }
            if (in_.at('}')) {
                in_.fail_expected("a value behind ','");
            }
        }
        in_.expect('}', "or ',' in the initialiser of '" + v_.name + "'");
    }

    // A row; what it leaves out is zero, and is written out where another row follows.
    void nested(std::size_t level) {
        const location where = in_.peek().where;
        const std::size_t end = v_.initial.size() + elements_below(level);
        braces(level + 1);
        if (in_.at(',')) {
            padding_ += end - v_.initial.size();
            if (padding_ > most_padding) {
                throw error(where, "the initialiser of '" + v_.name + "' leaves too much out");
            }
            v_.initial.resize(end);
        }
    }

    void string() {
        if (bytes_of(v_.type) != 1 || sizes_.size() != 1) {
            throw error(in_.peek().where, "a string initialises an array of bytes only");
        }
        const token t = in_.next();
        const std::uint64_t available = room(0);
        std::string_view rest = t.text;
        while (!rest.empty()) {
            initial_value one;
            one.bits = character(rest, t.where);
            v_.initial.push_back(std::move(one));
        }
        if (v_.initial.size() < available) {
            v_.initial.emplace_back();
        }
        if (v_.initial.size() > available) {
            throw error(t.where, "too many initial values: '" + v_.name + "' has room for " +
                                     std::to_string(available) + " here");
        }
    }

    // Takes one character, or one of C's escapes, off the front.
    static std::uint64_t character(std::string_view& rest, location where) {
        const char c = rest[0];
        rest.remove_prefix(1);
        if (c != '\\' || rest.empty()) {
            return static_cast<unsigned char>(c);
        }
        const char escaped = rest[0];
        const std::size_t octal = std::min(rest.find_first_not_of("01234567"), std::min<std::size_t>(3, rest.size()));
        if (octal != 0) {
            std::uint64_t value = 0;
            for (const char d : rest.substr(0, octal)) {
                value = value * 8 + static_cast<std::uint64_t>(d - '0');
            }
            rest.remove_prefix(octal);
            return value & 0xFF;
        }
        constexpr std::string_view letters = "ntrabfv\\\"'";
        constexpr std::string_view meanings = "\n\t\r\a\b\f\v\\\"'";
        const std::size_t which = letters.find(escaped);
        if (which == std::string_view::npos) {
            throw error(where, std::string("unknown escape '\\") + escaped + "' in a string");
        }
        rest.remove_prefix(1);
        return static_cast<unsigned char>(meanings[which]);
    }

    initial_value element() {
        if (in_.at_kind(token_kind::identifier) && !at_constant(in_)) {
            return address();
        }
        if (!at_constant(in_)) {
            in_.fail_expected("an initial value of '" + v_.name + "'");
        }
        const constant c = parse_constant(in_);
        if (in_.at('(')) {
            return masked(c);
        }
        initial_value value;
        value.bits = converted(c, v_.type);
        return value;
    }

    // name, name+4, generic(name), generic(name)+4
    initial_value address() {
        initial_value value;
        token name = in_.next();
        value.generic = name.text == "generic" && in_.accept('(');
        if (value.generic) {
            name = in_.expect_kind(token_kind::identifier, "a name in 'generic(...)'");
            value.offset = parse_offset(in_);
            in_.expect(')', "behind 'generic(" + std::string(name.text) + "'");
        }
        value.symbol = name.text;
        value.offset += parse_offset(in_);
        return value;
    }

    // 0xFF00(address): one byte of an address, or of a number.
    initial_value masked(const constant& mask) {
        const int byte = std::countr_zero(mask.bits) / 8;
        if (mask.kind != constant_kind::integer || mask.bits != std::uint64_t{0xFF} << (byte & 7) * 8) {
            throw error(mask.where, "the mask of an initial value covers one byte: 0xFF, 0xFF00, ...");
        }
        in_.expect('(', "");
        initial_value value;
        if (in_.at_kind(token_kind::identifier) && !at_constant(in_)) {
            value = address();
            value.mask = mask.bits;
        } else {
            value.bits = parse_integer_constant(in_, "an address or an integer").bits >> (byte * 8) & 0xFF;
        }
        in_.expect(')', "behind a masked initial value");
        return value;
    }

    token_stream& in_;
    variable& v_;
    std::vector<std::uint64_t> sizes_; // of the array, then of the vector
    std::size_t padding_ = 0;
};

} // namespace

void parse_initialiser(token_stream& in, variable& v) {
    if (is_opaque(v.type)) {
        const std::size_t first = in.peek().position;
        if (!in.at('{')) {
            in.fail_expected("'{' at the start of the initialiser of '" + v.name + "'");
        }
        const std::size_t last = in.skip_braces("the initialiser of '" + v.name + "'");
        v.opaque_initial = in.text().substr(first, last + 1 - first);
        return;
    }
    const bool has_initialiser = bytes_of(v.type) <= 8 && v.type != suffix::f16 && v.type != suffix::f16x2 &&
                                 v.type != suffix::bf16 && v.type != suffix::bf16x2 && v.type != suffix::pred;
    if (!has_initialiser) {
        throw error(in.peek().where, "a variable of type ." + std::string(name_of(v.type)) + " takes no initialiser");
    }
    list_reader(in, v).read();
}

} // namespace softgpu::ptx
