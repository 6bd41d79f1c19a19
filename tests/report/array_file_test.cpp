// SPDX-License-Identifier: MIT
// Reading .npy and raw files: every version and shape, and everything that is wrong with a file.
#include "report/array_file.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "report/passing_folder.hpp"

namespace {

using namespace warpfold::report;

std::string npy(const std::string& dictionary, std::size_t data_bytes, unsigned version = 1) {
    std::string header = dictionary + "\n";
    std::string out("\x93NUMPY", 6);
    out += static_cast<char>(version);
    out += '\0';
    for (unsigned i = 0; i < (version == 1 ? 2u : 4u); ++i) {
        out += static_cast<char>(header.size() >> (8 * i) & 0xFF);
    }
    return out + header + std::string(data_bytes, '\x01');
}

std::string dictionary(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

array_layout parse(const std::string& file) { return parse_npy(std::as_bytes(std::span(file))); }

std::string complaint(const std::string& file) {
    try {
        static_cast<void>(parse(file));
    } catch (const bad_array& error) {
        return error.what();
    }
    return "no complaint";
}

void expect_complaint(const std::string& file, const std::string& part) {
    const std::string text = complaint(file);
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(parse_npy, reads_every_version_type_and_shape) {
    for (const unsigned version : {1u, 2u, 3u}) {
        const array_layout a = parse(npy(dictionary("<i4", "(2, 3)"), 24, version));
        EXPECT_EQ(a.type, array_type::int32);
        EXPECT_EQ(a.shape, (std::vector<std::uint64_t>{2, 3}));
        EXPECT_EQ(a.count, 6u);
    }
    EXPECT_EQ(parse(npy(dictionary("<i8", "(3,)"), 24)).type, array_type::int64);
    EXPECT_EQ(parse(npy(dictionary("<f4", "(6,)"), 24)).type, array_type::float32);
    EXPECT_EQ(parse(npy(dictionary("<f8", "(3,)"), 24)).type, array_type::float64);
    EXPECT_EQ(parse(npy(dictionary("|u1", "(3,)"), 3)).type, array_type::uint8);
    EXPECT_EQ(parse(npy(dictionary("<i1", "(3,)"), 3)).type, array_type::int8);
    EXPECT_EQ(parse(npy(dictionary("=u2", "(3,)"), 6)).type, array_type::uint16);
    EXPECT_EQ(parse(npy(dictionary("<f8", "(3L,)"), 24)).count, 3u);
    EXPECT_EQ(parse(npy("{\"shape\": (1,1 , 2), \"fortran_order\":False,\"descr\":\"<f4\"}", 8)).count, 2u);
}

TEST(npy_header, is_read_again) {
    std::vector<std::uint64_t> long_shape(64, 1);
    long_shape[3] = 7;
    for (const std::vector<std::uint64_t>& shape :
         {std::vector<std::uint64_t>{}, {7}, {0}, {7, 1}, {1, 1, 7}, long_shape}) {
        for (unsigned k = 0; k < 10; ++k) {
            const auto type = static_cast<array_type>(k);
            const std::string header = npy_header(type, shape);
            EXPECT_EQ(header.size() % 64, 0u);
            EXPECT_EQ(header.back(), '\n');
            const std::size_t count = shape.empty() ? 1 : shape == std::vector<std::uint64_t>{0} ? 0 : 7;
            const array_layout a = parse(header + std::string(count * size_of(type), 'x'));
            EXPECT_EQ(a.type, type);
            EXPECT_EQ(a.shape, shape);
            EXPECT_EQ(a.data_offset, header.size());
            EXPECT_EQ(array_type_named(name_of(type)), type);
        }
    }
    EXPECT_EQ(array_type_named("int"), std::nullopt);
}

TEST(parse_npy, reads_single_values_and_empty_arrays) {
    EXPECT_EQ(parse(npy(dictionary("<f8", "()"), 8)).count, 1u);
    EXPECT_EQ(parse(npy(dictionary("<f8", "(0,)"), 0)).count, 0u);
    EXPECT_EQ(parse(npy(dictionary("<f8", "(18446744073709551615, 18446744073709551615, 0)"), 0)).count, 0u);
}

TEST(parse_npy, takes_fortran_order_only_where_it_is_c_order_too) {
    expect_complaint(npy(dictionary("<i4", "(2, 3)", "True"), 24), "Fortran order");
    EXPECT_EQ(parse(npy(dictionary("<i4", "(6,)", "True"), 24)).count, 6u);
    EXPECT_EQ(parse(npy(dictionary("<i4", "(1, 6, 1)", "True"), 24)).count, 6u);
    EXPECT_EQ(parse(npy(dictionary("<i4", "()", "True"), 4)).count, 1u);
    EXPECT_EQ(parse(npy(dictionary("<i4", "(0, 3)", "True"), 0)).count, 0u);
}

TEST(parse_npy, names_what_is_wrong) {
    expect_complaint(npy(dictionary(">i4", "(1,)"), 4), "big-endian");
    expect_complaint(npy(dictionary("<u3", "(1,)"), 4), "'<u3'");
    expect_complaint(npy(dictionary("|u2", "(1,)"), 2), "'|u2'");
    expect_complaint(npy(dictionary("<f2", "(1,)"), 2), "'<f2'");
    expect_complaint(npy(dictionary("|b1", "(1,)"), 1), "'|b1'");
    expect_complaint(npy(dictionary("<c16", "(1,)"), 16), "'<c16'");
    expect_complaint(npy(dictionary("|O", "(1,)"), 8), "Python objects");
    expect_complaint(npy("{'descr': [('a', '<i4'), ('b', '<f4', (2,))], 'fortran_order': False, 'shape': (1,), }", 12),
                     "structured");
    expect_complaint(npy(dictionary("<i4", "(2,)"), 7), "truncated");
    expect_complaint(npy(dictionary("<i4", "(2,)"), 0), "truncated");
    expect_complaint(npy(dictionary("<i4", "(2,)"), 9), "1 bytes after");
    expect_complaint(npy(dictionary("<i4", "()"), 5), "1 bytes after");
    expect_complaint(npy(dictionary("<f8", "(4294967296, 4294967296)"), 8), "more elements than a file can hold");
    expect_complaint(npy(dictionary("<f8", "(2305843009213693952,)"), 8), "more elements than a file can hold");
    expect_complaint(npy(dictionary("<f8", "(2305843009213693951,)"), 8), "truncated");
    expect_complaint(npy(dictionary("<f8", "(99999999999999999999,)"), 8), "2^64");
    expect_complaint(npy(dictionary("<i4", "(-1,)"), 4), "dimension");
    expect_complaint(npy(dictionary("<i4", "(1)"), 4), "no tuple");
    expect_complaint(npy(dictionary("<i4", "1"), 4), "'(' expected");
    expect_complaint(npy(dictionary("<i4", "(1,)", "Maybe"), 4), "neither True nor False");
    expect_complaint(npy(dictionary("<i4", "(1,)") + " x", 4), "text after");
    expect_complaint(npy("{'descr': '<i4', 'shape': (1,), }", 4), "are needed");
    expect_complaint(npy("{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,), }", 4), "repeated");
    expect_complaint(npy("{'other': '<i4'}", 4), "unexpected");
    expect_complaint(npy("{'descr': '<i4", 4), "does not end");
    expect_complaint(npy("{'descr': [[", 4), "does not end");
    expect_complaint(npy("", 4), "malformed");
    expect_complaint(npy(dictionary("<i4", "(1,)"), 4, 4), "version 4.0");
    expect_complaint("\x93NUMPY", "ends inside");
    expect_complaint(std::string("\x93NUMPY\x01\x00\x40", 9), "ends inside");
    expect_complaint(std::string("\x93NUMPY\x01\x00\x40\x00{", 11), "ends inside");
    expect_complaint(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13), "claims to be");
    expect_complaint("", "does not begin");
    std::string dimensions = "(";
    for (int i = 0; i < 65; ++i) {
        dimensions += "1,";
    }
    expect_complaint(npy(dictionary("<i4", dimensions + ")"), 4), "64 dimensions");
}

TEST(parse_npy, survives_every_cut) {
    const std::string whole = npy(dictionary("<i4", "(2, 3)"), 24);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_THROW(static_cast<void>(parse(whole.substr(0, length))), bad_array) << length;
    }
}

// Whatever the bytes are, the answer is an array that lies within them, or a complaint.
TEST(parse_npy, survives_changed_bytes) {
    std::mt19937 random(587);
    const std::string wholes[] = {
        npy(dictionary("<i4", "(2, 3)"), 24),
        npy(dictionary("<f8", "()"), 8, 2),
        npy("{'descr': [('a', '<i4'), ('b', '<f4', (2,))], 'fortran_order': False, 'shape': (1,), }", 12, 3),
    };
    const std::string pieces[] = {"(", ")", "[",           "]",    "{", "}", "'",  "\"",
                                  ",", "9", "99999999999", "True", "<", "L", "\\", std::string(1, '\0')};
    std::size_t read = 0;
    for (int i = 0; i < 60'000; ++i) {
        std::string file = wholes[random() % std::size(wholes)];
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % file.size();
            switch (random() % 4) {
            case 0: file[at] = static_cast<char>(random() % 256); break;
            case 1: file.erase(at, 1 + random() % 8); break;
            case 2: file.insert(at, pieces[random() % std::size(pieces)]); break;
            default: file.replace(at, 1, pieces[random() % std::size(pieces)]); break;
            }
            if (file.empty()) {
                file = wholes[0];
            }
        }
        try {
            const array_layout a = parse(file);
            ++read;
            ASSERT_EQ(a.data_offset + a.count * size_of(a.type), file.size());
        } catch (const bad_array& error) {
            ASSERT_NE(std::string(error.what()), "");
        }
    }
    EXPECT_GT(read, 0u);
}

