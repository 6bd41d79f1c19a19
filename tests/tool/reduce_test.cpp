// SPDX-License-Identifier: MIT
// `warpfold reduce FILE` on the host's cores, and with the real runtime on the software GPU: values, files of every kind, bad
// ones.
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/tool/command.hpp"
#include "tests/tool/npy.hpp"

namespace {

using namespace warpfold::tests;
using nlohmann::json;

class reduce : public with_folder {
protected:
    static outcome run(std::vector<std::string> options, const std::map<std::string, std::string>& environment = {}) {
        options.insert(options.begin(), {"reduce"});
        return run_command(options, {.environment = environment, .folder = {}, .output = {}, .input = {}});
    }

    template <class Element>
    std::string npy(const std::string& name, const std::string& descr, const std::string& shape,
                    const std::vector<Element>& values, const std::string& fortran = "False") const {
        return write(name, npy_bytes(descr, shape, values, fortran));
    }
};

TEST_F(reduce, prints_the_value) {
    const std::string ints = npy<std::int32_t>("i4.npy", "<i4", "(2, 3)", {1, 2, 3, 4, 5, -6});
    outcome seen = run({ints});
    EXPECT_EQ(seen.out, "9\n") << seen.error;
    EXPECT_EQ(seen.error, "");
    EXPECT_EQ(seen.status, 0);
    EXPECT_EQ(run({ints, "--op", "product"}).out, "-720\n");
    EXPECT_EQ(run({npy<std::int64_t>("i8.npy", "<i8", "(2,)", {std::int64_t{1} << 60, 1})}).out,
              "1152921504606846977\n");
    EXPECT_EQ(run({npy<float>("f4.npy", "<f4", "(2,)", {0.1f, 0.0f}), "--op", "max"}).out, "0.1\n");
    EXPECT_EQ(run({npy<double>("f8.npy", "<f8", "()", {0.1})}).out, "0.1\n");
    EXPECT_EQ(run({npy<double>("nan.npy", "<f8", "(1,)", {std::numeric_limits<double>::quiet_NaN()})}).out, "nan\n");
    EXPECT_EQ(run({npy<double>("inf.npy", "<f8", "(1,)", {-std::numeric_limits<double>::infinity()})}).out, "-inf\n");
    EXPECT_EQ(run({write("raw.bin", bytes_of<double>({1.5, 2.25})), "--type", "double"}).out, "3.75\n");
}

TEST_F(reduce, ignores_nan_in_extremes_and_keeps_signs) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::string some = npy<float>("some.npy", "<f4", "(4,)", {nan, -2.5f, 2.5f, nan});
    EXPECT_EQ(run({some, "--op", "min"}).out, "-2.5\n");
    EXPECT_EQ(run({some, "--op", "max"}).out, "2.5\n");
    EXPECT_EQ(run({some, "--op", "largest-magnitude"}).out, "2.5\n");
    EXPECT_EQ(
        run({npy<std::int32_t>("least.npy", "<i4", "(2,)", {INT32_MIN, INT32_MAX}), "--op", "largest-magnitude"}).out,
        "-2147483648\n");
    EXPECT_EQ(run({npy<std::int64_t>("most.npy", "<i8", "(2,)", {INT64_MIN, INT64_MAX}), "--op", "max"}).out,
              "9223372036854775807\n");
}

