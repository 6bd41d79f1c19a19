// SPDX-License-Identifier: MIT
// Variables and parameters. Source: PTX ISA 9.0, chapter 5, "State Spaces, Types, and Variables".
#include "softgpu/ptx/parse/declaration.hpp"

#include "softgpu/ptx/parse/constant.hpp"
#include "softgpu/ptx/parse/initialiser.hpp"

namespace softgpu::ptx {

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40; // of a variable: more than any GPU has

std::uint32_t parse_alignment(token_stream& in) {
    const token t = in.peek();
    const std::uint64_t n = in.expect_integer("an alignment", std::uint64_t{1} << 31);
    if (n == 0 || (n & (n - 1)) != 0) {
        throw error(t.where, "the alignment " + std::to_string(n) + " is no power of two");
    }
    return static_cast<std::uint32_t>(n);
}

// .ptr .global .align 16, with .ptr taken
void parse_pointer(token_stream& in, variable& v) {
    v.is_pointer = true;
    while (in.at_kind(token_kind::dotted)) {
        if (in.accept_dotted("align")) {
            v.pointed_alignment = parse_alignment(in);
        } else if (const auto space = declared_space(in.peek())) {
            v.pointed_space = *space;
            in.next();
        } else {
            return;
        }
    }
}

void parse_variable_attribute(token_stream& in, variable& v) {
    if (in.peek().text != "attribute") {
        return;
    }
    const std::string all = parse_attribute(in);
    if (all == ".managed") {
        v.managed = true;
    } else if (all.starts_with(".managed, ")) {
        v.managed = true;
        v.attribute = all.substr(10);
    } else if (all.ends_with(", .managed")) {
        v.managed = true;
        v.attribute = all.substr(0, all.size() - 10);
    } else {
        v.attribute = all;
    }
}

// Everything before the name.
variable parse_properties(token_stream& in) {
    variable v;
    const token first = in.next();
    v.space = *find_suffix(first.text);
    bool has_type = false;
    while (in.at_kind(token_kind::dotted)) {
        const token t = in.peek();
        if (t.text == "align") {
            in.next();
            v.alignment = parse_alignment(in);
            continue;
        }
        if (t.text == "attribute") {
            parse_variable_attribute(in, v);
            continue;
        }
        if (t.text == "ptr") {
            in.next();
            parse_pointer(in, v);
            continue;
        }
        const std::optional<suffix> s = find_suffix(t.text);
        const suffix_kind kind = s ? kind_of(*s) : suffix_kind::none;
        if (kind == suffix_kind::vector) {
            v.vector = *s == suffix::v2 ? 2 : *s == suffix::v4 ? 4 : 8;
        } else if (kind == suffix_kind::type) {
            if (has_type) {
                throw error(t.where, "this declaration has a second type, '." + std::string(t.text) + "'");
            }
            v.type = *s;
            has_type = true;
        } else {
            throw error(t.where, "unknown type or property '." + std::string(t.text) + "' of a variable");
        }
        in.next();
    }
    if (!has_type) {
        in.fail_expected("a type behind '." + std::string(first.text) + "'");
    }
    return v;
}

void parse_dimensions(token_stream& in, variable& v) {
    while (in.accept('[')) {
        v.is_array = true;
        if (in.at(']')) {
            if (!v.dimensions.empty()) {
                throw error(in.peek().where, "only the first dimension of '" + v.name + "' may be left out");
            }
            v.dimensions.push_back(0);
        } else {
            const constant c = parse_integer_constant(in, "the length of an array");
            const bool negative = !c.is_unsigned && static_cast<std::int64_t>(c.bits) < 0;
            if (negative || c.bits > most_bytes) {
                throw error(c.where, "the length of the array '" + v.name + "' is out of range");
            }
            if (c.bits == 0 && !v.dimensions.empty()) {
                throw error(c.where, "a dimension of the array '" + v.name + "' is 0");
            }
            v.dimensions.push_back(c.bits);
        }
        in.expect(']', "behind the length of an array");
    }
    std::uint64_t bytes = std::uint64_t{v.vector} * bytes_of(v.type);
    for (const std::uint64_t d : v.dimensions) {
        if (d != 0 && bytes > most_bytes / d) {
            throw error(v.where, "the array '" + v.name + "' is too large");
        }
        bytes *= d == 0 ? 1 : d;
    }
}

void parse_name(token_stream& in, variable& v) {
    const token name = in.expect_kind(token_kind::identifier, "the name of a variable");
    v.name = name.text;
    v.where = name.where;
    parse_dimensions(in, v);
}

// [] alone is kept as no dimensions at all; [][4] keeps its 0.
void settle_unknown_length(variable& v) {
    if (v.dimensions.size() == 1 && v.dimensions[0] == 0 && v.initial.empty()) {
        v.dimensions.clear();
    }
}

} // namespace

