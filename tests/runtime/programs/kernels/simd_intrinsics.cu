// SPDX-License-Identifier: MIT
// The intrinsics on parts of words (__vadd4 and its kin), dot products, shifts, permutations and bit counts, against
// loops over the parts on the host.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tests/runtime/programs/check.hpp"

// X(intrinsic, bits of a part, signed parts, what it gives of parts x and y, saturated or cut to the part)
#define PARTS(X)                                                                                                       \
    X(__vadd2, 16, false, x + y)                                                                                       \
    X(__vadd4, 8, false, x + y)                                                                                        \
    X(__vsub2, 16, false, x - y)                                                                                       \
    X(__vsub4, 8, false, x - y)                                                                                        \
    X(__vaddss2, 16, true, clamped(x + y, 16, true))                                                                   \
    X(__vaddss4, 8, true, clamped(x + y, 8, true))                                                                     \
    X(__vaddus2, 16, false, clamped(x + y, 16, false))                                                                 \
    X(__vaddus4, 8, false, clamped(x + y, 8, false))                                                                   \
    X(__vsubss2, 16, true, clamped(x - y, 16, true))                                                                   \
    X(__vsubss4, 8, true, clamped(x - y, 8, true))                                                                     \
    X(__vsubus2, 16, false, clamped(x - y, 16, false))                                                                 \
    X(__vsubus4, 8, false, clamped(x - y, 8, false))                                                                   \
    X(__vabsdiffs2, 16, true, std::abs(x - y))                                                                         \
    X(__vabsdiffs4, 8, true, std::abs(x - y))                                                                          \
    X(__vabsdiffu2, 16, false, std::abs(x - y))                                                                        \
    X(__vabsdiffu4, 8, false, std::abs(x - y))                                                                         \
    X(__vavgu2, 16, false, (x + y + 1) / 2)                                                                            \
    X(__vavgu4, 8, false, (x + y + 1) / 2)                                                                             \
    X(__vhaddu2, 16, false, (x + y) / 2)                                                                               \
    X(__vhaddu4, 8, false, (x + y) / 2)                                                                                \
    X(__vmaxs2, 16, true, std::max(x, y))                                                                              \
    X(__vmaxs4, 8, true, std::max(x, y))                                                                               \
    X(__vmaxu2, 16, false, std::max(x, y))                                                                             \
    X(__vmaxu4, 8, false, std::max(x, y))                                                                              \
    X(__vmins2, 16, true, std::min(x, y))                                                                              \
    X(__vmins4, 8, true, std::min(x, y))                                                                               \
    X(__vminu2, 16, false, std::min(x, y))                                                                             \
    X(__vminu4, 8, false, std::min(x, y))                                                                              \
    X(__vcmpeq2, 16, false, x == y ? -1 : 0)                                                                           \
    X(__vcmpeq4, 8, false, x == y ? -1 : 0)                                                                            \
    X(__vcmpne4, 8, false, x != y ? -1 : 0)                                                                            \
    X(__vcmpges2, 16, true, x >= y ? -1 : 0)                                                                           \
    X(__vcmpgts4, 8, true, x > y ? -1 : 0)                                                                             \
    X(__vcmpltu4, 8, false, x < y ? -1 : 0)                                                                            \
    X(__vcmples4, 8, true, x <= y ? -1 : 0)                                                                            \
    X(__vseteq4, 8, false, x == y ? 1 : 0)                                                                             \
    X(__vsetgtu2, 16, false, x > y ? 1 : 0)                                                                            \
    X(__vsetlts4, 8, true, x < y ? 1 : 0)

#define SUMS(X)                                                                                                        \
    X(__vsads2, 16, true)                                                                                              \
    X(__vsads4, 8, true)                                                                                               \
    X(__vsadu2, 16, false)                                                                                             \
    X(__vsadu4, 8, false)

constexpr int results = 96;

__global__ void run(const unsigned* in, unsigned n, unsigned* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) {
        return;
    }
    const unsigned a = in[i / n], b = in[i % n], c = in[(i / n + i) % n];
    unsigned* o = out + i * results;
