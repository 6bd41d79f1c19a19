// SPDX-License-Identifier: MIT
// Constant expressions by precedence climbing.
#include "softgpu/ptx/parse/constant.hpp"

#include <cstdint>

namespace softgpu::ptx {

namespace {

constexpr unsigned deepest = 64; // parentheses, signs and conditionals within each other

enum class operation : std::uint8_t {
    none,
    logical_or,
    logical_and,
    bit_or,
    bit_xor,
    bit_and,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    shift_left,
    shift_right,
    add,
    subtract,
    multiply,
    divide,
    remainder,
};

constexpr unsigned precedence(operation o) noexcept {
    switch (o) {
    case operation::none: return 0;
    case operation::logical_or: return 1;
    case operation::logical_and: return 2;
    case operation::bit_or: return 3;
    case operation::bit_xor: return 4;
    case operation::bit_and: return 5;
    case operation::equal:
    case operation::not_equal: return 6;
    case operation::less:
    case operation::less_equal:
    case operation::greater:
    case operation::greater_equal: return 7;
    case operation::shift_left:
    case operation::shift_right: return 8;
    case operation::add:
    case operation::subtract: return 9;
    case operation::multiply:
    case operation::divide:
    case operation::remainder: return 10;
    }
    return 0;
}

constexpr unsigned precedence_of_product = precedence(operation::multiply);

class evaluator {
public:
    explicit evaluator(token_stream& in) : in_(in) {}

    constant conditional() {
        const nested deeper(*this);
        constant condition = binary(1);
        if (!in_.accept('?')) {
            return condition;
        }
        require_integer(condition);
        const constant yes = conditional();
        in_.expect(':', "in a conditional expression");
        const constant no = conditional();
        constant chosen = condition.bits != 0 ? yes : no;
        chosen.where = condition.where;
        return chosen;
    }

    constant binary(unsigned lowest) {
        constant left = unary();
        while (true) {
            const operation o = peek_operation();
            if (precedence(o) < lowest || o == operation::none) {
                return left;
            }
            require_integer(left);
            take_operation(o);
            const constant right = binary(precedence(o) + 1);
            require_integer(right);
            left = apply(o, left, right);
        }
    }

private:
    struct nested {
        explicit nested(evaluator& e) : owner(e) {
            if (++owner.depth_ > deepest) {
                throw error(owner.in_.peek().where, "this constant expression is nested too deeply");
            }
        }
        ~nested() { --owner.depth_; }
        nested(const nested&) = delete;
        nested& operator=(const nested&) = delete;
        evaluator& owner;
    };

    static void require_integer(const constant& c) {
        if (c.kind != constant_kind::integer) {
            throw error(c.where, "only integers can be combined in a constant expression");
        }
    }

    // Two characters make one operator only without a gap, so the second is looked up in the text.
    [[nodiscard]] char behind_current() const noexcept {
        const std::size_t next = in_.peek().position + 1;
        return next < in_.text().size() ? in_.text()[next] : '\0';
    }

    [[nodiscard]] operation peek_operation() const noexcept {
        if (!in_.at_kind(token_kind::punctuation)) {
            return operation::none;
        }
        const char second = behind_current();
        switch (in_.peek().character) {
        case '|': return second == '|' ? operation::logical_or : operation::bit_or;
        case '&': return second == '&' ? operation::logical_and : operation::bit_and;
        case '^': return operation::bit_xor;
        case '=': return second == '=' ? operation::equal : operation::none;
        case '!': return second == '=' ? operation::not_equal : operation::none;
        case '<':
            return second == '<' ? operation::shift_left : second == '=' ? operation::less_equal : operation::less;
        case '>':
            return second == '>'   ? operation::shift_right
                   : second == '=' ? operation::greater_equal
                                   : operation::greater;
        case '+': return operation::add;
        case '-': return operation::subtract;
        case '*': return operation::multiply;
        case '/': return operation::divide;
        case '%': return operation::remainder;
        default: return operation::none;
        }
    }

    void take_operation(operation o) {
        in_.next();
        switch (o) {
        case operation::logical_or:
        case operation::logical_and:
        case operation::equal:
        case operation::not_equal:
        case operation::less_equal:
        case operation::greater_equal:
        case operation::shift_left:
        case operation::shift_right: in_.next(); break;
        default: break;
        }
    }

    constant unary() {
        const nested deeper(*this);
        const location where = in_.peek().where;
        constant c;
        if (in_.accept('-')) {
            c = unary();
            switch (c.kind) {
            case constant_kind::integer: c.bits = 0 - c.bits; break;
            case constant_kind::float32: c.bits ^= std::uint64_t{1} << 31; break;
            case constant_kind::float64: c.bits ^= std::uint64_t{1} << 63; break;
            }
        } else if (in_.accept('+')) {
            c = unary();
        } else if (in_.accept('~')) {
            c = unary();
            require_integer(c);
            c.bits = ~c.bits;
        } else if (in_.accept('!')) {
            c = unary();
            require_integer(c);
            c.bits = c.bits == 0 ? 1 : 0;
            c.is_unsigned = false;
        } else if (in_.accept('(')) {
            if (in_.peek().is_dotted("s64") || in_.peek().is_dotted("u64")) {
                const bool to_unsigned = in_.next().text == "u64";
                in_.expect(')', "behind the type of a conversion");
                c = unary();
                require_integer(c);
                c.is_unsigned = to_unsigned;
            } else {
                c = conditional();
                in_.expect(')', "at the end of a constant expression");
            }
        } else {
            c = literal();
        }
        c.where = where;
        return c;
    }

