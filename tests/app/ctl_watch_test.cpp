// SPDX-License-Identifier: Apache-2.0
// espalierctl watch: an editor's saves become judged children. The real compiler and judge, the simulated device.
#include "tests/app/ctl_support.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

using namespace std::chrono_literals;

namespace espalier::test {
namespace {

class WatchTest : public CtlTest
{
protected:
    void SetUp() override
    {
        CtlTest::SetUp();
        ASSERT_EQ(ctl({"run", "softmax_f32", "--device", "sim", "--strategy", "manual", "--evals", "20", "--session",
                       path("s.espalier"), "--json"})
                      .status.code,
                  0);
    }

    /// Another program: a comment more would be the same kernel, which is not judged twice.
    static std::string edited(const std::string& source, const std::string& name)
    {
        return source + "\nstatic constexpr int " + name + " = 1;\n";
    }

    /// As an editor that truncates and writes.
    void saveInPlace(const std::string& name, const std::string& text) const
    {
        std::ofstream file(path(name), std::ios::trunc);
        file << text;
    }

    std::vector<Json> childrenOf(int parent) const
    {
        std::vector<Json> children;
        const Json nodes = onlyJson(ctl({"show", path("s.espalier"), "--json"}))["nodes"];
        for (const Json& node : nodes) {
            if (!node["parents"].empty() && node["parents"][0] == parent && node["kind"] == "candidate") {
                children.push_back(node);
            }
        }
        return children;
    }

