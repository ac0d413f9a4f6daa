// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/steer_options.h"

#include "app/ctl/model_words.h"
#include "app/ctl/numbers.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace espalier::ctl {
namespace {

constexpr std::int64_t mostListed = 1'000'000; ///< hints, bans

/// Every act is a subcommand of its own.
class Acts
{
public:
    Acts(CLI::App& steer, SteerVerb& verb) : m_steer(steer), m_verb(verb) {}

    /// `act`: its name in the verb, where that is another.
    CLI::App* add(const std::string& name, const char* help, const std::string& act = {})
    {
        CLI::App* sub = m_steer.add_subcommand(name, help);
        sub->add_flag("--json", m_verb.json, "One JSON object on standard output");
        sub->callback([verb = &m_verb, act = act.empty() ? name : act] { verb->act = act; });
        return sub;
    }
    /// Acts of one kind under a name of their own.
    CLI::App* group(const std::string& name, const char* help)
    {
        CLI::App* sub = m_steer.add_subcommand(name, help);
        sub->require_subcommand(1);
        return sub;
    }
    CLI::App* onNode(const char* name, const char* help, const char* node = "The node")
    {
        CLI::App* sub = add(name, help);
        takesWhole(sub->add_option("--node", m_verb.node, node), 1)->required();
        return sub;
    }

private:
    CLI::App& m_steer;
    SteerVerb& m_verb;
};

void addTreeActs(Acts& acts, SteerVerb& verb)
{
    acts.onNode("pin", "Protect a node: it is always a parent");
    acts.onNode("unpin", "Take the protection away");
    acts.onNode("prune", "Take a node and all below it out of the search; it stays visible");
    acts.onNode("restore", "Put a pruned node back");
    CLI::App* boost = acts.onNode("boost", "Weigh a node: 2 doubles its promise, 0 leaves it out");
    takesNumber(boost->add_option("--factor", verb.factor, "0 to 1000"), 0, 1000)->required();
    for (CLI::App* idea : {acts.onNode("edit", "Give an idea other words before it is implemented"),
                           acts.onNode("add-idea", "Write an idea under a root or candidate")}) {
        idea->add_option("--title", verb.title, "A few words")->required();
        idea->add_option("--text", verb.text, "A sentence or two");
    }
    CLI::App* inject = acts.add("inject", "An own kernel under a node, or as a root of its own");
    takesWhole(inject->add_option("--node", verb.node, "The node"), 1);
    inject->add_option("file", verb.file, "The kernel: one .cu file")->required();
    inject->add_option("--title", verb.title, "A few words; default: the file's name");
    CLI::App* cross = acts.add("cross", "An idea of two kernels that passed; it is implemented next");
    takesWhole(cross->add_option("first", verb.node, "The one that it stands under"), 1)->required();
    takesWhole(cross->add_option("second", verb.second, "The other one"), 1)->required();
    acts.onNode("kill", "End a candidate at whatever stage it is; it does not come back", "The candidate");
    acts.onNode("re-verify", "Verify a kernel again on new inputs, with compute-sanitizer where it is installed",
                "The candidate or root");
    acts.onNode("re-time", "Time a kernel again in the full tier", "The candidate or root");
    acts.onNode("profile", "Profile a kernel: all counters, and samples by source line", "The candidate or root");
    CLI::App* overturn =
        acts.onNode("overturn", "Set the judge's verdict on a node aside, with a reason", "The candidate");
    overturn->add_option("--as", verb.as, "passed or rejected")
        ->required()
        ->check(CLI::IsMember({"passed", "rejected"}));
    overturn->add_option("--reason", verb.reason, "What you know that the judge does not; kept with the session")
        ->required();
}

void addModelActs(Acts& acts, SteerVerb& verb)
{
    CLI::App* ask = acts.onNode("ask", "Ask a model again, in own words if you like (show --prompt prints them)",
                                "A candidate it wrote, an idea, or a kernel to have ideas for");
    ask->add_option("--prompt", verb.promptFile, "A file with the prompt to send; - for standard input");
    ask->add_flag("--ideas", verb.ideas, "Ask for ideas under the node");
    acts.add("hint", "A sentence that stands in every prompt from now on")
        ->add_option("text", verb.text, "The hint")
        ->required();
    takesWhole(
        acts.add("unhint", "Take a hint away")->add_option("number", verb.number, "Which, from 1: show lists them"), 1,
        mostListed)
        ->required();
    CLI::App* ban =
        acts.add("ban", "A technique that is not wanted: said in every prompt, and with a predicate held by the judge");
    ban->add_option("text", verb.text, "For people and models: \"no fp16\"")->required();
    ban->add_option("--predicate", verb.predicate,
                    "What the judge rejects every candidate for that breaks it: \"fp16_instructions == 0\"");
    takesWhole(
        acts.add("lift-ban", "Take a ban away")->add_option("number", verb.number, "Which, from 1: show lists them"), 1,
        mostListed)
        ->required();
    CLI::App* attach = acts.add("attach", "An example or document that goes along with every question to a model whose "
                                          "profile does not leave attachments out");
    attach->add_option("file", verb.file, "The file; its text is kept in the session")->required();
    attach->add_option("--name", verb.name, "Another name for it");
    acts.add("detach", "Take an attached text away")->add_option("name", verb.name, "Its name")->required();
}

/// What is said of models is read once all of it was read.
void addProposerActs(Acts& acts, SteerVerb& verb)
{
    CLI::App* proposers = acts.group("proposers", "Who proposes: others join or leave, while the session runs too");
    Acts kinds(*proposers, verb);
    CLI::App* join =
        kinds.add("add", "They join: playbook, tuner, llm (all models), command, manual, replay", "proposers");
    join->add_option("names", verb.join, "Who joins, separated by commas or blanks; a model alone brings llm")
        ->delimiter(',');
    const auto words = std::make_shared<ModelWords>();
    addModelOptions(*join, *words);
    join->callback([&verb, words] {
        verb.act = "proposers";
        words->command = verb.program;
        if (const auto applied = applyModelWords(*words, verb.models); !applied) {
            throw CLI::ValidationError(applied.error().message);
        }
    });
    kinds.add("remove", "They leave; what they made stays", "proposers")
        ->add_option("names", verb.leave, "Who leaves, separated by commas or blanks")
        ->delimiter(',')
        ->required();
}

/// `name`: as the limit is called in a session.
template <typename T>
CLI::Option* addLimit(CLI::App* budget, const std::string& option, const char* name, std::optional<T>& limit,
                      std::vector<std::string>& lift, const char* help)
{
    CLI::Option* set = budget->add_option_function<T>("--" + option, [&limit](const T& value) { limit = value; }, help);
    budget->add_flag_callback(
              "--no-" + option, [&lift, name] { lift.emplace_back(name); }, "It holds no more")
        ->excludes(set);
    return set;
}

void addRunActs(Acts& acts, SteerVerb& verb)
{
    CLI::App* budget =
        acts.add("budget", "What the session may spend in all, and when it has enough: with --node what a "
                           "branch may spend from now on; what is not named stays");
    takesWhole(budget->add_option("--node", verb.node, "The node, and everything below it"), 1);
    takesWhole(addLimit(budget, "evals", "evaluations", verb.budget.evaluations, verb.lift, "Evaluations"), 0);
    takesWhole(addLimit(budget, "tokens", "tokens", verb.budget.tokens, verb.lift, "Tokens of models, in and out"), 0);
    takesNumber(addLimit(budget, "usd", "usd", verb.budget.usd, verb.lift, "Money for models"), 0);
    takesNumber(addLimit(budget, "seconds", "seconds", verb.budget.seconds, verb.lift,
                         "Seconds of the run; of a branch: seconds of the device"),
                0);
    takesNumberAbove(addLimit(budget, "target", "target", verb.budget.target, verb.lift,
                              "Enough at so many times the incumbent's speed"),
                     1, "2: twice as fast");
    takesNumber(addLimit(budget, "roof", "roof", verb.budget.roofPercent, verb.lift,
                         "Enough within so many per cent of the goal floor"),
                0);
    takesWhole(addLimit(budget, "plateau", "plateau", verb.budget.plateau, verb.lift,
                        "Enough after so many evaluations without a new best"),
               1);
    budget->add_flag("--unlimited", verb.unlimited, "No limit of evaluations, tokens, money and seconds any more");
    acts.add("strategy", "Another strategy takes over, with its parameters after a colon: beam:width=3")
        ->add_option("strategy", verb.strategy, "refine, beam, ucb, evolution, sample or manual")
        ->required();
    acts.add("undo", "Take back the last act on tree or settings; an idea, a kernel or a crossing that grew is pruned");
    acts.add("pause", "A running session: nothing new starts, what runs ends");
    acts.add("step", "An open session: one evaluation, then it pauses");
    acts.add("run", "An open session: go on");
}

} // namespace

void addSteer(CLI::App& app, SteerVerb& verb)
{
    CLI::App* steer = app.add_subcommand("steer", "What the engineer does to a session, closed or running");
    steer->add_option("session", verb.session, "The session file")->required();
    steer->require_subcommand(1);
    Acts acts(*steer, verb);
    addTreeActs(acts, verb);
    addModelActs(acts, verb);
    addProposerActs(acts, verb);
    addRunActs(acts, verb);
}

} // namespace espalier::ctl
