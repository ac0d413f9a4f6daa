// SPDX-License-Identifier: Apache-2.0
// What leaves a session: exports and their evidence, repro programs, comparisons.
#include "tests/app/ctl_examples.h"
#include "tests/app/ctl_support.h"

#include "core/device/ops/ops_cpu.h"
#include "core/model/call_recipe.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <span>

namespace espalier::test {
namespace {

namespace fs = std::filesystem;

using Export = CtlTest;

/// Wrong where the sizes are none of the task's own.
std::string wrongOutsideTheCases()
{
    std::string source = rootSource();
    const std::string from = "out[c] = expf(in[c] - largest) / sum;";
    const std::size_t at = source.find(from);
    EXPECT_NE(at, std::string::npos);
    return source.replace(
        at, from.size(),
        "out[c] = expf(in[c] - largest) / sum * (cols == 4096 || cols == 4099 || cols == 1 || cols == 515 "
        "|| cols == 777 || cols == 1031 ? 1.0f : 1.01f);");
}

/// What the softmax of the recipe's input is at one element.
double softmaxAt(const CallRecipe& recipe, std::uint64_t row, std::uint64_t column)
{
    const auto cols = static_cast<std::uint64_t>(recipe.parameters.at("cols"));
    const CallRecipe::Buffer& x = recipe.buffers.at(0);
    std::vector<float> values(static_cast<std::size_t>(recipe.parameters.at("rows")) * cols);
    for (const CallRecipe::Range& range : x.ranges) {
        ops::FillArgs args = {};
        args.address = reinterpret_cast<std::uint64_t>(values.data() + range.first);
        args.seed = range.seed;
        args.first = range.index;
        args.dtype = ops::DType::F32;
        args.distribution = static_cast<ops::Distribution>(x.kind); // one order
        args.a = x.a;
        args.b = x.b;
        args.row = x.row;
        ops::runOnCpu(ops::Op::Fill, std::as_bytes(std::span(&args, 1)), range.count);
    }
    const float* const in = values.data() + row * cols;
    double sum = 0;
    for (std::uint64_t c = 0; c < cols; ++c) {
        sum += std::exp(static_cast<double>(in[c]) - in[column]);
    }
    return 1 / sum;
}

} // namespace

TEST_F(Export, EvidenceIsVerifiedAndAFailedCallIsMadeAgain)
{
    write("wrong.cu", wrongOutsideTheCases());
    const auto run = [this](const char* evaluations) {
        return ctl({"run", "softmax_f32", "--device", "sim", "--evals", evaluations, "--session", path("s.espalier"),
                    "--json"});
    };
    ASSERT_EQ(run("0").status.code, 0);
    ASSERT_EQ(ctl({"steer", path("s.espalier"), "inject", path("wrong.cu")}).status.code, 0);
    ASSERT_EQ(run("1").status.code, 0);
    const Json shown = onlyJson(ctl({"show", path("s.espalier"), "--node", "2", "--json"}))["nodes"][0];
    EXPECT_EQ(shown["outcome"], "incorrect") << shown.dump();
    std::string evidence;
    for (const Json& one : shown["evaluation"]["evidence"]) {
        evidence = one["check"] == CallRecipe::check ? one["sentence"].get<std::string>() : evidence;
    }
    const auto recipe = CallRecipe::parse(evidence);
    ASSERT_TRUE(recipe) << evidence;
    std::smatch at;
    const std::string reason = shown["reason"];
    ASSERT_TRUE(std::regex_search(reason, at, std::regex(R"(output y\[(\d+)\]\[(\d+)\] is .* where (\S+) is right)")))
        << reason;
    const double right = std::stod(at[3]);
    EXPECT_NEAR(softmaxAt(*recipe, std::stoull(at[1]), std::stoull(at[2])) / right, 1, 1e-8)
        << "the recipe makes the judge's own inputs: " << evidence;
    const auto repro = ctl({"repro", path("s.espalier"), "2"});
    EXPECT_NE(repro.out.find(", called as call 1 of case unseen (rows "), std::string::npos)
        << "the case that failed is no one's of the task: " << repro.out.substr(0, 300) << repro.err;

    ASSERT_EQ(ctl({"export", path("s.espalier"), "--node", "1", "--to", path("out für mich")}).status.code, 0);
    const std::string kernel = path("out für mich") + "/softmax_f32.cu";
    EXPECT_EQ(ctl({"eval", "softmax_f32", kernel, "--device", "sim", "--case", "5x1"}).status.code, 0)
        << "what was exported is a candidate as it lies there";
    const auto holds = ctl({"verify", path("out für mich")});
    EXPECT_EQ(holds.status.code, 0) << holds.err;
    EXPECT_TRUE(holds.out.starts_with("softmax_f32: the evidence holds: node 1 on Simulated H200 passed again: "))
        << holds.out;
    EXPECT_EQ(std::count(holds.out.begin(), holds.out.end(), '\n'), 1);
    ASSERT_TRUE(writeFileAtomically(kernel, readFile(kernel).value() + " "));
    const auto broken = ctl({"verify", path("out für mich")});
    EXPECT_EQ(broken.status.code, 3);
    EXPECT_EQ(broken.out, "softmax_f32: the evidence does not hold: softmax_f32.cu is not what was exported.\n");
    EXPECT_EQ(ctl({"verify", path("nothing")}).status.code, 2);

    const auto pair = ctl({"show", path("s.espalier"), "--diff", "1", "2"});
    EXPECT_NE(pair.out.find("Node 2 has no time (incorrect): there is nothing to compare it by."), std::string::npos);
    EXPECT_NE(pair.out.find("+++ node_2.cu"), std::string::npos) << pair.out << pair.err;
    const Json sides = onlyJson(ctl({"compare", path("s.espalier"), path("s.espalier"), "--json"}));
    EXPECT_TRUE(sides["comparable"].get<bool>());
    EXPECT_EQ(sides["speedup"]["value"], 1);
    const auto ban = ctl({"steer", path("s.espalier"), "ban", "no fp16"});
    EXPECT_NE(ban.out.find("nothing is rejected for it"), std::string::npos) << ban.out;
    EXPECT_NE(ctl({"show", path("s.espalier")}).out.find("ban 1: no fp16 (said to models; nothing is rejected for it)"),
              std::string::npos);
}

/// In a folder without sessions and tasks: whatever is missing, it is never the command line that is wrong.
TEST_F(Export, EveryVerbHasExamplesAndEveryExampleParses)
{
    const std::vector<Example> first = examplesIn(ctl({"--help"}).out);
    std::set<std::string> verbs;
    std::vector<Example> all = examplesIn(readFile(fs::path(ESPALIER_SOURCE_DIR) / "README.md").value());
    EXPECT_GE(all.size(), 15u);
    for (const Example& one : first) {
        EXPECT_TRUE(verbs.insert(one.verb).second) << one.verb << " twice";
        const auto own = examplesIn(ctl({one.verb, "--help"}).out);
        EXPECT_GE(own.size(), 1u) << one.verb;
        all.insert(all.end(), own.begin(), own.end());
    }
    const std::string missing = ctl({"frob"}).err; // "… choose one of doctor, tasks, …"
    EXPECT_EQ(static_cast<std::size_t>(std::count(missing.begin(), missing.end(), ',')) + 1, verbs.size())
        << "a verb without an example: " << missing;
    for (const Example& one : all) {
        if (one.verb == "doctor" || one.verb == "tasks") {
            continue; // they need nothing: a whole run of them
        }
        ProcessSpec shell = spec({});
        shell.argv = {"/bin/sh", "-c", one.command};
        shell.environment->front() = std::string("PATH=") + ESPALIER_BIN + ":/usr/bin:/bin";
        shell.environment->push_back("ESPALIER_TASKS=" + path("nothing"));
        const auto result = runToEnd(shell, "", std::chrono::seconds(30));
        ASSERT_TRUE(result) << result.error().message;
        EXPECT_EQ(result->err.find("Run with --help"), std::string::npos) << one.command << "\n" << result->err;
        for (const char* wrong : {"There is no verb", "There is no act"}) {
            EXPECT_EQ(result->err.find(wrong), std::string::npos) << one.command << "\n" << result->err;
        }
        EXPECT_EQ(result->status.code, 2) << one.command << "\n" << result->out << result->err;
    }
}

} // namespace espalier::test
