// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/views/scripted_session.h"
#include "views/workbench.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QSettings>
#include <QTemporaryDir>
#include <functional>
#include <gtest/gtest.h>

namespace espalier {

/// A workbench over a scripted engine, with settings of its own.
class ViewFixture : public testing::Test
{
protected:
    ViewFixture()
        : link(new ScriptedLink), bench(std::unique_ptr<EngineLink>(link), themes),
          settings(folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat)
    {
    }

    void open(const char* file = "/tmp/scripted.espalier")
    {
        EngineOptions options;
        options.session = file;
        bench.bridge().open(std::move(options));
        settle();
    }

    static void settle()
    {
        for (int i = 0; i < 3; ++i) {
            QCoreApplication::processEvents();
            QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        }
    }

    /// Turns the event loop until `ready`; false after ten seconds.
    static bool waitFor(const std::function<bool()>& ready)
    {
        QElapsedTimer clock;
        clock.start();
        while (!ready()) {
            if (clock.elapsed() > 10000) {
                return false;
            }
            QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        }
        return true;
    }

    QTemporaryDir folder;
    ThemeManager themes;
    ScriptedLink* link; ///< owned by the bench
    Workbench bench;
    QSettings settings;
};

} // namespace espalier
