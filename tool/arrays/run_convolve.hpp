// SPDX-License-Identifier: MIT
// Convolutions and correlations of images of float or double.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "tool/arrays/calls_over.hpp"
#include "warpfold/convolve.hpp"

namespace warpfold::calls {

// Results that are where they belong, or are copied there.
class array_results final : public result_sink {
public:
    explicit array_results(void* to) : to_(static_cast<unsigned char*>(to)) {}
    void write(std::uint64_t first, const void* from, std::uint64_t bytes) override {
        if (to_ + first != from) {
            std::memcpy(to_ + first, from, bytes);
        }
    }

private:
    unsigned char* to_;
};

// The images of q, on the target `on`, from and to memory.
template <class T, class On, class Memory>
void convolve_images(const On& on, Memory& memory, const convolve_request& q) {
    const image<const T> in{static_cast<const T*>(memory.in(q.in, q.width * q.height * q.count * sizeof(T))), q.width,
                            q.height, 0, q.count};
    const image<T> out{static_cast<T*>(memory.out(q.out, q.out_width * q.out_height * q.count * sizeof(T))),
                       q.out_width, q.out_height, 0, q.count};
    const image<const double> mask{q.mask, q.mask_width, q.mask_height};
    const convolve_options how{static_cast<border>(q.border), static_cast<outputs>(q.which)};
    if (q.turned) {
        convolve(on, in, mask, out, how);
    } else {
        correlate(on, in, mask, out, how);
    }
    memory.fetch();
}

// One array whose ranks have parts of it.
template <class T, class Memory>
void convolve_line(memory_over<Memory>& memory, const convolve_request& q) {
    const auto* const in = static_cast<const T*>(memory.in(q.in, q.width * sizeof(T)));
    auto* const out = static_cast<T*>(memory.out(q.out, q.width * sizeof(T)));
    const convolve_options how{static_cast<border>(q.border)};
    if (q.turned) {
        convolve(memory.on(), in, q.width, q.mask, q.mask_width, out, how);
    } else {
        correlate(memory.on(), in, q.width, q.mask, q.mask_width, out, how);
    }
    memory.fetch();
}

// Several images, or rows of an array of several dimensions, are shared out; one image is split by rows, one array by
// elements.
template <class T, class Memory>
void convolve_parts(memory_over<Memory>& memory, const convolve_request& q) {
    const bool many = q.count > 1, line = !many && q.height == 1 && q.mask_height == 1;
    if (!many && static_cast<outputs>(q.which) != outputs::same) {
        throw std::runtime_error("over several ranks or GPUs one array is convolved with --size same");
    }
    const std::uint64_t things = many ? q.count : line ? q.width : q.height;
    const std::uint64_t in_size = many ? q.width * q.height : line ? 1 : q.width;
    const std::uint64_t out_size = many ? q.out_width * q.out_height : in_size;
    const share part(things, memory.comm());
    convolve_request mine = q;
    mine.in = static_cast<const T*>(q.in) + part.first * in_size;
    mine.out = static_cast<T*>(q.out) + part.first * out_size;
    (many ? mine.count : line ? mine.width : mine.height) = part.count;
    mine.out_height = many || line ? q.out_height : part.count;
    array_results all(q.out);
    memory.results().pass(all, part.first * out_size * sizeof(T), [&](result_sink& out) {
        if (many) {
            convolve_images<T>(Memory::on(), memory, mine);
            memory.meet("convolve");
        } else if (line) {
            convolve_line<T>(memory, mine);
        } else {
            convolve_images<T>(memory.on(), memory, mine);
        }
        if (const std::uint64_t bytes = part.count * out_size * sizeof(T); bytes != 0) {
            out.write(0, mine.out, bytes);
        }
    });
}

template <class T, class Memory>
void convolve_of(memory_over<Memory>& memory, const convolve_request& q) {
    if (memory.comm().size() == 1) {
        memory.use();
        convolve_images<T>(Memory::on(), memory, q);
        return;
    }
    const array_type type = sizeof(T) == 8 ? array_type::float64 : array_type::float32;
    memory.together("convolve", type, q.width * q.height * q.count, q.mask_width * q.mask_height,
                    [&] { convolve_parts<T>(memory, q); });
}

template <class Memory>
void run_convolve(memory_over<Memory>& memory, const convolve_request& q) {
    if (q.is_double) {
        convolve_of<double>(memory, q);
    } else {
        convolve_of<float>(memory, q);
    }
}

} // namespace warpfold::calls