#define X(name, bits, is_signed, expected) *o++ = name(a, b);
    PARTS(X)
#undef X
#define X(name, bits, is_signed) *o++ = name(a, b);
    SUMS(X)
#undef X
    *o++ = __vabs2(a);
    *o++ = __vabsss4(a);
    *o++ = __vneg4(a);
    *o++ = __vnegss2(a);
    *o++ = static_cast<unsigned>(__dp4a(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)));
    *o++ = __dp4a(a, b, c);
    *o++ = static_cast<unsigned>(__dp2a_lo(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)));
    *o++ = __dp2a_hi(a, b, c);
    *o++ = __byte_perm(a, b, c);
    *o++ = __funnelshift_l(a, b, c);
    *o++ = __funnelshift_rc(a, b, c & 63);
    *o++ = __usad(a, b, c);
    *o++ = __umul24(a, b);
    *o++ = static_cast<unsigned>(__mulhi(static_cast<int>(a), static_cast<int>(b)));
    *o++ = __urhadd(a, b);
    *o++ = __brev(a);
    *o++ = static_cast<unsigned>(__clz(static_cast<int>(a)));
    *o++ = static_cast<unsigned>(__ffs(static_cast<int>(a)));
    *o++ = static_cast<unsigned>(__popc(a));
    *o++ =
        static_cast<unsigned>(__viaddmax_s32(static_cast<int>(a >> 1), static_cast<int>(b >> 1), static_cast<int>(c)));
    *o++ = __vimax3_s16x2(a, b, c);
    *o++ = __vimin_s16x2_relu(a, b);
}

