// SPDX-License-Identifier: MIT
// Variables and parameters as text.
#include "softgpu/ptx/print/print_parts.hpp"

#include <cstdint>
#include <cstdio>

namespace softgpu::ptx {

namespace {

std::string hexadecimal(const char* prefix, int digits, std::uint64_t bits) {
    char text[32];
    std::snprintf(text, sizeof text, "%s%0*llX", prefix, digits, static_cast<unsigned long long>(bits));
    return text;
}

std::string printed_value(const initial_value& value, suffix type) {
    if (value.symbol.empty()) {
        return type == suffix::f32   ? hexadecimal("0f", 8, value.bits)
               : type == suffix::f64 ? hexadecimal("0d", 16, value.bits)
                                     : std::to_string(value.bits);
    }
    std::string text = value.generic ? "generic(" + value.symbol + ")" : value.symbol;
    if (value.offset != 0) {
        text += "+" + std::to_string(value.offset);
    }
    return value.mask == 0 ? text : hexadecimal("0x", 2, value.mask) + "(" + text + ")";
}

class initialiser_printer {
public:
    explicit initialiser_printer(const variable& v) : v_(v), sizes_(v.dimensions) {
        if (v.vector > 1) {
            sizes_.push_back(v.vector);
        }
    }

    std::string print() {
        if (sizes_.empty()) {
            return printed_value(v_.initial[0], v_.type);
        }
        list(0);
        return std::move(text_);
    }

private:
    void list(std::size_t level) {
        text_ += '{';
        for (std::uint64_t i = 0; i < sizes_[level] && next_ < v_.initial.size(); ++i) {
            text_ += i == 0 ? "" : ", ";
            if (level + 1 < sizes_.size()) {
                list(level + 1);
            } else {
                text_ += printed_value(v_.initial[next_++], v_.type);
            }
        }
        text_ += '}';
    }

    const variable& v_;
    std::vector<std::uint64_t> sizes_;
    std::size_t next_ = 0;
    std::string text_;
};

std::string dotted(suffix s) { return " ." + std::string(name_of(s)); }

} // namespace

std::string printed_variable(const variable& v) {
    std::string text = "." + std::string(name_of(v.space));
    if (v.managed || !v.attribute.empty()) {
        text += " .attribute(";
        text += v.managed ? ".managed" : "";
        text += v.managed && !v.attribute.empty() ? ", " : "";
        text += v.attribute + ")";
    }
    if (v.alignment != 0) {
        text += " .align " + std::to_string(v.alignment);
    }
    if (v.vector > 1) {
        text += " .v" + std::to_string(v.vector);
    }
    text += dotted(v.type);
    if (v.is_pointer) {
        text += " .ptr";
        if (v.pointed_space != suffix::none) {
            text += dotted(v.pointed_space);
        }
        if (v.pointed_alignment != 0) {
            text += " .align " + std::to_string(v.pointed_alignment);
        }
    }
    text += " " + v.name;
    if (v.is_array && v.dimensions.empty()) {
        text += "[]";
    }
    for (const std::uint64_t d : v.dimensions) {
        text += d == 0 ? "[]" : "[" + std::to_string(d) + "]";
    }
    if (!v.opaque_initial.empty()) {
        text += " = " + v.opaque_initial;
    } else if (!v.initial.empty()) {
        text += " = " + initialiser_printer(v).print();
    }
    return text;
}

std::string printed_parameters(const std::vector<variable>& parameters) {
    std::string text = "(";
    for (const variable& v : parameters) {
        text += text.size() == 1 ? "" : ", ";
        text += printed_variable(v);
    }
    return text + ")";
}

} // namespace softgpu::ptx
