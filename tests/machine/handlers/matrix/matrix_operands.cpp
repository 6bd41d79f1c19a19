// SPDX-License-Identifier: MIT
#include "tests/machine/handlers/matrix/matrix_operands.hpp"

#include <algorithm>

namespace softgpu::test {

namespace {

struct float_shape {
    unsigned exponent_bits, fraction_bits;
};
float_shape shape_of(element e) {
    switch (e) {
    case element::f16: return {5, 10};
    case element::bf16: return {8, 7};
    case element::f64: return {11, 52};
    case element::e4m3: return {4, 3};
    case element::e5m2: return {5, 2};
    default: return {8, 23};
    }
}

struct random_source {
    std::uint64_t state;
    std::uint64_t next() {
        state += 0x9E3779B97F4A7C15ull;
        std::uint64_t z = state;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ z >> 27) * 0x94D049BB133111EBull;
        return z ^ z >> 31;
    }
    unsigned below(unsigned n) { return static_cast<unsigned>(next() >> 33) % n; }
};

random_source source_of(std::string_view name, unsigned number) {
    std::uint64_t h = 1469598103934665603ull;
    for (const char c : name) {
        h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    }
    return {h + std::uint64_t{number} * 0xD1B54A32D192ED03ull};
}

std::uint64_t integer_bits(element e, unsigned kind, random_source& r) {
    const unsigned bits = bits_of(e);
    const std::uint64_t all = (1ull << bits) - 1;
    const std::uint64_t any = r.next();
    if (e == element::s32) { // near the ends of the range in some cases
        return kind == 3 ? (0x7FFFFFF0u + r.below(16)) & all : kind == 5 ? 0x80000000u + r.below(16) : any & all;
    }
    if (kind == 3 || kind == 5) {
        const bool is_signed = e == element::s8 || e == element::s4;
        const std::uint64_t least = is_signed ? 1ull << (bits - 1) : 0;
        const std::uint64_t most = is_signed ? least - 1 : all;
        return r.below(8) == 0 ? any & all : r.below(2) == 0 && kind == 3 ? least : most;
    }
    return any & all;
}

std::uint64_t float_bits(element e, unsigned kind, random_source& r) {
    const auto [eb, fb] = shape_of(e);
    const int top = (1 << eb) - 1;
    const int bias = top >> 1;
    const std::uint64_t any = r.next();
    const std::uint64_t fraction_mask = (1ull << fb) - 1;
    std::uint64_t sign = any >> 63;
    std::uint64_t fraction = any & fraction_mask;
    int exponent = bias;
    switch (kind) {
    case 0:
    case 4:
        exponent = bias - 3 + static_cast<int>(r.below(7));
        if (kind == 4 && r.below(24) == 0) {
            exponent = top;
            fraction = r.below(3) == 0 ? fraction : 0;
            if (e == element::e4m3) {
                fraction = fraction_mask;
            }
        } else if (kind == 4 && r.below(8) == 0) {
            exponent = 0;
            fraction = 0;
        }
        break;
    case 1: return any >> (63 - eb - fb);
    case 2:
        exponent = bias - 12 + static_cast<int>(r.below(25));
        switch (r.below(8)) {
        case 0: fraction = exponent = 0; break;
        case 1: fraction = 1; break;
        case 2: fraction = fraction_mask; break;
        case 3: fraction = 0; break;
        default: break;
        }
        break;
    case 3: {
        const unsigned which = r.below(6);
        exponent = bias + static_cast<int>(r.below(2));
        fraction = which == 0 ? 1 : which == 1 ? fraction_mask : which == 2 ? 1ull << (fb - 1) : 0;
        break;
    }
    case 5: exponent = static_cast<int>(r.below(10) < 6 ? 0 : r.below(static_cast<unsigned>(bias + 3))); break;
    case 6:
        exponent = bias - 14 + static_cast<int>(r.below(29));
        fraction = 0;
        if (r.below(4) != 0) {
            exponent = 0;
        }
        break;
    default:
        exponent = top - 1 - static_cast<int>(r.below(e == element::f32 ? 2 : static_cast<unsigned>(bias / 2 + 1)));
        break;
    }
    exponent = std::clamp(exponent, 0, e == element::e4m3 || kind == 4 ? top : top - 1);
    return (sign << eb | static_cast<std::uint64_t>(exponent)) << fb | fraction;
}

std::uint64_t element_bits(element e, unsigned kind, random_source& r) {
    switch (e) {
    case element::s8:
    case element::u8:
    case element::s4:
    case element::u4:
    case element::b1:
    case element::s32: return integer_bits(e, kind, r);
    default: return float_bits(e, kind, r);
    }
}

// Elements packed into words, the first in the lowest bits.
class packer {
public:
    explicit packer(std::vector<std::uint32_t>& to) : to_(to) {}
    void add(std::uint64_t value, unsigned bits) {
        if (bits == 64) {
            to_.push_back(static_cast<std::uint32_t>(value));
            to_.push_back(static_cast<std::uint32_t>(value >> 32));
            return;
        }
        word_ |= static_cast<std::uint32_t>(value) << used_;
        used_ += bits;
        if (used_ == 32) {
            to_.push_back(word_);
            word_ = used_ = 0;
        }
    }

private:
    std::vector<std::uint32_t>& to_;
    std::uint32_t word_ = 0;
    unsigned used_ = 0;
};

constexpr unsigned kinds = 8;

// Places of the elements of A that are kept: of four the first and the second, two bits each; of tf32 one of two.
std::uint32_t random_metadata(element a, random_source& r) {
    constexpr std::uint32_t pairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
    constexpr std::uint32_t singles[] = {0x4, 0xE};
    std::uint32_t word = 0;
    for (unsigned k = 0; k < 8; ++k) {
        word |= (a == element::tf32 ? singles[r.below(2)] : pairs[r.below(6)]) << (4 * k);
    }
    return word;
}

} // namespace

