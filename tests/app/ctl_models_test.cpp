// SPDX-License-Identifier: Apache-2.0
// Searches by models through the real programs: what is asked of people, programs and servers, and a run that is to
// pause meanwhile.
#include "tests/app/ctl_support.h"
#include "tests/llm/scripted_server.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <functional>
#include <thread>

namespace espalier::test {
namespace {

using namespace std::chrono_literals;
using tests::Reply;
using tests::ScriptedServer;

constexpr const char* ideas = R"({"ideas": [{"title": "a block a row", "text": "Use one block for each row."}]})";

const std::string kernel = R"(#include <cuda_runtime.h>
#include <cstdint>
__global__ void rows256(const float* x, float* y, int64_t cols)
{
    __shared__ float part[256];
    const float* in = x + blockIdx.x * cols;
    const int t = threadIdx.x;
    float m = -3.4e38f;
    for (int64_t c = t; c < cols; c += 256) m = fmaxf(m, in[c]);
    part[t] = m;
    for (int h = 128; h > 0; h /= 2) { __syncthreads(); if (t < h) part[t] = fmaxf(part[t], part[t + h]); }
    __syncthreads();
    m = part[0];
    __syncthreads();
    float s = 0;
    for (int64_t c = t; c < cols; c += 256) s += expf(in[c] - m);
    part[t] = s;
    for (int h = 128; h > 0; h /= 2) { __syncthreads(); if (t < h) part[t] += part[t + h]; }
    __syncthreads();
    const float scale = 1 / part[0];
    for (int64_t c = t; c < cols; c += 256) y[blockIdx.x * cols + c] = expf(in[c] - m) * scale;
}
extern "C" cudaError_t softmax_f32(const float* x, float* y, int64_t rows, int64_t cols, void* workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    rows256<<<(unsigned)rows, 256, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
)";

class ModelsTest : public CtlTest
{
protected:
    void SetUp() override
    {
        CtlTest::SetUp();
        write("answer.md", "```cuda\n" + kernel + "```\n");
    }

    /// A program as a model: notes its prompts and its arguments, answers questions for ideas with ideas.json and for
    /// kernels with what `kernels` (shell) prints. While the file "slow" is there it notes its process id and sleeps.
    std::string agent(const std::string& name, const std::string& kernels = "cat answer.md")
    {
        if (!std::filesystem::exists(path("ideas.json"))) {
            write("ideas.json", ideas);
        }
        const std::string file = write(
            name, fmt::format("#!/bin/sh\ncd '{}'\ncat > prompt.$$\nmv prompt.$$ \"$(date +%s%N).prompt\"\n"
                              "echo \"$@\" > arguments\n"
                              "if [ -e slow ]; then echo $$ > pid.new; mv pid.new pid; echo begun; sleep 1000; fi\n"
                              "if [ \"$ESPALIER_PURPOSE\" = idea ]; then cat ideas.json; else {}; fi\n",
                              m_scratch->path().string(), kernels));
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
        return file;
    }

    /// The prompts that agents have read, in order.
    std::vector<std::string> prompts() const
    {
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(m_scratch->path())) {
            if (entry.path().extension() == ".prompt") {
                files.push_back(entry.path());
            }
        }
        std::sort(files.begin(), files.end());
        std::vector<std::string> texts;
        for (const auto& file : files) {
            texts.push_back(readFile(file).value());
        }
        return texts;
    }

