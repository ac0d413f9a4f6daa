// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QWidget>
#include <memory>

class QLabel;
class QLineEdit;

namespace espalier {

class CodeView;
class ThemeManager;

/// The Source tab: a candidate's whole text, the compiler's messages below their lines, and a find field. Thread: GUI.
class SourcePanel : public QWidget
{
    Q_OBJECT
public:
    explicit SourcePanel(ThemeManager& themes, QWidget* parent = nullptr);
    void setDetail(const std::shared_ptr<const NodeDetail>& detail); ///< null: empty

public slots:
    void startFind();
    void copySource();

private:
    void annotate();
    void find(bool forward);
    void markAll();

    ThemeManager& m_themes;
    CodeView* m_code;
    QLineEdit* m_find;
    QLabel* m_found;
    std::shared_ptr<const NodeDetail> m_detail;
};

} // namespace espalier
