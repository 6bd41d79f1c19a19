// SPDX-License-Identifier: MIT
// Parses module scope and, of each function, the body. Source: PTX ISA 9.0, chapters 5 and 11.
#include <charconv>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "softgpu/ptx/parse/body_parser.hpp"
#include "softgpu/ptx/parse/declaration.hpp"

namespace softgpu::ptx {

namespace {

constexpr unsigned newest_major_version = 9;

class module_parser {
public:
    explicit module_parser(module& m) : m_(m), in_(m.text, {1, 1}, "the end of the text") {}

    void parse() {
        parse_version();
        parse_target();
        while (!in_.at_end()) {
            parse_item();
        }
        check_names();
    }

private:
    static std::string at(location where) { return std::to_string(where.line) + ":" + std::to_string(where.column); }

    void parse_version() {
        if (!in_.peek().is_dotted("version")) {
            in_.fail_expected("'.version' at the start of a module");
        }
        in_.next();
        const token t = in_.peek();
        const std::size_t dot = t.text.find('.');
        if (t.kind != token_kind::float64 || dot == std::string_view::npos) {
            in_.fail_expected("a version such as 9.0");
        }
        const char* last = t.text.data() + t.text.size();
        const auto major = std::from_chars(t.text.data(), t.text.data() + dot, m_.version_major);
        const auto minor = std::from_chars(t.text.data() + dot + 1, last, m_.version_minor);
        if (major.ec != std::errc() || major.ptr != t.text.data() + dot || minor.ec != std::errc() ||
            minor.ptr != last) {
            in_.fail_expected("a version such as 9.0");
        }
        if (m_.version_major == 0) {
            throw error(t.where, "PTX version " + std::string(t.text) + " is not known");
        }
        if (m_.version_major > newest_major_version) {
            throw unknown_version(t.where, "PTX version " + std::string(t.text) + " is not known: the newest is " +
                                               std::to_string(newest_major_version) + ".x");
        }
        in_.next();
    }

    void parse_target() {
        if (!in_.peek().is_dotted("target")) {
            in_.fail_expected("'.target' behind '.version'");
        }
        in_.next();
        do {
            const token t = in_.expect_kind(token_kind::identifier, "a target such as sm_75");
            const bool known = t.text.starts_with("sm_") || t.text.starts_with("compute_") ||
                               t.text == "texmode_unified" || t.text == "texmode_independent" || t.text == "debug" ||
                               t.text == "map_f64_to_f32";
            if (!known) {
                throw error(t.where, "unknown target '" + std::string(t.text) + "'");
            }
            m_.target.emplace_back(t.text);
        } while (in_.accept(','));
    }

    void parse_item() {
        const token t = in_.peek();
        if (t.kind != token_kind::dotted) {
            in_.fail_expected("a directive at module scope");
        }
        if (t.text == "address_size") {
            parse_address_size();
        } else if (t.text == "file") {
            parse_file();
        } else if (t.text == "section") {
            parse_section();
        } else if (t.text == "alias") {
            parse_alias();
        } else if (t.text == "pragma") {
            in_.next();
            const token text = in_.expect_kind(token_kind::string, "a string behind '.pragma'");
            in_.expect(';', "behind '.pragma'");
            add(item_kind::pragma, m_.pragmas.size());
            m_.pragmas.emplace_back(text.text);
        } else if (t.text == "version" || t.text == "target") {
            throw error(t.where, "a second '." + std::string(t.text) + "'");
        } else {
            parse_declaration();
        }
    }

    void add(item_kind kind, std::size_t index) { m_.order.push_back({kind, static_cast<std::uint32_t>(index)}); }

    void parse_address_size() {
        in_.next();
        const token t = in_.expect_kind(token_kind::integer, "32 or 64 behind '.address_size'");
        if (t.bits != 32 && t.bits != 64) {
            throw error(t.where, "the address size is 32 or 64, not " + std::string(t.text));
        }
        m_.address_size = static_cast<unsigned>(t.bits);
    }