class array_files : public testing::Test {
protected:
    std::string write(const char* name, const std::string& bytes) const {
        std::ofstream(folder_.file(name), std::ios::binary) << bytes;
        return folder_.file(name);
    }

    const passing_folder folder_{"warpfold_test"};
};

TEST_F(array_files, reads_raw_elements) {
    const array_reader array(write("a.raw", std::string(16, '\0')), array_type::float32);
    EXPECT_EQ(array.layout().count, 4u);
    EXPECT_EQ(array_reader(write("b.raw", ""), array_type::int64).layout().count, 0u);
    EXPECT_THROW(array_reader(write("c.raw", "12345"), array_type::int32), bad_array);
    EXPECT_THROW(array_reader(write("d.raw", "1234"), std::nullopt), bad_array);
}

TEST_F(array_files, are_read_part_by_part) {
    std::string file = npy(dictionary("<i2", "(5,)"), 10);
    for (unsigned k = 0; k < 5; ++k) {
        file[file.size() - 10 + 2 * k] = static_cast<char>(10 + k);
    }
    const std::string path = write("a.npy", file);
    const array_reader array(path, std::nullopt);
    EXPECT_EQ(array.layout().count, 5u);
    std::int16_t got[2];
    array.read(2, got, 2);
    EXPECT_EQ(got[0], 0x010c);
    EXPECT_EQ(got[1], 0x010d);
    std::filesystem::resize_file(path, file.size() - 3);
    EXPECT_NO_THROW(array.read(0, got, 2));
    try {
        array.read(3, got, 2);
        ADD_FAILURE() << "the file is too short";
    } catch (const bad_array& error) {
        EXPECT_NE(std::string(error.what()).find("became shorter"), std::string::npos) << error.what();
    }
    EXPECT_THROW(array_reader(path, std::nullopt), bad_array);
    EXPECT_THROW(array_reader(write("b.npy", ""), array_type::int32), bad_array);
    EXPECT_EQ(array_reader(write("c.raw", ""), array_type::int64).layout().count, 0u);
    EXPECT_THROW(array_reader("/", array_type::int8), bad_array);
    // A header of nearly the greatest length, and data behind what is read at first.
    const std::string long_header = npy(dictionary("<i2", "(3,)") + std::string(65000, ' '), 6, 2);
    const array_reader longer(write("d.npy", long_header), std::nullopt);
    longer.read(1, got, 2);
    EXPECT_EQ(got[1], 0x0101);
}

TEST_F(array_files, refuses_what_is_no_array) {
    EXPECT_THROW(array_reader(folder_.file("none.npy"), std::nullopt), bad_array);
    EXPECT_THROW(array_reader(folder_.path(), array_type::int32), bad_array);
    EXPECT_THROW(array_reader("/dev/zero", array_type::int32), bad_array);
    EXPECT_THROW(array_reader("", array_type::int32), bad_array);
    EXPECT_THROW(array_reader(write("empty.npy", ""), array_type::int32), bad_array);
    EXPECT_THROW(array_reader(write("a.npy", npy(dictionary("<i4", "(1,)"), 4)), array_type::float32), bad_array);
    const std::string pipe = folder_.file("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THROW(array_reader(pipe, array_type::int32), bad_array);
}

} // namespace
