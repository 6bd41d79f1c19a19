// SPDX-License-Identifier: MIT
// Element types of array files, and their names.
#include <algorithm>
#include <array>

#include "report/array_file.hpp"

namespace warpfold::report {
namespace {

struct description {
    array_type type;
    std::size_t size;
    std::string_view name, npy_name;
};

constexpr std::array<description, 10> all{{
    {array_type::int8, 1, "int8", "|i1"},
    {array_type::uint8, 1, "uint8", "|u1"},
    {array_type::int16, 2, "int16", "<i2"},
    {array_type::uint16, 2, "uint16", "<u2"},
    {array_type::int32, 4, "int32", "<i4"},
    {array_type::uint32, 4, "uint32", "<u4"},
    {array_type::int64, 8, "int64", "<i8"},
    {array_type::uint64, 8, "uint64", "<u8"},
    {array_type::float32, 4, "float", "<f4"},
    {array_type::float64, 8, "double", "<f8"},
}};

const description& of(array_type type) noexcept { return all[static_cast<std::size_t>(type)]; }

template <class Predicate>
std::optional<array_type> first(const Predicate& predicate) noexcept {
    const auto found = std::find_if(all.begin(), all.end(), predicate);
    return found == all.end() ? std::nullopt : std::optional(found->type);
}

} // namespace

std::size_t size_of(array_type type) noexcept { return of(type).size; }
std::string_view name_of(array_type type) noexcept { return of(type).name; }
std::string_view npy_name_of(array_type type) noexcept { return of(type).npy_name; }

std::optional<array_type> array_type_named(std::string_view name) noexcept {
    return first([name](const description& d) { return d.name == name; });
}

std::optional<array_type> array_type_in_npy(std::string_view descr) noexcept {
    return first([descr](const description& d) {
        const bool order = descr.starts_with('<') || descr.starts_with('=') || (d.size == 1 && descr.starts_with('|'));
        return order && descr.substr(1) == d.npy_name.substr(1);
    });
}

} // namespace warpfold::report
