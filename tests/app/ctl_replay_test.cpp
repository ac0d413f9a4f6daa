// SPDX-License-Identifier: Apache-2.0
// Replayed searches through the real programs on the simulated device: the exchanges in tests/replay were written by
// hand for this, the kernels in them are built, verified and timed like any other.
#include "tests/app/ctl_support.h"

#include <algorithm>
#include <csignal>
#include <thread>

namespace espalier::test {

static const std::string replayFolder = std::string(ESPALIER_SOURCE_DIR) + "/tests/replay/";

class ReplayTest : public CtlTest
{
protected:
    /// Ideas, kernels, a repair and a second step.
    static constexpr const char* evaluations = "5";

    std::vector<std::string> words(const std::string& task, const std::string& session) const
    {
        const std::string own = replayFolder + "tasks/" + task;
        return {"run",        std::filesystem::exists(own) ? own : task,
                "--session",  path(session),
                "--device",   "sim",
                "--proposer", "replay",
                "--folder",   replayFolder + task,
                "--evals",    evaluations,
                "--json"};
    }

    void search(const std::string& task)
    {
        const auto result = ctl(words(task, "s.espalier"), std::chrono::seconds(300));
        const Json json = onlyJson(result);
        ASSERT_EQ(result.status.code, 0) << result.err << result.out;
        EXPECT_EQ(json["provenance"], "model");
        EXPECT_EQ(json["evaluations"], 5);
        EXPECT_GE(json["passed"].get<int>(), 4) << result.err;
        EXPECT_EQ(json["best"]["found_by"], "replay");
        EXPECT_GT(json["best"]["speedup_root"].get<double>(), 1.15) << result.err;
        EXPECT_GE(json["models"]["requests"].get<int>(), 6);
        EXPECT_GT(json["tokens_per_improvement"].get<double>(), 0);
        const Json nodes = onlyJson(ctl({"show", path("s.espalier"), "--json"}))["nodes"];
        const auto repair = std::find_if(nodes.begin(), nodes.end(), [](const Json& node) {
            return node["title"].get<std::string>().ends_with("(repair 1)");
        });
        ASSERT_NE(repair, nodes.end());
        EXPECT_EQ((*repair)["outcome"], "passed") << (*repair)["reason"];
        EXPECT_EQ((*repair)["parents"].size(), 2u);
        const Json whole =
            onlyJson(ctl({"show", path("s.espalier"), "--node", std::to_string((*repair)["id"].get<int>()), "--json"}));
        const Json exchange = whole["nodes"][0]["exchanges"][0];
        EXPECT_EQ(exchange["purpose"], "repair");
        EXPECT_EQ(exchange["state"], "answered");
        EXPECT_NE(exchange["prompt"].get<std::string>().find("The kernel that failed"), std::string::npos);
    }
};

TEST_F(ReplayTest, Softmax)
{
    search("softmax_f32");
}
TEST_F(ReplayTest, MatrixProduct)
{
    search("matmul_f32");
}
TEST_F(ReplayTest, LayerNormalisation)
{
    search("layernorm_f32");
}
TEST_F(ReplayTest, GatedActivationWithoutAPlaybook)
{
    search("swiglu_f32");
}
TEST_F(ReplayTest, RootMeanSquareWithoutAPlaybook)
{
    search("rmsnorm_f32");
}

TEST_F(ReplayTest, ShowsPromptAnswerAndWhatWasSentWhere)
{
    auto run = words("swiglu_f32", "s.espalier");
    run[11] = "1";
    ASSERT_EQ(ctl(run).status.code, 0);
    const std::string text = ctl({"show", path("s.espalier"), "--node", "2"}).out;
    EXPECT_NE(text.find("exchange 1: idea (swiglu_f32: root)"), std::string::npos) << text;
    EXPECT_NE(text.find("  + contract, about "), std::string::npos);
    EXPECT_NE(text.find("--- prompt ---"), std::string::npos);
    EXPECT_NE(text.find("--- answer ---"), std::string::npos);
    EXPECT_NE(text.find("dropped idea \"Fuse both kernels into one\": it repeats"), std::string::npos) << text;
    const std::string prompt = ctl({"show", path("s.espalier"), "--node", "2", "--prompt"}).out;
    EXPECT_NE(prompt.find("Propose 4 ideas"), std::string::npos);
    EXPECT_EQ(prompt.find("--- "), std::string::npos);
}

TEST_F(ReplayTest, AMissingExchangeIsNamedAndPauses)
{
    auto run = words("swiglu_f32", "s.espalier");
    run[9] = replayFolder + "rmsnorm_f32";
    const auto result = ctl(run);
    EXPECT_EQ(result.status.code, 5);
    EXPECT_NE(onlyJson(result)["error"].dump().find("swiglu_f32: root"), std::string::npos) << result.out;
}

TEST_F(ReplayTest, TheEngineerSteersPrompts)
{
    auto run = words("swiglu_f32", "s.espalier");
    run[11] = "1";
    ASSERT_EQ(ctl(run).status.code, 0);
    const std::string s = path("s.espalier");
    EXPECT_EQ(ctl({"steer", s, "hint", "No shared memory."}).status.code, 0);
    EXPECT_EQ(ctl({"steer", s, "attach", write("notes.md", "n is always even.")}).status.code, 0);
    EXPECT_EQ(ctl({"steer", s, "ask", "--node", "1", "--prompt", write("own.md", "Ideas in my words.")}).status.code,
              0);
    EXPECT_EQ(ctl({"steer", s, "ask", "--node", "99"}).status.code, 2);
    run[11] = "2";
    (void)ctl(run);
    const Json exchanges = onlyJson(ctl({"show", s, "--node", "1", "--json"}))["nodes"][0]["exchanges"];
    const auto own = std::find_if(exchanges.begin(), exchanges.end(),
                                  [](const Json& one) { return one["prompt"] == "Ideas in my words."; });
    ASSERT_NE(own, exchanges.end()) << exchanges.dump(1);
    EXPECT_EQ((*own)["parts"][0]["channel"], "engineer");
}

TEST_F(ReplayTest, ADryRunSaysWhatItMayCost)
{
    auto run = words("softmax_f32", "s.espalier");
    run.push_back("--dry-run");
    const Json json = onlyJson(ctl(run));
    EXPECT_GT(json["estimate"]["input_tokens"].get<int>(), 1000);
    EXPECT_EQ(json["estimate"]["evaluations"], 5);
    EXPECT_FALSE(std::filesystem::exists(path("s.espalier")));
}

} // namespace espalier::test
