// SPDX-License-Identifier: MIT
// A PTX module as written: what the parser makes, the printer prints, and softgpu/program decodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/ptx/error.hpp"
#include "softgpu/ptx/isa/opcode.hpp"
#include "softgpu/ptx/isa/suffix.hpp"

namespace softgpu::ptx {

enum class operand_kind : std::uint8_t {
    reg,     // %r1             reg; `negated` for !%p1
    special, // %tid.x          name holds it whole, "%tid.x"
    integer, // 42, -1, 0x7fU   bits, sign-extended
    float32, // 0f3F800000      bits
    float64, // 0d..., 1.5      bits
    symbol,  // a variable, function or label; name, and offset for "name+4"
    address, // [base+offset]   base is `reg` where has_register, else `name`; neither for [128]
    vector,  // {a, b}          elements; also a brace list of constants
    pair,    // p|q             elements, two
    group,   // (a, b)          elements: the parameter lists of call
    sink,    // _
};

// What a symbol names, where the parser found out: `target` of the operand counts in the list given here.
enum class symbol_kind : std::uint8_t {
    none,      // no symbol
    label,     // function::statements
    local,     // function::variables
    parameter, // function::parameters
    returned,  // function::returns
    variable,  // module::variables
    function,  // module::functions, a definition before a declaration
    alias,     // module::aliases
    table,     // function::statements: a .callprototype, .branchtargets or .calltargets
};

struct operand {
    operand_kind kind = operand_kind::sink;
    bool negated = false;
    bool has_register = false;
    char component = 0;                        // 'x', 'y', 'z' or 'w' for an element of a vector register, else 0
    std::uint32_t reg = 0;                     // index into function::registers
    symbol_kind refers_to = symbol_kind::none; // of `name`, for symbol and address
    std::uint32_t target = 0;
    std::uint64_t bits = 0;
    std::int64_t offset = 0;
    std::string name;              // of a reg: what a video instruction selects from it, "b0", "h1", "b3210"
    std::vector<operand> elements; // of an address: what follows the first comma in [a, {b, c}]
    location where;
};

struct guard {
    std::uint32_t reg = 0;
    bool negated = false;
};

struct instruction {
    opcode op{};
    std::optional<guard> predicate;
    std::vector<suffix> suffixes;  // ".shared", ".v2", ".u32", ... in the order written
    std::vector<operand> operands; // in the order written: destination first where the opcode has one
    location where;

    [[nodiscard]] bool has(suffix s) const noexcept {
        for (const suffix mine : suffixes) {
            if (mine == s) {
                return true;
            }
        }
        return false;
    }
    // The nth suffix that names a type, or suffix::none: cvt.rn.f32.f64 has f32 as 0 and f64 as 1.
    [[nodiscard]] suffix type(std::size_t nth = 0) const noexcept {
        for (const suffix mine : suffixes) {
            if (kind_of(mine) == suffix_kind::type && nth-- == 0) {
                return mine;
            }
        }
        return suffix::none;
    }
    // The first suffix that names a state space, or suffix::none (generic).
    [[nodiscard]] suffix space() const noexcept {
        for (const suffix mine : suffixes) {
            if (kind_of(mine) == suffix_kind::space) {
                return mine;
            }
        }
        return suffix::none;
    }
    // 1, 2, 4 or 8, from .v2, .v4, .v8.
    [[nodiscard]] unsigned vector_width() const noexcept {
        return has(suffix::v2) ? 2 : has(suffix::v4) ? 4 : has(suffix::v8) ? 8 : 1;
    }
};

// How many leading operands this form writes, 0 or 1: as destinations_of(opcode), but right for bar.red,
// mbarrier.arrive and the like too.
[[nodiscard]] unsigned destinations_of(const instruction& i) noexcept;

// A value inside a variable's initialiser: a number, or the address of a symbol (generic when wrapped so).
struct initial_value {
    std::uint64_t bits = 0; // integer, or the bit pattern of a float of the variable's type
    std::string symbol;     // non-empty: the address of this variable or function, plus `offset`
    std::int64_t offset = 0;
    bool generic = false;   // written generic(symbol)
    std::uint64_t mask = 0; // non-zero for mask(symbol) forms: 0xFF, 0xFF00, ...
};

enum class linkage : std::uint8_t { none, visible, external, weak, common };

// A variable at module scope, in a body (.local, .shared, .param), or a parameter.
struct variable {
    std::string name;
    suffix space = suffix::none; // global, const_, shared, local, param, tex
    suffix type = suffix::b8;
    unsigned vector = 1;         // .v2, .v4
    std::uint32_t alignment = 0; // from .align; 0: the type's own
    bool is_array = false;
    std::vector<std::uint64_t> dimensions; // [4][8]; empty and is_array: []
    std::vector<initial_value> initial;    // in order, flattened
    bool is_pointer = false;               // .ptr on a kernel parameter, with the space and alignment pointed to
    suffix pointed_space = suffix::none;
    std::uint32_t pointed_alignment = 0;
    linkage link = linkage::none;
    bool managed = false;       // .attribute(.managed)
    std::string attribute;      // other attributes, as written: ".unified(19, 95)"
    std::string opaque_initial; // of a texture, sampler or surface: "{ ... }", as written
    location where;

