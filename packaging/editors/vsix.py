#!/usr/bin/env python3
"""Packs the extension for Visual Studio Code: packaging/editors/vscode as a .vsix file.

  python3 packaging/editors/vsix.py OUT_FILE

Uses no network. The same sources give the same bytes. To install the file:

  code --install-extension OUT_FILE
"""
import json
import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = Path(__file__).resolve().parent / "vscode"
LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]
# The first time that a zip archive can hold.
DATE = (1980, 1, 1, 0, 0, 0)
TYPES = {
    ".json": "application/json",
    ".js": "application/javascript",
    ".md": "text/markdown",
    ".txt": "text/plain",
    ".vsixmanifest": "text/xml",
}


def manifest(package):
    """Returns the manifest of the archive: what galleries and the editor read before package.json."""
    attributes = " ".join(
        f"{key}={quoteattr(package[of])}"
        for key, of in [("Id", "name"), ("Version", "version"), ("Publisher", "publisher")]
    )
    engine = quoteattr(package["engines"]["vscode"])
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" {attributes}/>
    <DisplayName>{escape(package["displayName"])}</DisplayName>
    <Description xml:space="preserve">{escape(package["description"])}</Description>
    <Categories>{escape(",".join(package["categories"]))}</Categories>
    <GalleryFlags>Public</GalleryFlags>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
      <Property Id="Microsoft.VisualStudio.Code.ExecutesCode" Value="true"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def content_types():
    rows = "".join(
        f'  <Default Extension="{ending}" ContentType="{kind}"/>\n'
        for ending, kind in sorted(TYPES.items())
    )
    schema = "http://schemas.openxmlformats.org/package/2006/content-types"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="{schema}">\n{rows}</Types>\n'


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 packaging/editors/vsix.py OUT_FILE")
    files = sorted(path for path in FOLDER.rglob("*") if path.is_file())
    unknown = [path.name for path in files if path.suffix not in TYPES]
    if unknown:
        sys.exit(f"no type is known for {', '.join(unknown)}: add it to TYPES")
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    licenses = "\n\n".join((ROOT / name).read_text(encoding="utf-8") for name in LICENSES)
    entries = {
        "extension.vsixmanifest": manifest(package),
        "[Content_Types].xml": content_types(),
        "extension/LICENSE.txt": licenses,
    }
    for path in files:
        name = f"extension/{path.relative_to(FOLDER).as_posix()}"
        entries[name] = path.read_text(encoding="utf-8")
    with zipfile.ZipFile(sys.argv[1], "w") as archive:
        for name, text in entries.items():
            # Not compressed: the files are small, and any reader understands the archive.
            entry = zipfile.ZipInfo(name, DATE)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, text.encode("utf-8"))
    print(f"{sys.argv[1]}: {len(entries)} files, {Path(sys.argv[1]).stat().st_size} bytes")


main()
