// SPDX-License-Identifier: MIT
// `warpfold scan FILE`: running sums, products, minima and maxima of an array.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tool/arrays/arrays.hpp"
#include "tool/arrays/family.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/progress.hpp"
#include "warpfold/chunk_source.hpp"

namespace warpfold::tool {
namespace {

struct scan_options {
    std::string file;
    std::string op = "sum";
    bool exclusive = false;
    bool reverse = false;
    std::optional<std::string> out;
    array_options array;
};

constexpr std::array<std::pair<const char*, calls::operation>, 4> scan_operations{{
    {"sum", calls::operation::sum},
    {"product", calls::operation::product},
    {"min", calls::operation::minimum},
    {"max", calls::operation::maximum},
}};

calls::operation operation_named(const std::string& name) {
    for (const auto& [known, op] : scan_operations) {
        if (name == known) {
            return op;
        }
    }
    throw usage_error(fmt::format("--op: '{}' is none of sum, product, min, max", name));
}

// Whether a sum or product on the way leaves 64 bits.
bool wraps(const calls::scan_request& q) {
    const bool adds = q.op == calls::operation::sum;
    const std::uint64_t n = q.in.size();
    if (!adds && q.op != calls::operation::product) {
        return false;
    }
    const std::size_t bytes = report::size_of(q.in.type());
    if (n == 0 || (adds && bytes < 8 && n < std::uint64_t{1} << 31)) {
        return false; // too few for it
    }
    return calls::with_source(q.in, [&](const auto& source) {
        using A = typename std::remove_cvref_t<decltype(source)>::element;
        if constexpr (std::is_integral_v<A>) {
            A total = adds ? 0 : 1;
            const std::uint64_t count = q.exclusive ? n - 1 : n;
            constexpr std::uint64_t each = std::uint64_t{1} << 18;
            std::vector<std::uint64_t> chunk(std::min(each, n) * bytes / 8 + 1);
            for (std::uint64_t done = 0; done < count; done += each) {
                const std::uint64_t now = std::min(each, count - done);
                source.read(q.reverse ? n - done - now : done, chunk.data(), now);
                const auto in = source.view(chunk.data());
                for (std::uint64_t k = 0; k < now; ++k) {
                    const A x = in[q.reverse ? now - 1 - k : k];
                    if (adds ? __builtin_add_overflow(total, x, &total) : __builtin_mul_overflow(total, x, &total)) {
                        return true;
                    }
                }
            }
        }
        return false;
    });
}

// Results in memory.
class memory_results final : public calls::result_sink {
public:
    explicit memory_results(result_array& array) : array_(array) {}
    void write(std::uint64_t first, const void* from, std::uint64_t bytes) override {
        std::memcpy(static_cast<char*>(array_.data()) + first, from, bytes);
    }

private:
    result_array& array_;
};

// Results in a .npy file. Throws file_error.
class file_results final : public calls::result_sink {
public:
    file_results(const std::string& path, report::array_type type, const std::vector<std::uint64_t>& shape)
        : file_(path) {
        const std::string header = report::npy_header(type, shape);
        file_.write(0, header.data(), header.size());
        header_ = header.size();
    }
    void write(std::uint64_t first, const void* from, std::uint64_t bytes) override {
        file_.write(header_ + first, static_cast<const char*>(from), bytes);
    }

private:
    file_sink<char> file_;
    std::uint64_t header_ = 0;
};

// Of a process whose results go elsewhere.
class no_results final : public calls::result_sink {
public:
    void write(std::uint64_t, const void*, std::uint64_t) override {}
};

int run_scan(const scan_options& o) {
    const calls::operation op = operation_named(o.op);
    const array_input array(o.file, o.array);
    const std::unique_ptr<calls::target> chosen = choose_target(o.array);
    calls::target& target = *chosen;
    result_place place(target.has_results() ? o.out : std::nullopt);
    const report::array_type type = calls::type_of(calls::family_of(array.type()));
    const auto scan = [&](calls::result_sink& out) {
        progress line;
        const calls::scan_request q{array, out, passage_of(o.array, line, o.file), op, o.exclusive, o.reverse};
        target.scan(q);
        if (target.has_results() && wraps(q)) {
            complain(fmt::format("note: a {} on the way is more than {} holds; results are what is left modulo 2^64",
                                 o.op, report::name_of(type)));
        }
    };
    if (!target.has_results()) {
        no_results none;
        scan(none);
        return 0;
    }
    if (place.to_file()) {
        try {
            file_results out(place.temporary(), type, array.layout().shape);
            scan(out);
        } catch (const file_error& error) { // which names a file that nobody has heard of
            std::string what = error.what();
            if (const std::size_t at = what.find(place.temporary()); at != std::string::npos) {
                what.replace(at, place.temporary().size(), *o.out);
            }
            throw failure(what);
        }
        place.commit();
        return 0;
    }
    result_array result(type, array.layout().shape);
    memory_results out(result);
    scan(out);
    place.put(result);
    return 0;
}

} // namespace

action add_scan(CLI::App& app) {
    const auto o = std::make_shared<scan_options>();
    app.add_option("FILE", o->file, input_help)->required();
    app.add_option("--op", o->op, "sum, product, min or max")->type_name("OP")->capture_default_str();
    app.add_flag("--exclusive", o->exclusive,
                 "leave the element itself out: the first result is the operation's identity");
    app.add_flag("--reverse", o->reverse, "from the last element to the first");
    app.add_option("--out", o->out, out_help)->type_name("FILE");
    add_array_options(app, o->array);
    add_chunk_option(app, o->array);
    app.footer("Results have the shape of the array and are int64, uint64, float or double.");
    return [o] { return run_scan(*o); };
}

} // namespace warpfold::tool
