// SPDX-License-Identifier: MIT
// Kernels by name: "scale", "ns::scale" or "scale<float>".
#pragma once

#include <string>

namespace warpfold::testing::detail {

// "void ns::scale<ns::pair<int> >(float*, int)" without return type and parameters, with or without template arguments.
inline std::string plain_name(const std::string& demangled, bool with_arguments) {
    static const std::string anonymous = "(anonymous namespace)";
    std::string name;
    int depth = 0;
    for (std::size_t i = 0; i < demangled.size(); ++i) {
        const char c = demangled[i];
        if (demangled.compare(i, anonymous.size(), anonymous) == 0) {
            name += depth == 0 || with_arguments ? anonymous : "";
            i += anonymous.size() - 1;
            continue;
        }
        if (depth == 0 && c == '(') {
            break;
        }
        if (depth == 0 && c == ' ') {
            name.clear(); // before it stands its type
            continue;
        }
        depth += c == '<' || c == '(' ? 1 : 0;
        if (depth == 0 || (with_arguments && c != ' ')) {
            name += c;
        }
        depth -= c == '>' || c == ')' ? 1 : 0;
    }
    return name;
}

// The whole name, or its end after "::".
inline bool ends_name(const std::string& wanted, const std::string& name) {
    if (wanted.empty() || wanted.size() > name.size() || name.substr(name.size() - wanted.size()) != wanted) {
        return false;
    }
    const std::size_t before = name.size() - wanted.size();
    return before == 0 || (before >= 2 && name.substr(before - 2, 2) == "::");
}

inline bool names(const std::string& wanted, const std::string& demangled) {
    std::string tight;
    for (const char c : wanted) {
        tight += c == ' ' ? "" : std::string(1, c);
    }
    return wanted == demangled || ends_name(wanted, plain_name(demangled, false)) ||
           ends_name(tight, plain_name(demangled, true));
}

} // namespace warpfold::testing::detail
