#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Evaluations in a row and a few killed at random leave no process. In a process space of its own, so that what is left
# can only be ours.
. "$(dirname "$0")/lib.sh"

# What runs in this process space and is of ours or was started by it, a line each.
ours() {
  local pid
  for pid in /proc/[0-9]*; do
    { tr "\0" " " <"$pid/cmdline"; } 2>/dev/null | grep -E "bwrap|espalier-worker|espalierctl|nvcc|cicc|ptxas" | sed "s|^|${pid#/proc/} |"
  done
}

if [ "${1:-}" = inside ]; then
  file=$tasks/softmax_f32/root.cu
  for _ in 1 2 3 4; do "$ctl" eval softmax_f32 "$file" --device sim >/dev/null 2>&1 </dev/null; done
  for i in 1 2 3 4 5 6 7 8; do
    sed "s/kThreads = 256/kThreads = $((64 * i))/" "$file" >k$i.cu
    "$ctl" eval softmax_f32 k$i.cu --device sim >/dev/null 2>&1 </dev/null &
    sleep "0.$((RANDOM % 9))$((RANDOM % 9))"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
  done
  for _ in $(seq 40); do # what was killed may take a moment to go
    left=$(ours)
    [ -z "$left" ] && break
    sleep 0.25
  done
  [ -z "$left" ] || { complain "processes are left:"; cut -c1-120 <<<"$left" >&2; }
  (exec -a bwrap sleep 20) & # the look sees what is there
  sleep 0.2
  [ -n "$(ours)" ] || complain "a process named bwrap was not seen"
  done_with
  exit
fi
unshare -r -p -f --mount-proc true 2>/dev/null || { echo "no process space of its own can be made here: not tried"; exit 77; }
unshare -r -p -f --mount-proc bash "$here/06-nothing-left-behind.sh" inside
