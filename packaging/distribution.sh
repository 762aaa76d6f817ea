#!/usr/bin/env bash
# Makes the engine's own download: an archive with the executable, the licences, the list of
# libraries (SBOM) and a note on how to install it, and a file with the checksums of all archives.
#
#   packaging/distribution.sh [--engine FILE] [TARGET]
#
# TARGET is a target of rustc, this machine's if left out. The engine is built for it with the
# profile dist, unless FILE is one. The results are in target/distribution. Two runs with equal
# executables write equal archives. It runs on Linux: it uses options of GNU tar.
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
cd "$(dirname "$0")/.."

engine=
if [[ ${1:-} == --engine ]]; then
  engine=$(realpath -- "${2:?name a file after --engine}")
  shift 2
fi
if (($# > 1)) || [[ ${1:-} == -* ]]; then
  echo "usage: $0 [--engine FILE] [TARGET]" >&2
  exit 2
fi
target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
version=$(cargo metadata --no-deps --offline --format-version 1 |
  python3 -c 'import json, sys
print(next(it["version"] for it in json.load(sys.stdin)["packages"] if it["name"] == "engine"))')

ending=
if [[ $target == *windows* ]]; then ending=.exe; fi
if [[ -z $engine ]]; then
  cargo build --profile dist --bin engine --target "$target"
  engine=target/$target/dist/engine$ending
fi
if [[ ! -f $engine ]]; then
  echo "there is no engine at $engine" >&2
  exit 1
fi

packaging/licenses.py --check # fails if a library was added without its licence
name=engine-$version-$target
out=target/distribution
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
folder=$scratch/$name
mkdir -p "$folder/licenses" "$out"
cp "$engine" "$folder/engine$ending"
chmod 755 "$folder/engine$ending"
cp LICENSE-MIT LICENSE-APACHE CHANGELOG.md "$folder"
cp packaging/licenses/libraries.txt "$folder/licenses"
packaging/sbom.py "$target" "$folder/sbom.cdx.json"
cat > "$folder/INSTALL.txt" <<END
Engine $version for $target

The program runs from any folder, and needs no other file of this archive. To call it as \`engine\`,
put it into a folder of your PATH:

  Linux, macOS   install -D -m 755 engine ~/.local/bin/engine
  Windows        copy engine.exe to a folder, and add the folder to Path in the account's variables

\`engine new mygame\` makes a first game, and \`engine docs\` shows the manual. Executables for other
systems, as engine-linux, engine-windows.exe and engine-macos in the same folder, let
\`engine package\` make packages for those systems.
END

# Equal times, owners and order make equal archives.
archive=$out/$name.tar.gz
tar --create --directory "$scratch" --sort=name --mtime='1980-01-01 00:00Z' --owner=0 --group=0 \
  --numeric-owner --mode='go-w' "$name" | gzip --no-name --best > "$archive.new"
mv "$archive.new" "$archive"
(cd "$out" && sha256sum -- engine-*.tar.gz > SHA256SUMS)
echo "$archive: $(wc -c < "$archive") bytes"
grep -- "$name.tar.gz" "$out/SHA256SUMS"
