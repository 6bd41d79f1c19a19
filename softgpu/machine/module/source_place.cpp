// SPDX-License-Identifier: MIT
#include "softgpu/machine/module/source_place.hpp"

#include <algorithm>
#include <functional>

#include "softgpu/machine/module/loaded_module.hpp"

namespace softgpu::machine {

namespace {

// The unit of the program that this function stands in.
const ptx::module& module_of(const module::implementation& home, const ptx::function* f) {
    for (const module::implementation* const unit : home.linked->units) {
        const std::vector<ptx::function>& all = unit->parsed->functions;
        if (std::less_equal<>()(all.data(), f) && std::less<>()(f, all.data() + all.size())) {
            return *unit->parsed;
        }
    }
    return *home.parsed;
}

std::string file_name(const ptx::module& home, std::uint32_t number) {
    for (const ptx::source_file& f : home.files) {
        if (f.number == number) {
            return f.name;
        }
    }
    return "file " + std::to_string(number);
}

} // namespace

check::source_place source_place_of(const module::implementation& program, const instruction_place& which) {
    check::source_place found;
    if (which.function == nullptr || which.index >= which.function->instructions.size()) {
        return found;
    }
    const ptx::instruction& i = which.function->instructions[which.index];
    found.ptx_line = static_cast<std::uint32_t>(i.where.line);
    found.instruction = ptx::print(*which.function, i);
    const ptx::statement* at = nullptr;
    for (const ptx::statement& statement : which.function->statements) {
        if (statement.kind == ptx::statement_kind::location) {
            at = &statement;
        } else if (statement.kind == ptx::statement_kind::instruction && statement.index == which.index) {
            break;
        }
    }
    if (at == nullptr) {
        return found;
    }
    const ptx::module& home = module_of(program, which.function);
    found.file = file_name(home, at->file);
    found.line = at->line;
    // .loc 2 134 1, function_name $L, inlined_at 1 176 28: the call stands there, and may itself be inlined.
    for (unsigned depth = 0; depth < 16; ++depth) {
        const std::size_t word = at->text.find("inlined_at");
        unsigned file = 0;
        unsigned line = 0;
        unsigned column = 0;
        if (word == std::string::npos ||
            std::sscanf(at->text.c_str() + word, "inlined_at %u %u %u", &file, &line, &column) < 2) {
            break;
        }
        found.called_from.emplace_back(file_name(home, file), line);
        const auto is_call = [&](const ptx::statement& other) {
            return other.kind == ptx::statement_kind::location && other.file == file && other.line == line &&
                   other.column == column && other.text.find("inlined_at") != std::string::npos;
        };
        // The same call may be inlined several times: the copy before this place is meant, else the first behind it.
        const ptx::statement* const begin = which.function->statements.data();
        const ptx::statement* const end = begin + which.function->statements.size();
        const ptx::statement* call = at;
        while (call != begin && !is_call(*(call - 1))) {
            --call;
        }
        call = call != begin ? call - 1 : std::find_if(at + 1, end, is_call);
        if (call == end) {
            break;
        }
        at = call;
    }
    if (found.line == 0) { // of the compiler's making
        found.file.clear();
    }
    return found;
}

} // namespace softgpu::machine
