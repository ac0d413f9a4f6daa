// SPDX-License-Identifier: GPL-3.0-only
#include "views/diff_job.h"

#include <QtConcurrent/QtConcurrentRun>

namespace espalier {

DiffJob::DiffJob(QObject* parent) : QObject(parent)
{
    connect(&m_watcher, &QFutureWatcherBase::finished, this, [this] {
        if (m_wanted) {
            m_wanted = false;
            emit finished(m_watcher.result());
        }
    });
}

void DiffJob::start(std::string left, std::string right, std::string leftName, std::string rightName,
                    DiffOptions options)
{
    m_wanted = true;
    auto texts = std::make_shared<ComparedTexts>(
        ComparedTexts{std::move(left), std::move(right), std::move(leftName), std::move(rightName), {}});
    // A watcher given a new future forgets the events of the old one.
    m_watcher.setFuture(QtConcurrent::run([texts, options]() -> std::shared_ptr<const ComparedTexts> {
        texts->diff = diffTexts(texts->left, texts->right, options);
        return texts;
    }));
}

void DiffJob::cancel()
{
    m_wanted = false;
}

} // namespace espalier
