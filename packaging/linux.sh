#!/usr/bin/env bash
# Makes one executable file of a game for Linux: the engine, with the game's bundle at its end.
#
#   packaging/linux.sh GAME_FOLDER OUT_FILE [ENGINE]
#
# ENGINE is the executable to use, target/dist/engine of this project if left out.
set -euo pipefail

if (($# < 2 || $# > 3)); then
  echo "usage: $0 GAME_FOLDER OUT_FILE [ENGINE]" >&2
  exit 2
fi
game=$1
out=$2
engine=${3:-$(dirname "$0")/../target/dist/engine}
if [[ ! -x $engine ]]; then
  echo "there is no engine at $engine: run \`cargo build --profile dist\`, or name one:" >&2
  echo "  $0 $game $out ENGINE" >&2
  exit 1
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$engine" compile "$game" --platform linux --bundle --out "$scratch/game.bundle"
cp "$engine" "$scratch/game"
# The bundle begins at a page of memory, so that its data lies as it does in a file of its own.
truncate --size=%4096 "$scratch/game"
cat "$scratch/game.bundle" >> "$scratch/game"
chmod 755 "$scratch/game"
mkdir -p "$(dirname "$out")"
mv "$scratch/game" "$out"
echo "$out: $(wc -c < "$out") bytes"