std::optional<suffix> declared_space(const token& t) noexcept {
    if (t.kind != token_kind::dotted) {
        return std::nullopt;
    }
    const std::optional<suffix> s = find_suffix(t.text);
    if (!s) {
        return std::nullopt;
    }
    switch (*s) {
    case suffix::global:
    case suffix::const_:
    case suffix::shared:
    case suffix::local:
    case suffix::param:
    case suffix::tex: return s;
    default: return std::nullopt;
    }
}

std::optional<linkage> declared_linkage(const token& t) noexcept {
    if (t.is_dotted("visible")) {
        return linkage::visible;
    }
    if (t.is_dotted("extern")) {
        return linkage::external;
    }
    if (t.is_dotted("weak")) {
        return linkage::weak;
    }
    if (t.is_dotted("common")) {
        return linkage::common;
    }
    return std::nullopt;
}

std::string parse_attribute(token_stream& in) {
    in.next();
    in.expect('(', "behind '.attribute'");
    std::string all;
    do {
        const token t = in.expect_kind(token_kind::dotted, "an attribute");
        if (t.text != "managed" && t.text != "unified") {
            throw error(t.where, "unknown attribute '." + std::string(t.text) + "'");
        }
        all += all.empty() ? "." : ", .";
        all += t.text;
        if (t.text == "unified") {
            in.expect('(', "behind '.unified'");
            all += "(" + std::to_string(in.expect_integer("a unified identifier", ~std::uint64_t{0}));
            in.expect(',', "between the two identifiers of '.unified'");
            all += ", " + std::to_string(in.expect_integer("a unified identifier", ~std::uint64_t{0})) + ")";
            in.expect(')', "behind the identifiers of '.unified'");
        }
    } while (in.accept(','));
    in.expect(')', "behind the attributes");
    return all;
}

std::vector<variable> parse_variables(token_stream& in, linkage link) {
    variable common = parse_properties(in);
    common.link = link;
    std::vector<variable> all;
    do {
        variable v = common;
        parse_name(in, v);
        if (in.accept('=')) {
            parse_initialiser(in, v);
        }
        settle_unknown_length(v);
        all.push_back(std::move(v));
    } while (in.accept(','));
    in.expect(';', "behind the variable '" + all.back().name + "'");
    return all;
}

std::vector<variable> parse_parameters(token_stream& in) {
    in.expect('(', "");
    std::vector<variable> all;
    if (in.accept(')')) {
        return all;
    }
    do {
        if (!in.peek().is_dotted("param") && !in.peek().is_dotted("reg")) {
            in.fail_expected("a parameter, '.param' or '.reg'");
        }
        variable v = parse_properties(in);
        parse_name(in, v);
        settle_unknown_length(v);
        if (v.name != "_") {
            for (const variable& other : all) {
                if (other.name == v.name) {
                    throw error(v.where, "the parameter '" + v.name + "' is already declared at " +
                                             std::to_string(other.where.line) + ":" +
                                             std::to_string(other.where.column));
                }
            }
        }
        all.push_back(std::move(v));
    } while (in.accept(','));
    in.expect(')', "or ',' behind the parameter '" + all.back().name + "'");
    return all;
}

} // namespace softgpu::ptx
