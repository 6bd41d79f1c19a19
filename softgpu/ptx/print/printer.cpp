// SPDX-License-Identifier: MIT
// Prints a module as PTX text.
#include <cstdint>
#include <cstdio>

#include "softgpu/ptx/ast.hpp"
#include "softgpu/ptx/print/print_parts.hpp"

namespace softgpu::ptx {

namespace {

std::string_view directive_of(linkage link) noexcept {
    switch (link) {
    case linkage::none: return "";
    case linkage::visible: return ".visible ";
    case linkage::external: return ".extern ";
    case linkage::weak: return ".weak ";
    case linkage::common: return ".common ";
    }
    return "";
}

class printer {
public:
    std::string take() { return std::move(out_); }

    void print_module(const module& m) {
        out_ += ".version " + std::to_string(m.version_major) + "." + std::to_string(m.version_minor) + "\n.target ";
        for (std::size_t i = 0; i < m.target.size(); ++i) {
            out_ += i == 0 ? "" : ", ";
            out_ += m.target[i];
        }
        out_ += "\n.address_size " + std::to_string(m.address_size) + "\n\n";
        for (const module_item& item : m.order) {
            switch (item.kind) {
            case item_kind::file: {
                const source_file& file = m.files[item.index];
                out_ += ".file " + std::to_string(file.number) + " \"" + file.name + "\"";
                out_ += file.rest.empty() ? "\n" : ", " + file.rest + "\n";
                break;
            }
            case item_kind::variable: print_variable(m.variables[item.index]); break;
            case item_kind::function: print_function(m, m.functions[item.index]); break;
            case item_kind::alias:
                out_ += ".alias " + m.aliases[item.index].name + ", " + m.aliases[item.index].aliasee + ";\n";
                break;
            case item_kind::pragma: out_ += ".pragma \"" + m.pragmas[item.index] + "\";\n"; break;
            }
        }
    }

    void print_function(const module& m, const function& f) {
        out_ += directive_of(f.link);
        out_ += f.is_entry ? ".entry " : ".func ";
        if (!f.attribute.empty()) {
            out_ += ".attribute(" + f.attribute + ") ";
        }
        if (!f.returns.empty()) {
            out_ += printed_parameters(f.returns) + " ";
        }
        out_ += f.name;
        if (f.parameters.empty()) {
            out_ += "()";
        } else {
            out_ += "(";
            for (std::size_t i = 0; i < f.parameters.size(); ++i) {
                out_ += i == 0 ? "\n\t" : ",\n\t";
                out_ += printed_variable(f.parameters[i]);
            }
            out_ += "\n)";
        }
        for (const std::string& directive : f.directives) {
            out_ += "\n" + directive;
        }
        if (!f.has_body) {
            out_ += ";\n\n";
        } else if (f.body_parsed) {
            out_ += "\n{\n";
            print_body(f);
            out_ += "}\n\n";
        } else {
            out_ += "\n{" + m.text.substr(f.body_begin, f.body_end - f.body_begin) + "}\n\n";
        }
    }

    void print_instruction(const function& f, const instruction& i) {
        if (i.predicate) {
            out_ += i.predicate->negated ? "@!" : "@";
            out_ += f.registers[i.predicate->reg].name + " ";
        }
        out_ += name_of(i.op);
        for (const suffix s : i.suffixes) {
            out_ += '.';
            out_ += name_of(s);
        }
        for (std::size_t o = 0; o < i.operands.size(); ++o) {
            out_ += o == 0 ? " " : ", ";
            print_operand(f, i.operands[o]);
        }
        out_ += ';';
    }

private:
    void print_variable(const variable& v) {
        out_ += directive_of(v.link);
        out_ += printed_variable(v) + ";\n";
    }

    void print_body(const function& f) {
        std::size_t depth = 1;
        for (const statement& s : f.statements) {
            depth -= s.kind == statement_kind::scope_close && depth > 1 ? 1 : 0;
            out_.append(s.kind == statement_kind::label ? 0 : depth, '\t');
            print_statement(f, s);
            out_ += '\n';
            depth += s.kind == statement_kind::scope_open ? 1 : 0;
        }
    }

