// SPDX-License-Identifier: MIT
// Arrays as the extension modules get them: NumPy's, read by the buffer protocol. The caller keeps them alive.
#pragma once

#include <nanobind/nanobind.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "python/src/array.hpp"
#include "python/src/calls.hpp"

namespace warpfold::python {

using numbers = std::vector<std::int64_t>;

// Null for an array that is missing.
inline const array* pointer_to(const std::optional<array>& one) { return one ? &*one : nullptr; }

inline element element_of(int type) { return static_cast<element>(type); }
inline operation operation_of(int op) { return static_cast<operation>(op); }

// The element of a buffer's format and size in bytes; none for another type or byte order than the package takes.
inline std::optional<element> element_of(const char* format, std::int64_t bytes) {
    // Before its letter one that is not aligned has '=', and one whose byte order was named has that.
    constexpr char native = std::endian::native == std::endian::little ? '<' : '>';
    const char letter = *format == '=' || *format == '@' || *format == native ? format[1] : *format;
    const auto among = [letter](const char* letters) {
        return letter != '\0' && std::strchr(letters, letter) != nullptr;
    };
    const bool is_signed = among("bhilq"), is_number = among("efd");
    if (letter == '?') {
        return element::boolean;
    }
    if (!is_signed && !is_number && !among("BHILQ")) {
        return std::nullopt;
    }
    for (int type = 0; type <= static_cast<int>(element::float64); ++type) {
        const auto found = static_cast<element>(type);
        const bool fits = is_number   ? found >= element::float16
                          : is_signed ? found >= element::int8 && found <= element::int64
                                      : found >= element::uint8 && found <= element::uint64;
        if (fits && size_of(found) == bytes) {
            return found;
        }
    }
    return std::nullopt;
}

inline nanobind::object tuple_of(const numbers& all) {
    nanobind::object tuple = nanobind::steal(PyTuple_New(static_cast<Py_ssize_t>(all.size())));
    for (std::size_t k = 0; k < all.size(); ++k) {
        PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(k), PyLong_FromLongLong(all[k]));
    }
    return tuple;
}

// None if an object has no buffer, or one of another type. No Python exception is set. `more`: PyBUF_WRITABLE, or 0.
inline std::optional<array> array_of(nanobind::handle object, int more = 0) {
    Py_buffer view;
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_STRIDES | PyBUF_FORMAT | more) != 0) {
        PyErr_Clear();
        return std::nullopt;
    }
    std::optional<array> found;
    if (const auto type = element_of(view.format, view.itemsize)) {
        found.emplace(static_cast<char*>(view.buf), *type, numbers(view.shape, view.shape + view.ndim),
                      numbers(view.strides, view.strides + view.ndim));
    }
    PyBuffer_Release(&view);
    return found;
}

} // namespace warpfold::python

namespace nanobind::detail {

template <>
struct type_caster<warpfold::python::array> {
    template <class>
    using Cast = const warpfold::python::array&;
    static constexpr auto Name = const_name("numpy.typing.NDArray[typing.Any]");

    bool from_python(handle source, std::uint32_t /*flags*/, cleanup_list* /*unused*/) noexcept {
        found_ = warpfold::python::array_of(source);
        return found_.has_value();
    }
    template <class>
    static constexpr bool can_cast() {
        return true;
    }
    operator const warpfold::python::array&() const {
        return *found_;
    } // NOLINT(google-explicit-constructor): nanobind's form

private:
    std::optional<warpfold::python::array> found_;
};

} // namespace nanobind::detail