#ifdef WITH_REAL_LADDER
TEST_F(reduce, gives_the_same_on_the_software_gpu) {
    std::vector<std::int32_t> values(10'000);
    for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<std::int32_t>(k * 2'654'435'761u);
    }
    const std::string file = npy<std::int32_t>("a.npy", "<i4", "(10000,)", values);
    for (const char* op : {"sum", "min", "max", "product", "largest-magnitude"}) {
        const outcome seen = run_command({"reduce", file, "--op", op, "--device", "softgpu"}, {}, true);
        EXPECT_EQ(seen.status, 0) << seen.error;
        EXPECT_EQ(seen.out, run({file, "--op", op, "--device", "host"}).out) << op;
    }
}
#endif

TEST_F(reduce, takes_names_that_look_like_options_or_commands) {
    const std::string file = npy<std::int32_t>("ladder", "<i4", "(1,)", {7});
    const surroundings here{.environment = {}, .folder = folder_.path(), .output = {}, .input = {}};
    EXPECT_EQ(run_command({"reduce", "ladder"}, here).out, "7\n");
    std::filesystem::copy(file, path("-x.npy"));
    EXPECT_EQ(run_command({"reduce", "--", "-x.npy"}, here).out, "7\n");
}

TEST_F(reduce, reads_standard_input_and_small_chunks) {
    const surroundings here{.environment = {}, .folder = {}, .output = {}, .input = bytes_of<double>({1.5, 2.25})};
    EXPECT_EQ(run_command({"reduce", "-", "--type", "double"}, here).out, "3.75\n");
    std::vector<std::int32_t> values(600'000, 5'000); // over 2^31, so that it is read twice
    EXPECT_EQ(run({npy<std::int32_t>("a.npy", "<i4", "(600000,)", values), "--chunk", "1000"}).out, "-1294967296\n");
}

TEST_F(reduce, gives_an_empty_array_its_identity_or_says_that_it_has_none) {
    const std::string empty = npy<float>("empty.npy", "<f4", "(0, 5)", {});
    EXPECT_EQ(run({empty}).out, "0\n");
    EXPECT_EQ(run({empty, "--op", "product"}).out, "1\n");
    for (const char* op : {"min", "max", "largest-magnitude"}) {
        expect_complaint(run({empty, "--op", op}), 1, {"empty", op});
    }
    EXPECT_EQ(run({write("none.bin", ""), "--type", "int32"}).out, "0\n");
}

TEST_F(reduce, says_when_an_integer_does_not_fit) {
    const std::string large = npy<std::int32_t>("large.npy", "<i4", "(2,)", {2147483647, 1});
    outcome seen = run({large});
    EXPECT_EQ(seen.status, 0);
    EXPECT_EQ(seen.out, "-2147483648\n");
    EXPECT_NE(seen.error.find("more than int32 holds"), std::string::npos) << seen.error;
    EXPECT_EQ(json::parse(run({large, "--json", "-"}).out)["wrapped"], true);
    // Only the end counts: what leaves the range on the way and comes back is right.
    seen = run({npy<std::int32_t>("back.npy", "<i4", "(3,)", {2147483647, 1, -1})});
    EXPECT_EQ(seen.out, "2147483647\n");
    EXPECT_EQ(seen.error, "");
    for (const auto& values : std::vector<std::vector<std::int64_t>>{
             {INT64_MIN, 1}, {INT64_MIN, -1, 0}, {4294967296, -2147483648}, {INT64_MIN}, {-1, 2, INT64_MIN / 2}}) {
        const std::string file = npy<std::int64_t>("p.npy", "<i8", "(" + std::to_string(values.size()) + ",)", values);
        const bool wraps = values.front() == -1; // (-1) * 2 * -2^62 = 2^63
        EXPECT_EQ(json::parse(run({file, "--op", "product", "--json", "-"}).out)["wrapped"], wraps);
    }
}

TEST_F(reduce, writes_json) {
    const std::string file = npy<std::int64_t>("a.npy", "<i8", "(2, 1)", {std::int64_t{1} << 60, 1});
    const outcome seen = run({file, "--json", path("a.json")});
    EXPECT_EQ(seen.out, "1152921504606846977\n");
    const json document = json::parse(contents_of(path("a.json")));
    EXPECT_EQ(document["value"].get<std::int64_t>(), 1152921504606846977);
    EXPECT_EQ(document["shape"], json({2, 1}));
    EXPECT_EQ(document["n"], 2);
    EXPECT_EQ(document["type"], "int64");
    EXPECT_EQ(document["op"], "sum");
    EXPECT_EQ(document["device"], "host");
    EXPECT_EQ(document["format"], "npy");
    EXPECT_EQ(document["wrapped"], false);
}

TEST_F(reduce, refuses_bad_files_in_one_line) {
    expect_complaint(run({path("none.npy")}), 1, {"none.npy", "No such file"});
    expect_complaint(run({folder_.path()}), 1, {"directory"});
    expect_complaint(run({""}), 1, {"No such file"});
    expect_complaint(run({npy<std::int32_t>("short.npy", "<i4", "(3,)", {1, 2})}), 1, {"short.npy", "truncated"});
    expect_complaint(run({npy<std::int32_t>("long.npy", "<i4", "(1,)", {1, 2})}), 1, {"4 bytes after"});
    expect_complaint(run({npy<std::int32_t>("f.npy", "<i4", "(2, 2)", {1, 2, 3, 4}, "True")}), 1, {"Fortran order"});
    expect_complaint(run({npy<std::int32_t>("b.npy", ">i4", "(1,)", {1})}), 1, {"big-endian"});
    expect_complaint(run({npy<std::int32_t>("u.npy", "<u4", "(1,)", {1})}), 1, {"u.npy", "uint32", "int32, int64"});
    expect_complaint(run({write("text", "hello")}), 1, {"--type"});
    expect_complaint(run({write("odd", "hello"), "--type", "int32"}), 1, {"5 bytes", "int32"});
    expect_complaint(run({write("x.npy", "hello"), "--type", "int32"}), 1, {".npy"});
    expect_complaint(run({write("line\nbreak", "x")}), 1, {"line\\nbreak"});
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    expect_complaint(run({path("pipe"), "--type", "int32"}), 1, {"no regular file"});
}

TEST_F(reduce, refuses_bad_requests_in_one_line) {
    const std::string file = npy<std::int32_t>("a.npy", "<i4", "(1,)", {1});
    expect_complaint(run({file, "--type", "float"}), 1, {"holds int32, not float"});
    expect_complaint(run({file, "--type", "int8"}), 2, {"--type", "int8"});
    expect_complaint(run({file, "--op", "mean"}), 2, {"--op", "mean"});
    expect_complaint(run({file, "--device", "x"}), 2, {"--device"});
    expect_complaint(run({file, "--json", path("none/x")}), 1, {"cannot write"});
}

} // namespace
