// SPDX-License-Identifier: MIT
#include "softgpu/check/findings/checks.hpp"

#include <stdexcept>

namespace softgpu::check {

namespace {

struct entry {
    std::string_view name;
    check_set value;
};

constexpr entry entries[] = {
    {"memory", memory}, {"race", race}, {"init", init}, {"sync", sync}, {"leak", leak}, {"all", all},
};

} // namespace

check_set parse_checks(std::string_view text) {
    check_set result = 0;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view word = text.substr(0, comma);
        check_set found = 0;
        for (const entry& e : entries) {
            found |= e.name == word ? e.value : 0;
        }
        if (found == 0) {
            throw std::invalid_argument("'" + std::string(word) +
                                        "' is no check; there are memory, race, init, sync, leak and all");
        }
        result |= found;
        if (comma == std::string_view::npos) {
            return result;
        }
        text.remove_prefix(comma + 1);
    }
}

std::string_view name_of(check_set one) noexcept {
    for (const entry& e : entries) {
        if (e.value == one) {
            return e.name;
        }
    }
    return {};
}

} // namespace softgpu::check
