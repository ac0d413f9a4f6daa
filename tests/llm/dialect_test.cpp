// SPDX-License-Identifier: Apache-2.0
// The four wire formats, without a network: requests to JSON, bytes to answers.
#include "core/llm/answer_reader.h"
#include "tests/llm/dialect_samples.h"

#include <gtest/gtest.h>

using namespace espalier;
using namespace espalier::llm;
using tests::DialectSample;
using tests::dialectSamples;

namespace {

void expectTheSampleAnswer(const AnswerReader& reader, const std::string& what)
{
    const Reading& reading = reader.reading();
    EXPECT_EQ(reading.text, "Héllo\nworld ✓") << what;
    EXPECT_EQ(reading.reasoning, "hm ✓") << what;
    EXPECT_TRUE(reading.ended) << what;
    EXPECT_EQ(reading.finish, Finish::Complete) << what;
    EXPECT_EQ(reading.model, "m") << what;
    EXPECT_EQ(reading.usage.input, 12) << what;
    EXPECT_EQ(reading.usage.cachedInput, 4) << what;
    EXPECT_EQ(reading.usage.output, 7) << what;
}

ChatRequest everything()
{
    ChatRequest request;
    request.messages = {{"system", "S"}, {"user", "U"}, {"assistant", "A"}, {"user", "V"}};
    request.maxOutputTokens = 20000;
    request.temperature = 0.5;
    request.reasoningEffort = "low";
    request.jsonSchema = R"({"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false})";
    return request;
}

Reading read(const Dialect& dialect, std::string_view bytes)
{
    AnswerReader reader(dialect);
    reader.feed(bytes);
    reader.finish();
    return reader.reading();
}

} // namespace

TEST(Dialects, AStreamCutAtEveryByteReadsTheSame)
{
    for (const DialectSample& sample : dialectSamples()) {
        for (std::size_t cut = 0; cut <= sample.stream.size(); ++cut) {
            AnswerReader reader(*dialectOf(sample.provider));
            reader.feed(std::string_view(sample.stream).substr(0, cut));
            reader.feed(std::string_view(sample.stream).substr(cut));
            reader.finish();
            expectTheSampleAnswer(reader, sample.provider + " cut at " + std::to_string(cut));
            if (testing::Test::HasFailure()) {
                return;
            }
        }
    }
}

TEST(Dialects, ByteByByte)
{
    for (const DialectSample& sample : dialectSamples()) {
        AnswerReader reader(*dialectOf(sample.provider));
        for (const char byte : sample.stream) {
            reader.feed({&byte, 1});
        }
        reader.finish();
        expectTheSampleAnswer(reader, sample.provider);
        EXPECT_EQ(reader.raw(), sample.stream);
    }
}

TEST(Dialects, AServerThatDoesNotStream)
{
    for (const DialectSample& sample : dialectSamples()) {
        AnswerReader reader(*dialectOf(sample.provider));
        reader.feed(" \n");
        reader.feed(sample.whole);
        reader.finish();
        expectTheSampleAnswer(reader, sample.provider);
    }
}

TEST(B22_Terminal, EveryPrefixOfAStreamIsCutOrWhole)
{
    for (const DialectSample& sample : dialectSamples()) {
        for (std::size_t cut = 0; cut < sample.unfinished.size(); ++cut) {
            EXPECT_FALSE(read(*dialectOf(sample.provider), sample.stream.substr(0, cut)).ended)
                << sample.provider << cut;
        }
        EXPECT_FALSE(read(*dialectOf(sample.provider), sample.unfinished).ended) << sample.provider;
        EXPECT_FALSE(read(*dialectOf(sample.provider), sample.whole.substr(0, sample.whole.size() - 1)).ended)
            << sample.provider;
    }
}

