// SPDX-License-Identifier: MIT
// `warpfold sum`, `scan`, `histogram` and `convolve` on the host's cores, and on the software GPU where it is built.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "tests/tool/command.hpp"
#include "tests/tool/npy.hpp"

namespace {

using namespace warpfold::tests;

std::vector<std::string> devices() {
#ifdef WITH_REAL_LADDER
    return {"host", "softgpu"};
#else
    return {"host"};
#endif
}

class arrays : public with_folder {
protected:
    template <class Element>
    std::string npy(const std::string& name, const std::string& descr, const std::string& shape,
                    const std::vector<Element>& values) const {
        return write(name, npy_bytes(descr, shape, values));
    }

    // On every device, which all have to say the same.
    static outcome run(const std::vector<std::string>& arguments, const std::string& input = "") {
        outcome first;
        for (const std::string& device : devices()) {
            std::vector<std::string> all = arguments;
            all.insert(all.end(), {"--device", device});
            const outcome seen =
                run_command(all, {.environment = {}, .folder = {}, .output = {}, .input = input}, true);
            if (device == devices().front()) {
                first = seen;
                continue;
            }
            EXPECT_EQ(seen.out, first.out) << device << ": " << seen.error;
            EXPECT_EQ(seen.status, first.status) << device << ": " << seen.error;
            EXPECT_EQ(seen.error, first.error) << device;
        }
        return first;
    }
    static void expect_complaint(const std::vector<std::string>& arguments, int status, const std::string& part) {
        const outcome seen = run(arguments);
        EXPECT_EQ(seen.status, status) << seen.error;
        EXPECT_EQ(seen.out, "");
        EXPECT_EQ(seen.error_lines(), 1u) << seen.error;
        EXPECT_EQ(seen.error.find("warpfold: warpfold"), std::string::npos) << seen.error;
        EXPECT_NE(seen.error.find(part), std::string::npos) << seen.error;
    }
};

TEST_F(arrays, sums_are_exact) {
    constexpr double huge = 1e300;
    EXPECT_EQ(run({"sum", npy<double>("a.npy", "<f8", "(5,)", {huge, 1.0, -huge, 1e-300, -1e-300})}).out, "1\n");
    EXPECT_EQ(run({"sum", npy<float>("b.npy", "<f4", "(3,)", {0.1f, 1e30f, -1e30f})}).out, "0.1\n");
    const std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(run({"sum", npy<std::int64_t>("c.npy", "<i8", "(3,)", {most, most, most})}).out,
              "27670116110564327421\n");
    EXPECT_EQ(run({"sum", npy<std::int64_t>("d.npy", "<i8", "(2,)", {least, least})}).out, "-18446744073709551616\n");
    EXPECT_EQ(run({"sum", npy<std::uint64_t>("e.npy", "<u8", "(2,)", {~0ull, ~0ull})}).out, "36893488147419103230\n");
    EXPECT_EQ(run({"sum", npy<std::int8_t>("f.npy", "|i1", "(2, 2)", {-128, -128, 1, 5})}).out, "-250\n");
    EXPECT_EQ(run({"sum", npy<float>("g.npy", "<f4", "(0,)", {})}).out, "0\n");
    EXPECT_EQ(run({"sum", npy<std::int16_t>("h.npy", "<i2", "(0,)", {})}).out, "0\n");
    EXPECT_EQ(run({"sum", write("raw", bytes_of<std::uint16_t>({65535, 2})), "--type", "uint16"}).out, "65537\n");
    const std::string one = npy<double>("i.npy", "<f8", "()", {0.25});
    EXPECT_EQ(run({"sum", one, one}).out, "0.25  " + one + "\n0.25  " + one + "\n");
    EXPECT_EQ(run({"sum", npy<double>("n.npy", "<f8", "(2,)", {HUGE_VAL, -HUGE_VAL})}).out, "nan\n");
}

TEST_F(arrays, scans) {
    EXPECT_EQ(run({"scan", npy<float>("n.npy", "<f4", "(2,)", {HUGE_VALF, -HUGE_VALF})}).out, "inf\nnan\n");
    const std::string ints = npy<std::int32_t>("i.npy", "<i4", "(5,)", {3, -1, 4, -1, 5});
    EXPECT_EQ(run({"scan", ints}).out, "3\n2\n6\n5\n10\n");
    EXPECT_EQ(run({"scan", ints, "--exclusive"}).out, "0\n3\n2\n6\n5\n");
    EXPECT_EQ(run({"scan", ints, "--reverse"}).out, "10\n7\n8\n4\n5\n");
    EXPECT_EQ(run({"scan", ints, "--op", "max"}).out, "3\n3\n4\n4\n5\n");
    EXPECT_EQ(run({"scan", ints, "--op", "product", "--exclusive", "--reverse"}).out, "20\n-20\n-5\n5\n1\n");
    EXPECT_EQ(run({"scan", npy<std::uint8_t>("b.npy", "|u1", "(3,)", {255, 255, 255})}).out, "255\n510\n765\n");
    EXPECT_EQ(run({"scan", npy<float>("f.npy", "<f4", "(3,)", {0.5f, 0.25f, 8.0f})}).out, "0.5\n0.75\n8.75\n");
    EXPECT_EQ(run({"scan", npy<float>("n.npy", "<f4", "(0,)", {})}).out, "");
    const outcome wrapped = run({"scan", npy<std::uint64_t>("w.npy", "<u8", "(3,)", {~0ull, 1, 7})});
    EXPECT_EQ(wrapped.out, "18446744073709551615\n0\n7\n");
    EXPECT_NE(wrapped.error.find("modulo 2^64"), std::string::npos) << wrapped.error;
}

TEST_F(arrays, scans_many_elements_into_a_file) {
    std::vector<std::int32_t> values(100'003);
    std::vector<std::int64_t> expected(values.size());
    std::int64_t total = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<std::int32_t>(k * 2654435761u);
        expected[k] = total += values[k];
    }
    const std::string in = npy("i.npy", "<i4", "(100003,)", values);
    const std::string out = path("o.npy");
    EXPECT_EQ(run({"scan", in, "--out", out}).error, "");
    const std::string file = contents_of(out);
    ASSERT_GT(file.size(), bytes_of(expected).size());
    EXPECT_TRUE(file.ends_with(bytes_of(expected)));
    EXPECT_NE(file.find("'<i8'"), std::string::npos);
    EXPECT_EQ(run({"sum", out}).status, 0);
    // The array's own file, under another name: the results replace it when they are complete.
    const std::string link = path("link.npy");
    std::filesystem::create_symlink(in, link);
    const outcome seen = run_command({"scan", in, "--chunk", "1000", "--out", link, "--device", "host"},
                                     {.environment = {}, .folder = {}, .output = {}, .input = {}}, true);
    EXPECT_EQ(seen.error, "");
    EXPECT_EQ(contents_of(in), file);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(arrays, histograms) {
    const std::string bytes = npy<std::uint8_t>("u.npy", "|u1", "(6,)", {0, 1, 1, 254, 255, 255});
    EXPECT_EQ(run({"histogram", bytes, "--bins", "2"}).out, "0\t128\t3\n128\t256\t3\n");
    EXPECT_EQ(run({"histogram", bytes, "--bins", "1", "--range", "1:255"}).out, "1\t255\t3\n");
    const std::string edges = npy<std::int32_t>("e.npy", "<i4", "(3,)", {0, 1, 255});
    EXPECT_EQ(run({"histogram", bytes, "--edges", edges}).out, "0\t1\t1\n1\t255\t3\n");
    const std::string reals =
        npy<float>("f.npy", "<f4", "(5,)", {-1.0f, 0.0f, 0.5f, 1.0f, std::numeric_limits<float>::quiet_NaN()});
    EXPECT_EQ(run({"histogram", reals, "--bins", "2", "--range", "0:1"}).out, "0\t0.5\t1\n0.5\t1\t1\n");
    const std::string out = path("o.npy");
    EXPECT_EQ(
        run({"histogram", npy<double>("d.npy", "<f8", "(3,)", {1, 2, 3}), "--bins", "65536", "--out", out}).status, 0);
    EXPECT_EQ(run({"sum", out}).out, "3\n");
    const std::string same = npy<double>("s.npy", "<f8", "(2,)", {7, 7});
    EXPECT_EQ(run({"histogram", same, "--bins", "2"}).out, "6.5\t7\t0\n7\t7.5\t2\n");
    EXPECT_EQ(run({"histogram", npy<double>("z.npy", "<f8", "(0,)", {}), "--bins", "1"}).out, "0\t1\t0\n");
}

TEST_F(arrays, pass_through_in_chunks) {
    std::vector<std::int16_t> values(3001);
    std::vector<std::int64_t> forwards(values.size()), backwards(values.size());
    std::int64_t total = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<std::int16_t>(k * 40503);
        forwards[k] = total += values[k];
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
        backwards[k] = total - (k == 0 ? 0 : forwards[k - 1]);
    }
    const std::string in = npy("i.npy", "<i2", "(3001,)", values);
    const std::string out = path("o.npy");
    const std::vector<std::string> chunks{"--chunk", "1000"};
    const auto with_chunks = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), chunks.begin(), chunks.end());
        return run(arguments);
    };
    EXPECT_EQ(with_chunks({"sum", in}).out, std::to_string(total) + "\n");
    EXPECT_EQ(with_chunks({"scan", in, "--out", out}).error, "");
    EXPECT_TRUE(contents_of(out).ends_with(bytes_of(forwards)));
    EXPECT_EQ(with_chunks({"scan", in, "--out", out, "--reverse"}).error, "");
    EXPECT_TRUE(contents_of(out).ends_with(bytes_of(backwards)));
    EXPECT_EQ(with_chunks({"scan", in, "--exclusive", "--op", "min"}).out,
              run({"scan", in, "--exclusive", "--op", "min"}).out);
    EXPECT_EQ(with_chunks({"histogram", in, "--bins", "7"}).out, run({"histogram", in, "--bins", "7"}).out);
    std::vector<double> terms(2000, 1e-3);
    terms[3] = 1e200;
    terms[1999] = -1e200;
    EXPECT_EQ(with_chunks({"sum", npy("d.npy", "<f8", "(2000,)", terms)}).out, "1.998\n");
}