    [[nodiscard]] std::uint64_t elements() const noexcept {
        std::uint64_t n = vector;
        for (const std::uint64_t d : dimensions) {
            n *= d;
        }
        return is_array && dimensions.empty() ? 0 : n;
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return elements() * bytes_of(type); }
    [[nodiscard]] std::uint32_t aligned_to() const noexcept {
        return alignment != 0 ? alignment : bytes_of(type) * vector;
    }
};

struct register_declaration {
    std::string name; // "%r7": the family %r<23> stands here as 23 registers
    suffix type = suffix::b32;
    unsigned vector = 1;
};

enum class statement_kind : std::uint8_t {
    instruction,    // function::instructions[index]
    label,          // text is its name; unique in the function (a repeated one gets "$2", "$3", ...)
    registers,      // a .reg directive: text after ".reg", without the semicolon
    variable,       // function::variables[index]
    scope_open,     // {
    scope_close,    // }
    location,       // .loc file line column; text is what follows the comma: "function_name ..., inlined_at ..."
    pragma,         // .pragma: text holds the string
    prototype,      // label: .callprototype ...; text is the label, names[0] what follows it, without the semicolon
    branch_targets, // label: .branchtargets L1, L2; text is the label, the rest in `names`, `targets` in statements
    call_targets,   // label: .calltargets f, g; text is the label, the rest in `names`, `targets` in module::functions
};

struct statement {
    statement_kind kind = statement_kind::instruction;
    std::uint32_t index = 0;
    std::string text;
    std::vector<std::string> names;
    std::vector<std::uint32_t> targets;
    std::uint32_t file = 0; // of location
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    location where;
};

struct function {
    std::string name;
    bool is_entry = false;
    bool has_body = false;
    bool noreturn = false;
    linkage link = linkage::none;
    std::vector<variable> returns;
    std::vector<variable> parameters;
    std::string attribute;               // ".unified(19, 95)", as written
    std::vector<std::string> directives; // ".maxntid 256, 1, 1": as written, one each
    // Performance directives that a launch has to respect; 0 where not given.
    std::uint32_t maxntid[3] = {0, 0, 0};
    std::uint32_t reqntid[3] = {0, 0, 0};
    std::uint32_t reqnctapercluster[3] = {0, 0, 0};
    std::uint32_t maxclusterrank = 0;
    bool explicitcluster = false;   // the launch must have a cluster size
    bool blocksareclusters = false; // a launch counts clusters where it says blocks
    std::uint32_t minnctapersm = 0;
    std::uint32_t maxnreg = 0;
    location where;

    // The body. Empty until module::parse_body has read it.
    std::vector<register_declaration> registers;
    std::vector<variable> variables;
    std::vector<instruction> instructions;
    std::vector<statement> statements;
    bool body_parsed = false;
    std::size_t body_begin = 0; // bytes of the module's text between the braces, for a late parse
    std::size_t body_end = 0;
    location body_where;
};

struct source_file {
    std::uint32_t number = 0;
    std::string name;
    std::string rest; // timestamp and size as written, if any
};

struct alias {
    std::string name;    // a function declared in this module ...
    std::string aliasee; // ... whose code is this one's
    location where;
};

enum class item_kind : std::uint8_t { file, variable, function, alias, pragma };

// One thing at module scope: an index into the list of its kind.
struct module_item {
    item_kind kind = item_kind::file;
    std::uint32_t index = 0;
};

struct module {
    unsigned version_major = 0;
    unsigned version_minor = 0;
    std::vector<std::string> target; // "sm_75", "debug", ...
    unsigned address_size = 64;
    std::vector<source_file> files;
    std::vector<variable> variables; // module scope, in order
    std::vector<function> functions; // in order; a declaration and its definition are two entries
    std::vector<alias> aliases;
    std::vector<std::string> pragmas; // at module scope
    std::vector<module_item> order;   // all of the above, in the order written
    std::string text;                 // what was parsed

    [[nodiscard]] function* find_function(std::string_view name) noexcept; // a definition before a declaration
    [[nodiscard]] const variable* find_variable(std::string_view name) const noexcept;
};

enum class bodies : std::uint8_t { now, later };

// Reads a whole module of PTX, up to version 9. With bodies::later only finds where each body begins and ends;
// parse_body reads one. Throws ptx::error.
[[nodiscard]] module parse(std::string text, bodies when = bodies::now);
void parse_body(module& owner, function& f);

// PTX text that parses to an equal module. Comments are lost; the order of everything else stays.
[[nodiscard]] std::string print(const module& m);
[[nodiscard]] std::string print(const function& f, const instruction& i);

} // namespace softgpu::ptx
