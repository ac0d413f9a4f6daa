#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Answers in the forms that models give. An empty, refusing or endless one ends its idea, never the run.
. "$(dirname "$0")/lib.sh"

cat >agent.py <<'P'
import json, os, re, sys
sys.stdin.read()
purpose, subject = os.environ["ESPALIER_PURPOSE"], os.environ.get("ESPALIER_SUBJECT", "")
forms = os.environ["FORMS"].split(",")
if purpose.startswith("idea"):
    print(json.dumps({"ideas": [{"title": f"written as {f}", "text": f"answered as {f}: {i * 7919} {f * 3}"} for i, f in enumerate(forms)]}))
    sys.exit()
named = re.search(r"written as (\w+)", subject)
form = named.group(1) if named else forms[0]
n = forms.index(form)
code = open(os.environ["GOOD"]).read().replace("softmaxRows(const", f"__launch_bounds__(256, {n % 7 + 1}) softmaxRows(const")
at = code.index('extern "C"')
fence = "```"
print({
    "plain": f"{fence}cuda\n{code}{fence}",
    "two": f"The kernel:\n{fence}cuda\n{code[:at]}{fence}\nand its launcher:\n{fence}cuda\n{code[at:]}{fence}",
    "json": json.dumps({"thought": "one block a row", "code": code}),
    "jsonfence": f"{fence}json\n{json.dumps({'code': code})}\n{fence}",
    "tag": f"<code>\n{code}</code>",
    "tilde": f"~~~cuda\n{code}~~~",
    "crlf": f"{fence}cuda\n{code}{fence}".replace("\n", "\r\n"),
    "empty": "",
    "refuse": "I cannot help with that.",
    "huge": "x" * 80_000_000,
}[form])
P
export GOOD=$tasks/softmax_f32/root.cu FORMS=plain,two,json,jsonfence,tag,tilde,crlf
answers 0 '7 passed' "$ctl" run softmax_f32 --session a.espalier --device sim --proposer llm --command "python3 -u agent.py" --ideas 7 --evals 7
export FORMS=empty,refuse,huge,plain,two
answers 0 'evaluations' "$ctl" run softmax_f32 --session b.espalier --device sim --proposer llm --command "python3 -u agent.py" --ideas 5 --evals 5
"$ctl" show b.espalier --json >b.json
[ "$(json b.json 'sum(n.get("outcome")=="passed" for n in d["nodes"] if n["kind"]=="candidate")')" -ge 2 ] || complain "the good answers beside bad ones were kept"
done_with