TEST_F(arrays, read_standard_input) {
    EXPECT_EQ(run({"sum", "-"}, npy_bytes<float>("<f4", "(2, 2)", {1, 2, 3, 4.5f})).out, "10.5\n");
    EXPECT_EQ(run({"scan", "-", "--type", "uint8"}, "\x01\x02\x03").out, "1\n3\n6\n");
    EXPECT_EQ(run({"histogram", "-", "--type", "uint8", "--bins", "1"}, "\x01\x02\x03").out, "1\t4\t3\n");
    const outcome seen = run({"sum", "-", "--type", "int32"}, "12345");
    EXPECT_EQ(seen.status, 1);
    EXPECT_NE(seen.error.find("5 bytes are no whole number"), std::string::npos) << seen.error;
}

TEST_F(arrays, convolves) {
    const std::string line = npy<float>("l.npy", "<f4", "(4,)", {1, 2, 3, 4});
    const std::string mask = npy<double>("m.npy", "<f8", "(3,)", {1, 0, -1});
    EXPECT_EQ(run({"convolve", line, "--mask", mask}).out, "2\n2\n2\n-3\n");
    EXPECT_EQ(run({"convolve", line, "--mask", mask, "--correlate"}).out, "-2\n-2\n-2\n3\n");
    EXPECT_EQ(run({"convolve", line, "--mask", mask, "--size", "full"}).out, "1\n2\n2\n2\n-3\n-4\n");
    EXPECT_EQ(run({"convolve", line, "--mask", mask, "--size", "valid"}).out, "2\n2\n");
    EXPECT_EQ(run({"convolve", line, "--mask", mask, "--border", "clamp"}).out, "1\n2\n2\n1\n");
    const std::string wide = npy<double>("w.npy", "<f8", "(5,)", {1, 0, 0, 0, -1});
    EXPECT_EQ(run({"convolve", line, "--mask", wide, "--border", "reflect"}).out, "1\n3\n3\n1\n");
    const std::string image = npy<std::uint8_t>("i.npy", "|u1", "(2, 3)", {1, 2, 3, 4, 5, 6});
    const std::string square = npy<float>("q.npy", "<f4", "(2, 2)", {1, 1, 1, 1});
    const std::string out = path("o.npy");
    EXPECT_EQ(run({"convolve", image, "--mask", square, "--size", "valid", "--out", out}).error, "");
    EXPECT_TRUE(contents_of(out).ends_with(bytes_of<float>({12, 16})));
    EXPECT_NE(contents_of(out).find("(1, 2)"), std::string::npos);
    EXPECT_EQ(run({"convolve", image, "--mask", mask, "--size", "valid"}).out, "2\n2\n"); // along every row
}

