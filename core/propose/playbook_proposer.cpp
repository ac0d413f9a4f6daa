// SPDX-License-Identifier: Apache-2.0
#include "core/propose/playbook_proposer.h"

#include <fmt/format.h>

namespace espalier {
namespace {

bool applies(const PlaybookIdea& idea, const IdeaContext& context)
{
    if (context.parentIsTaskRoot) {
        return context.independent || idea.parent.empty() || idea.parent == "root";
    }
    // Only the parent's own idea counts: a tuned child of a playbook kernel is not where the author meant the next
    // step.
    return !context.lineage.empty() && context.parentProposer == "playbook" &&
           context.lineage.back() == LineageStep{"playbook", idea.parent};
}

} // namespace

std::vector<ProposedIdea> PlaybookProposer::offer(const IdeaContext& context) const
{
    std::vector<ProposedIdea> offered;
    for (const PlaybookIdea& idea : context.task->playbook) {
        if (applies(idea, context)) {
            offered.push_back({.key = idea.id, .title = idea.title, .text = idea.text, .payload = "{}"});
        }
    }
    return offered;
}

std::vector<std::string> PlaybookProposer::sourcesAfter(const Task& task, const std::string& key) const
{
    std::vector<std::string> sources;
    for (const PlaybookIdea& idea : task.playbook) {
        if (idea.parent == key || (key.empty() && idea.parent == "root")) {
            sources.push_back(idea.source.text);
        }
    }
    return sources;
}

proposer::Implementation PlaybookProposer::write(const ImplementContext& context) const
{
    proposer::Implementation answer{.id = RequestId{0}};
    if (context.ordinal > 0) {
        answer.exhausted = true;
        answer.reason = "The playbook holds one kernel for each idea, and this one was tried.";
        return answer;
    }
    for (const PlaybookIdea& idea : context.task->playbook) {
        if (idea.id == context.key) {
            answer.source = idea.source.text;
            answer.payload = "{}";
            return answer;
        }
    }
    answer.exhausted = true;
    answer.reason =
        fmt::format("The playbook of task {} no longer holds an idea \"{}\".", context.task->id, context.key);
    return answer;
}

} // namespace espalier
