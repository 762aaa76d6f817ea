// Runs the spike under Node: boots the prelude in PUC Lua 5.1 compiled to WebAssembly, runs the
// suites of tests/lua, and prints sizes, times, and the reasons for which tests cannot run.
//
//   node spike.mjs LUA.wasm ROOT SCRATCH [--native FILE] [--engine FILE] [--list]
//
// --native names the same program compiled for this machine, --engine an engine: the workloads are
// then timed with both, too. --list prints each line of the tree's Lua that needs LuaJIT, and each
// test that fails.
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { WASI } from "node:wasi";
import { gzipSync } from "node:zlib";

const SUITE_SECONDS_MAX = 60;
const SPEED_SECONDS_MAX = 600;
const START_RUNS = 9;

const lines = (text) => text.split("\n").filter((line) => line !== "");
const read = (file) => fs.readFileSync(file, "utf8");
const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

// Runs the program once, in this process.
async function runOnce(wasm, root, scratch, rest) {
  const wasi = new WASI({
    version: "preview1",
    args: ["lua", "/tree/packaging/web/spike.lua", "/tree", ...rest],
    preopens: { "/tree": root, "/scratch": scratch },
  });
  const module = await WebAssembly.compile(fs.readFileSync(wasm));
  const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
  process.exitCode = wasi.start(instance);
}

// Files of a folder and its subfolders whose names end in `ending`, as paths from `root`.
function filesBelow(root, folder, ending) {
  return fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === ".engine" ? [] : filesBelow(root, file, ending);
    return file.endsWith(ending) ? [file] : [];
  }).sort();
}