TEST_F(arrays, say_in_one_line_what_is_wrong) {
    const std::string line = npy<float>("l.npy", "<f4", "(4,)", {1, 2, 3, 4});
    const std::string nan = npy<double>("n.npy", "<f8", "(1,)", {std::nan("")});
    const std::string image = npy<float>("i.npy", "<f4", "(2, 2)", {1, 2, 3, 4});
    expect_complaint({"sum", path("none.npy")}, 1, "none.npy");
    expect_complaint({"sum", write("raw", "1234")}, 1, "--type");
    expect_complaint({"sum", folder_.path()}, 1, "directory");
    expect_complaint({"sum", "/dev/zero", "--type", "int32"}, 1, "no regular file");
    expect_complaint({"histogram", write("cut.npy", contents_of(line).substr(0, contents_of(line).size() - 1))}, 1,
                     "truncated");
    expect_complaint({"scan", line, "--chunk", "0"}, 2, "--chunk");
    expect_complaint({"sum", line, "--chunk", "large"}, 2, "--chunk");
    expect_complaint({"sum", line, "--type", "int"}, 2, "'int'");
    expect_complaint({"scan", line, "--op", "xor"}, 2, "'xor'");
    expect_complaint({"scan", line, "--out", path("no/such/folder")}, 1, "no/such/folder");
    expect_complaint({"histogram", line, "--bins", "0"}, 2, "--bins");
    expect_complaint({"histogram", line, "--bins", "many"}, 2, "--bins");
    expect_complaint({"histogram", line, "--range", "1"}, 2, "LOWER:UPPER");
    expect_complaint({"histogram", line, "--range", "2:1"}, 2, "lower bound");
    expect_complaint({"histogram", line, "--range", "a:1"}, 2, "'a'");
    expect_complaint({"histogram", nan}, 1, "finite");
    expect_complaint({"histogram", line, "--edges", npy<float>("e.npy", "<f4", "(3,)", {0, 2, 1})}, 1, "not sorted");
    expect_complaint({"histogram", line, "--edges", npy<float>("e1.npy", "<f4", "(1,)", {0})}, 1, "fewer than two");
    expect_complaint({"histogram", npy<std::int32_t>("i4.npy", "<i4", "(1,)", {1}), "--edges",
                      npy<double>("e2.npy", "<f8", "(2,)", {0.5, 2})},
                     1, "0.5");
    expect_complaint({"convolve", line, "--mask", image}, 1, "dimensions");
    expect_complaint({"convolve", line, "--mask", npy<float>("e3.npy", "<f4", "(0,)", {})}, 1, "mask");
    expect_complaint({"convolve", line, "--mask", line, "--border", "grey"}, 2, "'grey'");
    expect_complaint({"sum", npy<double>("c.npy", ">c16", "(1,)", {1, 2})}, 1, "none of those");
    expect_complaint({"histogram", npy<std::uint64_t>("u8.npy", "<u8", "(2,)", {1, ~0ull})}, 1, "largest number");
    const double most = std::numeric_limits<double>::max();
    expect_complaint({"histogram", npy<double>("m.npy", "<f8", "(2,)", {1, most})}, 1, "largest number");
    expect_complaint({"histogram", line, "--range", "0:1e39"}, 2, "type holds");
    expect_complaint({"convolve", npy<float>("s.npy", "<f4", "()", {1}), "--mask", line}, 1, "1 dimension,");
    expect_complaint({"scan", line, "--out", "/dev/full"}, 1, "/dev/full: No space left");
    const outcome elsewhere = run_command({"sum", line, "--device", "tpu"}, {}, true);
    EXPECT_EQ(elsewhere.status, 2);
    EXPECT_EQ(elsewhere.error, "warpfold: --device: 'tpu' is none of auto, gpu, softgpu, host\n");
    const outcome seen = run_command({"sum", line, "--device", "host", "--card", "T4"}, {}, true);
    EXPECT_EQ(seen.status, 2);
    EXPECT_NE(seen.error.find("--device host"), std::string::npos) << seen.error;
}

} // namespace
