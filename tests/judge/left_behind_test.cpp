// SPDX-License-Identifier: Apache-2.0
// Nothing of ours outlives its owner: a thousand evaluations of as many libraries and two hundred kill -9 at random
// moments leave no process, no mount, no socket and no temporary folder. This process is the reaper of all below it, so
// that what is left behind is found here and nowhere else.
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/subprocess.h"
#include "tests/judge/judge_fixture.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <random>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace espalier::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class LeftBehind : public JudgeFixture
{
protected:
    void SetUp() override
    {
        ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
        auto folder = ScratchFolder::create("espalier-left-behind");
        ASSERT_TRUE(folder);
        m_folder.emplace(std::move(*folder));
        fs::create_directories(temporary());
        ::setenv("TMPDIR", temporary().c_str(), 1);
        m_mounts = readFile("/proc/self/mounts").value_or("");
    }

    fs::path temporary() const { return m_folder->path() / "tmp"; }

    /// What is below this process once the dead are reaped, one command line each.
    static std::string below()
    {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        std::string lines;
        for (const int pid : descendantsOf(::getpid())) {
            lines += fmt::format("{} {}\n", pid, commandLineOf(pid));
        }
        return lines;
    }

    void expectNothingLeft() const
    {
        const auto end = std::chrono::steady_clock::now() + 60s;
        while (!below().empty() && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(20ms);
        }
        EXPECT_EQ(below(), "");
        EXPECT_EQ(readFile("/proc/self/mounts").value_or(""), m_mounts);
        EXPECT_EQ(readFile("/proc/net/unix").value_or("").find(sessionSocket()), std::string::npos);
        EXPECT_TRUE(fs::is_empty(temporary())) << fs::directory_iterator(temporary())->path();
    }

    /// As core/engine/command_socket.h names it.
    std::string sessionSocket() const
    {
        struct stat facts = {};
        return ::stat(session().c_str(), &facts) == 0
                   ? fmt::format("espalier-{}-{:x}-{}", ::geteuid(), facts.st_dev, facts.st_ino)
                   : "no session was made";
    }
    fs::path session() const { return m_folder->path() / "s.espalier"; }

    /// The same library in other bytes: nothing reads what follows an ELF file's sections.
    static Library another(const Library& library, int number)
    {
        auto bytes = std::make_shared<const std::string>(*library.bytes + fmt::format("\n{}", number));
        return {sha256(*bytes), bytes};
    }

    void evaluateMany(const std::string& device, int count)
    {
        startJudge(device);
        ASSERT_TRUE(m_judge);
        for (int i = 0; i < count; ++i) {
            EvaluationJob job = jobFor("honest");
            job.candidate = another(job.candidate, i);
            const Evaluation evaluation = evaluate(std::move(job));
            ASSERT_EQ(evaluation.outcome, Outcome::Passed) << i << ": " << evaluation.reason;
        }
        m_judge.reset();
        expectNothingLeft();
    }

    /// espalierctl with a kernel that was never built: evaluated alone, or in a search.
    Result<Subprocess> startCtl(int round)
    {
        const fs::path kernel = m_folder->path() / "kernel.cu";
        std::string source = readFile(fs::path(TASKS) / "softmax_f32" / "root.cu").value_or("");
        EXPECT_FALSE(source.empty());
        EXPECT_TRUE(writeFileAtomically(kernel, source + fmt::format("\n__constant__ int round_{0} = {0};\n", round)));
        ProcessSpec spec;
        spec.argv = {std::string(ESPALIER_BIN) + "/espalierctl"};
        if (round % 4 == 3) {
            spec.argv.insert(spec.argv.end(), {"run", "softmax_f32", "--session", session(), "--device", "sim"});
        } else {
            spec.argv.insert(spec.argv.end(), {"eval", "softmax_f32", kernel, "--device", "sim"});
        }
        spec.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + m_folder->path().string(),
                            "TMPDIR=" + temporary().string(), std::string("ESPALIER_TASKS=") + TASKS};
        if (const char* home = std::getenv("CUDA_HOME")) {
            spec.environment->push_back(std::string("CUDA_HOME=") + home);
        }
        spec.standardOutput = spec.standardError = ProcessSpec::Stream::Null;
        return Subprocess::start(spec);
    }

    std::optional<ScratchFolder> m_folder;
    std::string m_mounts;
};

TEST_F(LeftBehind, NothingOfAThousandEvaluationsOfAsManyLibraries)
{
    evaluateMany("cuda:0", 500);
    evaluateMany("sim", 500);
}

TEST_F(LeftBehind, NothingOfTwoHundredThatWereKilledAtRandomMoments)
{
    std::mt19937 random(200);
    for (int round = 0; round < 200; ++round) {
        auto ctl = startCtl(round);
        ASSERT_TRUE(ctl) << ctl.error().message;
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 2'000'000));
        const std::vector<int> children = descendantsOf(ctl->pid());
        if (round % 2 == 1 && !children.empty()) {
            // Any of its helpers: it goes on, or says what became of it, and ends by itself.
            ::kill(children[random() % children.size()], SIGKILL);
            if (round % 4 == 1) {
                const auto status = ctl->wait(120s);
                ASSERT_TRUE(status) << "after one of its processes was killed it does not end";
                EXPECT_EQ(status->signal, 0) << status->text();
            }
        }
        ::kill(ctl->pid(), SIGKILL);
        (void)ctl->wait(60s);
        if (round % 20 == 19) {
            expectNothingLeft();
        }
    }
}

} // namespace
} // namespace espalier::test