// The names of all native functions, from the rows and tables of the Rust sources: "module name".
function nativeNames(root) {
  const pattern =
    /\bmodule\(\s*"(\w+)"|\b(?:func|hot|unpacked)\(\s*"(\w+)"|\(c"(\w+)",/g;
  return filesBelow(root, "src/script", ".rs").flatMap((file) => {
    let home = null;
    return [...read(path.join(root, file)).matchAll(pattern)].flatMap(([, module, row, native]) => {
      home = module ?? home;
      if (native) return [`core ${native}`];
      return row && home ? [`${home} ${row}`] : [];
    });
  });
}

// The names of the prelude's files in boot order, with the test library.
function preludeNames(root) {
  const source = read(path.join(root, "src/script/prelude.rs"));
  const lists = [...source.matchAll(/= files!\[([^\]]*)\]/g)];
  const names = lists.map(([, list]) => [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name));
  return [...names[0], ...names[1], "boot/sandbox"];
}

// What LuaJIT has and Lua 5.1 has not, as patterns of source lines.
const LUAJIT_ONLY = [
  ["64-bit literal", /\b(?:0x[\da-f]+|\d+)(?:U?LL|LLU)\b/i],
  ["goto", /\bgoto [A-Za-z_]\w*|::\w+::/],
  ["ffi", /\bffi\b/],
  ["bit", /\bbit\.\w+/],
  ["jit", /\bjit\.\w+/],
  ["string.buffer", /string\.buffer/],
  ["table.new, table.clear", /["'(]table\.(?:new|clear)\b/],
  ["\\x, \\u or \\z in a string", /"(?:[^"\\]|\\[^xuz])*\\[xuz][^"]*"/],
];

// Removes comments, so that words in them are not found.
const withoutComment = (line) => line.replace(/^\s*--.*|\s--\s.*$/, "");

function constructsOf(root, files) {
  return files.flatMap((file) =>
    read(path.join(root, file)).split("\n").flatMap((text, index) => {
      const code = withoutComment(text);
      return LUAJIT_ONLY.filter(([, pattern]) => pattern.test(code))
        .map(([name]) => ({ name, file, line: index + 1, text: text.trim() }));
    }));
}

// Reasons for which tests fail, the first that fits: pattern and group.
const REASONS = [
  [/\[native\]/, "call native code"],
  [/\(a nil value\)|did you mean|(?:'IdString..'|call global) \(a table/,
    "need native code in another way: functions that it declares, its suggestions, files of the " +
    "prelude that do not boot without it"],
  [/\[LuaJIT\]|malformed number|'%p'/, "need LuaJIT: 64-bit numbers, pointers"],
  [/yield across/, "yield across pcall, a metamethod or an iterator"],
  [/Lua function expected/, "create a coroutine of a C function"],
  [/userdata/, "compare values of ffi with others, or do arithmetic with pointers"],
  [/\(tail call\)/, "need the stack without levels of tail calls"],
  [/2147483647/, "format an integer of more than 32 bits"],
];

function reasonOf(message) {
  return REASONS.find(([pattern]) => pattern.test(message))?.[1] ?? "other";
}

function count(list, key) {
  const counts = new Map();
  for (const entry of list) counts.set(key(entry), (counts.get(key(entry)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

class Spike {
  constructor(options) {
    Object.assign(this, options);
  }

  // Runs the program in a process of its own and returns its lines.
  run(task, names = "/scratch/files.txt", seconds = SUITE_SECONDS_MAX) {
    const rest = ["/scratch/natives.txt", names, task];
    // With several threads, Node 20 sometimes crashes when the program has ended.
    const threads = task === "speed" ? [] : ["--single-threaded"];
    const result = spawnSync(process.execPath,
      ["--no-warnings", ...threads, process.argv[1], "--once", this.wasm, this.root, this.scratch,
        ...rest],
      { encoding: "utf8", timeout: seconds * 1000, maxBuffer: 1 << 26 });
    if (result.error) return [`crash\t${task}\t${result.error.message}`];
    const output = lines(result.stdout);
    if (result.status !== 0) {
      const reasons = lines(result.stderr).filter((line) => !/^(?:Node|\s|file:)/.test(line));
      output.push(`crash\t${task}\t${result.signal ?? reasons.at(-1) ?? "no message"}`);
    }
    return output;
  }

  sizes() {
    const bytes = fs.readFileSync(this.wasm);
    console.log(`size: ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} with gzip`);
    const files = [...preludeNames(this.root).map((name) => `lua/${name}.lua`)];
    const text = Buffer.concat(files.map((file) => fs.readFileSync(path.join(this.root, file))));
    console.log(`the prelude's text: ${files.length} files, ${text.length} bytes, ` +
      `${gzipSync(text, { level: 9 }).length} with gzip`);
  }

  async start() {
    const bytes = fs.readFileSync(this.wasm);
    const compiled = [];
    for (let i = 0; i < START_RUNS; i++) {
      const from = performance.now();
      await WebAssembly.compile(bytes);
      compiled.push(performance.now() - from);
    }
    const booted = Array.from({ length: START_RUNS }, () => this.run("boot"));
    const [, good, bad] = booted[0].at(-1).split("\t");
    const times = booted.map((output) => Number(output.at(-1).split("\t")[3]));
    console.log(`start: ${median(compiled).toFixed(1)} ms to compile the module, ` +
      `${median(times).toFixed(1)} ms to boot the prelude`);
    console.log(`prelude: ${good} files boot, ${bad} do not:`);
    for (const line of booted[0].slice(0, -1)) {
      console.log(`  ${line.split("\t").slice(1).join(": ")}`);
    }
  }

  suites() {
    const all = filesBelow(this.root, "tests/lua", "_test.lua");
    const failed = [], outside = [], whole = [], without = [];
    let passed = 0, pending = 0;
    for (const suite of all) {
      const rows = this.run(suite).map((line) => line.split("\t"));
      const good = rows.filter(([kind]) => kind === "passed").length;
      const bad = rows.filter(([kind]) => !["passed", "pending"].includes(kind))
        .map(([kind, name, reason = ""]) => ({ suite, kind, name, reason }));
      passed += good;
      pending += rows.filter(([kind]) => kind === "pending").length;
      failed.push(...bad.filter(({ kind }) => kind === "error" || kind === "failure"));
      outside.push(...bad.filter(({ kind }) => kind === "outside" || kind === "crash"));
      if (bad.length === 0) whole.push(suite);
      if (good === 0) without.push(suite);
    }
    console.log(`suites: ${all.length} files; ${passed + pending + failed.length} tests begin, ` +
      `${passed} pass, ${pending} are pending; ${whole.length} files pass whole, ` +
      `${without.length} have no test that passes. Of the tests that fail:`);
    for (const [reason, number] of count(failed, ({ reason }) => reasonOf(reason))) {
      console.log(`  ${String(number).padStart(5)} ${reason}`);
    }
    const base = (file) => path.basename(file, "_test.lua");
    console.log(`files that pass whole: ${whole.map(base).join(", ")}`);
    const ended = outside.filter(({ kind }) => kind === "crash").map(({ suite }) => base(suite));
    console.log(`files that end early: ${ended.join(", ")}`);
    if (!this.list) return;
    for (const { suite, kind, name, reason } of [...failed, ...outside]) {
      console.log(`  ${suite}: ${kind}: ${name}: ${reason} [${reasonOf(reason)}]`);
    }
  }

  // Lines of the tree that need LuaJIT, and scripts that 5.1 refuses.
  constructs() {
    const files = ["lua", "core", "tests/lua"].flatMap((folder) =>
      filesBelow(this.root, folder, ".lua"));
    fs.writeFileSync(path.join(this.scratch, "syntax.txt"), files.join("\n") + "\n");
    const refused = this.run("syntax", "/scratch/syntax.txt");
    const known = files.length - refused.length;
    console.log(`syntax: 5.1 reads ${known} of ${files.length} files; not:`);
    for (const line of refused) console.log(`  ${line.split("\t").slice(1).join(": ")}`);
    const found = constructsOf(this.root, files);
    for (const [name] of LUAJIT_ONLY) {
      const here = found.filter((one) => one.name === name);
      const inFolders = count(here, ({ file }) => file.startsWith("tests/") ? "tests/lua"
        : file.split("/")[0]).map(([folder, number]) => `${number} in ${folder}`);
      const inFiles = new Set(here.map(({ file }) => file)).size;
      console.log(`  ${name}: ${here.length} lines of ${inFiles} files (${inFolders.join(", ")})`);
      if (!this.list) continue;
      for (const { file, line, text } of here) console.log(`    ${file}:${line}: ${text}`);
    }
  }

  // The workloads' milliseconds by name, of a program's output.
  static timesOf(output) {
    const rows = output.flatMap((line) => line.match(/speed\t(\w+)\t([\d.]+)/) ?? [])
      .filter((_, index) => index % 3 !== 0);
    const times = new Map();
    for (let i = 0; i < rows.length; i += 2) times.set(rows[i], Number(rows[i + 1]));
    return times;
  }

  timesOfNative() {
    const output = execFileSync(this.native, [path.join(this.root, "packaging/web/spike.lua"),
      this.root, "", "", "speed"], { encoding: "utf8" });
    return Spike.timesOf(lines(output));
  }

  timesOfEngine(jit) {
    const game = path.join(this.scratch, jit ? "speed_jit" : "speed_interpreter");
    fs.mkdirSync(path.join(game, "work"), { recursive: true });
    const settings = `boot_script = "main"\nlua = { jit = ${jit} }\n`;
    fs.writeFileSync(path.join(game, "settings.sjson"), settings);
    const copy = (from, to) => fs.copyFileSync(path.join(this.root, from), path.join(game, to));
    for (const file of filesBelow(this.root, "benches/lua/work", ".lua")) {
      copy(file, `work/${path.basename(file)}`);
    }
    copy("benches/peers/script/crowd.lua", "crowd.lua");
    copy("packaging/web/speed.lua", "speed.lua");
    fs.writeFileSync(path.join(game, "main.lua"), "require('speed')\n");
    const options = ["run", game, "--headless", "--realtime", "--frames", "1"];
    const output = execFileSync(this.engine, options, { encoding: "utf8" });
    return Spike.timesOf(lines(output));
  }

  speed() {
    const output = this.run("speed", "/scratch/files.txt", SPEED_SECONDS_MAX);
    const columns = [["WebAssembly", Spike.timesOf(output)]];
    if (this.native) columns.push(["5.1 native", this.timesOfNative()]);
    if (this.engine) {
      columns.push(["LuaJIT, no JIT", this.timesOfEngine(false)]);
      columns.push(["LuaJIT", this.timesOfEngine(true)]);
    }
    console.log("speed, milliseconds of a frame:");
    console.log(`  ${"".padEnd(12)}${columns.map(([name]) => name.padStart(16)).join("")}`);
    for (const workload of columns[0][1].keys()) {
      const cells = columns.map(([, times]) => times.get(workload)?.toFixed(3) ?? "-")
        .map((cell) => cell.padStart(16));
      console.log(`  ${workload.padEnd(12)}${cells.join("")}`);
    }
    for (const [name, times] of columns.slice(1)) {
      const ratios = [...columns[0][1]].map(([workload, time]) =>
        Math.log(time / times.get(workload)));
      const mean = Math.exp(ratios.reduce((a, b) => a + b, 0) / ratios.length);
      console.log(`  WebAssembly takes ${mean.toFixed(1)} times as long as ${name} ` +
        "(geometric mean)");
    }
  }
}

const [first, ...rest] = process.argv.slice(2);
if (first === "--once") {
  const [wasm, root, scratch, ...more] = rest;
  await runOnce(wasm, root, scratch, more);
} else {
  const [root, scratch, ...flags] = rest;
  const option = (name) => flags[flags.indexOf(name) + 1];
  const spike = new Spike({
    wasm: first, root, scratch, list: flags.includes("--list"),
    native: flags.includes("--native") ? option("--native") : null,
    engine: flags.includes("--engine") ? option("--engine") : null,
  });
  fs.writeFileSync(path.join(scratch, "natives.txt"), nativeNames(root).join("\n") + "\n");
  fs.writeFileSync(path.join(scratch, "files.txt"), preludeNames(root).join("\n") + "\n");
  spike.sizes();
  await spike.start();
  spike.suites();
  spike.constructs();
  spike.speed();
}
