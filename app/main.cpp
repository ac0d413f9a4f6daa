// SPDX-License-Identifier: GPL-3.0-only
// espalier [FILE]: the window.
#include "app/saved_models.h"
#include "views/departure.h"
#include "views/engine_host.h"
#include "views/main_window.h"
#include "views/session_actions.h"
#include "views/theme.h"
#include "views/workbench.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QIcon>
#include <QSettings>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace espalier;

/// Options of a call; a value that is no number ends the program with one sentence and exit code 2.
class Arguments
{
public:
    explicit Arguments(const QApplication& application)
    {
        m_parser.setApplicationDescription(
            QStringLiteral("Grows and steers a search for a faster CUDA kernel.\n\n"
                           "  espalier                                        start with an empty window\n"
                           "  espalier s.espalier                             open a session\n"
                           "  espalier --run --task softmax_f32 s.espalier    create or resume a session and search"));
        m_parser.addHelpOption();
        m_parser.addVersionOption();
        m_parser.addPositionalArgument(QStringLiteral("FILE"),
                                       QStringLiteral("Session (.espalier); created when --task is given."),
                                       QStringLiteral("[FILE]"));
        for (const auto& [name, value, words] :
             std::initializer_list<std::tuple<const char*, const char*, const char*>>{
                 {"task", "TASK", "Task of a new session: a name or a folder."},
                 {"device", "DEVICE", "auto, sim or cuda:N."},
                 {"proposer", "A,B", "Proposers, comma-separated: playbook, tuner."},
                 {"strategy", "NAME", "refine, beam, ucb, evolution, sample or manual."},
                 {"evals", "N", "Limit of the session: evaluations."},
                 {"seconds", "S", "Limit of the session: seconds."},
                 {"usd", "X", "Limit of the session: US dollars."},
                 {"seed", "K", "Seed of a new session."}}) {
            m_parser.addOption({QString::fromLatin1(name), QString::fromLatin1(words), QString::fromLatin1(value)});
        }
        m_parser.addOption({QStringLiteral("run"), QStringLiteral("Start the search at once.")});
        m_parser.process(application);
        if (m_parser.positionalArguments().size() > 1) {
            usage("espalier takes one session file; " + m_parser.positionalArguments()[1].toStdString() +
                  " is one too many.");
        }
    }

    QString file() const { return m_parser.positionalArguments().value(0); }
    bool has(const char* name) const { return m_parser.isSet(QString::fromLatin1(name)); }

    EngineOptions options() const
    {
        EngineOptions options;
        options.session = QFileInfo(file()).absoluteFilePath().toStdString();
        options.task = text("task");
        options.device = text("device");
        options.strategy = text("strategy");
        if (has("proposer")) {
            options.proposers.emplace();
            for (const QString& name : m_parser.value(QStringLiteral("proposer")).split(QLatin1Char(','))) {
                options.proposers->push_back(name.trimmed().toStdString());
            }
        }
        if (has("seed")) {
            options.seed = static_cast<std::uint64_t>(number("seed"));
        }
        if (has("evals") || has("seconds") || has("usd")) {
            options.budget.emplace();
            options.budget->evaluations = has("evals") ? std::optional<std::int64_t>(number("evals")) : std::nullopt;
            options.budget->seconds = has("seconds") ? std::optional(number("seconds")) : std::nullopt;
            options.budget->usd = has("usd") ? std::optional(number("usd")) : std::nullopt;
        }
        return options;
    }

private:
    [[noreturn]] static void usage(const std::string& sentence)
    {
        std::fprintf(stderr, "espalier: %s\n", sentence.c_str());
        std::exit(2);
    }
    std::optional<std::string> text(const char* name) const
    {
        return has(name) ? std::optional(m_parser.value(QString::fromLatin1(name)).toStdString()) : std::nullopt;
    }
    double number(const char* name) const
    {
        bool good = false;
        const QString value = m_parser.value(QString::fromLatin1(name));
        const double parsed = value.toDouble(&good);
        if (!good || parsed < 0) {
            usage("--" + std::string(name) + " needs a number that is not negative; " + value.toStdString() +
                  " is none.");
        }
        return parsed;
    }
    QCommandLineParser m_parser;
};

} // namespace

int main(int argc, char** argv)
{
    QApplication::setStyle(QStringLiteral("Fusion")); // the one style that takes every colour from the palette
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("espalier"));
    QApplication::setApplicationVersion(QStringLiteral(ESPALIER_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("espalier"));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/espalier.svg")));
    const Arguments arguments(application);

    QSettings settings(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("espalier"),
                       QStringLiteral("window"));
    ThemeManager themes;
    themes.setMode(
        static_cast<ThemeMode>(settings.value(QStringLiteral("window/theme"), int(ThemeMode::System)).toInt()));
    Workbench bench(std::make_unique<EngineHost>(), themes);
    MainWindow window(bench, settings);
    window.sessions().setModels(std::make_shared<SavedModels>());
    window.show();
    if (!arguments.file().isEmpty()) {
        if (!QFileInfo::exists(arguments.file()) && !arguments.has("task")) {
            window.sessions().startNew(arguments.file());
        } else {
            window.sessions().open(arguments.options(), arguments.has("run"));
        }
    }
    const int code = QApplication::exec();
    if (window.departure().isCutShort()) {
        settings.sync();
        std::_Exit(code); // asked for: what still runs ends with this process, and the session is as it was stored
    }
    return code;
}
