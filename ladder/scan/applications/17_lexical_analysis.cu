// SPDX-License-Identifier: MIT
// Scan, step 17: lexical analysis (Hillis and Steele, 1986). A character is a move of a finite automaton, a function
// from states to states. The scan composes the moves, which gives the state behind every character.
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/library_workspace.hpp"
#include "ladder/scan/applications/applications.hpp"
#include "ladder/scan/applications/automaton.hpp"
#include "ladder/scan/steps.hpp"
#include "warpfold/scan.cuh"

namespace warpfold::ladder::scan {

namespace {

struct move_of_character {
    WARPFOLD_HD unsigned operator()(char c) const { return move_of(c); }
};

// First a, then b: associative, but not commutative.
struct followed_by {
    WARPFOLD_HD unsigned operator()(unsigned a, unsigned b) const {
        return move_to(after(b, after(a, in_blanks)), after(b, after(a, in_name)), after(b, after(a, in_number)),
                       after(b, after(a, in_quotes)));
    }
};
struct preceded_by {
    WARPFOLD_HD unsigned operator()(unsigned a, unsigned b) const { return followed_by{}(b, a); }
};

// Takes moves of the whole text so far, and stores where they lead from the first state.
struct states {
    unsigned* out;

    struct one {
        unsigned& state;

        __device__ void operator=(unsigned move) const { state = after(move, in_blanks); }
    };
    __device__ one operator[](std::uint64_t k) const { return {out[k]}; }
};

template <class Op>
void analyse(const engine::stage& on) {
    static engine::kept_workspace memory;
    const gpu target = memory.target(on, scan_workspace<unsigned, unsigned, Op>(on.n));
    warpfold::transform_inclusive_scan(target, on.input<char>(), on.n, states{on.output<unsigned>()},
                                       move_of_character{}, Op{});
}

verdict as_the_automaton(const engine::evidence& e) {
    const auto states = engine::view<std::uint32_t>(e.result);
    const auto text = engine::view<char>(e.data.in[0]);
    unsigned state = in_blanks;
    std::uint64_t wrong = 0;
    for (std::size_t k = 0; k < text.size(); ++k) {
        state = after(move_of(text[k]), state);
        wrong += states[k] != state ? 1 : 0;
    }
    return seen(wrong == 0, std::to_string(wrong) + " of " + std::to_string(text.size()) +
                                " states differ from those of the automaton, character by character");
}

verdict one_pass(const engine::evidence& e) {
    if (e.n() < 32768) {
        return unseen("needs many tiles");
    }
    const auto c = engine::total(e.step);
    const double passes = static_cast<double>(c.global_bytes_requested()) / static_cast<double>(5 * e.n());
    // A second read of the text makes it 1.2; words read again while a block waits for another one are a few.
    return seen(passes < 1.1, number(passes, 3) + "x the bytes of the text and the states; launches: " +
                                  std::to_string(e.step.launches.size()));
}

} // namespace

engine::step_definition lexical_analysis() {
    return {.about = {"17", "lexical analysis", "ladder/scan/applications/17_lexical_analysis.cu",
                      "a scan of the composition of an automaton's moves", "Parallel patterns, Why?"},
            .data = source_text,
            .run = analyse<followed_by>,
            .least_bytes = [](std::uint64_t n) { return 5 * n; },
            .claims = {
                {"composition is associative and does not commute: the scan keeps the order of the characters",
                 "beyond the lectures: Hillis and Steele (1986)",
                 engine::launched(as_the_automaton)
                     .refuted_by(engine::mutant("composition in the other order", analyse<preceded_by>))},
                {"the text is read once and the states are written once", "beyond the lectures",
                 engine::counted(one_pass).refuted_by(engine::step_in_place("9"))},
            }};
}

} // namespace warpfold::ladder::scan
