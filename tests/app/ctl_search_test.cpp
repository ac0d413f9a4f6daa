// SPDX-License-Identifier: Apache-2.0
// Whole searches through the real programs on the simulated device: results, determinism, kills and resumption.
#include "tests/app/ctl_support.h"

#include <algorithm>
#include <csignal>
#include <pwd.h>
#include <random>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace espalier::test {

namespace {

using namespace std::chrono_literals;

class SearchTest : public CtlTest
{
protected:
    std::vector<std::string> runWords(const std::string& session, int evaluations) const
    {
        return {"run",       "softmax_f32", "--device", "sim", "--evals", std::to_string(evaluations),
                "--session", path(session), "--json"};
    }

    /// The tree without anything that depends on the clock of this machine.
    Json treeOf(const std::string& session) const
    {
        Json nodes = onlyJson(ctl({"show", path(session), "--json"}))["nodes"];
        return nodes;
    }
};

} // namespace

TEST_F(SearchTest, FindsAFasterKernelAndExportsIt)
{
    const auto result = ctl(runWords("s.espalier", 12));
    const Json json = onlyJson(result);
    ASSERT_EQ(result.status.code, 0) << result.err;
    for (const char* field : {"task", "device", "provenance", "evaluations", "passed", "rejected", "failed", "best",
                              "seconds", "tokens", "usd"}) {
        EXPECT_TRUE(json.contains(field)) << field;
    }
    EXPECT_EQ(json["provenance"], "model");
    EXPECT_EQ(json["evaluations"], 12);
    EXPECT_GT(json["best"]["speedup_root"].get<double>(), 1.5);
    EXPECT_GT(json["best"]["time_us"].get<double>(), 0);
    const std::string node = std::to_string(json["best"]["node"].get<int>());
    const auto exported = ctl({"export", path("s.espalier"), "--node", node, "--form", "cuda", "--to", path("out")});
    EXPECT_EQ(exported.status.code, 0) << exported.err;
    const auto kernel = readFile(path("out") + "/softmax_f32.cu");
    ASSERT_TRUE(kernel);
    EXPECT_NE(kernel->find("nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -c softmax_f32.cu"),
              std::string::npos)
        << "the command that it names is the one that builds it";
    const auto source = ctl({"show", path("s.espalier"), "--node", node, "--source"});
    EXPECT_NE(source.out.find("extern \"C\" cudaError_t softmax_f32"), std::string::npos);
    const auto ptx = ctl({"show", path("s.espalier"), "--node", node, "--ptx"});
    EXPECT_NE(ptx.out.find(".entry"), std::string::npos) << ptx.err;
    EXPECT_NE(ptx.out.find("// candidate.cu:"), std::string::npos) << "the source lines stand beside it";
    const auto sass = ctl({"show", path("s.espalier"), "--node", node, "--sass", "--json"});
    if (sass.status.code == 0) {
        const Json lines = onlyJson(sass)["lines"];
        EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const Json& line) {
            return line["text"].get<std::string>().find("EXIT") != std::string::npos;
        }));
    } else { // a toolkit without it
        EXPECT_NE((sass.out + sass.err).find("nvdisasm"), std::string::npos) << sass.out;
    }
    EXPECT_EQ(ctl({"show", path("s.espalier"), "--sass"}).status.code, 2);
    const Json nodes = treeOf("s.espalier");
    EXPECT_EQ(nodes[0]["kind"], "root");
    for (const Json& one : nodes) {
        EXPECT_NE(one["state"], "running");
        EXPECT_TRUE(one["provenance"].is_null() || one["provenance"] == "model");
    }
    // The budget is the session's: a second run has nothing left to do and says the same.
    const Json again = onlyJson(ctl(runWords("s.espalier", 12)));
    EXPECT_EQ(again["evaluations"], 12);
    EXPECT_EQ(again["best"], json["best"]);
    for (const char* act : {"re-verify", "re-time", "profile"}) { // on a closed session, while the caller waits
        const auto again = ctl({"steer", path("s.espalier"), act, "--node", node});
        EXPECT_EQ(again.status.code, 0) << act << again.err;
    }
    const Json judged = onlyJson(ctl({"show", path("s.espalier"), "--node", node, "--json"}))["nodes"][0];
    EXPECT_TRUE(judged["measured_again"].get<bool>());
    EXPECT_TRUE(judged["evaluation"].contains("profile"));
    EXPECT_EQ(ctl({"steer", path("s.espalier"), "profile", "--node", "99"}).status.code, 2);

    // What is there already is held to a ban, by its build's record: nothing is left beside the root, until it is
    // lifted.
    ASSERT_EQ(ctl({"steer", path("s.espalier"), "ban", "no registers", "--predicate", "registers == 0"}).status.code,
              0);
    const Json banned = onlyJson(ctl({"show", path("s.espalier"), "--json"}));
    EXPECT_EQ(banned["session"]["best"], 1);
    EXPECT_NE(banned["nodes"].dump().find("the engineer's ban \\\"no registers\\\" says registers == 0"),
              std::string::npos);
    EXPECT_NE(ctl({"show", path("s.espalier"), "--tree"}).out.find("[banned]"), std::string::npos);
    ASSERT_EQ(ctl({"steer", path("s.espalier"), "lift-ban", "1"}).status.code, 0);
    EXPECT_EQ(onlyJson(ctl({"show", path("s.espalier"), "--json"}))["session"]["best"], json["best"]["node"]);

    // A person's word is shown as theirs, with the judge's beside it.
    ASSERT_EQ(ctl({"steer", path("s.espalier"), "overturn", "--node", node, "--as", "rejected", "--reason",
                   "Wrong for my data"})
                  .status.code,
              0);
    const std::string shown = ctl({"show", path("s.espalier"), "--node", node}).out;
    EXPECT_NE(shown.find("outcome:  incorrect by hand: Wrong for my data (the judge: passed: "), std::string::npos)
        << shown;
    EXPECT_EQ(shown.find("(bound 0)"), std::string::npos) << shown;
    const auto refused = ctl({"export", path("s.espalier"), "--node", node, "--to", path("again")});
    EXPECT_EQ(refused.status.code, 2);
    EXPECT_NE(refused.err.find("did not pass (incorrect by hand)"), std::string::npos) << refused.err;
}

