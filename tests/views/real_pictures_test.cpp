// SPDX-License-Identifier: GPL-3.0-only
// Pictures for the README, taken of a session that was really searched: nothing in them is made up.
//   ESPALIER_PICTURE_SESSION=s.espalier ESPALIER_PICTURES=DIR views_engine_test --gtest_filter='*RealPictures*'
#include "views/code_pane.h"
#include "views/diff_panel.h"
#include "views/diff_view.h"
#include "views/engine_host.h"
#include "views/inspector.h"
#include "views/main_window.h"
#include "views/roofline_panel.h"
#include "views/roofline_view.h"
#include "views/source_panel.h"
#include "views/tree_panel.h"
#include "views/tree_view.h"
#include "views/workbench.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QSettings>
#include <QTemporaryDir>
#include <gtest/gtest.h>

using namespace espalier;

namespace {

bool waitFor(const std::function<bool()>& ready)
{
    QElapsedTimer clock;
    clock.start();
    while (!ready() && clock.elapsed() < 20000) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    }
    return ready();
}

class Photographer
{
public:
    explicit Photographer(ThemeMode mode)
        : m_settings(m_folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat),
          m_bench(std::make_unique<EngineHost>(), m_themes), m_window((m_themes.setMode(mode), m_bench), m_settings)
    {
        m_window.resize(1760, 990);
        m_window.show();
    }

    bool open(const QString& file)
    {
        EngineOptions options;
        options.session = file.toStdString();
        m_bench.bridge().open(options);
        return waitFor([this] { return m_bench.selected() && m_bench.detail(*m_bench.selected()) != nullptr; });
    }

    bool selectBest()
    {
        m_bench.select(m_bench.nodes().status().best);
        return m_bench.selected() && waitFor([this] { return m_bench.detail(*m_bench.selected()) != nullptr; });
    }

    /// The first candidate that did not pass, if there is one.
    bool selectRejected()
    {
        for (int i = 0; i < m_bench.nodes().count(); ++i) {
            const NodeSummary& node = m_bench.nodes().at(i);
            if (node.kind == NodeKind::Candidate && node.state == NodeState::Done && node.outcome != Outcome::Passed) {
                m_bench.select(node.id);
                return waitFor([&] { return m_bench.detail(node.id) != nullptr; });
            }
        }
        return false;
    }

    bool waitForDiff()
    {
        return waitFor([this] { return m_window.inspector().diff()->view()->hunks() > 0; });
    }

    /// Not every session has profiles, nor every machine the libraries that were built.
    void waitForListings()
    {
        (void)waitFor([this] {
            const QString& why = m_window.inspector().source()->ptx().missing();
            return !why.endsWith(QChar(0x2026));
        });
    }
    void waitForCharts()
    {
        (void)waitFor(
            [this] { return !m_window.roofline().view()->chart().points.empty() || m_bench.nodes().count() == 0; });
    }

    void take(const char* name)
    {
        QCoreApplication::processEvents();
        m_window.repaint();
        const QDir folder(qEnvironmentVariable("ESPALIER_PICTURES", QStringLiteral(ESPALIER_PICTURES)));
        folder.mkpath(QStringLiteral("."));
        const QString file = QStringLiteral("%1-%2.png")
                                 .arg(QString::fromLatin1(name),
                                      m_themes.theme().isDark() ? QStringLiteral("dark") : QStringLiteral("light"));
        EXPECT_TRUE(m_window.grab().save(folder.filePath(file)));
    }

    MainWindow& window() { return m_window; }

private:
    QTemporaryDir m_folder;
    ThemeManager m_themes;
    QSettings m_settings;
    Workbench m_bench;
    MainWindow m_window;
};

} // namespace

TEST(RealPictures, OfASearchedSession)
{
    const QString session = qEnvironmentVariable("ESPALIER_PICTURE_SESSION");
    if (session.isEmpty()) {
        GTEST_SKIP() << "set ESPALIER_PICTURE_SESSION to a session file";
    }
    for (const ThemeMode mode : {ThemeMode::Light, ThemeMode::Dark}) {
        Photographer photographer(mode);
        photographer.take("welcome");
        ASSERT_TRUE(photographer.open(session));
        ASSERT_TRUE(photographer.selectBest());
        photographer.take("search");
        photographer.window().inspector().showTab(Inspector::Stages);
        photographer.take("stages");
        photographer.window().inspector().showTab(Inspector::Source);
        photographer.take("source");
        photographer.window().applyLayout(MainWindow::Layout::Source);
        photographer.window().inspector().source()->nextHot()->trigger();
        photographer.waitForListings();
        photographer.take("source-profiled");
        photographer.window().inspector().showTab(Inspector::Profile);
        photographer.take("profile");
        photographer.window().applyLayout(MainWindow::Layout::Compare);
        photographer.waitForCharts();
        photographer.take("compare");
        photographer.window().applyLayout(MainWindow::Layout::Search);
        photographer.window().inspector().showTab(Inspector::Diff);
        ASSERT_TRUE(photographer.waitForDiff());
        photographer.take("diff");
        if (photographer.selectRejected()) {
            photographer.window().inspector().showTab(Inspector::Stages);
            photographer.take("rejected");
        }
    }
}
