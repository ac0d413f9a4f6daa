// SPDX-License-Identifier: Apache-2.0
// Candidates that are another one's program: only the oldest is measured, whatever builder is first.
#include "core/search/candidate_pipeline.h"

#include "core/model/node_text.h"
#include "core/search/program_identity.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace espalier {

void CandidatePipeline::knowProgram(const std::string& program, NodeId node)
{
    if (!program.empty()) {
        const auto [entry, added] = m_programs.try_emplace(program, node);
        entry->second = std::min(entry->second, node);
    }
}

/// Names the program of a candidate that was just built.
void CandidatePipeline::nameProgram(Pass& pass, const Library& library, BuildRecord& build)
{
    build.program =
        programIdentity(pass.host, *library.bytes, m_setup.simulated ? DeviceCode::Ptx : DeviceCode::Machine);
    pass.program = build.program;
}

/// True while an older candidate that may prove to be the same program is on its way: one with the same host part that
/// is not built yet, or the same program without a verdict.
bool CandidatePipeline::awaitsTwin(NodeId node, const Pass& pass) const
{
    if (pass.program.empty() || pass.start.again || node == taskRoot) {
        return false;
    }
    for (auto older = m_passes.begin(); older != m_passes.end() && older->first < node; ++older) {
        const Pass& other = older->second;
        const bool comes = !other.start.again && !m_book.pruned(older->first) &&
                           (other.step != Step::Queued || active() < m_allowance); // else it may never be built
        const bool unbuilt = other.step == Step::Queued || other.step == Step::Building;
        if (comes && (unbuilt ? other.host == pass.host : other.program == pass.program)) {
            return true;
        }
    }
    return false;
}

/// Ends a candidate whose program has a verdict already.
bool CandidatePipeline::endIfTwin(NodeId node, Pass& pass)
{
    const auto first =
        pass.program.empty() || pass.start.again || node == taskRoot ? m_programs.end() : m_programs.find(pass.program);
    if (first == m_programs.end() || first->second >= node) {
        return false;
    }
    const NodeSummary& twin = *m_book.find(first->second);
    Evaluation evaluation;
    evaluation.cause = NotRunCause::NoSource;
    evaluation.stage = Stage::Build;
    evaluation.build = pass.start.soFar.build;
    evaluation.evidence = pass.start.soFar.evidence;
    const std::string figure =
        twin.outcome != Outcome::Passed ? std::string(nameOf(twin.outcome))
        : twin.speedupRoot ? fmt::format("{}{:.2f}x over the root", signOf(twin.provenance.value_or(Provenance::Model)),
                                         twin.speedupRoot->value)
                           : "passed";
    evaluation.reason =
        fmt::format("Compiled, it is the same program as node {} (\"{}\"; {}): it is not measured twice.",
                    twin.id.value, twin.title, figure);
    evaluation.evidence.push_back({"duplicate", evaluation.reason});
    evaluation.epoch = m_setup.epoch;
    record({node, std::move(evaluation), 0, true});
    return true;
}

/// Before the judge is asked: whoever is a measured program's twin needs it no more.
void CandidatePipeline::endTwins()
{
    std::vector<NodeId> built;
    for (const auto& [node, pass] : m_passes) {
        if (pass.step == Step::Built && !m_book.pruned(node)) {
            built.push_back(node);
        }
    }
    for (const NodeId node : built) {
        if (const auto found = m_passes.find(node); found != m_passes.end()) {
            (void)endIfTwin(node, found->second);
        }
    }
}

} // namespace espalier
