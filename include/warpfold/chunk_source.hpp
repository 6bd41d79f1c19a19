// SPDX-License-Identifier: MIT
// Sources and sinks of the calls in chunked.hpp.
//
// A source is one of:
//    a range in host memory with data() and size()   on a GPU pinned memory is copied directly, other memory through
//                                                    pinned buffers
//    file_source<T>(path)                            the elements of a file
//    descriptor_source<T>(fd)                        the elements read from a pipe or a socket
//    from_function<T>(fill)                          fill(T* to, std::uint64_t most) writes up to `most` elements and
//                                                    returns their number, 0 at the end; it is called in order, by one
//                                                    thread at a time
//    an object with a type `element` and either fill(to, most) as above, or size() and read(first, to, count), which
//                                                    writes elements [first, first + count) to `to` and may be called
//                                                    by several threads at once
// fill and read may throw: the call ends with that exception. An object may store elements in another form: with
// stored_bytes() and view(const void* chunk), `to` is a void*, each element takes stored_bytes() bytes there, and
// view(chunk)[k] is element k of a chunk, evaluated in the kernel on a GPU.
//
// A sink is a writable range in host memory that is large enough, file_sink<T>(path), to_function<T>(put), or an object
// with a type `element` and either put(from, count), called in order, or write(first, from, count), called by several
// threads at once.
#pragma once

#include <cerrno>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/chunked/file.hpp"
#include "warpfold/error.hpp"

namespace warpfold {

// The elements of a regular file from byte `offset` on, in the layout of memory. Throws file_error, also for files of /proc,
// whose size is 0.
template <class T>
requires std::is_trivially_copyable_v<T>
class file_source {
public:
    using element = T;

    // To the end of the file. The remaining bytes must be a whole number of elements.
    explicit file_source(std::string path, std::uint64_t offset = 0)
        : file_(std::move(path), O_RDONLY), offset_(offset) {
        const std::uint64_t there = bytes_behind();
        if (there % sizeof(T) != 0) {
            file_.fail(std::to_string(there) + " bytes are no whole number of elements of " +
                       std::to_string(sizeof(T)));
        }
        count_ = there / sizeof(T);
    }
    // `count` elements.
    file_source(std::string path, std::uint64_t offset, std::uint64_t count)
        : file_(std::move(path), O_RDONLY), offset_(offset), count_(count) {
        if (count > bytes_behind() / sizeof(T)) {
            file_.fail("it has " + std::to_string(bytes_behind() / sizeof(T)) + " of " + std::to_string(count) +
                       " elements");
        }
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return count_; }
    void read(std::uint64_t first, T* to, std::uint64_t count) const {
        file_.read(offset_ + first * sizeof(T), to, count * sizeof(T));
    }
    // The bytes that are read.
    [[nodiscard]] std::optional<detail::file_range> range() const noexcept {
        return detail::file_range{file_.id(), offset_, offset_ + count_ * sizeof(T), false};
    }

private:
    [[nodiscard]] std::uint64_t bytes_behind() const {
        file_.check_size();
        if (offset_ > file_.bytes()) {
            file_.fail("it has " + std::to_string(file_.bytes()) + " bytes, and elements begin behind " +
                       std::to_string(offset_));
        }
        return file_.bytes() - offset_;
    }

    detail::file_handle file_;
    std::uint64_t offset_ = 0, count_ = 0;
};

// The elements read from a file descriptor until its end. The caller keeps and closes the descriptor. Throws
// file_error, also if the data end inside an element.
template <class T>
requires std::is_trivially_copyable_v<T>
class descriptor_source {
public:
    using element = T;

    explicit descriptor_source(int descriptor) : descriptor_(descriptor) {}

    std::uint64_t fill(T* to, std::uint64_t most) {
        auto* const place = reinterpret_cast<unsigned char*>(to);
        std::uint64_t have = 0;
        while (have < most * sizeof(T)) {
            const ssize_t got = ::read(descriptor_, place + have, most * sizeof(T) - have);
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) { // the descriptor is non-blocking
                pollfd readable{descriptor_, POLLIN, 0};
                (void)::poll(&readable, 1, -1);
                continue;
            }
            if (got < 0) {
                throw file_error(std::string("warpfold: descriptor: ") + std::strerror(errno));
            }
            if (got == 0) {
                break;
            }
            have += static_cast<std::uint64_t>(got);
        }
        if (have % sizeof(T) != 0) {
            throw file_error("warpfold: descriptor: the data end inside an element of " + std::to_string(sizeof(T)) +
                             " bytes");
        }
        return have / sizeof(T);
    }
    // The bytes that are read if it is a regular file.
    [[nodiscard]] std::optional<detail::file_range> range() const noexcept { return detail::rest_of_file(descriptor_); }

private:
    int descriptor_;
};

// Source by from_function.
template <class T, class Fill>
class function_source {
public:
    using element = T;

    explicit function_source(Fill fill) : fill_(std::move(fill)) {}
    std::uint64_t fill(T* to, std::uint64_t most) { return static_cast<std::uint64_t>(fill_(to, most)); }

private:
    Fill fill_;
};
template <class T, class Fill>
[[nodiscard]] function_source<T, Fill> from_function(Fill fill) {
    return function_source<T, Fill>(std::move(fill));
}

