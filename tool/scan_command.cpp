// SPDX-License-Identifier: MIT
// `warpfold scan FILE`: running sums, products, minima and maxima of an array.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "calls/family.hpp"
#include "tool/arrays.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/progress.hpp"

namespace warpfold::tool {
namespace {

struct options {
    std::string file;
    std::string op = "sum";
    bool exclusive = false;
    bool reverse = false;
    std::optional<std::string> out;
    array_options array;
};

constexpr std::array<std::pair<const char*, calls::operation>, 4> operations{{
    {"sum", calls::operation::sum},
    {"product", calls::operation::product},
    {"min", calls::operation::minimum},
    {"max", calls::operation::maximum},
}};

calls::operation operation_named(const std::string& name) {
    for (const auto& [known, op] : operations) {
        if (name == known) {
            return op;
        }
    }
    throw usage_error(fmt::format("--op: '{}' is none of sum, product, min, max", name));
}

// Whether a sum or product on the way leaves 64 bits.
bool wraps(const calls::scan_request& q) {
    const bool adds = q.op == calls::operation::sum;
    if (!adds && q.op != calls::operation::product) {
        return false;
    }
    return calls::with_elements(q.in.type, q.in.data, [&](const auto& in) {
        using A = std::remove_cvref_t<decltype(in[0])>;
        if constexpr (std::is_integral_v<A>) {
            A total = adds ? 0 : 1;
            const std::uint64_t count = q.exclusive && q.in.n != 0 ? q.in.n - 1 : q.in.n;
            for (std::uint64_t k = 0; k < count; ++k) {
                const A x = in[q.reverse ? q.in.n - 1 - k : k];
                if (adds ? __builtin_add_overflow(total, x, &total) : __builtin_mul_overflow(total, x, &total)) {
                    return true;
                }
            }
        }
        return false;
    });
}

int run(const options& o) {
    calls::scan_request q;
    q.op = operation_named(o.op);
    q.exclusive = o.exclusive;
    q.reverse = o.reverse;
    const auto array = open_array(o.file, o.array);
    q.in = view_of(*array);
    calls::target& target = choose_target(o.array.device);
    result_place place(o.out);
    const report::array_type type = calls::type_of(calls::family_of(q.in.type));
    result_array result(type, array->layout().shape);
    q.out = result.data();
    {
        progress line;
        line.show(o.file, 0, 1);
        if (q.in.n != 0) {
            target.scan(q);
        }
    }
    if (wraps(q)) {
        complain(fmt::format("note: a {} on the way is more than {} holds; results are what is left modulo 2^64", o.op,
                             report::name_of(type)));
    }
    place.put(result);
    return 0;
}

} // namespace

action add_scan(CLI::App& app) {
    const auto o = std::make_shared<options>();
    app.add_option("FILE", o->file, array_help)->required();
    app.add_option("--op", o->op, "sum, product, min or max")->type_name("OP")->capture_default_str();
    app.add_flag("--exclusive", o->exclusive,
                 "leave the element itself out: the first result is the operation's identity");
    app.add_flag("--reverse", o->reverse, "from the last element to the first");
    app.add_option("--out", o->out, out_help)->type_name("FILE");
    add_array_options(app, o->array);
    app.footer("Results have the shape of the array and are int64, uint64, float or double.");
    return [o] { return run(*o); };
}

} // namespace warpfold::tool