    // .file 1 "name" [, timestamp, size]
    void parse_file() {
        in_.next();
        source_file file;
        file.number = static_cast<std::uint32_t>(in_.expect_integer("the number of a file", 0xFFFFFFFF));
        file.name = in_.expect_kind(token_kind::string, "the name of a file").text;
        while (in_.accept(',')) {
            file.rest += file.rest.empty() ? "" : ", ";
            file.rest += in_.expect_kind(token_kind::integer, "a time or a size of a file").text;
        }
        add(item_kind::file, m_.files.size());
        m_.files.push_back(std::move(file));
    }

    // .section .debug_str { ... } is for debuggers: nothing of it is kept.
    void parse_section() {
        in_.next();
        if (!in_.at_kind(token_kind::dotted) && !in_.at_kind(token_kind::identifier)) {
            in_.fail_expected("the name of a section");
        }
        const std::string name(in_.next().text);
        if (!in_.at('{')) {
            in_.fail_expected("'{' behind the name of a section");
        }
        in_.skip_braces("the section '." + name + "'");
    }

    void parse_alias() {
        alias a;
        a.where = in_.next().where;
        a.name = in_.expect_kind(token_kind::identifier, "a function behind '.alias'").text;
        in_.expect(',', "between the names of '.alias'");
        a.aliasee = in_.expect_kind(token_kind::identifier, "the function that an alias stands for").text;
        in_.expect(';', "behind '.alias'");
        add(item_kind::alias, m_.aliases.size());
        m_.aliases.push_back(std::move(a));
    }

    void parse_declaration() {
        linkage link = linkage::none;
        while (const auto l = declared_linkage(in_.peek())) {
            if (link != linkage::none) {
                throw error(in_.peek().where, "a second linkage, '." + std::string(in_.peek().text) + "'");
            }
            link = *l;
            in_.next();
        }
        const token t = in_.peek();
        if (t.is_dotted("func") || t.is_dotted("entry")) {
            parse_function(link);
        } else if (const auto space = declared_space(t); space && *space != suffix::param) {
            for (variable& v : parse_variables(in_, link)) {
                declare(v);
                add(item_kind::variable, m_.variables.size());
                m_.variables.push_back(std::move(v));
            }
        } else if (link != linkage::none) {
            in_.fail_expected("a variable or a function behind the linkage");
        } else {
            throw error(t.where, "unknown directive " + in_.described(t) + " at module scope");
        }
    }

    struct known_name {
        bool is_function = false;
        bool is_defined = false;
        location where;
    };

    // A variable may be declared .extern, and defined once; a function may be declared often, and defined once.
    void declare_name(const std::string& name, const known_name& fresh) {
        const auto [known, is_new] = known_.try_emplace(name, fresh);
        if (is_new) {
            return;
        }
        known_name& before = known->second;
        if (before.is_function != fresh.is_function || (before.is_defined && fresh.is_defined)) {
            throw error(fresh.where, "'" + name + "' is already declared at " + at(before.where));
        }
        before.is_defined = before.is_defined || fresh.is_defined;
    }

    void declare(const variable& v) {
        const bool defined = v.link != linkage::external && v.link != linkage::common;
        declare_name(v.name, {false, defined, v.where});
    }

    void parse_function(linkage link) {
        function f;
        f.link = link;
        f.is_entry = in_.next().text == "entry";
        if (in_.peek().is_dotted("attribute")) {
            f.attribute = parse_attribute(in_);
        }
        if (!f.is_entry && in_.at('(')) {
            f.returns = parse_parameters(in_);
        }
        const token name = in_.expect_kind(token_kind::identifier, "the name of a function");
        f.name = name.text;
        f.where = name.where;
        if (in_.at('(')) {
            f.parameters = parse_parameters(in_);
        }
        while (in_.at_kind(token_kind::dotted)) {
            parse_function_directive(f);
        }
        if (in_.at('{')) {
            find_body(f);
        } else {
            in_.expect(';', "or '{' behind the head of the function '" + f.name + "'");
        }
        declare_name(f.name, {true, f.has_body, f.where});
        add(item_kind::function, m_.functions.size());
        m_.functions.push_back(std::move(f));
    }

    void find_body(function& f) {
        if (f.link == linkage::external) {
            throw error(in_.peek().where, "the function '" + f.name + "' is .extern and has a body");
        }
        f.has_body = true;
        f.body_begin = in_.peek().position + 1;
        f.body_where = in_.behind();
        try {
            f.body_end = in_.skip_braces("the function '" + f.name + "'");
        } catch (const error&) {
            // Some brace is missing: reading the body as it goes on finds out where.
            const module_names names(m_);
            body_parser(m_, names, f, std::string_view(m_.text).substr(f.body_begin), f.body_where).parse();
            throw;
        }
    }

