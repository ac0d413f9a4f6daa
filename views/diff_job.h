// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/diff/text_diff.h"

#include <QFutureWatcher>
#include <QObject>
#include <memory>
#include <string>

namespace espalier {

/// Two texts and what differs; immutable once made.
struct ComparedTexts {
    std::string left, right, leftName, rightName;
    TextDiff diff;
};

/// Compares texts off the GUI thread. The newest request wins: an answer to an older one never arrives.
/// Thread: GUI. The job gets copies; a job still at work when the object dies ends unheard.
class DiffJob : public QObject
{
    Q_OBJECT
public:
    explicit DiffJob(QObject* parent = nullptr);
    void start(std::string left, std::string right, std::string leftName, std::string rightName, DiffOptions options);
    void cancel();

signals:
    void finished(const std::shared_ptr<const espalier::ComparedTexts>& result);

private:
    QFutureWatcher<std::shared_ptr<const ComparedTexts>> m_watcher;
    bool m_wanted = false;
};

} // namespace espalier
