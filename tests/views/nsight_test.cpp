// SPDX-License-Identifier: GPL-3.0-only
// "Open in Nsight Compute" with programs that say what they were started with.
#include "tests/views/view_fixture.h"
#include "views/nsight.h"

#include <QDir>
#include <QFile>

using namespace espalier;

namespace {

class NsightTest : public ViewFixture
{
protected:
    NsightTest()
    {
        scriptSoftmax(*link, Provenance::Measured);
        link->status.state = RunState::Paused;
        link->compiler = program(QStringLiteral("nvcc"), QStringLiteral("touch \"$5\""))
                             .toStdString(); // -O3 -lineinfo -arch=native -o FILE
        programs = {program(QStringLiteral("ncu"), QStringLiteral("touch report.ncu-rep")),
                    program(QStringLiteral("ncu-ui"), QStringLiteral("true"))};
    }

    ~NsightTest() override
    {
        for (const command::Repro& repro : link->sent<command::Repro>()) {
            QDir(QString::fromStdString(repro.folder)).removeRecursively();
        }
    }

    /// A program that notes its name and arguments, and does a little.
    QString program(const QString& name, const QString& does)
    {
        const QString path = folder.filePath(name);
        QFile file(path);
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(QStringLiteral("#!/bin/sh\necho %1 \"$@\" >> '%2'\n%3\n")
                       .arg(name, folder.filePath(QStringLiteral("started")), does)
                       .toUtf8());
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return path;
    }

    QStringList started() const
    {
        QFile file(folder.filePath(QStringLiteral("started")));
        return file.open(QIODevice::ReadOnly)
                   ? QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'), Qt::SkipEmptyParts)
                   : QStringList();
    }

    NsightPrograms programs;
};

} // namespace

TEST_F(NsightTest, BuildsProfilesAndOpensTheReport)
{
    Nsight nsight(bench, programs);
    open();
    ASSERT_EQ(nsight.whyNot().toStdString(), "");
    QString failure;
    QObject::connect(&nsight, &Nsight::failed, &nsight, [&](const QString& sentence) { failure = sentence; });
    nsight.open(NodeId{5});
    EXPECT_TRUE(nsight.whyNot().contains(QStringLiteral("node 5"))); // one at a time
    ASSERT_TRUE(waitFor([&] { return started().size() == 3 || !failure.isEmpty(); }));
    EXPECT_EQ(failure.toStdString(), "");
    ASSERT_EQ(link->sent<command::Repro>().size(), 1u);
    const QString place = QString::fromStdString(link->sent<command::Repro>()[0].folder);
    EXPECT_TRUE(QDir(place).exists());
    EXPECT_TRUE(started()[0].startsWith(QStringLiteral("nvcc -O3 -lineinfo")) &&
                started()[0].endsWith(place + QStringLiteral("/node.cu")))
        << started()[0].toStdString();
    EXPECT_TRUE(started()[1].startsWith(QStringLiteral("ncu --set full")) &&
                started()[1].endsWith(place + QStringLiteral("/repro")))
        << started()[1].toStdString();
    EXPECT_EQ(started()[2].toStdString(), "ncu-ui " + place.toStdString() + "/report.ncu-rep");
    EXPECT_TRUE(waitFor([&] { return nsight.whyNot().isEmpty(); }));
}

TEST_F(NsightTest, AFailureIsOneSentenceWithWhatTheProgramSaid)
{
    programs.profiler = program(
        QStringLiteral("ncu"),
        QStringLiteral("echo '==ERROR== ERR_NVGPUCTRPERM: the driver keeps counters for administrators'; exit 1"));
    Nsight nsight(bench, programs);
    open();
    QString failure;
    QObject::connect(&nsight, &Nsight::failed, &nsight, [&](const QString& sentence) { failure = sentence; });
    nsight.open(NodeId{5});
    ASSERT_TRUE(waitFor([&] { return !failure.isEmpty(); }));
    EXPECT_TRUE(failure.startsWith(QStringLiteral("ncu failed on node 5: "))) << failure.toStdString();
    EXPECT_TRUE(failure.contains(QStringLiteral("ERR_NVGPUCTRPERM")));
    EXPECT_EQ(nsight.whyNot().toStdString(), "");

    failure.clear();
    link->compiler = "/no/such/nvcc";
    nsight.open(NodeId{5});
    ASSERT_TRUE(waitFor([&] { return !failure.isEmpty(); }));
    EXPECT_TRUE(failure.startsWith(QStringLiteral("nvcc failed on node 5"))) << failure.toStdString();
    failure.clear();
    link->compiler.clear();
    nsight.open(NodeId{5});
    ASSERT_TRUE(waitFor([&] { return !failure.isEmpty(); }));
    EXPECT_TRUE(failure.contains(QStringLiteral("no CUDA compiler"))) << failure.toStdString();
}

TEST_F(NsightTest, SaysWhyItCannotBeOpened)
{
    Nsight absent(bench, {});
    EXPECT_TRUE(absent.whyNot().contains(QStringLiteral("not installed")));
    absent.open(NodeId{5});
    EXPECT_TRUE(link->sent<command::Repro>().empty());
    link->status.state = RunState::Running;
    Nsight nsight(bench, programs);
    open();
    EXPECT_TRUE(nsight.whyNot().contains(QStringLiteral("Pause the search first"))) << nsight.whyNot().toStdString();
    link->status.state = RunState::Paused;
    link->sendStatus();
    settle();
    EXPECT_EQ(nsight.whyNot().toStdString(), "");
}

TEST_F(NsightTest, IsFoundInTheToolkitWhereItIsNotOnThePath)
{
    const QByteArray path = qgetenv("PATH"), home = qgetenv("CUDA_HOME");
    QDir(folder.path()).mkpath(QStringLiteral("cuda/nsight-compute-2025.3"));
    QDir(folder.path()).mkpath(QStringLiteral("cuda/nsight-compute-2025.1"));
    for (const char* version : {"2025.1", "2025.3"}) {
        program(QStringLiteral("cuda/nsight-compute-%1/ncu").arg(QLatin1String(version)), QStringLiteral("true"));
        program(QStringLiteral("cuda/nsight-compute-%1/ncu-ui").arg(QLatin1String(version)), QStringLiteral("true"));
    }
    qputenv("PATH", "/nowhere");
    qputenv("CUDA_HOME", folder.filePath(QStringLiteral("cuda")).toUtf8());
    const NsightPrograms found = findNsight();
    qputenv("PATH", path);
    home.isNull() ? qunsetenv("CUDA_HOME") : qputenv("CUDA_HOME", home);
    EXPECT_TRUE(found.profiler.endsWith(QStringLiteral("2025.3/ncu"))) << found.profiler.toStdString();
    EXPECT_TRUE(found.window.endsWith(QStringLiteral("2025.3/ncu-ui")));
}