TEST_F(SearchTest, ABudgetIsSteeredLimitByLimit)
{
    auto words = runWords("s.espalier", 1);
    words.insert(words.end(), {"--target", "50", "--usd", "3"});
    ASSERT_EQ(ctl(words).status.code, 0);
    const auto steer = [this](std::vector<std::string> limits) {
        limits.insert(limits.begin(), {"steer", path("s.espalier"), "budget"});
        return ctl(limits).status.code;
    };
    const auto budget = [this] { return onlyJson(ctl({"show", path("s.espalier"), "--json"}))["session"]["budget"]; };
    EXPECT_EQ(steer({"--plateau", "7", "--evals", "4"}), 0);
    EXPECT_EQ(budget(), Json({{"evaluations", 4}, {"plateau", 7}, {"target", 50.0}, {"usd", 3.0}}));
    EXPECT_EQ(steer({"--no-target", "--roof", "10"}), 0);
    EXPECT_EQ(budget(), Json({{"evaluations", 4}, {"plateau", 7}, {"roof", 10.0}, {"usd", 3.0}}));
    EXPECT_EQ(steer({"--unlimited"}), 0);
    EXPECT_EQ(budget(), Json({{"plateau", 7}, {"roof", 10.0}}));
    EXPECT_EQ(steer({}), 2);
    EXPECT_EQ(steer({"--usd", "1", "--no-usd"}), 2);
    EXPECT_EQ(steer({"--node", "1", "--target", "2"}), 2);
    EXPECT_EQ(budget(), Json({{"plateau", 7}, {"roof", 10.0}}));
    const auto shown = ctl({"show", path("s.espalier"), "--node", "3"});
    EXPECT_NE(shown.out.find("\nchosen:   "), std::string::npos) << shown.out;
    EXPECT_FALSE(onlyJson(ctl({"show", path("s.espalier"), "--node", "3", "--json"}))["nodes"][0]["why"]
                     .get<std::string>()
                     .empty());
}

