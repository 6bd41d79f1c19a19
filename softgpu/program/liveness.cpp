// SPDX-License-Identifier: MIT
// Liveness by backward data flow. Only registers that are alive between blocks take part in it; most are not.
#include "softgpu/program/liveness.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "softgpu/program/visit_registers.hpp"

namespace softgpu::program {

namespace {

constexpr std::uint32_t none = live_ranges::none;

// Of a register with more ranges than this the earliest ones are taken as one. A body with thousands of early returns
// would else have millions of ranges.
constexpr std::uint8_t most_ranges = 64;

struct named_register {
    std::uint32_t reg;
    use how;
};

// The registers that each instruction names, behind each other.
class flat_accesses {
public:
    explicit flat_accesses(const ptx::function& f) {
        const std::size_t registers = f.registers.size();
        named_.reserve(4 * f.instructions.size());
        rows_.reserve(f.instructions.size() + 1);
        for (const ptx::instruction& i : f.instructions) {
            rows_.push_back({static_cast<std::uint32_t>(named_.size()), writes_partly(i), writes_early(i)});
            visit_registers(i, [&](std::uint32_t reg, use how) {
                if (reg >= registers) {
                    throw ptx::error(i.where, "register number " + std::to_string(reg) + " is not declared");
                }
                named_.push_back({reg, how});
            });
        }
        rows_.push_back({static_cast<std::uint32_t>(named_.size()), false, false});
    }

    template <class Visit>
    void for_each(std::uint32_t instruction, use how, Visit&& visit) const {
        for (std::uint32_t k = rows_[instruction].begin; k < rows_[instruction + 1].begin; ++k) {
            if (named_[k].how == how) {
                visit(named_[k].reg);
            }
        }
    }
    [[nodiscard]] bool partly(std::uint32_t instruction) const { return rows_[instruction].partly; }
    [[nodiscard]] bool early(std::uint32_t instruction) const { return rows_[instruction].early; }

private:
    struct row {
        std::uint32_t begin;
        bool partly;
        bool early;
    };
    std::vector<named_register> named_;
    std::vector<row> rows_;
};

// One row of bits a block, one bit a register that is alive between blocks.
class bit_rows {
public:
    bit_rows(std::size_t rows, std::size_t columns) : words_((columns + 63) / 64), bits_(rows * words_) {}

    [[nodiscard]] std::size_t words() const { return words_; }
    [[nodiscard]] std::uint64_t* row(std::size_t r) { return bits_.data() + r * words_; }
    void set(std::size_t r, std::uint32_t column) { row(r)[column / 64] |= std::uint64_t{1} << column % 64; }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

class liveness {
public:
    liveness(const ptx::function& f, const control_flow& flow)
        : flow_(flow),
          accesses_(f),
          column_(f.registers.size(), none),
          open_until_(f.registers.size(), 0),
          range_count_(f.registers.size(), 0) {
        ranges_.first_of.assign(f.registers.size(), none);
        ranges_.all.reserve(f.registers.size() + f.registers.size() / 4);
    }

    live_ranges find() {
        find_columns();
        bit_rows leaving = flow_between_blocks();
        open_columns_.assign(leaving.words(), 0);
        for (std::uint32_t b = static_cast<std::uint32_t>(flow_.blocks.size()); b-- > 0;) {
            walk_block(flow_.blocks[b], leaving.row(b));
        }
        const std::vector<std::uint64_t> nothing(leaving.words(), 0);
        cross(0, nothing.data());
        return std::move(ranges_);
    }

private:
    // Gives a column to each register that some block reads before it has written all of it.
    void find_columns() {
        std::vector<std::uint32_t> written_in(column_.size(), none);
        for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
            for (std::uint32_t k = flow_.blocks[b].first; k < flow_.blocks[b].last; ++k) {
                accesses_.for_each(k, use::read, [&](std::uint32_t reg) {
                    if (written_in[reg] != b && column_[reg] == none) {
                        column_[reg] = static_cast<std::uint32_t>(register_of_.size());
                        register_of_.push_back(reg);
                    }
                });
                if (!accesses_.partly(k)) {
                    accesses_.for_each(k, use::written, [&](std::uint32_t reg) { written_in[reg] = b; });
                }
            }
        }
    }