    void parse_function_directive(function& f) {
        const token t = in_.next();
        std::string text = "." + std::string(t.text);
        if (t.text == "noreturn") {
            f.noreturn = true;
        } else if (t.text == "maxntid") {
            parse_dimensions(t, text, f.maxntid);
        } else if (t.text == "reqntid") {
            parse_dimensions(t, text, f.reqntid);
        } else if (t.text == "reqnctapercluster") {
            parse_dimensions(t, text, f.reqnctapercluster);
        } else if (t.text == "minnctapersm") {
            f.minnctapersm = parse_count(t, text);
        } else if (t.text == "maxnreg") {
            f.maxnreg = parse_count(t, text);
        } else if (t.text == "maxclusterrank") {
            f.maxclusterrank = parse_count(t, text);
        } else if (t.text == "explicitcluster") {
            f.explicitcluster = true;
        } else if (t.text == "blocksareclusters") {
            f.blocksareclusters = true;
        } else if (t.text == "maxnctapersm" || t.text == "abi_preserve" || t.text == "abi_preserve_control") {
            parse_count(t, text);
        } else if (t.text == "pragma") {
            text += " \"";
            text += in_.expect_kind(token_kind::string, "a string behind '.pragma'").text;
            text += "\";";
            in_.expect(';', "behind '.pragma'");
        } else {
            throw error(t.where, "unknown directive '." + std::string(t.text) + "' of a function");
        }
        f.directives.push_back(std::move(text));
    }

    std::uint32_t parse_count(const token& directive, std::string& text) {
        const auto n = static_cast<std::uint32_t>(
            in_.expect_integer("the number behind '." + std::string(directive.text) + "'", 0x7FFFFFFF));
        text += " " + std::to_string(n);
        return n;
    }

    void parse_dimensions(const token& directive, std::string& text, std::uint32_t (&sizes)[3]) {
        sizes[0] = sizes[1] = sizes[2] = 1;
        for (int d = 0; d < 3; ++d) {
            const token t = in_.peek();
            text += d == 0 ? "" : ",";
            sizes[d] = parse_count(directive, text);
            if (sizes[d] == 0) {
                throw error(t.where, "a dimension of '." + std::string(directive.text) + "' is 0");
            }
            if (!in_.accept(',')) {
                return;
            }
            if (d == 2) {
                throw error(in_.peek().where, "'." + std::string(directive.text) + "' has three dimensions at most");
            }
        }
    }

    // Names in initialisers and aliases may be declared further down.
    void check_names() const {
        for (const variable& v : m_.variables) {
            for (const initial_value& value : v.initial) {
                if (!value.symbol.empty() && !known_.contains(value.symbol)) {
                    throw error(v.where,
                                "undeclared name '" + value.symbol + "' in the initialiser of '" + v.name + "'");
                }
            }
        }
        for (const alias& a : m_.aliases) {
            const auto known = known_.find(a.aliasee);
            if (known == known_.end() || !known->second.is_function) {
                throw error(a.where, "undeclared function '" + a.aliasee + "' behind '.alias'");
            }
        }
    }

    module& m_;
    token_stream in_;
    std::unordered_map<std::string, known_name> known_;
};

void parse_body(module& owner, const module_names& names, function& f) {
    if (!f.has_body || f.body_parsed) {
        return;
    }
    const std::string_view text = std::string_view(owner.text).substr(f.body_begin, f.body_end - f.body_begin);
    try {
        body_parser(owner, names, f, text, f.body_where).parse();
    } catch (...) {
        f.registers.clear();
        f.variables.clear();
        f.instructions.clear();
        f.statements.clear();
        throw;
    }
}

} // namespace

module parse(std::string text, bodies when) {
    module m;
    m.text = std::move(text);
    module_parser(m).parse();
    if (when == bodies::now) {
        const module_names names(m);
        for (function& f : m.functions) {
            parse_body(m, names, f);
        }
    }
    return m;
}

void parse_body(module& owner, function& f) { parse_body(owner, module_names(owner), f); }

} // namespace softgpu::ptx
