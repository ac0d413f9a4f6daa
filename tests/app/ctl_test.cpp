// SPDX-License-Identifier: Apache-2.0
// The command line as a contract: exit codes, JSON alone on standard output, one clear sentence for every bad input.
#include "tests/app/ctl_support.h"

#include <csignal>
#include <fmt/format.h>
#include <map>

namespace espalier::test {

using Ctl = CtlTest;

TEST_F(Ctl, UsageErrorsExitWithTwo)
{
    EXPECT_EQ(ctl({}).status.code, 2);
    EXPECT_EQ(ctl({"dance"}).status.code, 2);
    EXPECT_EQ(ctl({"run", "softmax_f32"}).status.code, 2); // no --session
    EXPECT_EQ(ctl({"run", "softmax_f32", "--session", "s", "--evals", "many"}).status.code, 2);
    EXPECT_EQ(ctl({"show", "s", "--node", "-3"}).status.code, 2);
    const auto help = ctl({"--help"});
    EXPECT_EQ(help.status.code, 0);
    EXPECT_NE(help.out.find("Examples:"), std::string::npos);
}

TEST_F(Ctl, AWrongVerbOrActIsNamed)
{
    const auto says = [this](const std::vector<std::string>& words) {
        const auto result = ctl(words);
        EXPECT_EQ(result.status.code, 2);
        EXPECT_EQ(result.out, "");
        return result.err;
    };
    EXPECT_TRUE(
        says({"steer", "f", "stop"}).starts_with("espalierctl: There is no act \"stop\"; choose one of pin, unpin, "));
    EXPECT_TRUE(says({"steer", "f", "frob", "--node", "1"})
                    .starts_with("espalierctl: There is no act \"frob\"; choose one of"));
    EXPECT_TRUE(says({"sho", "f"}).starts_with("espalierctl: There is no verb \"sho\"; choose one of doctor, "));
    EXPECT_TRUE(says({"steer", "f"}).starts_with("espalierctl: The act is missing; choose one of pin, "));
    EXPECT_TRUE(says({}).starts_with("espalierctl: The verb is missing; choose one of doctor, "));
}

TEST_F(Ctl, TextWhereANumberBelongsIsOneSentence)
{
    const auto refuses = [this](const std::vector<std::string>& words, const std::string& sentence) {
        const auto result = ctl(words);
        EXPECT_EQ(result.status.code, 2);
        EXPECT_EQ(result.err.substr(0, result.err.find('\n')), sentence);
    };
    refuses({"show", "f", "--node", "abc"}, "--node takes a positive whole number, not \"abc\"");
    refuses({"steer", "f", "pin", "--node", "-1"}, "--node takes a positive whole number, not \"-1\"");
    refuses({"steer", "f", "unhint", "x"}, "number takes a whole number from 1 to 1000000, not \"x\"");
    refuses({"steer", "f", "boost", "--node", "1", "--factor", "2x"},
            "--factor takes a number from 0 to 1000, not \"2x\"");
    refuses({"steer", "f", "budget", "--usd", "nan"}, "--usd takes a number from 0 up, not \"nan\"");
    refuses({"steer", "f", "budget", "--target", "0.5"},
            "--target takes a number above 1 (2: twice as fast), not \"0.5\"");
    refuses({"run", "t", "--session", "s", "--evals", "abc"}, "--evals takes a whole number from 0 up, not \"abc\"");
    refuses({"run", "t", "--session", "s", "--target", "1"},
            "--target takes a number above 1 (2: twice as fast), not \"1\"");
    refuses({"run", "t", "--session", "s", "--ideas", "99"}, "--ideas takes a whole number from 1 to 64, not \"99\"");
    refuses({"watch", "s", "one"}, "node takes a positive whole number, not \"one\"");
}

TEST_F(Ctl, DoctorNamesCauseAndRemedy)
{
    const auto result = ctl({"doctor", "--json"});
    const Json json = onlyJson(result);
    EXPECT_EQ(result.status.code, 0) << json.dump(1);
    for (const Json& finding : json["findings"]) {
        EXPECT_NE(finding["cause"], "");
        EXPECT_TRUE(finding["state"] == "ok" || finding["remedy"] != "") << finding.dump();
    }
}

TEST_F(Ctl, TasksAreListed)
{
    const Json json = onlyJson(ctl({"tasks", "--json"}));
    std::map<std::string, int> ideas;
    for (const Json& task : json["tasks"]) {
        ideas[task["id"].get<std::string>()] = task["playbook"].get<int>();
    }
    EXPECT_EQ(ideas.size(), 5u);
    EXPECT_GE(ideas["softmax_f32"], 5);
    EXPECT_GE(ideas["conv2d_f32"], 2);
}

TEST_F(Ctl, ToolkitOfAnotherMajorVersionIsOneSentence)
{
    namespace fs = std::filesystem;
    fs::create_directories(path("cuda/bin"));
    write("cuda/bin/nvcc", "#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n");
    fs::permissions(path("cuda/bin/nvcc"), fs::perms::owner_all);
    ProcessSpec words = spec({"eval", "softmax_f32", write("k.cu", rootSource()), "--device", "sim"});
    words.environment = {"PATH=/usr/bin:/bin", "HOME=" + path("home"), "CUDA_HOME=" + path("cuda"),
                         std::string("ESPALIER_TASKS=") + ESPALIER_SOURCE_DIR + "/tasks"};
    const auto result = runToEnd(words, "", std::chrono::seconds(60));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status.code, 5) << result->out << result->err;
    EXPECT_NE((result->out + result->err).find("13"), std::string::npos) << result->err;
    EXPECT_NE((result->out + result->err).find("12.4"), std::string::npos) << result->err;
}

