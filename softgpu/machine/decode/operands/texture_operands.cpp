// SPDX-License-Identifier: MIT
// Operands of textures and surfaces: d, [handle, {coordinates}]. See softgpu/machine/texture.hpp for where they go.
#include <algorithm>
#include <cstdint>

#include "softgpu/machine/decode/operands/operands.hpp"
#include "softgpu/machine/texture.hpp"

namespace softgpu::machine {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

namespace {

geometry geometry_of(const form& fm) {
    return fm.has(suffix::d2d)     ? geometry::plane
           : fm.has(suffix::d3d)   ? geometry::space
           : fm.has(suffix::a1d)   ? geometry::lines
           : fm.has(suffix::a2d)   ? geometry::planes
           : fm.has(suffix::cube)  ? geometry::cube
           : fm.has(suffix::acube) ? geometry::cubes
                                   : geometry::line;
}

// How many coordinates a geometry has, the layer apart.
unsigned dimensions_of(geometry g) {
    switch (g) {
    case geometry::line:
    case geometry::lines: return 1;
    case geometry::plane:
    case geometry::planes: return 2;
    default: return 3;
    }
}
bool is_layered(geometry g) { return g == geometry::lines || g == geometry::planes || g == geometry::cubes; }

} // namespace

void operand_layout::texture_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    const bool queries = i.op == opcode::txq || i.op == opcode::suq;
    const bool stores = i.op == opcode::sust;
    const bool is_surface = i.op == opcode::suld || stores;
    const operand& where = i.operands.at(stores ? 0 : 1);
    if (where.kind != operand_kind::address || !where.has_register) {
        throw ptx::error(where.where, "a handle in a register belongs here; textures by name are not supported");
    }
    operand handle;
    handle.kind = operand_kind::reg;
    handle.reg = where.reg;
    handle.where = where.where;
    std::vector<place> places(17, nowhere);
    places[0] = exact(handle, 8);
    const geometry g = geometry_of(fm);
    d.more = static_cast<std::uint32_t>(g);
    if (queries) {
        d.d = exact_destination(i.operands.at(0), 4);
        d.more |= (fm.has(suffix::height)       ? 1u
                   : fm.has(suffix::depth)      ? 2u
                   : fm.has(suffix::array_size) ? 3u
                   : fm.has(suffix::width)      ? 0u
                                                : 4u)
                  << 6;
    } else {
        if (where.elements.size() != 1) {
            throw ptx::error(where.where, "the coordinates are missing, or there is a sampler of its own");
        }
        const operand& c = where.elements[0];
        const std::vector<operand> coordinates = c.kind == operand_kind::vector ? c.elements : std::vector<operand>{c};
        const unsigned first = is_layered(g) ? 1 : 0;
        if (coordinates.size() < first + dimensions_of(g)) {
            throw ptx::error(where.where, "too few coordinates");
        }
        if (first == 1) {
            places[8] = exact(coordinates[0], 4);
        }
        for (unsigned k = 0; k < dimensions_of(g); ++k) {
            places[5 + k] = exact(coordinates[first + k], 4);
        }
        if (fm.has(suffix::level)) {
            places[10] = exact(i.operands.at(2), 4);
        } else if (fm.has(suffix::grad)) {
            for (unsigned side = 0; side < 2; ++side) {
                const operand& s = i.operands.at(2 + side);
                const std::vector<operand> slopes =
                    s.kind == operand_kind::vector ? s.elements : std::vector<operand>{s};
                for (unsigned k = 0; k < dimensions_of(g) && k < slopes.size(); ++k) {
                    places[11 + 3 * side + k] = exact(slopes[k], 4);
                }
            }
        }
        const operand& given = i.operands.at(stores ? 1 : 0);
        const bool pair = given.kind == operand_kind::pair;
        const operand& values = pair ? given.elements.at(0) : given;
        if (pair) {
            places[9] = exact_destination(given.elements.at(1), 0);
        }
        const unsigned count = i.op == opcode::tex || i.op == opcode::tld4 ? 4 : fm.vector;
        const unsigned bytes = ptx::bytes_of(fm.type[0]);
        const std::vector<operand> list =
            values.kind == operand_kind::vector ? values.elements : std::vector<operand>{values};
        if (list.size() != count || bytes * count > 16) {
            throw ptx::error(values.where, "as many values as the instruction has belong here");
        }
        for (unsigned k = 0; k < count; ++k) {
            if (list[k].kind != operand_kind::sink) {
                places[1 + k] =
                    stores ? exact(list[k], std::max(2u, bytes)) : exact_destination(list[k], std::max(2u, bytes));
            }
        }
        if (is_surface) {
            d.more |= bytes << 10 | count << 15 | (fm.has(suffix::clamp) ? 1u << 18 : 0u) |
                      (fm.has(suffix::zero) ? 1u << 19 : 0u);
        } else {
            const unsigned channel = fm.has(suffix::g) ? 1 : fm.has(suffix::b) ? 2 : fm.has(suffix::a) ? 3 : 0;
            d.more |= channel << 3 | (fm.type[1] == suffix::s32 ? 32u : 0u);
        }
    }
    code_.place_lists.push_back(std::move(places));
    d.places = code_.place_lists.back().data();
}

} // namespace softgpu::machine
