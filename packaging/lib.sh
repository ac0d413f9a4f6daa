# SPDX-License-Identifier: Apache-2.0
# Shared by packaging/run and packaging/test. Sourced with bash; `root` is the checkout.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }
die() { say "espalier: $*"; exit 1; }

# The CUDA toolkit is found, never installed: in $CUDA_HOME, else nvcc on the PATH, else /usr/local/cuda. Sets CUDA_HOME
# to where nvcc itself says that it is: a wrapper script of that name may stand before it.
find_toolkit() {
  local nvcc here release
  if [ -n "${CUDA_HOME:-}" ]; then
    nvcc=$CUDA_HOME/bin/nvcc
    [ -x "$nvcc" ] || die "CUDA_HOME is $CUDA_HOME, where there is no bin/nvcc; set it to the folder of a CUDA toolkit 13.x, or unset it."
  else
    nvcc=$(command -v nvcc || true)
    [ -x "$nvcc" ] || nvcc=/usr/local/cuda/bin/nvcc
    [ -x "$nvcc" ] || die "no CUDA toolkit was found; install CUDA toolkit 13.x from NVIDIA (nvcc is enough, no GPU needed) or set CUDA_HOME to its folder."
  fi
  release=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p')
  case "$release" in
    13.*) ;;
    *) die "$nvcc is CUDA ${release:-of an unknown version}; Espalier needs CUDA toolkit 13.x: install it from NVIDIA or set CUDA_HOME to its folder." ;;
  esac
  # It asks the host compiler, which a bare machine may not have yet: then the folder of its file is as good.
  here=$("$nvcc" --dryrun -x cu -c /dev/null -o /dev/null 2>&1 | sed -n 's/^#\$ _HERE_=//p') || here=
  [ -x "$here/nvcc" ] && nvcc=$here/nvcc
  CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
  export CUDA_HOME
}

# install_packages PART...: installs what is missing of the base list and the named parts.
install_packages() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    die "this script installs its packages with apt; on another system install what packaging/packages.txt names and build with CMake."
  local wanted="base $*" part=base missing=() line
  while IFS= read -r line; do
    case "$line" in
      '## '*) part=${line#\#\# } ;;
      '#'* | '') ;;
      *) case " $wanted " in *" $part "*)
           [ "$(dpkg-query -W -f='${db:Status-Status}' "$line" 2>/dev/null)" = installed ] || missing+=("$line") ;;
         esac ;;
    esac
  done <"$root/packaging/packages.txt"
  [ ${#missing[@]} -eq 0 ] && return 0
  say "Installing with apt: ${missing[*]}"
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  local log
  log=$(mktemp)
  { "${sudo[@]}" apt-get update -qq &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null ||
    { tail -n 5 "$log" >&2; die "apt could not install ${missing[*]}; the lines above are its last words."; }
  rm -f "$log"
}

# Reads a build's output and says how far it is, on one line that is rewritten on a terminal, else in ten lines at most.
show_progress() {
  local line done total said=-1
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    if [ -t 2 ]; then
      printf '\r\033[K  %s of %s steps' "$done" "$total" >&2
    elif [ $((done * 10 / total)) -ne "$said" ]; then
      said=$((done * 10 / total))
      say "  $done of $total steps"
    fi
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

# build PRESET TARGET...: configures and builds; the log is shown when it fails.
build() {
  local preset=$1 log
  shift
  log="$root/build/$preset.log"
  mkdir -p "$root/build"
  say "Building ($preset) …"
  (cd "$root" && cmake --preset "$preset" -DESPALIER_CUDA_HOME="$CUDA_HOME" && cmake --build --preset "$preset" ${*:+--target "$@"}) 2>&1 |
    tee "$log" | show_progress ||
    { grep -E -A3 'error|Error|FAILED' "$log" | head -n 40 >&2; die "the build failed; the whole log is $log"; }
}

# A public OpenAI-compatible server for tests/llm, under build/. Without npm or a network those tests are skipped.
fetch_mock_llm() {
  local folder=$root/build/mock-llm
  [ -e "$folder/node_modules/@dwmkerr/mock-llm/dist/main.js" ] && return 0
  command -v npm >/dev/null || { say "npm is not there: the tests against @dwmkerr/mock-llm are skipped."; return 0; }
  mkdir -p "$folder"
  timeout 90 npm install --prefix "$folder" --no-audit --no-fund --loglevel=error @dwmkerr/mock-llm@0.1.29 >"$folder.log" 2>&1 </dev/null ||
    { rm -rf "$folder"; say "npm could not fetch @dwmkerr/mock-llm (build/mock-llm.log): the tests against it are skipped."; }
}