TEST_F(SearchTest, WhatWasSteeredIsReadBack)
{
    ASSERT_EQ(ctl(runWords("s.espalier", 2)).status.code, 0);
    const auto steer = [this](std::vector<std::string> words) {
        words.insert(words.begin(), {"steer", path("s.espalier")});
        return ctl(words);
    };
    const auto refusal = [&](const std::vector<std::string>& words) {
        const auto result = steer(words);
        EXPECT_EQ(result.status.code, 2);
        return result.err;
    };
    EXPECT_EQ(refusal({"lift-ban", "1"}), "espalierctl: There is no ban 1: the session has none.\n");
    EXPECT_EQ(steer({"ban", "no fp16", "--predicate", "fp16_instructions == 0"}).status.code, 0);
    EXPECT_EQ(steer({"hint", "be brief"}).status.code, 0);
    const auto attached = steer({"attach", write("notes.md", "Rows are long.")});
    EXPECT_EQ(attached.status.code, 0);
    EXPECT_NE(attached.out.find("unless the model's profile names its channels"), std::string::npos) << attached.out;
    EXPECT_EQ(refusal({"lift-ban", "2"}), "espalierctl: There is no ban 2: the session has 1 \"no fp16\".\n");
    EXPECT_EQ(refusal({"unhint", "7"}), "espalierctl: There is no hint 7: the session has 1 \"be brief\".\n");
    EXPECT_EQ(refusal({"detach", "n.md"}),
              "espalierctl: No attached text is named \"n.md\": the session has \"notes.md\".\n");
    EXPECT_EQ(steer({"boost", "--node", "3", "--factor", "2.5"}).status.code, 0);
    const auto first = steer({"budget", "--node", "1", "--evals", "2"});
    EXPECT_EQ(first.out, "Limits of branch 1 from now on: 2 evaluations (0 spent).\n") << first.err;
    EXPECT_EQ(steer({"budget", "--node", "1", "--seconds", "9"}).out,
              "Limits of branch 1 from now on: 2 evaluations (0 spent), 9 device seconds (0 spent).\n");
    const std::string shown = ctl({"show", path("s.espalier"), "--tree"}).out;
    for (const char* line :
         {"\nban 1: no fp16 (fp16_instructions == 0)\n", "\nhint 1: be brief\n", "\nattached: notes.md (14 bytes)\n",
          "  [boost 2.5]", "  [budget 2 evaluations (0 spent), 9 device seconds (0 spent)]"}) {
        EXPECT_NE(shown.find(line), std::string::npos) << line << " in\n" << shown;
    }
    const Json json = onlyJson(ctl({"show", path("s.espalier"), "--json"}));
    EXPECT_EQ(json["bans"],
              Json::parse(R"([{"number": 1, "text": "no fp16", "predicate": "fp16_instructions == 0"}])"));
    EXPECT_EQ(json["hints"], Json::parse(R"([{"number": 1, "text": "be brief"}])"));
    EXPECT_EQ(json["attached"], Json::parse(R"([{"name": "notes.md", "bytes": 14}])"));
    EXPECT_EQ(json["nodes"][2]["boost"], 2.5);
    EXPECT_EQ(json["nodes"][0]["branch_budget"]["evaluations"], Json::parse(R"({"limit": 2, "spent": 0})"));
    EXPECT_NE(
        ctl({"show", path("s.espalier"), "--node", "1"}).out.find("\nbudget:   2 evaluations (0 spent), 9 device"),
        std::string::npos);
    EXPECT_NE(ctl({"show", path("s.espalier"), "--node", "3"}).out.find("\nboost:    2.5\n"), std::string::npos);
    EXPECT_EQ(steer({"budget", "--node", "1", "--unlimited"}).out, "No limit of branch 1 holds from now on.\n");

    const auto below = steer({"budget", "--evals", "1"});
    EXPECT_EQ(
        below.out,
        "Limits of the session from now on: 1 evaluations (2 spent). 2 evaluations are spent: the search is over.\n");
    EXPECT_TRUE(onlyJson(steer({"budget", "--evals", "2", "--json"}))["over"].get<bool>());
    const auto idea = ctl({"show", path("s.espalier"), "--node", "2", "--source"});
    EXPECT_EQ(idea.status.code, 2);
    EXPECT_EQ(idea.err, "espalierctl: Node 2 is an idea and has no source: name a root or a candidate.\n");
}

TEST_F(SearchTest, SameSeedSameTree)
{
    ASSERT_EQ(ctl(runWords("a.espalier", 9)).status.code, 0);
    auto words = runWords("b.espalier", 9);
    words.insert(words.end(), {"--builders", "1"});
    ASSERT_EQ(ctl(words).status.code, 0);
    EXPECT_EQ(treeOf("a.espalier"), treeOf("b.espalier"));
    words = runWords("c.espalier", 9);
    words[3] = "sim,sim"; // two judges
    ASSERT_EQ(ctl(words).status.code, 0);
    EXPECT_EQ(treeOf("a.espalier"), treeOf("c.espalier"));
}

TEST_F(SearchTest, ConflictingOptionsAreErrors)
{
    ASSERT_EQ(ctl(runWords("s.espalier", 1)).status.code, 0);
    auto words = runWords("s.espalier", 2);
    words[1] = "layernorm_f32";
    EXPECT_EQ(ctl(words).status.code, 2);
    words = runWords("s.espalier", 2);
    words.insert(words.end(), {"--seed", "77"});
    EXPECT_EQ(ctl(words).status.code, 2);
}

