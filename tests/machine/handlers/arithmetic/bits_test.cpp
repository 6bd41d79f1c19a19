// SPDX-License-Identifier: MIT
// Bits: fields, counts, shifts, permutations and logic, against the loops of the PTX ISA's own definitions.
#include <gtest/gtest.h>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

bool bit(std::uint64_t v, unsigned n) { return (v >> n & 1) != 0; }
const std::vector<std::uint64_t> any_places{0,  1,  5,  15, 16,  30,  31,  32,  33,        48,
                                            62, 63, 64, 65, 200, 255, 256, 257, 0xFFFFFFFF};

TEST(Bits, ExtractAndInsertField) {
    std::vector<std::uint64_t> places = any_places;
    std::erase_if(places, [](std::uint64_t v) { return v > 255; }); // the most that these two take
    for (const int_type& t : {u32, s32, u64, s64}) {
        const unsigned msb = t.bits - 1;
        check({"bfe." + t.name + " %d, %a, %b, %c;", {t.reg(), "b32", "b32"}, {t.reg()}},
              cross({thinned(int_edges(t.bits), 2), places, places}), [&](const row& r) {
                  const unsigned pos = r[1] & 0xFF;
                  const unsigned len = r[2] & 0xFF;
                  const bool sign = t.is_signed && len != 0 && bit(r[0], std::min(pos + len - 1, msb));
                  std::uint64_t d = 0;
                  for (unsigned k = 0; k <= msb; ++k) {
                      d |= static_cast<std::uint64_t>(k < len && pos + k <= msb ? bit(r[0], pos + k) : sign) << k;
                  }
                  return row{d};
              });
    }
    for (const int_type& t : {u32, u64}) {
        check({"bfi.b" + std::to_string(t.bits) + " %d, %a, %b, %c, %e;", {t.reg(), t.reg(), "b32", "b32"}, {t.reg()}},
              cross({thinned(int_edges(t.bits), 4), thinned(int_edges(t.bits), 4), places, places}), [&](const row& r) {
                  const unsigned pos = r[2] & 0xFF;
                  const unsigned len = r[3] & 0xFF;
                  std::uint64_t d = r[1];
                  for (unsigned k = 0; k < len && pos + k < t.bits; ++k) {
                      d = (d & ~(1ull << (pos + k))) | static_cast<std::uint64_t>(bit(r[0], k)) << (pos + k);
                  }
                  return row{d};
              });
    }
}

TEST(Bits, FindLeading) {
    for (const int_type& t : {u32, s32, u64, s64}) {
        for (const bool amount : {false, true}) {
            check({std::string("bfind") + (amount ? ".shiftamt." : ".") + t.name + " %d, %a;", {t.reg()}, {"b32"}},
                  cross({int_edges(t.bits, 40)}), [&](const row& r) {
                      const std::uint64_t a = t.is_signed && bit(r[0], t.bits - 1) ? ~r[0] : r[0];
                      std::uint64_t d = 0xFFFFFFFF;
                      for (unsigned k = t.bits; k-- > 0 && d == 0xFFFFFFFF;) {
                          if (bit(a, k)) {
                              d = amount ? t.bits - 1 - k : k;
                          }
                      }
                      return row{d};
                  });
        }
    }
}

TEST(Bits, CountAndReverse) {
    for (const int_type& t : {u32, u64}) {
        const std::string b = ".b" + std::to_string(t.bits);
        const std::vector<row> rows = cross({int_edges(t.bits, 60)});
        check({"popc" + b + " %d, %a;", {t.reg()}, {"b32"}}, rows, [&](const row& r) {
            std::uint64_t n = 0;
            for (unsigned k = 0; k < t.bits; ++k) {
                n += bit(r[0], k) ? 1 : 0;
            }
            return row{n};
        });
        check({"clz" + b + " %d, %a;", {t.reg()}, {"b32"}}, rows, [&](const row& r) {
            std::uint64_t n = 0;
            while (n < t.bits && !bit(r[0], static_cast<unsigned>(t.bits - 1 - n))) {
                ++n;
            }
            return row{n};
        });
        check({"brev" + b + " %d, %a;", {t.reg()}, {t.reg()}}, rows, [&](const row& r) {
            std::uint64_t d = 0;
            for (unsigned k = 0; k < t.bits; ++k) {
                d |= static_cast<std::uint64_t>(bit(r[0], k)) << (t.bits - 1 - k);
            }
            return row{d};
        });
    }
}

