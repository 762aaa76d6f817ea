#!/usr/bin/env bash
# Makes the engine's own download: an archive with the executable, the licences, the list of
# libraries (SBOM) and a note on how to install it, for Linux also a .deb with the manual page and
# completions, and a file with the checksums of all of them.
#
#   packaging/distribution.sh [--engine FILE] [--glibc VERSION] [TARGET]
#
# TARGET is a target of rustc, this machine's if left out, or universal-apple-darwin, which has the
# programs for both processors of macOS in one file. The engine is built for it with the profile
# dist, unless FILE is one. On Linux, zig compiles the C code for macOS (packaging/macos). With
# --glibc, the engine is linked for this version of the C library,
# such as 2.28, so that it starts on older systems (packaging/old_glibc_linker.sh); an executable
# that needs a newer one is refused. The results are
# in target/distribution. Two runs with equal executables write equal files. It runs on Linux: it
# uses options of GNU tar.
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1

engine=
glibc=
while [[ ${1:-} == -* ]]; do
  case $1 in
    --engine) engine=$(realpath -- "${2:?name a file after --engine}") ;;
    --glibc) glibc=${2:?name a version after --glibc} ;;
    *)
      echo "usage: $0 [--engine FILE] [--glibc VERSION] [TARGET]" >&2
      exit 2
      ;;
  esac
  shift 2
done
if (($# > 1)); then
  echo "name one target" >&2
  exit 2
fi
# After the options: they name files in the folder of the caller.
cd "$(dirname "$0")/.."
target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
version=$(cargo metadata --no-deps --offline --format-version 1 |
  python3 -c 'import json, sys
print(next(it["version"] for it in json.load(sys.stdin)["packages"] if it["name"] == "engine"))')

ending=
if [[ $target == *windows* ]]; then ending=.exe; fi
# Builds the engine for a target.
build() {
  local variables=()
  if [[ $1 == *-apple-darwin && $(uname) != Darwin ]]; then
    local name=${1//-/_}
    variables=(
      "CC_$name=$PWD/packaging/macos/compiler.sh"
      "AR_$name=$PWD/packaging/macos/archiver.sh"
      "CARGO_TARGET_${name^^}_LINKER=$PWD/packaging/macos/linker.sh"
      "CARGO_TARGET_${name^^}_RUSTFLAGS=-C linker-flavor=ld64.lld"
      # Otherwise, Rust and the crate cc ask for Apple's SDK.
      "SDKROOT=$PWD/packaging/macos"
      # Otherwise, LuaJIT is built for this system, and with its tools.
      "TARGET_SYS=Darwin"
      "TARGET_AR=$PWD/packaging/macos/archiver.sh rcus"
      "TARGET_STRIP=true"
      "MACOSX_DEPLOYMENT_TARGET=${MACOSX_DEPLOYMENT_TARGET:-11.0}"
    )
  fi
  env "${variables[@]}" cargo build --profile dist --bin engine --target "$1"
}

if [[ -z $engine ]]; then
  if [[ -n $glibc ]]; then
    export OLD_GLIBC=$glibc
    variable=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<< "$target")_LINKER
    export "$variable=$PWD/packaging/old_glibc_linker.sh"
  fi
  case $target in
    universal-apple-darwin)
      programs=()
      for part in aarch64-apple-darwin x86_64-apple-darwin; do
        build "$part"
        programs+=("target/$part/dist/engine")
      done
      engine=target/$target/dist/engine
      mkdir -p "$(dirname "$engine")"
      packaging/macos/universal.py "${programs[@]}" --out "$engine"
      ;;
    *)
      build "$target"
      engine=target/$target/dist/engine$ending
      ;;
  esac
fi
if [[ ! -f $engine ]]; then
  echo "there is no engine at $engine" >&2
  exit 1
fi

# Prints the newest version of glibc that the executable needs.
needed_glibc() {
  objdump -T "$engine" | grep -o 'GLIBC_2\.[0-9]*' | sort -u -t. -k2 -n | tail -n 1 | cut -d_ -f2
}

if [[ -n $glibc ]]; then
  needed=$(needed_glibc)
  newest=$(printf '%s\n' "$needed" "$glibc" | sort -V | tail -n 1)
  if [[ $newest != "$glibc" ]]; then
    echo "$engine needs glibc $needed, and $glibc was asked for" >&2
    exit 1
  fi
  echo "$engine needs glibc $needed"
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
# The libraries are the same for both processors of macOS.
packaging/sbom.py "${target/universal/aarch64}" "$folder/sbom.cdx.json"
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
echo "$archive: $(wc -c < "$archive") bytes"

# Writes the package for Debian and its descendants. The executable runs on this machine, because
# it prints its own manual page.
debian_package() {
  local files=$scratch/deb package
  package=$out/engine_${version}_$1.deb
  install -D -m 755 "$engine" "$files/usr/bin/engine"
  mkdir -p "$files/usr/share/man/man1" "$files/DEBIAN"
  # The manual page has the date of the commit, so that a second build of it writes the same page.
  local epoch maintainer="${DEBFULLNAME:-The engine} <${DEBEMAIL:-engine@localhost}>"
  epoch=$(git log -1 --format=%ct 2> /dev/null || stat --format=%Y "$engine")
  SOURCE_DATE_EPOCH=$epoch "$engine" docs --man | gzip --no-name --best > "$files/usr/share/man/man1/engine.1.gz"
  local shell place
  for shell in bash zsh fish; do
    case $shell in
      bash) place=bash-completion/completions/engine ;;
      zsh) place=zsh/vendor-completions/_engine ;;
      fish) place=fish/vendor_completions.d/engine.fish ;;
    esac
    mkdir -p "$(dirname "$files/usr/share/$place")"
    "$engine" completions "$shell" > "$files/usr/share/$place"
  done
  local texts=$files/usr/share/doc/engine
  mkdir -p "$texts"
  {
    cat LICENSE-MIT
    echo
    echo "The licences of the libraries in the program are in libraries.txt in this folder."
  } > "$texts/copyright"
  cp packaging/licenses/libraries.txt "$texts/libraries.txt"
  gzip --no-name --best < CHANGELOG.md > "$texts/CHANGELOG.md.gz"
  # Tools read this file, in a form of its own. The date is that of the commit.
  gzip --no-name --best > "$texts/changelog.gz" << END
