// SPDX-License-Identifier: Apache-2.0
// espalierctl watch: an editor's saves become judged children. The real compiler and judge, the simulated device.
#include "tests/app/ctl_support.h"

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
        ASSERT_EQ(ctl({"run", "softmax_f32", "--device", "sim", "--strategy", "manual", "--evals", "20", "--session", path("s.espalier"), "--json"}).status.code, 0);
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
    auto process = Subprocess::start(spec({"watch", path("s.espalier"), "1", "--file", path("mine.cu"), "--saves", "2", "--json"}));
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
    auto process = Subprocess::start(spec({"watch", path("s.espalier"), "1", "--file", path("mine.cu"), "--saves", "2"}));
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
