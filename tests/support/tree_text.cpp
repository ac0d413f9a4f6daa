// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tree_text.h"

#include "core/base/text.h"

#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <stdexcept>

namespace espalier {
namespace {

struct Item {
    std::string name;
    std::optional<std::string> outcome;
    std::optional<double> score;
    bool pinned = false, pruned = false, asked = true, oneByOne = false;
    double boost = 1;
    int planned = 1;
};

Item readItem(std::string_view text)
{
    Item item;
    std::string word(trimmed(text));
    if (const auto colon = word.find(':'); colon != std::string::npos) {
        std::string outcome = word.substr(colon + 1);
        if (const auto open = outcome.find('('); open != std::string::npos) {
            item.score = std::strtod(outcome.c_str() + open + 1, nullptr);
            outcome.resize(open);
        }
        item.outcome = outcome;
        word.resize(colon);
    }
    std::size_t end = 0;
    while (end < word.size() && (std::isalnum(static_cast<unsigned char>(word[end])) || word[end] == '_')) {
        ++end;
    }
    item.name = word.substr(0, end);
    for (const char* at = word.c_str() + end; *at;) {
        const char mark = *at++;
        char* rest = nullptr;
        switch (mark) {
        case '!':
            item.pinned = true;
            break;
        case '-':
            item.pruned = true;
            break;
        case '~':
            item.asked = false;
            break;
        case '=':
            item.oneByOne = true;
            break;
        case '*':
            item.boost = std::strtod(at, &rest);
            at = rest;
            break;
        case '/':
            item.planned = static_cast<int>(std::strtol(at, &rest, 10));
            at = rest;
            break;
        default:
            throw std::invalid_argument("unknown mark in " + word);
        }
    }
    return item;
}

} // namespace

SearchTree treeFromText(std::string_view text)
{
    SearchTree tree(SearchFrame{Provenance::Model, "epoch"});
    std::map<std::string, NodeId> ids;
    for (const std::string_view path : splitOn(text, ';')) {
        std::optional<NodeId> above;
        for (const std::string_view part : splitOn(path, '>')) {
            const Item item = readItem(part);
            if (const auto known = ids.find(item.name); known != ids.end()) {
                above = known->second;
                continue;
            }
            TreeNode node;
            node.id = NodeId{static_cast<std::int64_t>(ids.size()) + 1};
            node.kind = !above ? NodeKind::Root : item.outcome ? NodeKind::Candidate : NodeKind::Idea;
            node.parent = above;
            node.ordinal = above ? static_cast<int>(tree.at(*above).children.size()) : 0;
            node.title = node.key = item.name;
            node.proposer = "playbook";
            node.pinned = item.pinned;
            node.pruned = item.pruned;
            node.boost = item.boost;
            node.planned = item.planned;
            node.asked = item.asked;
            node.oneByOne = item.oneByOne;
            if (item.outcome && *item.outcome != "?") {
                node.verdict = Verdict{outcomeNamed(*item.outcome).value(), tree.frame(), std::nullopt, item.score};
            }
            ids[item.name] = node.id;
            above = node.id;
            tree.add(std::move(node));
        }
    }
    return tree;
}

std::string nameIn(const SearchTree& tree, NodeId id)
{
    return tree.at(id).title;
}

std::string listOf(const std::map<NodeId, NodeSummary>& nodes)
{
    std::string out;
    const std::function<void(const NodeSummary&, int)> print = [&](const NodeSummary& node, int depth) {
        out += std::string(static_cast<std::size_t>(depth) * 2, ' ') + fmt::format("{} {}", node.id.value, node.title);
        if (node.kind == NodeKind::Idea) {
            out += fmt::format(" ({}) {}", node.proposer, nameOf(node.state));
        } else if (node.state != NodeState::Done) {
            out += fmt::format(" {}", nameOf(node.state));
        } else {
            out += fmt::format(" {}", nameOf(node.outcome));
            if (node.speedupRoot) {
                out += fmt::format(" {:.3f}x", node.speedupRoot->value);
            }
        }
        out += std::string(node.pinned ? " pinned" : "") + (node.pruned ? " pruned" : "") + "\n";
        for (const auto& [id, child] : nodes) {
            if (!child.parents.empty() && child.parents.front().parent == node.id) {
                print(child, depth + 1);
            }
        }
    };
    for (const auto& [id, node] : nodes) {
        if (node.parents.empty()) {
            print(node, 0);
        }
    }
    return out;
}

} // namespace espalier
