// SPDX-License-Identifier: MIT
// .npy files as NumPy writes them, made without the code that is tested.
#pragma once

#include <string>
#include <vector>

namespace warpfold::tests {

template <class Element>
std::string bytes_of(const std::vector<Element>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Element));
}

template <class Element>
std::string npy_bytes(const std::string& descr, const std::string& shape, const std::vector<Element>& values,
                      const std::string& fortran = "False") {
    const std::string header =
        "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size());
    file += '\0';
    return file + header + bytes_of(values);
}

} // namespace warpfold::tests