TEST_F(Ctl, BadTasksNameFileFieldAndExpectation)
{
    namespace fs = std::filesystem;
    const fs::path folder = m_scratch->path() / "my_softmax";
    fs::copy(std::string(ESPALIER_SOURCE_DIR) + "/tasks/softmax_f32", folder, fs::copy_options::recursive);
    const std::string good = *readFile(folder / "task.json");
    const auto says = [&](const std::string& text) {
        EXPECT_TRUE(writeFileAtomically(folder / "task.json", text));
        const auto result = ctl({"run", folder.string(), "--session", path("bad.espalier"), "--device", "sim"});
        EXPECT_EQ(result.status.code, 2);
        EXPECT_FALSE(fs::exists(path("bad.espalier"))) << "a session that cannot begin leaves nothing behind";
        return result.err;
    };
    EXPECT_NE(says("{ \"schema\": 1,").find("task.json: line 1"), std::string::npos);
    Json json = *parseJson(good, "task");
    json["contratc"] = 1;
    EXPECT_NE(says(json.dump()).find("contratc"), std::string::npos);
    json = *parseJson(good, "task");
    json["cases"][0]["roles"] = {"tiem"};
    const std::string role = says(json.dump());
    EXPECT_NE(role.find("cases[0].roles"), std::string::npos) << role;
    EXPECT_NE(role.find("tiem"), std::string::npos) << role;
    json = *parseJson(good, "task");
    json["oracle"] = {{"kind", "python"}, {"file", "oracle.py"}};
    EXPECT_NE(says(json.dump()), "");
    fs::remove(folder / "oracle.cu");
    EXPECT_NE(says(good).find("oracle.cu"), std::string::npos);
    EXPECT_EQ(ctl({"run", "no_such_task", "--session", path("x.espalier")}).status.code, 2);
}

TEST_F(Ctl, StrangeSessionsAreRefused)
{
    const std::string letter =
        write("letter.espalier", "Dear grandmother, this file is no session but it is long enough to look at.");
    for (const std::vector<std::string>& words : {std::vector<std::string>{"show", letter},
                                                  {"run", "softmax_f32", "--session", letter, "--device", "sim"},
                                                  {"export", letter, "--node", "1", "--to", path("out")}}) {
        const auto result = ctl(words);
        EXPECT_EQ(result.status.code, 2);
        EXPECT_NE(result.err.find("is not an Espalier session"), std::string::npos) << result.err;
    }
    EXPECT_EQ(readFile(letter)->substr(0, 4), "Dear"); // untouched
    EXPECT_EQ(ctl({"show", path("missing.espalier")}).status.code, 2);
}

TEST_F(Ctl, AMissingFolderOfASessionIsNamed)
{
    const auto result = ctl({"run", "softmax_f32", "--session", path("nowhere/q.espalier"), "--device", "sim"});
    EXPECT_EQ(result.status.code, 2);
    EXPECT_NE(result.err.find("the folder " + path("nowhere") + " does not exist; create it"), std::string::npos)
        << result.err;
}

/// On a machine without a driver; the session that was left behind is of use all the same.
TEST_F(Ctl, ADeviceThatIsNotThereIsSaidOnceAndAnotherOneMayFollow)
{
    const auto failed =
        ctl({"run", "softmax_f32", "--session", path("q.espalier"), "--device", "cuda:0", "--evals", "1"});
    if (failed.status.code == 0) {
        GTEST_SKIP() << "there is a CUDA device";
    }
    EXPECT_EQ(failed.status.code, 5) << failed.err;
    const std::string first = failed.err.substr(0, failed.err.find('\n'));
    EXPECT_EQ(failed.err.find(first, 1), std::string::npos) << failed.err;
    const auto shown = ctl({"show", path("q.espalier")});
    EXPECT_NE(shown.out.find("task softmax_f32 on no device yet,"), std::string::npos) << shown.out;
    const auto other = ctl({"run", "softmax_f32", "--session", path("q.espalier"), "--device", "sim", "--evals", "1"});
    EXPECT_EQ(other.status.code, 0) << other.err;
    EXPECT_EQ(ctl({"run", "softmax_f32", "--session", path("q.espalier"), "--device", "cuda:0"}).status.code, 2);
}

TEST_F(Ctl, MissingKernelFileIsNamed)
{
    const auto result = ctl({"eval", "softmax_f32", path("nothing.cu"), "--device", "sim"});
    EXPECT_EQ(result.status.code, 2);
    EXPECT_NE(result.err.find("nothing.cu does not exist"), std::string::npos);
}

TEST_F(Ctl, UnknownDeviceIsOneSentence)
{
    const auto result = ctl({"eval", "softmax_f32", write("k.cu", rootSource()), "--device", "tpu:0"});
    EXPECT_NE(result.status.code, 0);
    EXPECT_NE(result.err.find("tpu:0"), std::string::npos) << result.err;
}

} // namespace espalier::test
