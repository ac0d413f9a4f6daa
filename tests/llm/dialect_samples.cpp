// SPDX-License-Identifier: Apache-2.0
#include "tests/llm/dialect_samples.h"

namespace espalier::tests {

namespace {

const std::string chatBegin =
    ": OPENROUTER PROCESSING\n\n"
    R"(data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null})"
    "\n\n"
    R"(data: {"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"hm ✓"}}]})"
    "\r\n\r\n"
    R"(data: {"model":"m","choices":[{"index":0,"delta":{"content":"Héllo\n"}}]})"
    "\n\n"
    R"(data: {"model":"m","choices":[{"index":0,"delta":{"content":"w\u006frld ✓"}}]})"
    "\n\n";
const std::string chatEnd =
    R"(data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
    "\n\n"
    R"(data: {"model":"m","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}})"
    "\n\n"
    "data: [DONE]\n\n";
const std::string chatWhole =
    R"({"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Héllo\nworld ✓","reasoning":"hm ✓"},"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":12,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}})";

const std::string responsesBegin =
    "event: response.created\n"
    R"(data: {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}})"
    "\n\n"
    "event: response.reasoning_summary_text.delta\n"
    R"(data: {"type":"response.reasoning_summary_text.delta","delta":"hm ✓"})"
    "\n\n"
    "event: response.output_text.delta\n"
    R"(data: {"type":"response.output_text.delta","delta":"Héllo\n"})"
    "\n\n"
    "event: response.output_text.delta\n"
    R"(data: {"type":"response.output_text.delta","delta":"world ✓"})"
    "\n\n"
    "event: response.output_text.done\n"
    R"(data: {"type":"response.output_text.done","text":"Héllo\nworld ✓"})"
    "\n\n";
const std::string responsesObject =
    R"({"id":"r","model":"m","status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm ✓"}]},{"type":"message","content":[{"type":"output_text","text":"Héllo\nworld ✓"}]}],)"
    R"("usage":{"input_tokens":12,"input_tokens_details":{"cached_tokens":4},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3}}})";
const std::string responsesEnd = "event: response.completed\n"
                                 R"(data: {"type":"response.completed","response":)" +
                                 responsesObject + "}\n\n";

const std::string messagesBegin =
    "event: message_start\n"
    R"(data: {"type":"message_start","message":{"id":"x","role":"assistant","model":"m","content":[],"usage":{"input_tokens":8,"cache_read_input_tokens":4,"cache_creation_input_tokens":0,"output_tokens":1}}})"
    "\n\n"
    "event: content_block_start\n"
    R"(data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}})"
    "\n\n"
    "event: ping\n"
    R"(data: {"type":"ping"})"
    "\n\n"
    "event: content_block_delta\n"
    R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm ✓"}})"
    "\n\n"
    "event: content_block_delta\n"
    R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}})"
    "\n\n"
    "event: content_block_stop\n"
    R"(data: {"type":"content_block_stop","index":0})"
    "\n\n"
    "event: content_block_start\n"
    R"(data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}})"
    "\n\n"
    "event: content_block_delta\n"
    R"(data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Héllo\n"}})"
    "\n\n"
    "event: content_block_delta\n"
    R"(data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"world ✓"}})"
    "\n\n"
    "event: message_delta\n"
    R"(data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}})"
    "\n\n";
const std::string messagesEnd = "event: message_stop\n"
                                R"(data: {"type":"message_stop"})"
                                "\n\n";
const std::string messagesWhole =
    R"({"id":"x","type":"message","model":"m","content":[{"type":"thinking","thinking":"hm ✓","signature":"c2ln"},{"type":"text","text":"Héllo\nworld ✓"}],)"
    R"("stop_reason":"end_turn","usage":{"input_tokens":8,"cache_read_input_tokens":4,"output_tokens":7}})";

const std::string geminiFirst =
    R"({"candidates":[{"content":{"parts":[{"text":"hm ✓","thought":true},{"text":"Héllo\n"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":12,"thoughtsTokenCount":3},"modelVersion":"m"})";
const std::string geminiLast =
    R"({"candidates":[{"content":{"parts":[{"text":"world ✓","thoughtSignature":"c2ln"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":12,"cachedContentTokenCount":4,"candidatesTokenCount":4,"thoughtsTokenCount":3,"totalTokenCount":19},"modelVersion":"m"})";

} // namespace

const std::vector<DialectSample>& dialectSamples()
{
    static const std::vector<DialectSample> samples = {
        {"openai", chatBegin + chatEnd, chatWhole, chatBegin},
        {"openai-responses", responsesBegin + responsesEnd, responsesObject, responsesBegin},
        {"anthropic", messagesBegin + messagesEnd, messagesWhole, messagesBegin},
        {"gemini", "data: " + geminiFirst + "\r\n\r\ndata: " + geminiLast + "\r\n\r\n",
         "[" + geminiFirst + ",\n" + geminiLast + "]", "data: " + geminiFirst + "\r\n\r\n"},
    };
    return samples;
}

} // namespace espalier::tests