/// kill -9 of the engine at random moments: reopening goes on, nothing is lost or left running, and the tree is the one
/// an undisturbed run grows.
TEST_F(SearchTest, KillAndResume)
{
    ASSERT_EQ(ctl(runWords("whole.espalier", 8)).status.code, 0);
    std::mt19937 random(7);
    for (int round = 0; round < 4; ++round) {
        auto process = Subprocess::start(spec(runWords("cut.espalier", 8)));
        ASSERT_TRUE(process) << process.error().message;
        process->wait(std::chrono::milliseconds(300 + random() % 1500));
        process->kill();
        const auto seen = ctl({"show", path("cut.espalier"), "--json"});
        if (seen.status.code == 0) { // a kill before the file was whole leaves nothing to show
            EXPECT_LE(onlyJson(seen)["nodes"].size(), treeOf("whole.espalier").size());
        }
    }
    const auto last = ctl(runWords("cut.espalier", 8));
    ASSERT_EQ(last.status.code, 0) << last.err << last.out;
    EXPECT_EQ(treeOf("cut.espalier"), treeOf("whole.espalier"));
}

TEST_F(SearchTest, InterruptPausesCleanly)
{
    auto process = Subprocess::start(spec(runWords("s.espalier", 30)));
    ASSERT_TRUE(process);
    for (int i = 0; i < 200 && !std::filesystem::exists(path("s.espalier")); ++i) {
        std::this_thread::sleep_for(50ms);
    }
    std::this_thread::sleep_for(1500ms);
    ::kill(process->pid(), SIGINT);
    const auto status = process->wait(30s);
    ASSERT_TRUE(status);
    EXPECT_EQ(status->code, 130);
    for (const Json& node : treeOf("s.espalier")) {
        EXPECT_NE(node["state"], "running");
    }
}

/// `steer` reaches the process that runs the session: it pauses and waits, steps, goes on, and ends at Ctrl-C.
TEST_F(SearchTest, ARunThatIsPausedBySteerWaits)
{
    auto process = Subprocess::start(spec(runWords("s.espalier", 200)));
    ASSERT_TRUE(process);
    const auto evaluations = [this] {
        int done = 0;
        for (const Json& node : treeOf("s.espalier")) {
            done += node["kind"] == "candidate" && node["state"] == "done" ? 1 : 0;
        }
        return done;
    };
    for (int i = 0; i < 200 && (!std::filesystem::exists(path("s.espalier")) || evaluations() == 0); ++i) {
        std::this_thread::sleep_for(100ms);
    }
    ASSERT_EQ(ctl({"steer", path("s.espalier"), "pause"}).status.code, 0);
    int settled = -1;
    for (int i = 0; i < 100 && settled != evaluations(); ++i) {
        settled = evaluations();
        std::this_thread::sleep_for(1s);
    }
    EXPECT_FALSE(process->wait(500ms)) << "it waits for the engineer";
    const auto hint = ctl({"steer", path("s.espalier"), "hint", "while it waits"});
    EXPECT_EQ(hint.status.code, 0) << hint.err;
    const Json acts = onlyJson(ctl({"show", path("s.espalier"), "--json"}))["acts"];
    ASSERT_EQ(acts.size(), 3U) << acts.dump();
    for (std::size_t i = 0; i < acts.size(); ++i) {
        EXPECT_EQ(acts[i]["act"], std::vector<std::string>(
                                      {"run with refine, up to 200 evaluations", "pause", "hint: while it waits"})[i]);
        const passwd* account = ::getpwuid(::geteuid());
        EXPECT_EQ(acts[i]["author"], account ? account->pw_name : "engineer"); // tests start it without $USER
    }
    ASSERT_EQ(ctl({"steer", path("s.espalier"), "run"}).status.code, 0);
    for (int i = 0; i < 200 && evaluations() <= settled; ++i) {
        std::this_thread::sleep_for(100ms);
    }
    EXPECT_GT(evaluations(), settled) << "it went on";
    ASSERT_EQ(ctl({"steer", path("s.espalier"), "pause"}).status.code, 0);
    std::this_thread::sleep_for(3s);
    ::kill(process->pid(), SIGINT);
    const auto status = process->wait(30s);
    ASSERT_TRUE(status);
    EXPECT_EQ(status->code, 130);
}

TEST_F(SearchTest, SecondRunOnAnOpenSessionIsToldWhoHasIt)
{
    auto process = Subprocess::start(spec(runWords("s.espalier", 30)));
    ASSERT_TRUE(process);
    RunResult second;
    for (int i = 0; i < 100; ++i) { // until the first one holds the file
        std::this_thread::sleep_for(100ms);
        if (std::filesystem::exists(path("s.espalier"))) {
            second = ctl({"run", "softmax_f32", "--session", path("s.espalier"), "--device", "sim"});
            if (second.err.find("is open in process") != std::string::npos) {
                break;
            }
        }
    }
    EXPECT_EQ(second.status.code, 2);
    EXPECT_NE(second.err.find(std::to_string(process->pid())), std::string::npos) << second.err;
}

} // namespace espalier::test
