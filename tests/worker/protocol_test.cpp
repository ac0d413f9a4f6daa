// SPDX-License-Identifier: Apache-2.0
#include "core/worker/protocol.h"

#include "core/base/hash.h"
#include "core/base/json.h"

#include <gtest/gtest.h>
#include <random>

namespace espalier::worker {
namespace {

const std::string hashA = sha256("a");
const std::string hashB = sha256("b");

Evaluate sampleJob()
{
    Evaluate job;
    job.id = RequestId{7};
    job.task = job.candidate = hashA;
    job.root = job.oracle = hashB;
    job.parent = hashB;
    job.incumbent = {hashB, "launch_it"};
    job.sanitizing = Sanitizing::Required;
    job.profiling = Profiling::Exact;
    job.baselines = {{"cublas", hashA}};
    job.cases = {"17x1009", "8x4096"};
    job.tier = Tier::Full;
    job.setting = {"steady", "server", 250};
    job.verifyOnly = true;
    job.verified = VerifyRecord{.calls = 3, .sandbox = "bubblewrap"};
    return job;
}

TEST(Protocol, MessagesToTheJudgeSurvive)
{
    const auto back = decodeToJudge(encode(ToJudge(sampleJob())));
    ASSERT_TRUE(back) << back.error().message;
    const auto& job = std::get<Evaluate>(*back);
    EXPECT_EQ(job.id, RequestId{7});
    EXPECT_EQ(job.parent, hashB);
    EXPECT_EQ(job.incumbent, sampleJob().incumbent);
    EXPECT_EQ(job.sanitizing, Sanitizing::Required);
    EXPECT_EQ(job.profiling, Profiling::Exact);
    EXPECT_EQ(job.baselines, sampleJob().baselines);
    EXPECT_EQ(job.cases, sampleJob().cases);
    EXPECT_EQ(job.tier, Tier::Full);
    EXPECT_EQ(job.setting, sampleJob().setting);
    EXPECT_TRUE(job.verifyOnly);
    ASSERT_TRUE(job.verified);
    EXPECT_EQ(job.verified->calls, 3);

    const std::string bytes("\0\x7f"
                            "ELF\xff\n",
                            7);
    const auto put = decodeToJudge(encode(ToJudge(Put{sha256(bytes), bytes})));
    ASSERT_TRUE(put) << put.error().message;
    EXPECT_EQ(std::get<Put>(*put).bytes, bytes);
    EXPECT_EQ(std::get<Have>(*decodeToJudge(encode(ToJudge(Have{{hashA, hashB}})))).hashes.size(), 2U);
    EXPECT_EQ(std::get<Cancel>(*decodeToJudge(encode(ToJudge(Cancel{RequestId{3}})))).id, RequestId{3});
    EXPECT_TRUE(std::holds_alternative<Quit>(*decodeToJudge(encode(ToJudge(Quit{})))));
}

TEST(Protocol, SettingsThatCannotBeMeasuredAreRefused)
{
    const auto answer = [](const TimingSetting& setting) {
        Evaluate job = sampleJob();
        job.setting = setting;
        const auto back = decodeToJudge(encode(ToJudge(job)));
        return back ? std::string() : back.error().message;
    };
    EXPECT_EQ(answer({"cold", "offline", 0}), "");
    EXPECT_EQ(answer({"steady", "offline", 0}), "");
    EXPECT_NE(answer({"warm", "offline", 0}), "");
    EXPECT_NE(answer({"cold", "server", 100}).find("steady"), std::string::npos);
    EXPECT_NE(answer({"steady", "server", 0}).find("rate"), std::string::npos);
    EXPECT_NE(answer({"steady", "offline", 5}).find("rate"), std::string::npos);
    Json older = parseJson(encode(ToJudge(sampleJob())), "line").value();
    for (const char* field : {"regime", "mode", "rate"}) { // an engine from before there were settings
        older.erase(field);
    }
    const auto back = decodeToJudge(older.dump());
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(std::get<Evaluate>(*back).setting, TimingSetting{});
}

TEST(Protocol, MessagesFromTheJudgeSurvive)
{
    HelloReply hello;
    hello.judge = {"cuda:0", "NVIDIA H200", "GPU-1", "580.1", "90a", false, "bubblewrap", std::uint64_t{150} << 30,
                   "13.0"};
    const auto back = decodeFromJudge(encode(FromJudge(hello)));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(std::get<HelloReply>(*back).judge.deviceBytes, std::uint64_t{150} << 30);
    EXPECT_EQ(std::get<HelloReply>(*back).judge.provenance(), Provenance::Measured);

    Evaluation evaluation;
    evaluation.outcome = Outcome::Incorrect;
    evaluation.stage = Stage::Verify;
    evaluation.reason = "output y[17] was never written";
    evaluation.evidence = {{"poison", "output y[17] was never written"}};
    evaluation.output = "bytes that are no text: \xff\xfe";
    const auto finished = decodeFromJudge(encode(FromJudge(Finished{RequestId{9}, evaluation})));
    ASSERT_TRUE(finished) << finished.error().message;
    EXPECT_EQ(std::get<Finished>(*finished).evaluation.evidence, evaluation.evidence);
}

TEST(Protocol, ALineIsOneLine)
{
    Evaluation evaluation;
    evaluation.reason = "two\nlines";
    EXPECT_EQ(encode(FromJudge(Finished{RequestId{1}, evaluation})).find('\n'), std::string::npos);
}

TEST(Protocol, ComplaintsNameTheField)
{
    const auto wrong = decodeToJudge(R"({"type":"evaluate","id":1,"task":"xyz"})");
    ASSERT_FALSE(wrong);
    EXPECT_NE(wrong.error().message.find("task"), std::string::npos) << wrong.error().message;
    EXPECT_FALSE(
        decodeToJudge(R"({"type":"put","hash":")" + hashA + R"(","base64":"Yg=="})")); // the hash of other bytes
    EXPECT_FALSE(decodeToJudge(R"({"type":"dance"})"));
    EXPECT_FALSE(decodeToJudge("[]"));
    EXPECT_FALSE(decodeToJudge(""));
}

std::string mutated(std::string line, std::mt19937& random)
{
    static const std::string pieces[] = {"{",    "}",  "[",     "]",       "\"",   ",",   ":",
                                         "null", "-1", "1e999", "\\u0000", "\xff", "true"};
    for (int change = 0; change < 1 + static_cast<int>(random() % 4); ++change) {
        const std::size_t at = random() % (line.size() + 1);
        switch (random() % 3) {
        case 0:
            line.insert(at, pieces[random() % std::size(pieces)]);
            break;
        case 1:
            line.erase(at, 1 + random() % 9);
            break;
        default:
            if (at < line.size()) {
                line[at] = static_cast<char>(random());
            }
        }
    }
    return line;
}

TEST(Protocol, RandomLinesNeverCrash)
{
    std::mt19937 random(3);
    HelloReply hello;
    const std::string lines[] = {encode(ToJudge(sampleJob())), encode(ToJudge(Have{{hashA}})),
                                 encode(ToJudge(Put{sha256("x"), "x"})), encode(FromJudge(hello)),
                                 encode(FromJudge(Finished{RequestId{1}, {}}))};
    for (int i = 0; i < 6000; ++i) {
        const std::string line = mutated(lines[random() % std::size(lines)], random);
        if (const auto message = decodeToJudge(line)) {
            EXPECT_TRUE(decodeToJudge(encode(*message)));
        }
        (void)decodeFromJudge(line);
    }
    const std::string deep(200000, '[');
    EXPECT_FALSE(decodeToJudge(deep));
}

} // namespace
} // namespace espalier::worker
