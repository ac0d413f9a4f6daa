// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QWidget>
#include <memory>

class QLabel;
class QTabWidget;
class QTextBrowser;
class QTreeView;

namespace espalier {

struct NodeSummary;
class DiffPanel;
class ProfilePanel;
class PromptPanel;
class SignLabel;
class SourcePanel;
class StagesModel;
class Workbench;

/// Everything about the selected node: one sentence first, what keeps it from being faster, then tabs
/// Idea, Diff, Source, Profile, Stages, Prompt. While a newer version
/// of a detail is on its way the old one stays. Thread: GUI.
class Inspector : public QWidget
{
    Q_OBJECT
public:
    enum Tab { Idea, Diff, Source, Profile, Stages, Prompt };
    explicit Inspector(Workbench& bench, QWidget* parent = nullptr);
    void showTab(Tab tab);
    DiffPanel* diff() { return m_diff; }
    SourcePanel* source() { return m_source; }
    ProfilePanel* profile() { return m_profile; }
    PromptPanel* prompt() { return m_prompt; }
    QString sentence() const;
    QString why() const;       ///< why the search chose it, above the idea's words
    QString diagnosis() const; ///< as it stands on the card, with its tags

protected:
    void changeEvent(QEvent* event) override;

private:
    void updateHead();
    QString whenItsTurnComes(const NodeSummary& node) const;
    void updateDetail();
    void showDetail(const std::shared_ptr<const NodeDetail>& detail);
    void showIdea(const NodeDetail* detail);
    void showDiagnosis();
    void follow(const QString& link);

    Workbench& m_bench;
    SignLabel* m_sign;
    QLabel* m_title;
    QLabel* m_sentence;
    QLabel* m_facts;
    QLabel* m_diagnosis;
    QTabWidget* m_tabs;
    QLabel* m_why;
    QTextBrowser* m_idea;
    DiffPanel* m_diff;
    SourcePanel* m_source;
    ProfilePanel* m_profile;
    QTreeView* m_stages;
    StagesModel* m_stagesModel;
    PromptPanel* m_prompt;
    std::shared_ptr<const NodeDetail> m_shown;
};

} // namespace espalier