    constant literal() {
        constant c;
        if (in_.peek().is_identifier("WARP_SZ")) {
            in_.next();
            c.bits = 32;
            return c;
        }
        switch (in_.peek().kind) {
        case token_kind::integer: break;
        case token_kind::float32: c.kind = constant_kind::float32; break;
        case token_kind::float64: c.kind = constant_kind::float64; break;
        default: in_.fail_expected("a number");
        }
        const token t = in_.next();
        c.bits = t.bits;
        c.is_unsigned = t.is_unsigned;
        return c;
    }

    static std::uint64_t divide(const constant& left, const constant& right, bool is_unsigned, bool want_remainder) {
        if (right.bits == 0) {
            throw error(right.where, "division by zero in a constant expression");
        }
        if (is_unsigned) {
            return want_remainder ? left.bits % right.bits : left.bits / right.bits;
        }
        const auto a = static_cast<std::int64_t>(left.bits);
        const auto b = static_cast<std::int64_t>(right.bits);
        if (b == -1) {
            return want_remainder ? 0 : 0 - left.bits; // the most negative number divided by -1 wraps
        }
        return static_cast<std::uint64_t>(want_remainder ? a % b : a / b);
    }

    static std::uint64_t shift_right(const constant& left, std::uint64_t by) {
        if (left.is_unsigned) {
            return by > 63 ? 0 : left.bits >> by;
        }
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(left.bits) >> (by > 63 ? 63 : by));
    }

    static constant apply(operation o, const constant& left, const constant& right) {
        const bool is_unsigned = left.is_unsigned || right.is_unsigned;
        const std::uint64_t a = left.bits;
        const std::uint64_t b = right.bits;
        const auto signed_a = static_cast<std::int64_t>(a);
        const auto signed_b = static_cast<std::int64_t>(b);
        const bool less = is_unsigned ? a < b : signed_a < signed_b;
        constant c{constant_kind::integer, is_unsigned, 0, left.where};
        switch (o) {
        case operation::none: break;
        case operation::logical_or: c.bits = a != 0 || b != 0; break;
        case operation::logical_and: c.bits = a != 0 && b != 0; break;
        case operation::bit_or: c.bits = a | b; break;
        case operation::bit_xor: c.bits = a ^ b; break;
        case operation::bit_and: c.bits = a & b; break;
        case operation::equal: c.bits = a == b; break;
        case operation::not_equal: c.bits = a != b; break;
        case operation::less: c.bits = less; break;
        case operation::less_equal: c.bits = less || a == b; break;
        case operation::greater: c.bits = !less && a != b; break;
        case operation::greater_equal: c.bits = !less; break;
        case operation::shift_left:
            c.bits = b > 63 ? 0 : a << b;
            c.is_unsigned = left.is_unsigned;
            break;
        case operation::shift_right:
            c.bits = shift_right(left, b);
            c.is_unsigned = left.is_unsigned;
            break;
        case operation::add: c.bits = a + b; break;
        case operation::subtract: c.bits = a - b; break;
        case operation::multiply: c.bits = a * b; break;
        case operation::divide: c.bits = divide(left, right, is_unsigned, false); break;
        case operation::remainder: c.bits = divide(left, right, is_unsigned, true); break;
        }
        if (precedence(o) <= precedence(operation::logical_and) ||
            (precedence(o) >= precedence(operation::equal) && precedence(o) <= precedence(operation::less))) {
            c.is_unsigned = false;
        }
        return c;
    }

    token_stream& in_;
    unsigned depth_ = 0;
};

} // namespace

bool at_constant(const token_stream& in) noexcept {
    const token& t = in.peek();
    switch (t.kind) {
    case token_kind::integer:
    case token_kind::float32:
    case token_kind::float64: return true;
    case token_kind::identifier: return t.text == "WARP_SZ";
    case token_kind::punctuation: return std::string_view("+-~!(").find(t.character) != std::string_view::npos;
    default: return false;
    }
}

constant parse_constant(token_stream& in) { return evaluator(in).conditional(); }

constant parse_integer_constant(token_stream& in, std::string_view what) {
    if (!at_constant(in)) {
        in.fail_expected(what);
    }
    const constant c = parse_constant(in);
    if (c.kind != constant_kind::integer) {
        throw error(c.where, "expected " + std::string(what) + ", found a floating-point number");
    }
    return c;
}

std::int64_t parse_offset(token_stream& in) {
    std::uint64_t sum = 0;
    while (in.at('+') || in.at('-')) {
        const bool negative = in.next().character == '-';
        const constant term = evaluator(in).binary(precedence_of_product);
        if (term.kind != constant_kind::integer) {
            throw error(term.where, "an offset is an integer");
        }
        sum = negative ? sum - term.bits : sum + term.bits;
    }
    return static_cast<std::int64_t>(sum);
}

} // namespace softgpu::ptx
