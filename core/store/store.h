// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/evaluation.h"
#include "core/model/exchange.h"
#include "core/model/node.h"
#include "core/model/session.h"
#include "core/store/edition_table.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// A node as it is stored: the summary's fixed part plus what only the engine needs.
struct StoredNode {
    NodeId id{0};
    NodeKind kind = NodeKind::Root;
    NodeState state = NodeState::Draft; ///< never Running: see Store::open
    std::vector<Edge> parents;
    int ordinal = 0;
    std::string title, ideaText, proposer;
    std::string payload; ///< JSON of the proposer's: playbook idea id, tunable values
    std::string source;  ///< empty for ideas and for candidates without source yet
    bool pinned = false, pruned = false;
    double boost = 1;
    std::string createdAt;
};

/// What a finished stage left behind; one row per (node, stage, attempt).
struct StoredStage {
    NodeId node{0};
    Stage stage = Stage::Build;
    int attempt = 1;
    Evaluation record; ///< Build: outcome and build; Verify: verify; Time: the whole final evaluation
    double seconds = 0;
    std::string finishedAt;
    std::int64_t edition = 0; ///< of the task; 0: the session's present one
};

/// One act of the engineer's or of the engine's, for the journal.
struct StoredAct {
    std::string at, author, what; ///< "pin", …; `what` is a JSON object
};

/// One session file: SQLite in WAL mode with one writer, who keeps the WAL empty while it rests: a plain copy of the
/// file is whole then, and one that was made meanwhile opens as it stood at the last checkpoint and says so
/// (info().remark). Thread: the engine's (readers open their own read-only Store). Ownership: holds the file's lock
/// from open to destruction. Every method is one transaction that is on disk when it returns, so a kill -9 loses
/// nothing that was reported. Errors: InvalidInput "X is not an Espalier session", VersionTooNew, Busy "X is open in
/// process N", Io (read-only folder, full disk: nothing is half-written and the session stays as it was).
class Store
{
public:
    enum class Mode { ReadWrite, ReadOnly };

    /// Creates a new session file. Errors also when the file exists.
    static Result<std::unique_ptr<Store>> create(const std::filesystem::path& file, const SessionInfo& info);
    /// Opens an existing one, migrates it (ReadWrite only), gives nodes that were running back to the queue and
    /// marks requests without an answer as lost.
    static Result<std::unique_ptr<Store>> open(const std::filesystem::path& file, Mode mode);
    ~Store(); ///< leaves one file, without a WAL

    /// A whole copy as one file, also while another process writes the session. Errors: InvalidInput when `to` exists,
    /// and those of open().
    static Result<void> copy(const std::filesystem::path& file, const std::filesystem::path& to);

    /// Empties the WAL. False where somebody reads meanwhile: it stays until the next time.
    Result<bool> checkpoint();

    const SessionInfo& info() const;
    Result<void> setInfo(const SessionInfo& info); ///< budget, device name, epoch
    void setRemark(std::string remark);            ///< not stored
    Result<double> addSeconds(double seconds);     ///< run time of this run; returns the session's total
    double secondsSpent() const;

    enum class Sources { With, Without };
    /// All, in id order. Without sources those fields stay empty: a large session is outlined in a fraction of the
    /// time.
    Result<std::vector<StoredNode>> nodes(Sources sources = Sources::With);
    Result<std::optional<StoredNode>> node(NodeId id);
    Result<void> addNode(const StoredNode& node);    ///< the caller gives the id (next number)
    Result<void> updateNode(const StoredNode& node); ///< state, flags, texts, source; never parents or kind

    Result<void> addStage(const StoredStage& stage);    ///< attempt is the next free one when it is 0
    Result<std::vector<StoredStage>> stages(NodeId id); ///< in (stage, attempt) order

    /// The task: its editions, oldest first (none in a session of an older Espalier), and texts by content. A new
    /// edition is the one of every record from then on; info() names it once setInfo() has told its hash.
    Result<std::int64_t> addEdition(const StoredEdition& edition, const std::map<std::string, std::string>& texts);
    Result<std::vector<StoredEdition>> editions();
    Result<std::optional<std::string>> text(std::string_view hash); ///< nullopt: not kept
    Result<std::string> keepText(const std::string& text);          ///< returns its hash; bytes are allowed
    /// The edition under which each node was verified or timed last.
    Result<std::map<NodeId, std::int64_t>> editionsOfNodes();
    /// The device (TimingRecord::device) on which each node was timed last: looks into every record.
    Result<std::map<NodeId, std::string>> devicesOfNodes();

    Result<void> addAct(const StoredAct& act);
    Result<std::vector<StoredAct>> acts();

    /// Questions to models and their answers. A session of an older version that is open for reading has none.
    Result<std::int64_t> addExchange(const Exchange& exchange); ///< returns the id it got
    Result<void> updateExchange(const Exchange& exchange);      ///< what its end brought
    Result<std::optional<Exchange>> exchange(std::int64_t id);
    Result<std::optional<Exchange>> answeredExchange(std::string_view key); ///< the last one
    /// The last one of a question, if it has no answer: still open, or lost.
    Result<std::optional<Exchange>> unansweredExchange(std::string_view key);
    Result<std::vector<Exchange>> exchangesOf(NodeId node); ///< in id order
    Result<std::vector<Exchange>> exchanges();              ///< in id order, without their texts

    /// Several writes as one transaction: an error of `writes` takes back what it had written.
    Result<void> together(const std::function<Result<void>()>& writes);

    /// Small named values of the engine: strategy state, proposer state.
    Result<void> setValue(std::string_view key, std::string_view value);
    Result<std::optional<std::string>> value(std::string_view key);
    /// Those whose key starts with the prefix, by the rest of their key.
    Result<std::map<std::string, std::string>> values(std::string_view prefix);

private:
    class Impl;
    explicit Store(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace espalier
