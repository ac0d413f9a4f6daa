# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of this folder: a user's commands, what they must answer. Sourced with bash.
# ESPALIERCTL names the program, ESPALIER_TASKS the built-in tasks.
set -uo pipefail
ctl=${ESPALIERCTL:?names espalierctl}
tasks=${ESPALIER_TASKS:?names the built-in tasks}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache
cd "$work"
failed=0

complain() { printf 'FAILED: %s\n' "$*" >&2; failed=$((failed + 1)); }

# answers CODE REGEX COMMAND...: the exit code, and a line of what it prints (either stream) that matches.
answers() {
  local code=$1 words=$2 got said
  shift 2
  said=$("$@" 2>&1 </dev/null)
  got=$?
  if [ "$got" -ne "$code" ] || ! grep -Eq -- "$words" <<<"$said"; then
    complain "$* exited $got (wanted $code) and said (wanted /$words/):"
    tail -n 6 <<<"$said" | cut -c1-400 >&2
  fi
}

# says_not REGEX COMMAND...: no line matches.
says_not() {
  local words=$1 said
  shift
  said=$("$@" 2>&1 </dev/null)
  ! grep -Eq -- "$words" <<<"$said" || { complain "$* said:"; grep -E -- "$words" <<<"$said" | head -n 3 >&2; }
}

# kernel NAME SED...: the built-in softmax, edited. Its first kernel has the line "const int t = threadIdx.x;".
kernel() {
  local name=$1
  shift
  sed "$@" "$tasks/softmax_f32/root.cu" >"$name"
  ! cmp -s "$name" "$tasks/softmax_f32/root.cu" || complain "the edit of $name changed nothing"
}

# after_t TEXT: a sed script that puts TEXT behind the line that names the thread.
after_t() { printf 's|    const int t = threadIdx.x;|&\\n    %s|' "$1"; }

json() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); print($2)" "$1"; }

done_with() { [ "$failed" -eq 0 ] && echo "as it should be" || { echo "$failed failed" >&2; exit 1; }; }
