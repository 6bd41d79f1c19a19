// SPDX-License-Identifier: MIT
// A driver for libFuzzer's entry where there is no libFuzzer: every file of the corpus, then as many mutations of them as
// asked for, drawn from a fixed seed, so that each run tries the same.
//     replay_NAME MUTATIONS SEED CORPUS_FOLDER...
// A crash names the input: replay_NAME --write NUMBER SEED FILE CORPUS_FOLDER... writes it to a file.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using bytes = std::vector<std::uint8_t>;
using generator = std::mt19937_64;

constexpr std::size_t longest = 1u << 16; // of a mutation: what is longer takes time and finds no more
constexpr unsigned seconds_for_one = 60;  // then it hangs

char now[256] = "nothing";

void say_what([[maybe_unused]] int signal) {
    static_cast<void>(!::write(2, now, std::strlen(now)));
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

void try_one(const bytes& input, const std::string& name) {
    std::snprintf(now, sizeof now, "\nthis input went wrong: %s\n", name.c_str());
    ::alarm(seconds_for_one);
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ::alarm(0);
}

struct corpus {
    std::vector<std::string> names;
    std::vector<bytes> files;
};

// By name, so that mutations have the same numbers everywhere.
corpus read_corpus(char** first, char** last) {
    std::vector<std::filesystem::path> paths;
    for (; first != last; ++first) {
        for (const auto& entry : std::filesystem::directory_iterator(*first)) {
            if (entry.is_regular_file()) {
                paths.push_back(entry.path());
            }
        }
    }
    std::sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) { return a.filename() < b.filename(); });
    corpus c;
    for (const auto& path : paths) {
        std::ifstream in(path, std::ios::binary);
        c.names.push_back(path.string());
        c.files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    return c;
}

std::size_t below(generator& random, std::size_t bound) { return bound == 0 ? 0 : random() % bound; }

// Bytes of [at, at + length).
bytes piece_of(const bytes& from, generator& random, std::size_t most) {
    const std::size_t at = below(random, from.size());
    const std::size_t length = std::min(from.size() - at, 1 + below(random, most));
    return {from.begin() + static_cast<std::ptrdiff_t>(at), from.begin() + static_cast<std::ptrdiff_t>(at + length)};
}

void change(bytes& input, const corpus& c, generator& random) {
    static constexpr std::uint64_t odd[] = {0,      1,          0x7F,       0x80,       0xFF, 0x7FFF,
                                            0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, ~0ull};
    const std::size_t at = below(random, input.size());
    const auto place = [&] { return input.begin() + static_cast<std::ptrdiff_t>(std::min(at, input.size())); };
    switch (input.empty() ? 5 : random() % 8) {
    case 0: input[at] ^= static_cast<std::uint8_t>(1u << random() % 8); break;
    case 1: input[at] = static_cast<std::uint8_t>(random()); break;
    case 2: { // a number that is likely to be at an edge, in any width
        const std::uint64_t value = odd[random() % std::size(odd)];
        const std::size_t width = std::min<std::size_t>(std::size_t{1} << random() % 4, input.size() - at);
        std::memcpy(input.data() + at, &value, width);
        break;
    }
    case 3:
        input.erase(place(), place() + static_cast<std::ptrdiff_t>(
                                           1 + below(random, std::min<std::size_t>(64, input.size() - at))));
        break;
    case 4: input.resize(at); break;
    case 5: { // a piece of another file
        const bytes piece = piece_of(c.files[below(random, c.files.size())], random, 256);
        input.insert(place(), piece.begin(), piece.end());
        break;
    }
    case 6: { // a piece of its own once more
        const bytes piece = piece_of(input, random, 64);
        input.insert(place(), piece.begin(), piece.end());
        break;
    }
    case 7: { // a piece of its own elsewhere, in place of what is there
        const bytes piece = piece_of(input, random, 64);
        std::copy_n(piece.begin(), std::min(piece.size(), input.size() - at), place());
        break;
    }
    }
}

bytes mutation(const corpus& c, std::uint64_t seed, std::uint64_t number) {
    generator random(seed * 0x9E3779B97F4A7C15ull + number);
    bytes input = c.files[below(random, c.files.size())];
    if (input.size() > longest) {
        input = piece_of(input, random, longest);
    }
    for (std::size_t n = 1 + below(random, 6); n != 0; --n) {
        change(input, c, random);
    }
    return input;
}

int fail(const char* what) {
    std::fprintf(stderr, "replay: %s\n", what);
    return 2;
}

} // namespace

int main(int argc, char** argv) {
    const bool write = argc > 1 && std::string(argv[1]) == "--write";
    const int first = write ? 5 : 3;
    if (argc <= first) {
        return fail("MUTATIONS SEED CORPUS_FOLDER..., or --write NUMBER SEED FILE CORPUS_FOLDER...");
    }
    const std::uint64_t count = std::strtoull(argv[write ? 2 : 1], nullptr, 10);
    const std::uint64_t seed = std::strtoull(argv[write ? 3 : 2], nullptr, 10);
    const corpus c = read_corpus(argv + first, argv + argc);
    if (c.files.empty()) {
        return fail("the corpus is empty");
    }
    if (write) {
        const bytes input = mutation(c, seed, count);
        std::ofstream out(argv[4], std::ios::binary);
        out.write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
        return out.flush() ? 0 : fail("cannot write the file");
    }
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM}) {
        ::signal(signal, say_what);
    }
    for (std::size_t n = 0; n < c.files.size(); ++n) {
        try_one(c.files[n], c.names[n]);
    }
    for (std::uint64_t n = 0; n < count; ++n) {
        try_one(mutation(c, seed, n), "mutation " + std::to_string(n) + " of seed " + std::to_string(seed));
    }
    std::printf("%zu files and %llu mutations\n", c.files.size(), static_cast<unsigned long long>(count));
    return 0;
}