TEST(Bits, MaskAndExtend) {
    const std::vector<row> rows = cross({any_places, any_places});
    for (const bool clamp : {false, true}) {
        const std::string mode = clamp ? ".clamp" : ".wrap";
        check({"bmsk" + mode + ".b32 %d, %a, %b;", {"b32", "b32"}, {"b32"}}, rows, [&](const row& r) {
            std::uint64_t d = 0;
            const std::uint64_t from = clamp ? r[0] : r[0] & 31;
            const std::uint64_t width = clamp ? r[1] : r[1] & 31;
            for (std::uint64_t k = 0; k < 32; ++k) {
                d |= (k >= from && k - from < width ? 1ull : 0ull) << k;
            }
            return row{d};
        });
        for (const int_type& t : {u32, s32}) {
            check({"szext" + mode + "." + t.name + " %d, %a, %b;", {"b32", "b32"}, {"b32"}},
                  cross({int_edges(32), any_places}), [&](const row& r) {
                      const std::uint64_t n = clamp ? r[1] : r[1] & 31;
                      if (n >= 32) {
                          return row{r[0]};
                      }
                      const bool sign = t.is_signed && n != 0 && bit(r[0], static_cast<unsigned>(n - 1));
                      std::uint64_t d = 0;
                      for (unsigned k = 0; k < 32; ++k) {
                          d |= static_cast<std::uint64_t>(k < n ? bit(r[0], k) : sign) << k;
                      }
                      return row{d};
                  });
        }
    }
}

TEST(Bits, FindNthSet) {
    const std::vector<std::uint64_t> counts{
        0, 1, 2, 5, 31, 32, 33, u32.pattern(-1), u32.pattern(-2), u32.pattern(-31), u32.pattern(-32)};
    check({"fns.b32 %d, %a, %b, %c;", {"b32", "b32", "b32"}, {"b32"}},
          cross({int_edges(32), {0, 1, 7, 15, 16, 30, 31}, counts}), [](const row& r) {
              const auto base = static_cast<int>(r[1]);
              const auto offset = static_cast<int>(s32.number(r[2]));
              if (offset == 0) {
                  return row{bit(r[0], static_cast<unsigned>(base)) ? r[1] : 0xFFFFFFFFull};
              }
              int count = std::abs(offset) - 1;
              for (int at = base; at >= 0 && at<32; at += offset> 0 ? 1 : -1) {
                  if (bit(r[0], static_cast<unsigned>(at)) && count-- == 0) {
                      return row{static_cast<std::uint64_t>(at)};
                  }
              }
              return row{0xFFFFFFFFull};
          });
}

TEST(Bits, Shifts) {
    for (const int_type& t : arithmetic_types) {
        const std::vector<row> rows = cross({int_edges(t.bits), any_places});
        check({"shr." + t.name + " %d, %a, %b;", {t.reg(), "b32"}, {t.reg()}}, rows,
              [&](const row& r) { return row{t.pattern(t.number(r[0]) >> std::min<std::uint64_t>(r[1], 100))}; });
        if (!t.is_signed) {
            const std::string b = ".b" + std::to_string(t.bits);
            check({"shr" + b + " %d, %a, %b;", {t.reg(), "b32"}, {t.reg()}}, rows,
                  [&](const row& r) { return row{r[1] < t.bits ? r[0] >> r[1] : 0}; });
            check({"shl" + b + " %d, %a, %b;", {t.reg(), "b32"}, {t.reg()}}, rows,
                  [&](const row& r) { return row{r[1] < t.bits ? t.truncated(r[0] << r[1]) : 0}; });
            check({"shl" + b + " %d, %a, 3;", {t.reg()}, {t.reg()}}, cross({int_edges(t.bits)}),
                  [&](const row& r) { return row{t.truncated(r[0] << 3)}; });
        }
    }
}

TEST(Bits, FunnelShifts) {
    for (const bool left : {false, true}) {
        for (const bool clamp : {false, true}) {
            check({std::string("shf") + (left ? ".l" : ".r") + (clamp ? ".clamp" : ".wrap") + ".b32 %d, %a, %b, %c;",
                   {"b32", "b32", "b32"},
                   {"b32"}},
                  cross({thinned(int_edges(32), 2), thinned(int_edges(32), 2), any_places}), [&](const row& r) {
                      const std::uint64_t n = clamp ? std::min<std::uint64_t>(r[2], 32) : r[2] & 31;
                      const std::uint64_t both = r[1] << 32 | r[0];
                      return row{left ? both << n >> 32 : both >> n & 0xFFFFFFFF};
                  });
        }
    }
}

