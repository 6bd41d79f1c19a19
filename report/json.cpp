// SPDX-License-Identifier: MIT
// Numbers and text of JSON documents.
#include "report/json.hpp"

#include <cmath>

namespace warpfold::report {

json number(double value) {
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return value > 0 ? "inf" : "-inf";
    }
    return value;
}

json number(const std::optional<double>& value) { return value ? number(*value) : json(nullptr); }

std::string text_of(const json& document) {
    return document.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

} // namespace warpfold::report
