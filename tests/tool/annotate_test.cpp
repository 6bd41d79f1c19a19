// SPDX-License-Identifier: MIT
// `warpfold annotate` on profiles made by hand: what stands beside which line, and files that are no profiles.
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/tool/command.hpp"

namespace {

using namespace warpfold::tests;
using nlohmann::json;

json instruction(const std::string& ptx, const json& at, const json& counters, int guarded_off = 0) {
    return {
        {"ptx", ptx},          {"ptx_line", 1}, {"function", "scale(float*)"}, {"at", at}, {"guarded_off", guarded_off},
        {"counters", counters}};
}

// Line 10 loads with a stride, 12 stores into one bank, 14 diverges, `inner` of line 3 was inlined at 12.
json made_profile() {
    const json place = json::array({"/src/scale.cu", 10, 5, ""});
    json instructions = json::array();
    instructions.push_back(instruction("ld.global.f32 %f1, [%rd1];", json::array({place}),
                                       {{"warp_instructions", 100},
                                        {"thread_instructions", 3200},
                                        {"global_load_requests", 100},
                                        {"global_load_sectors", 3200},
                                        {"global_load_bytes", 12800}}));
    instructions.push_back(instruction(
        "st.shared.f32 [%r1], %f1;",
        json::array({json::array({"/src/inner.cuh", 3, 1, "inner(float)"}), json::array({"/src/scale.cu", 12, 9, ""})}),
        {{"warp_instructions", 100},
         {"thread_instructions", 3200},
         {"shared_store_requests", 100},
         {"shared_store_wavefronts", 3200},
         {"shared_store_bank_conflicts", 3100}}));
    instructions.push_back(instruction(
        "@%p1 bra $L1;", json::array({json::array({"/src/scale.cu", 14, 1, ""})}),
        {{"warp_instructions", 100}, {"thread_instructions", 1600}, {"branches", 100}, {"divergent_branches", 70}}));
    instructions.push_back(instruction("@%p2 add.f32 %f1, %f1, %f1;",
                                       json::array({json::array({"/src/scale.cu", 15, 1, ""})}),
                                       {{"warp_instructions", 10}, {"thread_instructions", 320}}, 240));
    instructions.push_back(
        instruction("ret;", json::array(), {{"warp_instructions", 4}, {"thread_instructions", 128}}));
    json lines;
    lines["9"] = "// before";
    lines["10"] = "\tfloat v = in[33 * i];";
    lines["12"] = "    inner(v);";
    lines["14"] = "    if (i % 2 == 0) { // \x1b[31mred " + std::string(200, 'x');
    lines["15"] = "        v += v;";
    return {
        {"format", "warpfold profile"},
        {"version", 1},
        {"device", {{"name", "NVIDIA H100 80GB HBM3"}}},
        {"counters", json::object()},
        {"sources", {{"/src/scale.cu", lines}, {"/src/inner.cuh", json::object()}}},
        {"kernels",
         json::array(
             {{{"kernel", "scale(float*)"}, {"symbol", "_Z5scalePf"}, {"launches", 2}, {"instructions", instructions}},
              {{"kernel", "other()"}, {"symbol", "_Z5otherv"}, {"launches", 1}, {"instructions", json::array()}}})}};
}

class annotate : public with_folder {
protected:
    outcome start(std::vector<std::string> options, const json& profile) const {
        options.insert(options.begin(), {"annotate", write("p.json", profile.dump())});
        return run_command(options);
    }
    // The first line of the output that holds the text.
    static std::string line_with(const std::string& out, const std::string& text) {
        std::istringstream in(out);
        for (std::string line; std::getline(in, line);) {
            if (line.find(text) != std::string::npos) {
                return line;
            }
        }
        ADD_FAILURE() << "no line with '" << text << "' in\n" << out;
        return {};
    }
    static std::string squeezed(const std::string& line) {
        std::istringstream in(line);
        std::string all;
        for (std::string word; in >> word;) {
            all += (all.empty() ? "" : " ") + word;
        }
        return all;
    }
};

TEST_F(annotate, puts_figures_beside_the_lines) {
    const outcome seen = start({}, made_profile());
    EXPECT_EQ(seen.status, 0);
    EXPECT_EQ(seen.error, "");
    EXPECT_EQ(squeezed(line_with(seen.out, "float v")), "> 10 100 32.0 32.0 4.0 float v = in[33 * i];");
    EXPECT_EQ(squeezed(line_with(seen.out, "// before")), "9 // before");
    EXPECT_EQ(squeezed(line_with(seen.out, "source not at hand")),
              "> 3 100 32.0 3100 (source not at hand) // in scale.cu:12");
    EXPECT_TRUE(squeezed(line_with(seen.out, "if (i % 2")).starts_with("> 14 100 16.0 70 if (i")) << seen.out;
    EXPECT_EQ(squeezed(line_with(seen.out, "v += v")), "15 10 8.0 v += v;");
    EXPECT_NE(seen.out.find("2 launches, 314 warp instructions"), std::string::npos);
    EXPECT_NE(seen.out.find("PTX that names no source line"), std::string::npos);
    EXPECT_NE(seen.out.find("other()"), std::string::npos);
}

TEST_F(annotate, sums_up_what_is_worst) {
    const outcome seen = start({"--kernel", "scale"}, made_profile());
    EXPECT_EQ(seen.out.find("other()"), std::string::npos);
    EXPECT_NE(seen.out.find("Bank conflicts: 3100 of the 3200 passes"), std::string::npos) << seen.out;
    EXPECT_NE(seen.out.find("3100  100 %  inner.cuh:3"), std::string::npos) << seen.out;
    EXPECT_NE(seen.out.find("need: 2800 of 3200"), std::string::npos) << seen.out;
    EXPECT_NE(seen.out.find("2800  100 %  scale.cu:10"), std::string::npos) << seen.out;
    EXPECT_NE(seen.out.find("two directions: 70 of 100"), std::string::npos) << seen.out;
    // 32 x 314 lanes, of which 8448 - 240 executed.
    EXPECT_NE(seen.out.find("executed nothing: 1840 of 10048"), std::string::npos) << seen.out;
}

TEST_F(annotate, stays_in_its_width_and_escapes_what_is_foreign) {
    json profile = made_profile();
    profile["kernels"][0]["kernel"] = "evil\x1b[2J\n" + std::string(300, 'k');
    const outcome seen = start({"--ptx"}, profile);
    EXPECT_EQ(seen.out.find('\x1b'), std::string::npos);
    std::istringstream in(seen.out);
    for (std::string line; std::getline(in, line);) {
        EXPECT_LE(line.size(), 122u) << line; // an ellipsis has three bytes
    }
    EXPECT_NE(seen.out.find("ld.global.f32 %f1, [%rd1];"), std::string::npos);
}

TEST_F(annotate, sorts_by_a_counter) {
    const outcome seen = start({"--sort", "divergent_branches", "--kernel", "scale"}, made_profile());
    EXPECT_NE(seen.out.find("divergent_branches: 70\n"), std::string::npos) << seen.out;
    EXPECT_NE(seen.out.find("70  100 %  scale.cu:14"), std::string::npos) << seen.out;
    expect_complaint(start({"--sort", "speed"}, made_profile()), 2, {"no counter 'speed'", "divergent_branches"});
}

TEST_F(annotate, counts_inlined_code_where_it_is_called) {
    const outcome seen = start({"--outermost"}, made_profile());
    EXPECT_EQ(squeezed(line_with(seen.out, "inner(v)")), "> 12 100 32.0 3100 inner(v);");
    EXPECT_EQ(seen.out.find("inner.cuh"), std::string::npos) << seen.out;
}

TEST_F(annotate, finds_sources_in_a_folder) {
    write("inner.cuh", "one\ntwo\n    shared[0] = v;\n");
    const outcome seen = start({"--source", folder_.path()}, made_profile());
    EXPECT_NE(line_with(seen.out, "shared[0] = v;").find("3100"), std::string::npos) << seen.out;
    expect_complaint(start({"--source", path("none")}, made_profile()), 2, {"no folder"});
}

TEST_F(annotate, refuses_what_is_no_profile) {
    expect_complaint(run_command({"annotate", path("none")}), 1, {"cannot read", "No such file"});
    expect_complaint(run_command({"annotate", folder_.path()}), 1, {"it is a folder"});
    expect_complaint(run_command({"annotate", write("a", "{")}), 1, {"is no profile"});
    expect_complaint(run_command({"annotate", write("b", "[1, 2]")}), 1, {"is no profile"});
    expect_complaint(run_command({"annotate", write("c", R"({"launches":[]})")}), 1, {"is no profile"});
    json later = made_profile();
    later["version"] = 2;
    expect_complaint(start({}, later), 1, {"another version"});
    for (const char* part : {"device", "sources", "kernels"}) {
        json damaged = made_profile();
        damaged[part] = 7;
        expect_complaint(start({}, damaged), 1, {"damaged profile"});
        damaged.erase(part);
        expect_complaint(start({}, damaged), 1, {"damaged profile"});
    }
    json wrong = made_profile();
    wrong["kernels"][0]["instructions"][0]["counters"]["branches"] = "many";
    expect_complaint(start({}, wrong), 1, {"damaged profile"});
    wrong = made_profile();
    wrong["kernels"][0]["instructions"][0]["at"][0] = json::array({"/src/scale.cu"});
    expect_complaint(start({}, wrong), 1, {"damaged profile"});
    for (const json& line : {json(-2), json(4294967295u), json(1e30), json(1.5), json(nullptr)}) {
        wrong = made_profile();
        wrong["kernels"][0]["instructions"][0]["at"][0][1] = line;
        expect_complaint(start({}, wrong), 1, {"damaged profile"});
        wrong = made_profile();
        wrong["kernels"][0]["instructions"][0]["ptx_line"] = line;
        expect_complaint(start({}, wrong), 1, {"damaged profile"});
    }
    for (const char* line : {"-2", "4294967296", "4294967295", "", "3x"}) {
        wrong = made_profile();
        wrong["sources"].front()[line] = "text";
        expect_complaint(start({}, wrong), 1, {"damaged profile"});
    }
    wrong = made_profile();
    wrong["kernels"][0]["instructions"][0]["counters"]["branches"] = -1;
    expect_complaint(start({}, wrong), 1, {"damaged profile", "negative"});
    expect_complaint(start({"--kernel", "nobody"}, made_profile()), 1, {"no kernel's name contains 'nobody'", "scale"});
    json empty = made_profile();
    empty["kernels"] = json::array();
    expect_complaint(start({}, empty), 1, {"no kernel was launched"});
}

} // namespace