TEST(Bits, PermuteBytes) {
    const std::vector<std::uint64_t> selectors{0x3210, 0x7654, 0x0000, 0x0123,     0x5410, 0x7632,
                                               0xFEDC, 0x8888, 0x91A2, 0xFFFF1234, 0x0B4C};
    check({"prmt.b32 %d, %a, %b, %c;", {"b32", "b32", "b32"}, {"b32"}},
          cross({int_edges(32), thinned(int_edges(32), 2), selectors}), [](const row& r) {
              const std::uint64_t bytes = r[1] << 32 | r[0];
              std::uint64_t d = 0;
              for (unsigned k = 0; k < 4; ++k) {
                  const std::uint64_t s = r[2] >> (4 * k) & 0xF;
                  const std::uint64_t b = bytes >> (8 * (s & 7)) & 0xFF;
                  d |= ((s & 8) == 0 ? b : (b & 0x80) != 0 ? 0xFFull : 0ull) << (8 * k);
              }
              return row{d};
          });
    // The ISA's table: bytes 3, 2, 1, 0 of the result for the selectors 0 to 3.
    const std::vector<std::pair<std::string, std::vector<unsigned>>> modes{
        {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
        {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
        {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
    for (const auto& [name, bytes_of_mode] : modes) {
        const std::string& mode = name;
        const std::vector<unsigned>& table = bytes_of_mode;
        check({"prmt.b32." + mode + " %d, %a, %b, %c;", {"b32", "b32", "b32"}, {"b32"}},
              cross({int_edges(32), thinned(int_edges(32), 2), {0, 1, 2, 3, 4, 7, 0xFFFFFFFF}}), [&](const row& r) {
                  const std::uint64_t bytes = r[1] << 32 | r[0];
                  std::uint64_t d = 0;
                  for (unsigned k = 0; k < 4; ++k) {
                      d |= (bytes >> (8 * (table[r[2] & 3] >> (4 * k) & 7)) & 0xFF) << (8 * k);
                  }
                  return row{d};
              });
    }
}

TEST(Bits, Lop3OfEveryTable) {
    random32 engine(3);
    std::vector<row> rows;
    for (unsigned k = 0; k < 40; ++k) {
        rows.push_back({engine(), engine(), engine()});
    }
    for (unsigned table = 0; table < 256; ++table) {
        check({"lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";", {"b32", "b32", "b32"}, {"b32"}}, rows,
              [&](const row& r) {
                  std::uint64_t d = 0;
                  for (unsigned k = 0; k < 32; ++k) {
                      const unsigned index =
                          (bit(r[0], k) ? 4u : 0u) | (bit(r[1], k) ? 2u : 0u) | (bit(r[2], k) ? 1u : 0u);
                      d |= static_cast<std::uint64_t>(table >> index & 1) << k;
                  }
                  return row{d};
              });
    }
}

TEST(Bits, Logic) {
    for (const unsigned bits : {16u, 32u, 64u}) {
        const int_type t{"b" + std::to_string(bits), bits, false};
        const std::vector<row> rows = cross({int_edges(bits), int_edges(bits)});
        const auto two = [&](const std::string& name) {
            return operation{name + "." + t.name + " %d, %a, %b;", {t.reg(), t.reg()}, {t.reg()}};
        };
        const auto one = [&](const std::string& name) {
            return operation{name + "." + t.name + " %d, %a;", {t.reg()}, {t.reg()}};
        };
        check(two("and"), rows, [&](const row& r) { return row{r[0] & r[1]}; });
        check(two("or"), rows, [&](const row& r) { return row{r[0] | r[1]}; });
        check(two("xor"), rows, [&](const row& r) { return row{r[0] ^ r[1]}; });
        check(one("not"), cross({int_edges(bits)}), [&](const row& r) { return row{t.truncated(~r[0])}; });
        check(one("cnot"), cross({int_edges(bits)}), [&](const row& r) { return row{r[0] == 0 ? 1ull : 0ull}; });
        check({"and." + t.name + " %d, %a, -16;", {t.reg()}, {t.reg()}}, cross({int_edges(bits)}),
              [&](const row& r) { return row{r[0] & ~15ull}; });
    }
}

TEST(Bits, PredicateLogic) {
    const std::vector<row> rows =
        cross({{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}); // more rows than a warp has lanes
    std::vector<row> two;
    for (const row& r : rows) {
        two.push_back({r[0], r[1]});
    }
    check({"and.pred %d, %a, %b;", {"pred", "pred"}, {"pred"}}, two, [](const row& r) { return row{r[0] & r[1]}; });
    check({"or.pred %d, %a, %b;", {"pred", "pred"}, {"pred"}}, two, [](const row& r) { return row{r[0] | r[1]}; });
    check({"xor.pred %d, %a, %b;", {"pred", "pred"}, {"pred"}}, two, [](const row& r) { return row{r[0] ^ r[1]}; });
    check({"not.pred %d, %a;", {"pred", "pred"}, {"pred"}}, two, [](const row& r) { return row{r[0] ^ 1}; });
    check({"mov.pred %d, %a;", {"pred", "pred"}, {"pred"}}, two, [](const row& r) { return row{r[0]}; });
}

} // namespace
} // namespace softgpu::test