    /// Waits until the watcher has written the file that is edited.
    std::string firstText(const std::string& name) const
    {
        for (int i = 0; i < 200; ++i) {
            if (auto text = readFile(path(name)); text && !text->empty()) {
                return *text;
            }
            std::this_thread::sleep_for(50ms);
        }
        ADD_FAILURE() << name << " was never written";
        return "";
    }
};

TEST_F(WatchTest, EverySaveBecomesAJudgedChild)
{
    auto process = Subprocess::start(
        spec({"watch", path("s.espalier"), "1", "--file", path("mine.cu"), "--saves", "2", "--json"}));
    ASSERT_TRUE(process) << process.error().message;
    const std::string source = firstText("mine.cu");
    ASSERT_NE(source.find("softmax_f32"), std::string::npos);
    std::this_thread::sleep_for(1s); // it has begun to watch by then, or takes what it finds for a save as well
    saveInPlace("mine.cu", edited(source, "first"));
    for (int i = 0; i < 400 && childrenOf(1).empty(); ++i) {
        std::this_thread::sleep_for(100ms);
    }
    write("mine.cu", edited(source, "second")); // by rename, as other editors do
    const auto status = process->wait(120s);
    ASSERT_TRUE(status) << "two saves, two verdicts, and it ends";
    EXPECT_EQ(status->code, 0);
    const std::vector<Json> children = childrenOf(1);
    ASSERT_EQ(children.size(), 2U);
    for (const Json& child : children) {
        EXPECT_EQ(child["state"], "done");
        EXPECT_EQ(child["outcome"], "passed") << child.dump();
    }
}

TEST_F(WatchTest, ASaveThatDoesNotBuildIsSaidAndTheNextOneCounts)
{
    auto process =
        Subprocess::start(spec({"watch", path("s.espalier"), "1", "--file", path("mine.cu"), "--saves", "2"}));
    ASSERT_TRUE(process) << process.error().message;
    const std::string source = firstText("mine.cu");
    std::this_thread::sleep_for(1s);
    saveInPlace("mine.cu", "this is no kernel");
    for (int i = 0; i < 400 && childrenOf(1).empty(); ++i) {
        std::this_thread::sleep_for(100ms);
    }
    saveInPlace("mine.cu", edited(source, "mended"));
    const auto status = process->wait(120s);
    ASSERT_TRUE(status);
    const std::vector<Json> children = childrenOf(1);
    ASSERT_EQ(children.size(), 2U);
    EXPECT_EQ(children[0]["outcome"], "build_failed");
    EXPECT_EQ(children[1]["outcome"], "passed");
}

/// A run holds the session: what is saved goes to it, and the verdict is read from the file.
TEST_F(WatchTest, WhileARunHoldsTheSessionSavesGoToIt)
{
    auto run = Subprocess::start(
        spec({"run", "softmax_f32", "--device", "sim", "--evals", "400", "--session", path("r.espalier")}));
    ASSERT_TRUE(run) << run.error().message;
    const auto evaluations = [this] {
        const auto shown = ctl({"show", path("r.espalier"), "--json"}); // at first there is nothing to show
        return shown.status.code == 0 ? onlyJson(shown)["session"]["evaluations"].get<int>() : 0;
    };
    for (int i = 0; i < 300 && evaluations() == 0; ++i) {
        std::this_thread::sleep_for(100ms);
    }
    ASSERT_EQ(ctl({"steer", path("r.espalier"), "pause"}).status.code, 0); // it waits and holds the session
    auto process = Subprocess::start(
        spec({"watch", path("r.espalier"), "1", "--file", path("mine.cu"), "--saves", "1", "--json"}));
    ASSERT_TRUE(process) << process.error().message;
    const std::string source = firstText("mine.cu");
    std::this_thread::sleep_for(2s);
    saveInPlace("mine.cu", edited(source, "mine"));
    std::this_thread::sleep_for(1s);
    ASSERT_EQ(ctl({"steer", path("r.espalier"), "run"}).status.code, 0);
    const auto status = process->wait(120s);
    ASSERT_TRUE(status) << "one save, one verdict, and it ends";
    EXPECT_EQ(status->code, 0);
    ::kill(run->pid(), SIGINT);
    ASSERT_TRUE(run->wait(60s));
    const Json nodes = onlyJson(ctl({"show", path("r.espalier"), "--json"}))["nodes"];
    const auto own =
        std::find_if(nodes.begin(), nodes.end(), [](const Json& node) { return node["title"] == "mine.cu 1"; });
    ASSERT_NE(own, nodes.end()) << nodes.dump();
    EXPECT_EQ((*own)["parents"][0], 1);
    EXPECT_EQ((*own)["outcome"], "passed");
}

/// The run ends before it has judged a save, and there is a save after its end: the watch judges both.
TEST_F(WatchTest, WhenTheRunEndsTheWatchGoesOnByItself)
{
    auto run = Subprocess::start(spec({"run", "softmax_f32", "--device", "sim", "--strategy", "refine", "--evals",
                                       "400", "--session", path("s.espalier")}));
    ASSERT_TRUE(run) << run.error().message;
    bool paused = false;
    for (int i = 0; i < 100 && !paused; ++i) {
        paused = ctl({"steer", path("s.espalier"), "pause"}).status.code == 0; // it waits and holds the session
        std::this_thread::sleep_for(100ms);
    }
    ASSERT_TRUE(paused);
    auto process = Subprocess::start(
        spec({"watch", path("s.espalier"), "1", "--file", path("mine.cu"), "--saves", "2", "--json"}));
    ASSERT_TRUE(process) << process.error().message;
    const std::string source = firstText("mine.cu");
    std::this_thread::sleep_for(2s);
    saveInPlace("mine.cu", edited(source, "first"));
    std::this_thread::sleep_for(1s);
    const auto titled = [this](const std::string& title) {
        const auto children = childrenOf(1);
        const auto found =
            std::find_if(children.begin(), children.end(), [&](const Json& node) { return node["title"] == title; });
        return found == children.end() ? Json() : *found;
    };
    ASSERT_EQ(titled("mine.cu 1")["state"], "queued") << "the run has it";
    ::kill(run->pid(), SIGINT);
    ASSERT_TRUE(run->wait(60s));
    saveInPlace("mine.cu", edited(source, "second"));
    const auto status = process->wait(120s);
    ASSERT_TRUE(status) << "two saves, two verdicts, and it ends";
    EXPECT_EQ(status->code, 0);
    EXPECT_EQ(titled("mine.cu 1")["outcome"], "passed");
    EXPECT_EQ(titled("mine.cu 2")["outcome"], "passed");
}

TEST_F(WatchTest, CtrlCEndsIt)
{
    auto process = Subprocess::start(spec({"watch", path("s.espalier"), "1", "--file", path("mine.cu")}));
    ASSERT_TRUE(process) << process.error().message;
    (void)firstText("mine.cu");
    std::this_thread::sleep_for(500ms);
    ::kill(process->pid(), SIGINT);
    const auto status = process->wait(30s);
    ASSERT_TRUE(status) << "it did not end";
    EXPECT_TRUE(childrenOf(1).empty());
    EXPECT_EQ(ctl({"watch", path("s.espalier"), "99"}).status.code, 2);
}

} // namespace
} // namespace espalier::test
