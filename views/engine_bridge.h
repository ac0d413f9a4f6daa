// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/engine_link.h"

#include <QList>
#include <QObject>
#include <QString>
#include <memory>
#include <vector>

namespace espalier {

/// The one bridge between an engine and the window: commands go out, events come in on any thread and leave as signals
/// on the GUI thread. Everything that arrived since the last turn of the event loop is handed over in one go: several
/// event::Changes become one changed() in which the newest version of a node wins.
/// Thread: GUI. Owns the link. Errors: openFailed() before a session was there, commandFailed() and closed() after.
class EngineBridge : public QObject
{
    Q_OBJECT
public:
    explicit EngineBridge(std::unique_ptr<EngineLink> link, QObject* parent = nullptr);
    ~EngineBridge() override;

    void open(EngineOptions options);
    void close();
    void send(command::Command command);
    std::vector<std::string> modelNames() const { return m_link->modelNames(); }
    std::vector<StrategyDescription> strategies() const { return m_link->strategies(); }
    bool isOpening() const { return m_opening; }
    bool isOpen() const { return m_open; }

signals:
    void opening();
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

private:
    struct Mailbox;
    void drain(const std::shared_ptr<Mailbox>& mailbox);
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
    void take(const event::Log& event);
    void take(const event::Finished& event);
    void take(const event::Closed& event);

    std::unique_ptr<EngineLink> m_link;
    std::shared_ptr<Mailbox> m_mailbox; ///< of the session that is open or opening; events of older ones are dropped
    bool m_opening = false, m_open = false;
};

} // namespace espalier
