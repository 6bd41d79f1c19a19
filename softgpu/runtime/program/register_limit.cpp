// SPDX-License-Identifier: MIT
#include "softgpu/runtime/program/register_limit.hpp"

#include "softgpu/ptx/lex/lexer.hpp"

namespace softgpu::runtime {

std::string with_register_limit(std::string_view ptx, unsigned most) {
    std::string limited;
    std::size_t copied = 0;
    try {
        ptx::lexer lexer(ptx);
        bool lacks_limit = false; // the header of a kernel without such directives
        for (ptx::token t = lexer.next(); most != 0 && t.kind != ptx::token_kind::end; t = lexer.next()) {
            if (t.is_dotted("entry")) {
                lacks_limit = true;
            } else if (t.is_dotted("maxnreg") || t.is_dotted("maxntid") || t.is_dotted("minnctapersm") || t.is(';')) {
                lacks_limit = false;
            } else if (t.is('{')) {
                if (lacks_limit) {
                    limited += ptx.substr(copied, t.position - copied);
                    limited += ".maxnreg " + std::to_string(most) + "\n";
                    copied = t.position;
                    lacks_limit = false;
                }
                lexer.skip_braces(t.where, "a body");
            }
        }
    } catch (const ptx::error&) { // whoever loads it says what is wrong
        return std::string(ptx);
    }
    return limited + std::string(ptx.substr(copied));
}

} // namespace softgpu::runtime