std::vector<std::uint32_t> operands_of(const mma_form& f, unsigned number) {
    random_source r = source_of(f.name, number);
    std::vector<std::uint32_t> words;
    packer out(words);
    const auto fill = [&](element e, unsigned registers) {
        const unsigned elements = registers * register_words(e) * 32 / bits_of(e);
        for (unsigned k = 0; k < elements; ++k) {
            out.add(element_bits(e, number % kinds, r), bits_of(e));
        }
    };
    for (unsigned lane = 0; lane < 32; ++lane) {
        fill(f.a, f.a_registers);
        fill(f.b, f.b_registers);
        fill(f.c, f.c_registers);
        if (f.selector >= 0) {
            words.push_back(random_metadata(f.a, r));
        }
    }
    return words;
}

void append_elements(std::vector<std::uint32_t>& to, std::string_view name, unsigned number, element e,
                     std::size_t count) {
    random_source r = source_of(name, number);
    packer out(to);
    for (std::size_t k = 0; k < count; ++k) {
        out.add(element_bits(e, number % kinds, r), bits_of(e));
    }
}

std::vector<std::uint32_t> operands_of(const wmma_form& f, unsigned number) {
    random_source r = source_of(f.name(), number);
    std::vector<std::uint32_t> words;
    packer out(words);
    const auto fill = [&](element e, unsigned elements) {
        const unsigned bits = bits_of(e);
        for (unsigned k = 0; k < elements; ++k) {
            const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
            out.add(number == 0   ? k & mask
                    : number == 1 ? k >> std::min(bits, 31u) & mask
                                  : element_bits(e, number % kinds, r),
                    bits);
        }
    };
    fill(f.ab, f.m * f.k);
    fill(f.ab, f.k * f.n);
    fill(f.c, f.m * f.n);
    return words;
}

std::uint32_t hash_of(const std::uint32_t* words, std::size_t count) {
    std::uint32_t h = 2166136261u;
    for (std::size_t k = 0; k < count; ++k) {
        h = (h ^ words[k]) * 16777619u;
        h ^= h >> 15;
    }
    return h;
}

} // namespace softgpu::test