    static std::vector<std::string> runWords(std::vector<std::string> more, const std::string& evaluations = "1")
    {
        std::vector<std::string> words = {"run",      "softmax_f32", "--session",    "s.espalier",
                                          "--device", "sim",         "--evals",      evaluations,
                                          "--ideas",  "1",           "--no-lessons", "--json"};
        const bool model = std::any_of(more.begin(), more.end(), [](const std::string& word) {
            return word.starts_with("--command") || word == "--provider";
        });
        if (model) { // alone: nobody else uses the evaluations up
            words.insert(words.end(), {"--proposer", "llm"});
        }
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    ProcessSpec modelSpec(const std::vector<std::string>& words) const
    {
        ProcessSpec all = spec(words);
        all.environment->push_back("ESPALIER_API_KEY=k-of-the-tests");
        return all;
    }

    static bool waitUntil(const std::function<bool()>& holds)
    {
        for (int i = 0; i < 1200; ++i) {
            if (holds()) {
                return true;
            }
            std::this_thread::sleep_for(50ms);
        }
        return false;
    }

    /// Starts a run, waits until `asked`, sends the signals in turn, and returns the exit code. Whom the run asks must
    /// not answer for a long time: then an end within the limit shows that nobody was waited for.
    int interrupt(const std::vector<std::string>& more, const std::function<bool()>& asked, std::vector<int> signals)
    {
        ProcessSpec all = modelSpec(runWords(more));
        all.standardOutput = all.standardError = ProcessSpec::Stream::Null;
        auto process = Subprocess::start(all);
        EXPECT_TRUE(process && waitUntil(asked));
        for (const int signal : signals) {
            ::kill(process->pid(), signal);
            std::this_thread::sleep_for(300ms);
        }
        const auto status = process->wait(20s);
        EXPECT_TRUE(status) << "it waits";
        return status ? status->code : -1;
    }

    Json exchanges(int node = 1)
    {
        return onlyJson(
            ctl({"show", path("s.espalier"), "--node", std::to_string(node), "--json"}))["nodes"][0]["exchanges"];
    }

    std::vector<std::filesystem::path> questionFiles(const std::string& folder) const
    {
        std::vector<std::filesystem::path> files;
        if (std::filesystem::exists(path(folder))) {
            for (const auto& entry : std::filesystem::directory_iterator(path(folder))) {
                if (entry.path().string().ends_with(".prompt.md")) {
                    files.push_back(entry.path());
                }
            }
        }
        return files;
    }
};

// --- a pause waits for nobody -------------------------------------------------------------------------------------

TEST_F(ModelsTest, AProgramIsEndedAtAPauseAndAskedTheSameAgain)
{
    const std::string program = agent("agent.sh");
    write("slow", "");
    EXPECT_EQ(interrupt({"--command", program}, [&] { return std::filesystem::exists(path("pid")); }, {SIGINT}), 130);
    const pid_t pid = std::stoi(readFile(path("pid")).value());
    EXPECT_TRUE(waitUntil([&] { return ::kill(pid, 0) != 0; })) << "the agent lives on";
    EXPECT_EQ(exchanges()[0]["state"], "sent") << "it is open";
    std::filesystem::remove(path("slow"));
    const auto result = ctl(runWords({}));
    EXPECT_EQ(result.status.code, 0) << result.err;
    EXPECT_EQ(onlyJson(result)["passed"], 1) << result.err;
    ASSERT_GE(prompts().size(), 3u);
    EXPECT_EQ(prompts()[1], prompts()[0]);
    EXPECT_EQ(exchanges().size(), 1u);
    EXPECT_EQ(exchanges()[0]["state"], "answered");
}

TEST_F(ModelsTest, AnAnswerThatComesWhileNothingRunsIsUsed)
{
    const std::vector<std::string> manual = {"--provider", "manual", "--folder", "desk"};
    EXPECT_EQ(interrupt(manual, [&] { return questionFiles("desk").size() == 1; }, {SIGINT}), 130);
    const auto answer = [&](std::string prompt, const std::string& text) {
        ASSERT_TRUE(writeFileAtomically(prompt.replace(prompt.size() - 10, 10, ".answer.md"), text));
    };
    const auto first = questionFiles("desk").at(0);
    answer(first.string(), ideas);
    EXPECT_EQ(interrupt(manual, [&] { return questionFiles("desk").size() == 2; }, {SIGTERM}), 130);
    EXPECT_EQ(exchanges()[0]["state"], "answered");
    for (const auto& file : questionFiles("desk")) {
        if (file != first) {
            answer(file.string(), "```cuda\n" + kernel + "```\n");
        }
    }
    const auto result = ctl(runWords(manual));
    EXPECT_EQ(result.status.code, 0) << result.err;
    EXPECT_EQ(onlyJson(result)["passed"], 1) << result.err;
    EXPECT_EQ(questionFiles("desk").size(), 2u) << "each question kept its name";
}

/// How a server answers a question: `content` in pieces.
std::string stream(const std::string& content, bool whole)
{
    std::string body;
    for (std::size_t at = 0; at < content.size(); at += 200) {
        const Json piece = {{"id", "x"},
                            {"object", "chat.completion.chunk"},
                            {"choices", {{{"index", 0}, {"delta", {{"content", content.substr(at, 200)}}}}}}};
        body += "data: " + piece.dump() + "\n\n";
    }
    return whole
               ? body + R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})" + "\n\ndata: [DONE]\n\n"
               : body;
}