TEST(B25_UsageChunk, EmptyNullAndMissingChoices)
{
    for (const char* choices : {R"("choices":[],)", R"("choices":null,)", ""}) {
        const auto reading = read(
            openaiChat(),
            std::string("data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: {") +
                choices +
                R"("usage":{"prompt_tokens":3,"completion_tokens":2}})"
                "\n\ndata: [DONE]\n\n");
        EXPECT_EQ(reading.text, "x");
        EXPECT_EQ(reading.usage.input, 3);
        EXPECT_EQ(reading.usage.output, 2);
    }
    EXPECT_EQ(read(openaiChat(), R"(data: {"choices":[{"delta":null,"usage":{"prompt_tokens":9}}],"usage":null})"
                                 "\n\n")
                  .usage.input,
              9);
    EXPECT_EQ(read(openaiChat(), R"(data: {"x_groq":{"usage":{"completion_tokens":8}}})"
                                 "\n\n")
                  .usage.output,
              8);
}

TEST(Dialects, FieldsOfAnotherTypeCountAsMissing)
{
    for (const char* odd :
         {R"({"choices":[{"delta":{"content":7,"reasoning":{}},"finish_reason":3}],"usage":[1],"model":null})",
          R"({"choices":{"a":1}})", R"([1,2])", R"({"type":"content_block_delta","delta":"x"})",
          R"({"candidates":[{"content":{"parts":"x"}}],"usageMetadata":{"promptTokenCount":-5}})",
          R"({"response":5,"type":"response.completed"})", R"({"error":null})"}) {
        for (const DialectSample& sample : dialectSamples()) {
            const auto reading = read(*dialectOf(sample.provider), std::string("data: ") + odd + "\n\n");
            EXPECT_EQ(reading.text, "") << odd;
            EXPECT_EQ(reading.usage, Usage()) << odd;
            EXPECT_FALSE(reading.error) << odd;
        }
    }
}

TEST(Dialects, MistralsListOfParts)
{
    const auto reading = read(
        openaiChat(),
        R"(data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"yes"}]}}]})"
        "\n\n");
    EXPECT_EQ(reading.text, "yes");
    EXPECT_EQ(reading.reasoning, "hm");
}

TEST(Dialects, HowAnAnswerEnded)
{
    EXPECT_EQ(read(openaiChat(), R"({"choices":[{"message":{"content":"x"},"finish_reason":"length"}]})").finish,
              Finish::Length);
    EXPECT_EQ(
        read(openaiChat(), R"({"choices":[{"message":{"content":"x"},"finish_reason":"content_filter"}]})").finish,
        Finish::Refused);
    EXPECT_FALSE(
        read(openaiChat(),
             "data: "
             "{\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"insufficient_system_resource\"}]}\n\n")
            .ended);
    EXPECT_EQ(read(openaiResponses(),
                   R"({"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]})")
                  .finish,
              Finish::Length);
    EXPECT_EQ(read(anthropicMessages(), R"({"content":[],"stop_reason":"max_tokens"})").finish, Finish::Length);
    EXPECT_EQ(read(anthropicMessages(), R"({"content":[],"stop_reason":"refusal"})").finish, Finish::Refused);
    EXPECT_EQ(read(geminiContent(), R"({"candidates":[{"finishReason":"MAX_TOKENS"}]})").finish, Finish::Length);
    EXPECT_EQ(read(geminiContent(), R"({"promptFeedback":{"blockReason":"SAFETY"}})").finish, Finish::Refused);
}

TEST(Dialects, ErrorsInsideAStream)
{
    EXPECT_EQ(read(openaiChat(), "data: {\"error\":{\"message\":\"boom\",\"code\":502}}\n\n").error->status, 502);
    EXPECT_EQ(read(openaiResponses(), "data: "
                                      "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{"
                                      "\"code\":\"server_error\",\"message\":\"boom\"}}}\n\n")
                  .error->message,
              "boom");
    EXPECT_EQ(read(openaiResponses(), "data: {\"type\":\"error\",\"code\":\"c\",\"message\":\"boom\"}\n\n").error->code,
              "c");
    EXPECT_EQ(read(anthropicMessages(),
                   "event: error\ndata: "
                   "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n")
                  .error->type,
              "overloaded_error");
    EXPECT_EQ(
        read(geminiContent(), "data: {\"error\":{\"code\":503,\"message\":\"boom\",\"status\":\"UNAVAILABLE\"}}\n\n")
            .error->status,
        503);
}