engine ($version) unstable; urgency=medium

  * CHANGELOG.md.gz in this folder has all changes.

 -- $maintainer  $(LC_ALL=C date --utc --date="@$epoch" '+%a, %d %b %Y %H:%M:%S +0000')
END
  # The licences of libraries name one whose name has that of zlib's functions in it.
  mkdir -p "$files/usr/share/lintian/overrides"
  echo 'engine: embedded-library zlib [usr/bin/engine]' > "$files/usr/share/lintian/overrides/engine"
  cat > "$files/DEBIAN/control" << END
Package: engine
Version: $version
Section: devel
Priority: optional
Architecture: $1
Installed-Size: $(du -k -s --apparent-size "$files/usr" | cut -f1)
Depends: libc6 (>= $(needed_glibc)), libgcc-s1
Recommends: libasound2t64 | libasound2, libvulkan1, mesa-vulkan-drivers, libgl1, libxkbcommon0
Maintainer: $maintainer
Description: runs games that are written in Lua
 A game is a folder with a main.lua.
 The engine plays, checks, tests and packages it.
END
  chmod -R u=rwX,go=rX "$files"
  # dpkg-deb sets the times of all files to this one at most.
  find "$files" -exec touch --no-dereference --date='1980-01-01 00:00Z' {} +
  SOURCE_DATE_EPOCH=315532800 dpkg-deb --root-owner-group -Zxz --build "$files" "$package" > /dev/null
  echo "$package: $(wc -c < "$package") bytes, for glibc $(needed_glibc) or newer"
}

host=$(rustc -vV | sed -n 's/^host: //p')
if [[ $target == "$host" && $target == *-linux-gnu ]]; then
  if command -v dpkg-deb > /dev/null; then
    debian_package "$(dpkg --print-architecture)"
  else
    echo "no .deb: dpkg-deb is missing" >&2
  fi
fi
(cd "$out" && sha256sum -- engine[-_]*.{tar.gz,deb} > SHA256SUMS 2> /dev/null) || true
grep -F -- "$version" "$out/SHA256SUMS"
