// SPDX-License-Identifier: MIT
// Scans of long arrays on a GPU in tiles as large as they are, even where arrays are short: several tiles a block on a
// card that has few multiprocessors, and one of them in shared memory where there is no room for more. Exits with 1 where
// a result differs from the definition.
#define WARPFOLD_TUNING_SCAN_ONCE 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 1
#include "warpfold/scan.cuh"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/scan_cases.hpp"
#include "tests/runtime/programs/check.hpp"

using namespace warpfold;
using tests::on_device;
using tests::scanned;

namespace {

template <class T, class U, class Op>
void check(std::uint64_t n, std::size_t skip, const Op& op, workspace& memory) {
    const auto x = tests::small_numbers<T>(n, static_cast<unsigned>(n));
    const on_device<T> in(x, skip);
    const on_device<U> out(std::vector<U>(n, U{}));
    inclusive_scan(gpu{nullptr, &memory}, in.data(), n, out.data(), op);
    CHECK((tests::same_bits(out.read(), scanned<U, U>(x, op, true))));
    exclusive_scan(gpu{nullptr, &memory}, in.data(), n, out.data(), op, 7, reversed);
    CHECK((tests::same_bits(out.read(), scanned<U, U>(x, op, false, U(7), true))));
}

void order() {
    const std::uint64_t n = 30011;
    std::vector<tests::affine> maps(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        maps[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(k * k + 1)};
    }
    const on_device<tests::affine> in(maps);
    inclusive_scan(gpu{}, in.data(), n, in.data(), tests::then{});
    CHECK((in.read() == scanned<tests::affine, tests::affine>(maps, tests::then{}, true)));
}

// The bits of sums that are not exact, which are to be the same whatever the card.
std::uint64_t bits_of_sums() {
    const std::uint64_t n = 400009;
    std::vector<float> x(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        x[k] = 1.0f / static_cast<float>(k + 1);
    }
    const on_device<float> in(x), out(std::vector<float>(n, 0.0f));
    inclusive_scan(gpu{}, in.data(), n, out.data());
    std::uint64_t hash = 1469598103934665603u;
    for (const float sum : out.read()) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &sum, 4);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}

} // namespace

int main() {
    workspace memory(scan_workspace<std::uint64_t>(1000000));
    check<std::int32_t, std::int32_t>(900001, 0, sum{}, memory); // 110 tiles
    check<std::int32_t, std::int64_t>(300007, 1, sum{}, memory); // read and written in different lengths
    check<std::uint8_t, std::uint8_t>(300007, 3, sum{}, memory);
    order();
    std::printf("%016llx\n", static_cast<unsigned long long>(bits_of_sums()));
    std::vector<unsigned char> left(memory.bytes());
    CUDA(cudaMemcpy(left.data(), memory.memory(), left.size(), cudaMemcpyDeviceToHost));
    for (const unsigned char one : left) {
        CHECK(one == 0);
    }
}
