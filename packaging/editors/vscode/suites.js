// The test explorer: lists the tests of a game, runs them with `engine test --output json`, and
// debugs one of them.

const { spawn } = require("child_process");
const path = require("path");
const vscode = require("vscode");
const { NOT_FOUND, enginePath, gameFolders, isTrusted } = require("./program.js");

const LISTED = /^(.+?):(\d+): (.+)$/;
// Maximum length of a line of the engine's output in characters.
const LINE_MAX = 1 << 20;

// Runs the engine, and calls `each` with every line of its standard output, and `print` with
// everything that it writes to standard error.
function runEngine(folder, options, each, print, token) {
  const program = enginePath();
  if (!program) {
    print(`${NOT_FOUND}\n`);
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    const child = spawn(program, options, { cwd: folder, windowsHide: true });
    const stopping = token && token.onCancellationRequested(() => child.kill());
    let rest = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop().slice(0, LINE_MAX);
      lines.forEach((line) => each(line.trimEnd()));
    });
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", print);
    child.on("error", (reason) => {
      print(`${program} cannot be started: ${reason.message}\n`);
      resolve();
    });
    child.on("close", () => {
      if (stopping) stopping.dispose();
      resolve();
    });
  });
}

function itemOf(controller, folder, file, line, name) {
  const uri = vscode.Uri.file(path.join(folder, file));
  const fileId = `${folder}\n${file}`;
  let suite = controller.items.get(fileId);
  if (!suite) {
    suite = controller.createTestItem(fileId, file, uri);
    controller.items.add(suite);
  }
  const id = `${fileId}\n${name}`;
  let item = suite.children.get(id);
  if (!item) {
    item = controller.createTestItem(id, name, uri);
    suite.children.add(item);
  }
  item.range = new vscode.Range(line - 1, 0, line - 1, 0);
  return item;
}

async function refresh(controller, token) {
  controller.items.replace([]);
  if (!isTrusted()) return;
  for (const { uri } of gameFolders()) {
    const list = (line) => {
      const [, file, number, name] = LISTED.exec(line) || [];
      if (name) itemOf(controller, uri.fsPath, file, Number(number), name);
    };
    await runEngine(uri.fsPath, ["test", "--list", "--", "."], list, () => {}, token);
  }
}

// Returns the tests of a request by folder and file: the names, or null for all tests of a file.
function chosenTests(controller, request) {
  const chosen = new Map();
  const add = (item) => {
    const [folder, file, name] = item.id.split("\n");
    const files = chosen.get(folder) || chosen.set(folder, new Map()).get(folder);
    if (!name) files.set(file, null);
    else if (files.get(file) !== null) files.set(file, [...(files.get(file) || []), name]);
  };
  if (request.include) request.include.forEach(add);
  else controller.items.forEach(add);
  return chosen;
}

const excluded = (request, item) =>
  (request.exclude || []).some((it) => it === item || it === item.parent);

function report(run, item, event, folder) {
  const duration = event.seconds * 1000;
  if (event.status === "failed") {
    const trace = [event.message, ...event.locals, event.trace, event.hint].filter(Boolean);
    const message = new vscode.TestMessage(trace.join("\n"));
    const [, file, line] = /^(.+):(\d+)$/.exec(event.at) || [];
    if (file) {
      const uri = vscode.Uri.file(path.join(folder, file));
      message.location = new vscode.Location(uri, new vscode.Position(Number(line) - 1, 0));
    }
    run.failed(item, message, duration);
  } else if (event.status === "skipped") {
    run.skipped(item);
  } else {
    run.passed(item, duration);
  }
}

async function runTests(controller, request, token) {
  if (!isTrusted()) return;
  const run = controller.createTestRun(request);
  const print = (text) => run.appendOutput(text.replace(/\r?\n/g, "\r\n"));
  for (const [folder, files] of chosenTests(controller, request)) {
    for (const [file, names] of files) {
      if (token.isCancellationRequested) break;
      // A file or a name that begins with a hyphen is no option.
      const only = (names || []).map((name) => `--name=${name}`);
      const options = ["test", "--output=json", ...only, "--", ".", file];
      const each = (line) => {
        let event;
        try {
          event = JSON.parse(line);
        } catch {
          return print(`${line}\n`);
        }
        if (event.event !== "test") return undefined;
        const item = itemOf(controller, folder, event.file, event.line, event.name);
        if (!excluded(request, item)) report(run, item, event, folder);
        return undefined;
      };
      await runEngine(folder, options, each, print, token);
    }
  }
  run.end();
}

async function debugTests(controller, request) {
  if (!isTrusted()) return;
  for (const [folder, files] of chosenTests(controller, request)) {
    const of = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(folder));
    for (const [suite, names] of files) {
      for (const test of names || [undefined]) {
        const configuration = { type: "engine", request: "launch", name: test || suite, folder };
        await vscode.debug.startDebugging(of, { ...configuration, suite, test });
      }
    }
  }
}

exports.register = () => {
  const controller = vscode.tests.createTestController("engine", "Engine");
  const kinds = vscode.TestRunProfileKind;
  const run = (request, token) => runTests(controller, request, token);
  const debug = (request) => debugTests(controller, request);
  controller.createRunProfile("Run", kinds.Run, run, true);
  controller.createRunProfile("Debug", kinds.Debug, debug, true);
  controller.resolveHandler = (item) => (item ? undefined : refresh(controller));
  controller.refreshHandler = (token) => refresh(controller, token);
  const listing = vscode.workspace.onDidSaveTextDocument(({ fileName }) => {
    if (/_(test|spec)\.lua$/.test(fileName)) refresh(controller);
  });
  const trusting = vscode.workspace.onDidGrantWorkspaceTrust(() => refresh(controller));
  return [controller, listing, trusting];
};
