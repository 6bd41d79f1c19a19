// SPDX-License-Identifier: MIT
// Names of types and operations; counts on the command line.
#include "tool/ladder/reduce_options.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "report/number.hpp"
#include "tool/error.hpp"

namespace warpfold::tool {
namespace {

using ladder::element_type;
using ladder::finish;
using ladder::operation;

template <class Value>
using naming = std::pair<std::string_view, Value>;

constexpr std::array<naming<element_type>, 4> types{{
    {"int32", element_type::int32},
    {"int64", element_type::int64},
    {"float", element_type::float32},
    {"double", element_type::float64},
}};
constexpr std::array<naming<operation>, 5> operations{{
    {"sum", operation::sum},
    {"min", operation::minimum},
    {"max", operation::maximum},
    {"product", operation::product},
    {"largest-magnitude", operation::largest_magnitude},
}};
constexpr std::array<naming<finish>, 2> finishes{{{"device", finish::device}, {"host", finish::host}}};

template <class Names>
auto parse(const Names& names, std::string_view option, std::string_view text, const char* all) {
    for (const auto& [name, value] : names) {
        if (name == text) {
            return value;
        }
    }
    throw usage_error(fmt::format("{}: '{}' is none of {}", option, text, all));
}

template <class Names, class Value>
std::string_view name_in(const Names& names, Value wanted) noexcept {
    for (const auto& [name, value] : names) {
        if (value == wanted) {
            return name;
        }
    }
    return "?";
}

} // namespace

element_type parse_type(std::string_view name) { return parse(types, "--type", name, type_names); }
operation parse_operation(std::string_view name) { return parse(operations, "--op", name, operation_names); }
finish parse_finish(std::string_view name) { return parse(finishes, "--finish", name, finish_names); }

std::string_view name_of(element_type type) noexcept { return name_in(types, type); }
std::string_view name_of(operation op) noexcept { return name_in(operations, op); }
std::string_view name_of(finish finish) noexcept { return name_in(finishes, finish); }

std::size_t size_of(element_type type) noexcept {
    return type == element_type::int32 || type == element_type::float32 ? 4 : 8;
}

std::uint64_t parse_bounded(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
    std::uint64_t value = 0;
    try {
        value = report::parse_count(text);
    } catch (const report::bad_number& error) {
        throw usage_error(fmt::format("{}: {}", option, error.what()));
    }
    if (value < least) {
        throw usage_error(fmt::format("{}: {} is too small; the least is {}", option, value, least));
    }
    if (value > most) {
        throw usage_error(fmt::format("{}: {} is too large; the most is {}", option, value, most));
    }
    return value;
}

std::vector<std::string> parse_steps(std::string_view list) {
    std::vector<std::string> steps;
    for (;;) {
        const std::size_t comma = list.find(',');
        steps.emplace_back(list.substr(0, comma));
        if (steps.back().empty()) {
            throw usage_error("--steps: a step without a name (write 1,3,sum_warp,cub)");
        }
        if (comma == std::string_view::npos) {
            return steps;
        }
        list.remove_prefix(comma + 1);
    }
}

std::string text_of(const ladder::scalar& value) {
    switch (value.type) {
    case element_type::float32: return fmt::format("{}", static_cast<float>(value.real));
    case element_type::float64: return fmt::format("{}", value.real);
    case element_type::int32:
    case element_type::int64: break;
    }
    return std::to_string(value.integer);
}

} // namespace warpfold::tool