TEST(Dialects, RequestOfChatCompletions)
{
    const Json body = openaiChat().body(everything(), {}, "m", "localhost");
    EXPECT_EQ(body["messages"].size(), 4u);
    EXPECT_EQ(body["messages"][0]["role"], "system");
    EXPECT_EQ(body["max_tokens"], 20000);
    EXPECT_EQ(body["temperature"], 0.5);
    EXPECT_EQ(body["reasoning_effort"], "low");
    EXPECT_EQ(body["response_format"]["json_schema"]["schema"]["type"], "object");
    EXPECT_EQ(body["stream_options"]["include_usage"], true);
    EXPECT_EQ(openaiChat().body(everything(), {}, "m", "api.openai.com")["max_completion_tokens"], 20000);
}

TEST(Dialects, RequestOfResponses)
{
    const Json body = openaiResponses().body(everything(), {}, "m", "");
    EXPECT_EQ(body["instructions"], "S");
    EXPECT_EQ(body["input"].size(), 3u);
    EXPECT_EQ(body["max_output_tokens"], 20000);
    EXPECT_EQ(body["reasoning"]["effort"], "low");
    EXPECT_EQ(body["text"]["format"]["type"], "json_schema");
}

TEST(Dialects, RequestOfMessages)
{
    Json body = anthropicMessages().body(everything(), {}, "m", "");
    EXPECT_EQ(body["system"], "S");
    EXPECT_EQ(body["messages"].size(), 3u);
    EXPECT_EQ(body["max_tokens"], 20000);
    EXPECT_EQ(body["thinking"]["type"], "adaptive");
    EXPECT_EQ(body["output_config"]["effort"], "low");
    EXPECT_EQ(body["output_config"]["format"]["type"], "json_schema");
    EXPECT_FALSE(body.contains("temperature")) << "thinking allows no other than the usual one";
    EXPECT_FALSE(body.contains("tools"));
    body = anthropicMessages().body(everything(), {.effort = 1}, "m", "");
    EXPECT_EQ(body["thinking"]["budget_tokens"], 2048);
    body = anthropicMessages().body(everything(), {.effort = 2, .schema = 1}, "m", "");
    EXPECT_FALSE(body.contains("thinking"));
    EXPECT_FALSE(body.contains("output_config"));
    EXPECT_EQ(body["temperature"], 0.5);
    EXPECT_NE(body["messages"][2]["content"].get<std::string>().find("JSON schema"), std::string::npos);
}

TEST(Dialects, RequestOfGemini)
{
    Json body = geminiContent().body(everything(), {}, "gemini-3-pro", "");
    EXPECT_EQ(body["systemInstruction"]["parts"][0]["text"], "S");
    EXPECT_EQ(body["contents"][1]["role"], "model");
    EXPECT_EQ(body["generationConfig"]["maxOutputTokens"], 20000);
    EXPECT_EQ(body["generationConfig"]["thinkingConfig"]["thinkingLevel"], "low");
    EXPECT_FALSE(body["generationConfig"]["responseSchema"].contains("additionalProperties"));
    body = geminiContent().body(everything(), {}, "gemini-2.5-pro", "");
    EXPECT_EQ(body["generationConfig"]["thinkingConfig"]["thinkingBudget"], 2048);
    EXPECT_EQ(geminiContent().chatPath("m", true), "/models/m:streamGenerateContent?alt=sse");
    EXPECT_EQ(geminiContent().chatPath("models/m", false), "/models/m:generateContent");
}

TEST(Dialects, WithoutASystemRole)
{
    const Json body = openaiChat().body(everything(), {.systemRole = false}, "m", "");
    EXPECT_EQ(body["messages"].size(), 3u);
    EXPECT_EQ(body["messages"][0]["content"], "S\n\nU");
}

TEST(Dialects, ModelsOffered)
{
    EXPECT_EQ(openaiChat().models(Json::parse(R"({"data":[{"id":"a"},{"id":"b"},{}]})")),
              (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(
        geminiContent().models(Json::parse(
            R"({"models":[{"name":"models/a","supportedGenerationMethods":["generateContent"]},{"name":"models/e","supportedGenerationMethods":["embedContent"]}]})")),
        (std::vector<std::string>{"a"}));
}