TEST_F(ModelsTest, AServerIsWaitedForOnlyWhileItsAnswerComes)
{
    std::atomic<int> stage{0};
    const ScriptedServer server([&](const tests::ServedRequest& request, std::size_t) {
        Reply reply;
        if (stage == 0) { // not a byte
            reply.silent = true;
            reply.end = Reply::End::Hang;
        } else if (stage == 1) { // its begin
            reply.body = stream("{\"ideas\": [", false);
            reply.end = Reply::End::Hang;
        } else if (request.body.find("Propose") != std::string::npos) { // all of it, in some seconds
            reply.body = stream(ideas, true);
            for (std::size_t cut = 20; cut < reply.body.size(); cut += 20) {
                reply.cuts.push_back(cut);
            }
            reply.pauseMilliseconds = 100;
        } else {
            reply.body = stream("```cuda\n" + kernel + "```\n", true);
        }
        return reply;
    });
    const std::vector<std::string> model = {"--provider", "openai", "--base-url", server.url(), "--model", "slow-one"};
    const auto asked = [&](std::size_t times) {
        return [&server, times] {
            if (server.requests().size() < times) {
                return false;
            }
            std::this_thread::sleep_for(1s); // for the begin of an answer to be read, on a busy machine too
            return true;
        };
    };
    EXPECT_EQ(interrupt(model, asked(1), {SIGINT}), 130);
    EXPECT_EQ(exchanges()[0]["state"], "lost");
    EXPECT_EQ(exchanges()[0]["answer"], "");
    EXPECT_NE(exchanges()[0]["reason"].get<std::string>().find("may have billed"), std::string::npos);

    stage = 1;
    EXPECT_EQ(interrupt(model, asked(2), {SIGINT, SIGINT}), 130);
    EXPECT_EQ(exchanges()[1]["state"], "lost");
    EXPECT_EQ(exchanges()[1]["answer"], "{\"ideas\": [");
    EXPECT_EQ(interrupt(model, asked(3), {SIGTERM}), 130);
    EXPECT_EQ(exchanges()[2]["state"], "lost");

    stage = 2;
    EXPECT_EQ(interrupt(model, asked(4), {SIGINT}), 130);
    EXPECT_EQ(exchanges()[3]["state"], "answered");
    EXPECT_EQ(server.requests().size(), 4u);
    const auto result = runToEnd(modelSpec(runWords(model)), "", 200s);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status.code, 0) << result->err;
    EXPECT_EQ(onlyJson(*result)["passed"], 1) << result->err;
    const auto requests = server.requests();
    ASSERT_EQ(requests.size(), 5u);
    EXPECT_EQ(requests[3].body, requests[0].body);
}

// --- bad answers --------------------------------------------------------------------------------------------------

