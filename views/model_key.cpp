// SPDX-License-Identifier: GPL-3.0-only
#include "views/model_key.h"

#include <QCoreApplication>
#include <qt6keychain/keychain.h>

namespace espalier {

namespace {

QString problemOf(const QKeychain::Job& job, const QString& variable)
{
    switch (job.error()) {
    case QKeychain::NoError:
        return {};
    case QKeychain::AccessDenied:
    case QKeychain::AccessDeniedByUser:
        return QCoreApplication::translate("ModelKey",
                                           "The keychain refused the key: unlock it, or set the environment variable "
                                           "%1 before Espalier starts.")
            .arg(variable);
    default:
        return QCoreApplication::translate("ModelKey",
                                           "No system keychain took the key, so it is not kept: set the environment "
                                           "variable %1 before Espalier starts.")
            .arg(variable);
    }
}

} // namespace

void keepModelKey(const QString& name, const QString& key, const QString& variable, QObject* context,
                  const std::function<void(const QString& problem)>& done)
{
    // Deletes itself. Not a child of `context`: the key is to arrive although the dialog is closed meanwhile.
    auto* job = new QKeychain::WritePasswordJob(QStringLiteral("espalier"));
    job->setInsecureFallback(false); // a key is never written into a file
    job->setKey(name);
    job->setTextData(key);
    QObject::connect(job, &QKeychain::Job::finished, context,
                     [done, variable](const QKeychain::Job* ended) { done(problemOf(*ended, variable)); });
    job->start();
}

} // namespace espalier