    // What is alive at the end of each block.
    bit_rows flow_between_blocks() {
        const std::size_t blocks = flow_.blocks.size();
        bit_rows entering(blocks, register_of_.size());
        bit_rows written(blocks, register_of_.size());
        bit_rows leaving(blocks, register_of_.size());
        std::vector<std::uint32_t> written_in(column_.size(), none);
        for (std::uint32_t b = 0; b < blocks; ++b) {
            for (std::uint32_t k = flow_.blocks[b].first; k < flow_.blocks[b].last; ++k) {
                accesses_.for_each(k, use::read, [&](std::uint32_t reg) {
                    if (written_in[reg] != b) {
                        entering.set(b, column_[reg]);
                    }
                });
                if (!accesses_.partly(k)) {
                    accesses_.for_each(k, use::written, [&](std::uint32_t reg) {
                        written_in[reg] = b;
                        if (column_[reg] != none) {
                            written.set(b, column_[reg]);
                        }
                    });
                }
            }
        }
        // A block is looked at again when one behind it has changed; the last ones come first.
        std::vector<std::uint32_t> waiting(blocks);
        std::vector<bool> waits(blocks, true);
        for (std::uint32_t b = 0; b < blocks; ++b) {
            waiting[b] = b;
        }
        const std::size_t words = entering.words();
        while (!waiting.empty()) {
            const std::uint32_t b = waiting.back();
            waiting.pop_back();
            waits[b] = false;
            std::uint64_t* const out = leaving.row(b);
            for (const std::uint32_t s : flow_.blocks[b].successors) {
                const std::uint64_t* const in = entering.row(s);
                for (std::size_t w = 0; w < words; ++w) {
                    out[w] |= in[w];
                }
            }
            std::uint64_t* const in = entering.row(b);
            const std::uint64_t* const kept_out = written.row(b);
            std::uint64_t news = 0;
            for (std::size_t w = 0; w < words; ++w) {
                const std::uint64_t more = out[w] & ~kept_out[w] & ~in[w];
                in[w] |= more;
                news |= more;
            }
            if (news != 0) {
                for (const std::uint32_t p : flow_.blocks[b].predecessors) {
                    if (!waits[p]) {
                        waits[p] = true;
                        waiting.push_back(p);
                    }
                }
            }
        }
        return leaving;
    }

    // Blocks come in order from the last to the first, and so do the ranges of each register.
    void add(std::uint32_t reg, std::uint32_t first, std::uint32_t last) {
        const std::uint32_t after = ranges_.first_of[reg];
        if (after != none && (ranges_.all[after].first <= last || range_count_[reg] == most_ranges)) {
            ranges_.all[after].first = std::min(first, ranges_.all[after].first);
            return;
        }
        ++range_count_[reg];
        ranges_.first_of[reg] = static_cast<std::uint32_t>(ranges_.all.size());
        ranges_.all.push_back({first, last, after});
    }

    void open(std::uint32_t reg, std::uint32_t until) {
        open_until_[reg] = until;
        if (column_[reg] != none) {
            open_columns_[column_[reg] / 64] |= std::uint64_t{1} << column_[reg] % 64;
        }
    }

    void close(std::uint32_t reg, std::uint32_t first) {
        add(reg, first, open_until_[reg]);
        open_until_[reg] = 0;
        if (column_[reg] != none) {
            open_columns_[column_[reg] / 64] &= ~(std::uint64_t{1} << column_[reg] % 64);
        }
    }

    // Registers that are alive at the beginning of the block behind, but not at the end of this one, and the other way
    // round. What is alive at both stays open.
    void cross(std::uint32_t point, const std::uint64_t* alive) {
        for (std::size_t w = 0; w < open_columns_.size(); ++w) {
            for (std::uint64_t rest = open_columns_[w] ^ alive[w]; rest != 0; rest &= rest - 1) {
                const std::uint32_t reg = register_of_[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
                if (open_until_[reg] != 0) {
                    close(reg, point);
                } else {
                    open(reg, point);
                }
            }
        }
    }

    void walk_block(const basic_block& block, const std::uint64_t* leaving) {
        cross(2 * block.last, leaving);
        for (std::uint32_t k = block.last; k-- > block.first;) {
            const std::uint32_t first = accesses_.early(k) ? 2 * k : 2 * k + 1;
            accesses_.for_each(k, use::written, [&](std::uint32_t reg) {
                if (open_until_[reg] == 0) {
                    add(reg, first, 2 * k + 2);
                } else if (!accesses_.partly(k)) {
                    close(reg, first);
                }
            });
            accesses_.for_each(k, use::read, [&](std::uint32_t reg) {
                if (open_until_[reg] == 0) {
                    open(reg, 2 * k + 1);
                }
            });
        }
    }

    const control_flow& flow_;
    flat_accesses accesses_;
    std::vector<std::uint32_t> column_;       // by register
    std::vector<std::uint32_t> register_of_;  // by column
    std::vector<std::uint32_t> open_until_;   // by register, while walking; 0: not alive
    std::vector<std::uint64_t> open_columns_; // the bits of those that are, where they have a column
    std::vector<std::uint8_t> range_count_;   // by register
    live_ranges ranges_;
};

} // namespace

live_ranges find_live_ranges(const ptx::function& f, const control_flow& flow) { return liveness(f, flow).find(); }

} // namespace softgpu::program