TEST_F(ModelsTest, AnEmptyAndAHugeAnswerEndTheirIdeasOnly)
{
    write("ideas.json", R"({"ideas": [{"title": "say nothing", "text": "Words of the first kind."},
                            {"title": "talk for ever", "text": "Others, of another kind altogether."},
                            {"title": "a block a row", "text": "Use one block for each row."}]})");
    const std::string program =
        agent("agent.sh", "case \"$ESPALIER_SUBJECT\" in *nothing*) ;; *ever*) head -c 80000000 "
                          "/dev/zero | tr '\\0' x;; *) cat answer.md;; esac");
    auto words = runWords({"--repairs", "0"});
    words[9] = "3"; // ideas
    words.insert(words.end(), {"--proposer", "llm", "--command", program});
    const auto result = ctl(words);
    EXPECT_EQ(result.status.code, 0) << result.err;
    EXPECT_EQ(onlyJson(result)["passed"], 1) << result.err;
    EXPECT_NE(result.err.find("longer than any kernel"), std::string::npos) << result.err;
    EXPECT_EQ(prompts().size(), 6u) << "ideas, two each of the bad ones, one of the good one";
}

// --- programs with options of their own ---------------------------------------------------------------------------

TEST_F(ModelsTest, AProgramKeepsItsOptionsInAllForms)
{
    const std::string program = agent("my agent.sh", "echo");
    const std::vector<std::vector<std::string>> forms = {
        {"--command", program, "--model", "fast-one", "-u"},
        {"--command", "--", program, "--model", "fast-one", "-u"},
        {"--command", "'" + program + "' --model \"fast-one\" -u", "--implementations", "1"},
        {"--command='" + program + "' --model fast-one -u", "--implementations", "1"},
    };
    for (std::size_t i = 0; i < forms.size(); ++i) {
        std::filesystem::remove(path("arguments"));
        std::filesystem::remove(path("s.espalier"));
        const auto result = ctl(runWords(forms[i]));
        EXPECT_EQ(result.status.code, 0) << i << result.err;
        EXPECT_EQ(readFile(path("arguments")).value_or(""), "--model fast-one -u\n") << i << result.err;
    }
}

TEST_F(ModelsTest, WhatCannotBeStartedIsOneSentence)
{
    const auto refused = [this](std::vector<std::string> more) {
        const auto result = ctl(runWords(std::move(more)));
        EXPECT_EQ(result.status.code, 2) << result.err;
        return result.out + result.err;
    };
    const std::string script = write("agent.py", "print('x')\n");
    const auto has = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(refused({"--command", "./agent.py"}), "may not be executed: chmod +x");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    has(refused({"--command", "./agent.py"}), "a script without a #! line: name its interpreter before it (python3 ");
    has(refused({"--command", "."}), "the program . was not found");
    has(refused({"--command", "./"}), "is no file that could be started");
    has(refused({"--command", "./none --fast"}), "there is no program");
    has(refused({"--command"}), "--command needs a program");
    has(refused({"--command", "cat prompt | agent"}), "without a shell");
    has(refused({"--command", "agent 'half"}), "does not end");
    const auto launched = ctl(runWords({"--launcher", "./no-launcher"}));
    EXPECT_EQ(launched.status.code, 5) << launched.err;
    has(launched.err + launched.out, "no-launcher");
}

TEST_F(ModelsTest, ALauncherTakesItsOptions)
{
    const std::string launcher =
        write("launch", fmt::format("#!/bin/sh\necho \"$1\" > '{}'\nshift\nexec \"$@\"\n", path("launched")));
    std::filesystem::permissions(launcher, std::filesystem::perms::owner_all);
    ProcessSpec all = modelSpec(runWords({"--proposer", "playbook", "--launcher", "./launch", "--gpus=1"}));
    const auto result = runToEnd(all, "", 200s);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status.code, 0) << result->err;
    EXPECT_EQ(readFile(path("launched")).value_or(""), "--gpus=1\n");
}

} // namespace
} // namespace espalier::test