long long part(unsigned word, int k, int bits, bool is_signed) {
    const unsigned x = word >> (k * bits) & ((1U << bits) - 1);
    return is_signed && x >> (bits - 1) != 0 ? static_cast<long long>(x) - (1LL << bits) : x;
}
long long clamped(long long x, int bits, bool is_signed) {
    const long long most = (1LL << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
    return std::min(std::max(x, least), most);
}
template <class F>
unsigned by_parts(unsigned a, unsigned b, int bits, bool is_signed, F&& f) {
    unsigned r = 0;
    for (int k = 0; k < 32 / bits; ++k) {
        const long long v = f(part(a, k, bits, is_signed), part(b, k, bits, is_signed));
        r |= (static_cast<unsigned>(v) & ((1U << bits) - 1)) << (k * bits);
    }
    return r;
}

void want(const char* what, unsigned got, unsigned expected, unsigned a, unsigned b, unsigned c) {
    if (got != expected) {
        std::fprintf(stderr, "%s of 0x%08x, 0x%08x, 0x%08x: 0x%08x, expected 0x%08x\n", what, a, b, c, got, expected);
        std::exit(1);
    }
}

int main() {
    std::vector<unsigned> values = {0,          1,          0xFFFFFFFF, 0x80008000, 0x80808080, 0x7F7F7F7F,
                                    0x7FFF8000, 0x01020304, 0xFF00FF00, 0x8001FFFF, 0x80000000};
    unsigned state = 99;
    while (values.size() < 40) {
        state = state * 1664525 + 1013904223;
        values.push_back(state ^ state >> 15);
    }
    const auto n = static_cast<unsigned>(values.size());
    unsigned *in = nullptr, *out = nullptr;
    CUDA(cudaMallocManaged(&in, n * sizeof(unsigned)));
    CUDA(cudaMallocManaged(&out, n * n * results * sizeof(unsigned)));
    std::copy(values.begin(), values.end(), in);
    run<<<(n * n + 127) / 128, 128>>>(in, n, out);
    CUDA(cudaDeviceSynchronize());
    for (unsigned i = 0; i < n * n; ++i) {
        const unsigned a = values[i / n], b = values[i % n], c = values[(i / n + i) % n];
        const unsigned* o = out + i * results;
        const auto next = [&](const char* what, unsigned expected) { want(what, *o++, expected, a, b, c); };
#define X(name, bits, is_signed, expected)                                                                             \
    next(#name, by_parts(a, b, bits, is_signed, [](long long x, long long y) -> long long { return expected; }));
        PARTS(X)
#undef X
#define X(name, bits, is_signed)                                                                                       \
    {                                                                                                                  \
        long long sum = 0;                                                                                             \
        for (int k = 0; k < 32 / bits; ++k) {                                                                          \
            sum += std::abs(part(a, k, bits, is_signed) - part(b, k, bits, is_signed));                                \
        }                                                                                                              \
        next(#name, static_cast<unsigned>(sum));                                                                       \
    }
        SUMS(X)
#undef X
        const long long sa = static_cast<int>(a), sb = static_cast<int>(b), sc = static_cast<int>(c);
        next("vabs2", by_parts(a, a, 16, true, [](long long x, long long) { return std::abs(x); }));
        next("vabsss4", by_parts(a, a, 8, true, [](long long x, long long) { return clamped(std::abs(x), 8, true); }));
        next("vneg4", by_parts(a, a, 8, true, [](long long x, long long) { return -x; }));
        next("vnegss2", by_parts(a, a, 16, true, [](long long x, long long) { return clamped(-x, 16, true); }));
        long long dot = sc, dot_u = c, low = sc, high = c;
        for (int k = 0; k < 4; ++k) {
            dot += part(a, k, 8, true) * part(b, k, 8, true);
            dot_u += part(a, k, 8, false) * part(b, k, 8, false);
        }
        for (int k = 0; k < 2; ++k) {
            low += part(a, k, 16, true) * part(b, k, 8, true);
            high += part(a, k, 16, false) * part(b, k + 2, 8, false);
        }
        next("dp4a signed", static_cast<unsigned>(dot));
        next("dp4a", static_cast<unsigned>(dot_u));
        next("dp2a_lo", static_cast<unsigned>(low));
        next("dp2a_hi", static_cast<unsigned>(high));
        const unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
        unsigned permuted = 0;
        for (int k = 0; k < 4; ++k) {
            const unsigned pick = c >> (4 * k) & 15;
            const auto byte = static_cast<unsigned>(both >> (8 * (pick & 7)) & 255);
            permuted |= byte << (8 * k); // __byte_perm looks at three bits of each selector
        }
        if ((c & 0x8888) == 0) {
            next("byte_perm", permuted);
        } else {
            ++o;
        }
        next("funnelshift_l", static_cast<unsigned>(both << (c & 31) >> 32));
        const unsigned by = std::min(c & 63, 32U);
        next("funnelshift_rc", static_cast<unsigned>(both >> by));
        next("usad", c + (a > b ? a - b : b - a));
        next("umul24", static_cast<unsigned>(static_cast<unsigned long long>(a & 0xFFFFFF) * (b & 0xFFFFFF)));
        next("mulhi", static_cast<unsigned>(sa * sb >> 32));
        next("urhadd", static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) / 2));
        unsigned reversed = 0, count = 0, lead = 32, first = 0;
        for (unsigned k = 0; k < 32; ++k) {
            const unsigned bit = a >> k & 1;
            reversed |= bit << (31 - k);
            count += bit;
            lead = bit != 0 ? 31 - k : lead;
            first = bit != 0 && first == 0 ? k + 1 : first;
        }
        next("brev", reversed);
        next("clz", lead);
        next("ffs", first);
        next("popc", count);
        next("viaddmax_s32",
             static_cast<unsigned>(std::max(static_cast<int>((a >> 1) + (b >> 1)), static_cast<int>(c))));
        const auto larger = [](long long x, long long y) { return std::max(x, y); };
        next("vimax3_s16x2", by_parts(by_parts(a, b, 16, true, larger), c, 16, true, larger));
        next("vimin_s16x2_relu",
             by_parts(a, b, 16, true, [](long long x, long long y) { return std::max(std::min(x, y), 0LL); }));
    }
    return 0;
}