// Writes elements to a file from byte `offset` on. Creates or overwrites the file, which ends after the last element.
// Throws file_error.
template <class T>
requires std::is_trivially_copyable_v<T>
class file_sink {
public:
    using element = T;

    explicit file_sink(std::string path, std::uint64_t offset = 0)
        : file_(std::move(path), O_RDWR | O_CREAT), offset_(offset) {}

    void write(std::uint64_t first, const T* from, std::uint64_t count) const {
        file_.write(offset_ + first * sizeof(T), from, count * sizeof(T));
    }
    // Called once, after the last of `count` elements.
    void finish(std::uint64_t count) const { file_.cut(offset_ + count * sizeof(T)); }
    // The bytes that `count` elements take.
    [[nodiscard]] detail::file_range range(std::uint64_t count) const noexcept {
        return {file_.id(), offset_, offset_ + count * sizeof(T), false};
    }

private:
    detail::file_handle file_;
    std::uint64_t offset_;
};

template <class T, class Put>
class function_sink {
public:
    using element = T;

    explicit function_sink(Put put) : put_(std::move(put)) {}
    void put(const T* from, std::uint64_t count) { put_(from, count); }

private:
    Put put_;
};
template <class T, class Put>
[[nodiscard]] function_sink<T, Put> to_function(Put put) {
    return function_sink<T, Put>(std::move(put));
}

namespace detail {

// A range in memory as a source.
template <class T>
struct memory_source {
    using element = T;

    [[nodiscard]] std::uint64_t size() const noexcept { return count; }
    void read(std::uint64_t first, T* to, std::uint64_t n) const {
        std::memcpy(static_cast<void*>(to), data + first, n * sizeof(T));
    }

    const T* data;
    std::uint64_t count;
};
template <class T>
struct memory_sink {
    using element = T;

    void write(std::uint64_t first, const T* from, std::uint64_t n) const {
        std::memcpy(static_cast<void*>(data + first), from, n * sizeof(T));
    }

    T* data;
    std::uint64_t count;
};

template <class S>
inline constexpr bool in_memory_v = false;
template <class T>
inline constexpr bool in_memory_v<memory_source<T>> = true;
template <class T>
inline constexpr bool in_memory_v<memory_sink<T>> = true;

// The source or sink itself, or that of a range.
template <class S>
decltype(auto) as_source(S& s) {
    if constexpr (sized_range<S>) {
        using T = std::remove_cvref_t<decltype(*std::data(s))>;
        return memory_source<T>{std::data(s), std::uint64_t{std::size(s)}};
    } else {
        return (s);
    }
}
template <class S>
decltype(auto) as_sink(S& s) {
    if constexpr (sized_range<S>) {
        using T = std::remove_reference_t<decltype(*std::data(s))>;
        return memory_sink<T>{std::data(s), std::uint64_t{std::size(s)}};
    } else {
        return (s);
    }
}

template <class S>
concept has_stored_form = requires(const S& s, const void* chunk) {
    { s.stored_bytes() } -> std::convertible_to<std::uint64_t>;
    s.view(chunk);
};
template <class S>
struct stored_as {
    using type = typename S::element;
};
template <has_stored_form S>
struct stored_as<S> {
    using type = void;
};
template <class S>
using stored_t = typename stored_as<S>::type; // element type of a chunk; void if only the source knows it

template <class S>
concept random_access_source = requires(S& s, std::uint64_t k, stored_t<S>* to) {
    { s.size() } -> std::convertible_to<std::uint64_t>;
    s.read(k, to, k);
};
template <class S>
concept sequential_source = requires(S& s, std::uint64_t most, stored_t<S>* to) {
    { s.fill(to, most) } -> std::convertible_to<std::uint64_t>;
};
template <class S>
concept source_object = requires {
    typename S::element;
}
&&(random_access_source<S> || sequential_source<S>);

template <class S>
concept random_access_sink = requires(S& s, std::uint64_t k, const typename S::element* from) {
    s.write(k, from, k);
};
template <class S>
concept sequential_sink = requires(S& s, std::uint64_t k, const typename S::element* from) {
    s.put(from, k);
};
template <class S>
concept sink_object = requires {
    typename S::element;
}
&&(random_access_sink<S> || sequential_sink<S>);

template <class S>
std::uint64_t stored_bytes(const S& source) {
    if constexpr (has_stored_form<S>) {
        return source.stored_bytes();
    } else {
        return sizeof(typename S::element);
    }
}
// The elements of a chunk, as an object with [k].
template <class S>
auto view_of(const S& source, const void* chunk) {
    if constexpr (has_stored_form<S>) {
        return source.view(chunk);
    } else {
        return static_cast<const typename S::element*>(chunk);
    }
}
template <class S>
using view_t = decltype(view_of(std::declval<const S&>(), nullptr));

// The number of elements, 0 if unknown.
template <class S>
std::uint64_t known_size(S& source) {
    if constexpr (requires {
                      { source.size() } -> std::convertible_to<std::uint64_t>;
                  }) {
        return source.size();
    } else {
        return 0;
    }
}

} // namespace detail

template <class S>
concept chunked_source =
    detail::sized_range<std::remove_cvref_t<S>> || detail::source_object<std::remove_reference_t<S>>;
template <class S>
concept chunked_sink = detail::sized_range<std::remove_cvref_t<S>> || detail::sink_object<std::remove_cvref_t<S>>;

} // namespace warpfold
