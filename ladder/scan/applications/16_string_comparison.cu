// SPDX-License-Identifier: MIT
// Scan, step 16: lexicographic comparison of two strings, for all their prefixes. The operation takes the left operand
// unless it says "equal": the first difference decides.
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/library_workspace.hpp"
#include "ladder/scan/applications/applications.hpp"
#include "warpfold/scan.cuh"

namespace warpfold::ladder::scan {

namespace {

// The order of two characters; the end of the other string comes before all of them.
struct compared_with {
    const char* other;
    std::uint64_t length;

    __device__ int operator()(char c, std::uint64_t k) const {
        return k >= length ? 1 : (c > other[k]) - (c < other[k]);
    }
};

struct first_difference {
    WARPFOLD_HD int operator()(int a, int b) const { return a != 0 ? a : b; }
};
struct last_difference {
    WARPFOLD_HD int operator()(int a, int b) const { return b != 0 ? b : a; }
};

template <class Op>
void compare(const engine::stage& on) {
    static engine::kept_workspace memory;
    const gpu target = memory.target(on, scan_workspace<int, int, Op>(on.n));
    const compared_with order{on.input<char>(1), on.data->in[1].size()};
    warpfold::transform_inclusive_scan(target, on.input<char>(), on.n, on.output<int>(), order, Op{});
}

verdict first_one_decides(const engine::evidence& e) {
    const auto orders = engine::view<std::int32_t>(e.result);
    std::uint64_t changes = 0;
    for (std::size_t k = 1; k < orders.size(); ++k) {
        changes += orders[k - 1] != 0 && orders[k] != orders[k - 1] ? 1 : 0;
    }
    return e.n() == 0 ? unseen("needs a character")
                      : seen(changes == 0, "behind the first difference the order changes " + std::to_string(changes) +
                                               " times; of the strings it is " + std::to_string(orders.back()));
}

} // namespace

engine::step_definition string_comparison() {
    return {.about = {"16", "string comparison", "ladder/scan/applications/16_string_comparison.cu",
                      "an operation that does not commute: the left operand, unless it is \"equal\"",
                      "Parallel patterns, Why?"},
            .data = two_strings,
            .run = compare<first_difference>,
            .claims = {
                {"the scan combines neighbours in their order, so that the first difference decides for all longer "
                 "prefixes",
                 "beyond the lectures",
                 engine::launched(first_one_decides)
                     .refuted_by(engine::mutant("the operands exchanged", compare<last_difference>))},
            }};
}

} // namespace warpfold::ladder::scan
