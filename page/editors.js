// Editors that can be opened by an address. The browser asks before it opens one.

const encoded = (path) => path.split("/").map(encodeURIComponent).join("/").replace("%3A", ":");
const standard = (scheme) => (path, line) =>
  `${scheme}://file/${encoded(path).replace(/^\//, "")}:${line}`;

// Each editor: its name in the settings, its title, and the address of a line of a file. The path
// is absolute, with slashes.
export const EDITORS = [
  { name: "vscode", title: "Visual Studio Code", address: standard("vscode") },
  { name: "vscodium", title: "VSCodium", address: standard("vscodium") },
  { name: "cursor", title: "Cursor", address: standard("cursor") },
  { name: "zed", title: "Zed", address: standard("zed") },
  {
    name: "idea",
    title: "JetBrains IDEs",
    address: (path, line) => `idea://open?file=${encodeURIComponent(path)}&line=${line}`,
  },
  {
    name: "sublime",
    title: "Sublime Text",
    address: (path, line) => `subl://open?url=${encodeURIComponent(`file://${path}`)}&line=${line}`,
  },
  {
    name: "textmate",
    title: "TextMate",
    address: (path, line) => `txmt://open?url=${encodeURIComponent(`file://${path}`)}&line=${line}`,
  },
  { name: "none", title: "none: no links", address: null },
];
