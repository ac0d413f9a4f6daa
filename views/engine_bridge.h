// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/engine_link.h"

#include <QList>
#include <QObject>
#include <QString>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace espalier {

/// The one bridge between an engine and the window: commands go out, events come in on any thread and leave as signals
/// on the GUI thread. Everything that arrived since the last turn of the event loop is handed over in one go: several
/// event::Changes become one changed() in which the newest version of a node wins. A session that is opened takes the
/// place of the one before only when all of it was read; until then, and where it cannot be opened, that one goes on.
/// Thread: GUI. Owns the link. Errors: openFailed() before a session was there, commandFailed() and closed() after.
class EngineBridge : public QObject
{
    Q_OBJECT
public:
    explicit EngineBridge(std::unique_ptr<EngineLink> link, QObject* parent = nullptr);
    ~EngineBridge() override;

    void open(EngineOptions options);
    void close(); ///< whatever is open or opening; released() follows when nothing of it runs any more
    void send(command::Command command) { send(std::move(command), {}); }
    /// `answered`: called once the command is done (nullopt) or was refused, unless the session is closed before.
    using Answer = std::function<void(const std::optional<Error>& refusal)>;
    void send(command::Command command, Answer answered);
    std::vector<std::string> modelNames() const { return m_link->modelNames(); }
    std::vector<StrategyDescription> strategies() const { return m_link->strategies(); }
    bool isOpening() const { return m_coming != nullptr; }
    bool isOpen() const { return m_mailbox != nullptr; }
    /// Why the open session can only be looked at, a sentence; empty: it can be searched.
    const QString& viewedBecause() const { return m_viewedBecause; }

signals:
    void opening(const QString& file);
    void opened(const espalier::SessionInfo& info);
    void openFailed(const espalier::Error& error);
    void changed(const std::vector<espalier::NodeSummary>& nodes, const espalier::RunStatus& status);
    void detailArrived(const std::shared_ptr<const espalier::NodeDetail>& detail);
    void listingsArrived(const std::shared_ptr<const espalier::CodeListings>& listings);
    void exchangesArrived(espalier::NodeId node, const std::vector<espalier::Exchange>& exchanges,
                          const std::vector<std::string>& hints, const std::vector<std::string>& attachments);
    void answerGrew(espalier::NodeId node, qint64 exchange, const QString& text);
    void exported(espalier::NodeId node, const QStringList& files);
    void reproWritten(espalier::NodeId node, const QString& file, const QString& compiler);
    void standingArrived(const espalier::event::Standing& standing);
    void planned(const espalier::event::Plan& plan);
    void commandFailed(const QString& what, const espalier::Error& error);
    void logged(const QList<QPair<QString, QString>>& lines); ///< time, text
    void runEnded(const espalier::RunSummary& summary);
    /// The session is no longer there: by close() or because the engine ended, then with the error.
    void closed(const std::optional<espalier::Error>& error);
    void released(); ///< what close() closed has ended

private:
    struct Mailbox;
    struct Coming;
    Engine::Observer observerFor(const std::shared_ptr<Mailbox>& mailbox);
    static void turnAway(const std::shared_ptr<Mailbox>& mailbox);
    void drain(const std::shared_ptr<Mailbox>& mailbox);
    void takeComing(event::Event event);
    void takeOver();
    void leave(const std::optional<Error>& error);
    void deliver(const event::Event& event);
    void take(const event::SessionOpened& event);
    void take(const event::Changes& event);
    void take(const event::Detail& event);
    void take(const event::Listings& event);
    void take(const event::Exchanges& event);
    void take(const event::AnswerGrew& event);
    void take(const event::Exported& event);
    void take(const event::ReproWritten& event);
    void take(const event::Standing& event);
    void take(const event::Plan& event);
    void take(const event::CommandFailed& event);
    void take(const event::Answered& event);
    void take(const event::Log& event);
    void take(const event::Finished& event);
    void take(const event::Closed& event);

    std::unique_ptr<EngineLink> m_link;
    std::shared_ptr<Mailbox> m_mailbox; ///< of the open session; events of older ones are dropped
    std::unique_ptr<Coming> m_coming;   ///< the session that is being opened
    QString m_viewedBecause;
    std::map<std::uint64_t, Answer> m_answers;
    std::uint64_t m_lastTicket = 0;
};

} // namespace espalier
