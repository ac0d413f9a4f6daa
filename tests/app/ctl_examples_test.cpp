// SPDX-License-Identifier: Apache-2.0
// Every example of every help text and README, run as a user pastes it, on the simulated device.
#include "tests/app/ctl_examples.h"
#include "tests/app/ctl_support.h"

#include <algorithm>
#include <fmt/format.h>
#include <regex>

namespace espalier::test {
namespace {

namespace fs = std::filesystem;

class ExamplesRunTest : public CtlTest
{
protected:
    RunResult shell(const std::string& command, std::chrono::seconds limit = std::chrono::seconds(200)) const
    {
        ProcessSpec shell = spec({});
        shell.argv = {"/bin/sh", "-c", command};
        shell.environment->front() = std::string("PATH=") + ESPALIER_BIN + ":/usr/local/bin:/usr/bin:/bin";
        auto result = runToEnd(shell, "", limit, std::size_t{16} << 20);
        EXPECT_TRUE(result) << result.error().message;
        EXPECT_FALSE(result->timedOut) << command;
        return std::move(*result);
    }

    void needed(const std::string& command) const
    {
        const RunResult result = shell(command);
        ASSERT_EQ(result.status.code, 0) << command << "\n" << result.out << result.err;
    }

    /// What the examples find: a task, a kernel, a library, and sessions whose nodes 2 to 8 are kernels.
    void prepare()
    {
        const fs::path task = fs::path(ESPALIER_SOURCE_DIR) / "tasks/softmax_f32";
        fs::copy(task, path("my_op"), fs::copy_options::recursive);
        write("mine.c", "int mine(void) { return 0; }\n");
        needed("cc -shared -fPIC -o ops.so mine.c");
        needed("espalierctl run softmax_f32 --session s.espalier --device sim --evals 0");
        const std::string root = readFile(task / "root.cu").value();
        write("kernel.cu", std::regex_replace(root, std::regex("kThreads = 256"), "kThreads = 4"));
        for (const char* threads : {"32", "64", "128", "512", "1024", "16", "8"}) {
            write("own.cu",
                  std::regex_replace(root, std::regex("kThreads = 256"), std::string("kThreads = ") + threads));
            needed("espalierctl steer s.espalier inject own.cu --node 1");
        }
        needed("espalierctl run softmax_f32 --session s.espalier --evals 7");
        fs::copy(path("s.espalier"), path("other.espalier"));
        fs::copy(path("s.espalier"), path("m.espalier"));
    }

    /// As it stands, but for what would take long or another machine: the device and the size of a search.
    static std::string asTested(const Example& example)
    {
        std::string command = example.command;
        if (example.verb == "run") {
            command = std::regex_replace(command, std::regex(" --evals [0-9]+"), "") + " --evals 9";
        }
        const bool judges = example.verb == "run" || example.verb == "eval" || example.verb == "audit";
        if (judges && command.find("--device") == std::string::npos) {
            command += " --device sim";
        }
        return example.verb == "watch" ? "timeout --preserve-status -s INT 5 " + command : command;
    }
};

TEST_F(ExamplesRunTest, EveryExampleDoesWhatItIsGivenFor)
{
    prepare();
    std::vector<Example> all;
    for (const Example& verb : examplesIn(ctl({"--help"}).out)) {
        for (const Example& one : examplesIn(ctl({verb.verb, "--help"}).out)) {
            all.push_back(one);
        }
    }
    const std::size_t ofHelp = all.size();
    EXPECT_GE(ofHelp, 30u);
    for (const Example& one : examplesIn(readFile(fs::path(ESPALIER_SOURCE_DIR) / "README.md").value())) {
        all.push_back(one);
    }
    EXPECT_GE(all.size(), ofHelp + 15);
    for (const Example& one : all) {
        if (one.needsMore()) {
            continue; // ctl_test sees that it parses
        }
        const RunResult result = shell(asTested(one));
        EXPECT_EQ(result.status.code, 0) << asTested(one) << "\n" << result.out << result.err;
    }
}

} // namespace
} // namespace espalier::test
