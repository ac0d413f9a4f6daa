// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/examples.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace espalier::ctl {
namespace {

struct Example {
    std::string_view verb, rest, does;
};

constexpr Example examples[] = {
    {"doctor", "", "what works here, what does not, and the remedy"},
    {"doctor", "--roofs", "measures what the GPU reaches, for rooflines (needs a GPU)"},
    {"doctor", "--provider openai --base-url http://localhost:8000 --model qwen3",
     "is the model offered? (needs a server)"},
    {"tasks", "", "the built-in tasks"},
    {"tasks", "--json", "with their cases, for a program"},
    {"run", "softmax_f32 --session s.espalier --evals 24", "search, or go on with s.espalier"},
    {"run", "--session s.espalier", "go on with it, from any folder"},
    {"run", "./my_op --session my.espalier --device sim --json", "your own task, on the simulated device"},
    {"run", "softmax_f32 --session s.espalier --target 2 --roof 10 --plateau 30", "ends when it has enough"},
    {"run", "softmax_f32 --session s.espalier --evals 24 --export best", "and writes the best kernel to best"},
    {"run", "./my_op --session m.espalier --provider anthropic --model NAME --usd 5",
     "ideas and kernels from a model (needs a key)"},
    {"eval", "softmax_f32 kernel.cu --device sim --json", "one kernel: build, verify, time"},
    {"eval", "softmax_f32 kernel.cu --profile", "and why it is as slow as it is"},
    {"eval", "softmax_f32 kernel.cu --case 8x4096", "one case alone"},
    {"eval", "softmax_f32 kernel.cu --incumbent ops.so:mine", "against the kernel that you use today"},
    {"eval", "softmax_f32 kernel.cu --tier full --sanitize", "three processes a side, compute-sanitizer (needs a GPU)"},
    {"audit", "./my_op --device sim", "do its checks reject candidates that do nothing?"},
    {"show", "s.espalier --tree", "the branching tree with outcomes"},
    {"show", "s.espalier --node 7", "one candidate in full; --source its source"},
    {"show", "s.espalier --diff 1 7", "two candidates: which is better, how surely, and what differs"},
    {"show", "s.espalier --diff 1 7 --ptx", "likewise, with the compiler's code"},
    {"show", "s.espalier --json", "everything, for a program"},
    {"compare", "s.espalier other.espalier", "two searches on one task, or on two devices"},
    {"steer", "s.espalier prune --node 5", "it and all below it leave the search"},
    {"steer", "s.espalier undo", "takes the last act back"},
    {"steer", "s.espalier inject kernel.cu --node 1", "your own kernel under a node"},
    {"steer", "s.espalier add-idea --node 7 --title \"Wider loads\" --text \"Read float4.\"",
     "an idea to be implemented"},
    {"steer", "s.espalier hint \"rows are short\"", "stands in every prompt"},
    {"steer", "s.espalier ban \"no fp16\" --predicate \"fp16_instructions == 0\"", "said to models, held by the judge"},
    {"steer", "s.espalier budget --evals 40 --no-target", "what is named changes, the rest stays"},
    {"steer", "s.espalier proposers remove tuner", "who proposes, while it runs too; add brings others in"},
    {"steer", "s.espalier re-time --node 7", "once more in the full tier; re-verify, profile likewise"},
    {"watch", "s.espalier 7", "every save of node_7.cu is judged as its child, until Ctrl-C"},
    {"repro", "s.espalier 7 --to repro.cu", "one program: the call that failed, against the oracle"},
    {"repro", "s.espalier 7 --case 3x4099 --seed 5", "another case, on standard output"},
    {"copy", "s.espalier backup.espalier", "a whole copy, also while a run writes it"},
    {"report", "s.espalier --to report", "what was found and how, Markdown and HTML"},
    {"export", "s.espalier --node 7 --to out", "kernel, header, evidence and task"},
    {"export", "s.espalier --node 7 --name my_softmax --to out", "under a name of your own"},
    {"verify", "out", "does the evidence of what was exported there still hold?"},
};

std::string lines(const std::vector<Example>& chosen)
{
    std::vector<std::string> commands;
    std::size_t widest = 0;
    for (const Example& one : chosen) {
        commands.push_back(fmt::format("espalierctl {}{}{}", one.verb, one.rest.empty() ? "" : " ", one.rest));
        widest = std::max(widest, std::min<std::size_t>(commands.back().size(), 60));
    }
    std::string text = "Examples:\n";
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        text += fmt::format("  {:<{}}   {}\n", commands[i], widest, chosen[i].does);
    }
    return text;
}

} // namespace

std::string examplesOf(std::string_view verb)
{
    std::vector<Example> chosen;
    for (const Example& one : examples) {
        const bool first = chosen.empty() || chosen.back().verb != one.verb;
        if (verb.empty() ? first : one.verb == verb) {
            chosen.push_back(one);
        }
    }
    return lines(chosen);
}

} // namespace espalier::ctl
