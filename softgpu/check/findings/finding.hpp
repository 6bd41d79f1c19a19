// SPDX-License-Identifier: MIT
// The findings of the checks: one for each kind, kernel and pair of source lines, with a count.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "softgpu/check/findings/checks.hpp"

namespace softgpu::check {

// Where in the source an instruction comes from.
struct source_place {
    std::string file; // empty: no line information
    std::uint32_t line = 0;
    std::uint32_t ptx_line = 0; // of the module's text
    std::string instruction;    // as PTX
    // Where the function that this stands in was inlined, from the innermost call on: files and lines.
    std::vector<std::pair<std::string, std::uint32_t>> called_from;
};

// "a.cu:3, called at a.cu:9"; empty where the file is not known.
[[nodiscard]] std::string source_lines(const source_place& at);

// One access, or one arrival, of a finding.
struct finding_access {
    std::string what; // "write of 4 bytes", "waits at barrier 0"
    source_place where;
    std::array<std::uint32_t, 3> block{};
    std::array<std::uint32_t, 3> thread{};
    bool has_thread = false; // block and thread are known
    std::optional<std::string> value;
};

struct finding {
    check_set check = 0;
    std::string kind;       // "race", "out of bounds", ...
    std::string message;    // one sentence
    bool is_note = false;   // information, not an error
    std::string kernel;     // empty: an action of the host
    std::string address;    // "0x7f...", "shared memory + 16"; empty: none
    std::string allocation; // the allocation; empty: unknown
    std::vector<finding_access> accesses;
    std::uint64_t times = 1;
};

// Thread-safe.
class findings {
public:
    // Adds to the times of a finding that is alike: kind, kernel, and the places of all accesses. true: it is new.
    bool add(finding f);

    [[nodiscard]] std::vector<finding> list() const;
    // The same, and forgets them.
    [[nodiscard]] std::vector<finding> take();
    // Grows with every new finding.
    [[nodiscard]] std::size_t size() const;

private:
    using key = std::tuple<std::string, std::string, bool, std::string>;

    mutable std::mutex mutex_;
    std::vector<finding> list_;
    std::map<key, std::size_t> known_;
};

// "0x7f...": an address, as findings name it.
[[nodiscard]] std::string hexadecimal(std::uint64_t value);
// A paragraph of a few lines, the last with a line end.
[[nodiscard]] std::string to_text(const finding& f);

// `whom` is called after every new finding, by the thread that made it and under its locks: it must not throw or call the
// session. nullptr: no call.
void tell_of_new_findings(void (*whom)(const findings& to)) noexcept;

} // namespace softgpu::check