    void print_statement(const function& f, const statement& s) {
        switch (s.kind) {
        case statement_kind::instruction: print_instruction(f, f.instructions[s.index]); break;
        case statement_kind::label: out_ += s.text + ":"; break;
        case statement_kind::registers: out_ += ".reg " + s.text + ";"; break;
        case statement_kind::variable: {
            const variable& v = f.variables[s.index];
            out_ += directive_of(v.link);
            out_ += printed_variable(v) + ";";
            break;
        }
        case statement_kind::scope_open: out_ += "{"; break;
        case statement_kind::scope_close: out_ += "}"; break;
        case statement_kind::location:
            out_ += ".loc " + std::to_string(s.file) + " " + std::to_string(s.line) + " " + std::to_string(s.column);
            out_ += s.text.empty() ? "" : ", " + s.text;
            break;
        case statement_kind::pragma: out_ += ".pragma \"" + s.text + "\";"; break;
        case statement_kind::prototype: out_ += s.text + ": " + s.names[0] + ";"; break;
        case statement_kind::branch_targets: print_table(s, ".branchtargets "); break;
        case statement_kind::call_targets: print_table(s, ".calltargets "); break;
        }
    }

    void print_table(const statement& s, std::string_view directive) {
        out_ += s.text + ": ";
        out_ += directive;
        for (std::size_t i = 0; i < s.names.size(); ++i) {
            out_ += i == 0 ? "" : ", ";
            out_ += s.names[i];
        }
        out_ += ';';
    }

    void print_operand(const function& f, const operand& o) {
        if (o.negated) {
            out_ += '!';
        }
        switch (o.kind) {
        case operand_kind::reg:
            print_register(f, o);
            if (!o.name.empty()) {
                out_ += "." + o.name;
            }
            break;
        case operand_kind::special: out_ += o.name; break;
        case operand_kind::integer: out_ += std::to_string(static_cast<std::int64_t>(o.bits)); break;
        case operand_kind::float32: print_float("0f", 8, o.bits); break;
        case operand_kind::float64: print_float("0d", 16, o.bits); break;
        case operand_kind::symbol:
            out_ += o.name;
            print_offset(o.offset);
            break;
        case operand_kind::address: print_address(f, o); break;
        case operand_kind::vector: print_elements(f, o, "{", ", ", "}"); break;
        case operand_kind::pair: print_elements(f, o, "", "|", ""); break;
        case operand_kind::group: print_elements(f, o, "(", ", ", ")"); break;
        case operand_kind::sink: out_ += '_'; break;
        }
    }

    void print_register(const function& f, const operand& o) {
        out_ += f.registers[o.reg].name;
        if (o.component != 0) {
            out_ += '.';
            out_ += o.component;
        }
    }

    void print_offset(std::int64_t offset) {
        if (offset != 0) {
            out_ += "+" + std::to_string(offset);
        }
    }

    void print_address(const function& f, const operand& o) {
        out_ += '[';
        if (o.has_register) {
            print_register(f, o);
            print_offset(o.offset);
        } else if (!o.name.empty()) {
            out_ += o.name;
            print_offset(o.offset);
        } else {
            out_ += std::to_string(o.offset);
        }
        for (const operand& element : o.elements) {
            out_ += ", ";
            print_operand(f, element);
        }
        out_ += ']';
    }

    void print_elements(const function& f, const operand& o, std::string_view open, std::string_view between,
                        std::string_view close) {
        out_ += open;
        for (std::size_t i = 0; i < o.elements.size(); ++i) {
            out_ += i == 0 ? "" : between;
            print_operand(f, o.elements[i]);
        }
        out_ += close;
    }

    void print_float(const char* prefix, int digits, std::uint64_t bits) {
        char text[24];
        std::snprintf(text, sizeof text, "%s%0*llX", prefix, digits, static_cast<unsigned long long>(bits));
        out_ += text;
    }

    std::string out_;
};

} // namespace

std::string print(const module& m) {
    printer p;
    p.print_module(m);
    return p.take();
}

std::string print(const function& f, const instruction& i) {
    printer p;
    p.print_instruction(f, i);
    return p.take();
}

} // namespace softgpu::ptx
