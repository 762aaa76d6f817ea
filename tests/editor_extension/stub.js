// Runs the extension for Visual Studio Code without the editor: a module in place of the editor's
// notes all that the extension registers, and calls it as the editor would.
//
//   node stub.js EXTENSION_FOLDER ENGINE GAME_FOLDER [untrusted]
//
// Prints one JSON object for each step, for tests/editor_extension.rs.

const Module = require("module");
const path = require("path");

const [, , extension, engine, game, trust] = process.argv;
const say = (step, fields) => console.log(JSON.stringify({ step, ...fields }));
const nothing = () => undefined;
const disposable = { dispose: nothing };

class Items extends Map {
  add(item) {
    item.parent = this.owner;
    this.set(item.id, item);
  }
  replace(items) {
    this.clear();
    items.forEach((item) => this.add(item));
  }
  forEach(each) {
    [...this.values()].forEach((item) => each(item));
  }
}

const file = (fsPath) => ({ fsPath, scheme: "file" });
const folder = { uri: file(game), name: "game" };
const registered = { commands: {}, profiles: {} };
let [opened, results, session] = [[], [], undefined];
let onTrust = nothing;

const controller = {
  items: new Items(),
  createTestItem(id, label, uri) {
    const item = { id, label, uri, children: new Items() };
    item.children.owner = item;
    return item;
  },
  createRunProfile(name, kind, run) {
    registered.profiles[name] = run;
  },
  createTestRun: () => ({
    passed: (item) => results.push(["passed", item.label]),
    skipped: (item) => results.push(["skipped", item.label]),
    failed(item, message) {
      const { uri, range } = message.location;
      const at = `${path.relative(game, uri.fsPath)}:${range.line + 1}`;
      results.push(["failed", item.label, at, message.text.split("\n")[0]]);
    },
    appendOutput: nothing,
    end: nothing,
  }),
};

const vscode = {
  DebugAdapterExecutable: class {
    constructor(command, parameters) {
      Object.assign(this, { command, parameters });
    }
  },
  ProcessExecution: class {
    constructor(command, parameters, options) {
      Object.assign(this, { command, parameters, options });
    }
  },
  Task: class {
    constructor(definition, scope, name, source, execution, matchers) {
      Object.assign(this, { definition, scope, name, source, execution, matchers });
    }
  },
  TestMessage: class {
    constructor(text) {
      this.text = text;
    }
  },
  Position: class {
    constructor(line) {
      this.line = line;
    }
  },
  Range: class {
    constructor(line) {
      this.line = line;
    }
  },
  Location: class {
    constructor(uri, range) {
      Object.assign(this, { uri, range });
    }
  },
  TaskGroup: { Test: "test", Build: "build" },
  TestRunProfileKind: { Run: 1, Debug: 2 },
  Uri: { file, parse: (text) => text },
  workspace: {
    isTrusted: trust !== "untrusted",
    onDidGrantWorkspaceTrust(call) {
      onTrust = call;
      return disposable;
    },
    workspaceFolders: [folder],
    getConfiguration: () => ({ get: () => engine }),
    getWorkspaceFolder: () => folder,
    onDidSaveTextDocument: () => disposable,
    openTextDocument: async (document) => document,
  },
  window: {
    showErrorMessage: (text) => opened.push(text),
    showTextDocument: async ({ content }) => opened.push(content),
    showQuickPick: async (items) => items.slice(0, 1),
  },
  env: { openExternal: async (address) => opened.push(address) },
  debug: {
    get activeDebugSession() {
      return session;
    },
    startDebugging: async (_, configuration) => opened.push(configuration),
    registerDebugAdapterDescriptorFactory(type, factory) {
      registered.adapter = factory;
      return disposable;
    },
    registerDebugConfigurationProvider(type, provider) {
      registered.configurations = provider;
      return disposable;
    },
  },
  tasks: {
    registerTaskProvider(type, provider) {
      registered.tasks = provider;
      return disposable;
    },
    executeTask: async (task) => opened.push(task.name),
  },
  commands: {
    registerCommand(name, run) {
      registered.commands[name] = run;
      return disposable;
    },
  },
  tests: { createTestController: () => controller },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

// Every program that the extension starts by itself.
const spawned = [];
const processes = require("child_process");
const { spawn } = processes;
processes.spawn = (program, ...rest) => {
  spawned.push(program);
  return spawn(program, ...rest);
};

async function command(name) {
  opened = [];
  await registered.commands[name]();
  return opened;
}

// Calls everything that starts programs, in a workspace that is not trusted, and then trusts it.
async function distrusted() {
  const token = { onCancellationRequested: () => disposable, isCancellationRequested: false };
  const suite = controller.createTestItem(`${game}\ntests/a_test.lua`, "a_test.lua");
  await controller.resolveHandler();
  await controller.refreshHandler(token);
  await registered.profiles.Run({ include: [suite] }, token);
  await registered.profiles.Debug({ include: [suite] });
  const adapter = registered.adapter.createDebugAdapterDescriptor();
  const offered = registered.tasks.provideTasks();
  const definition = { type: "engine", command: "run" };
  const resolved = registered.tasks.resolveTask({ definition, scope: folder });
  for (const name of ["engine.run", "engine.package", "engine.new"]) {
    await registered.commands[name]();
  }
  const isRefused = !adapter && !resolved && offered.length === 0;
  say("untrusted", { spawned, isRefused, opened: [...new Set(opened)] });
  vscode.workspace.isTrusted = true;
  await onTrust();
  say("trusted", { spawned: spawned.length, suites: controller.items.size });
}

// Looks a bare name up, with a program of that name in the current folder.
function lookUp() {
  const { enginePath } = require(path.join(extension, "program.js"));
  const { getConfiguration } = vscode.workspace;
  const [paths, name] = [process.env.PATH, path.basename(engine)];
  const find = (text, folders) => {
    vscode.workspace.getConfiguration = () => ({ get: () => text });
    process.env.PATH = folders.join(path.delimiter);
    return enginePath() || "none";
  };
  process.chdir(path.dirname(engine));
  const found = [find(name, ["", "."]), find(`./${name}`, ["."])];
  found.push(find(name, [".", path.dirname(engine)]));
  vscode.workspace.getConfiguration = getConfiguration;
  process.env.PATH = paths;
  say("found", { found });
}

async function main() {
  const context = { subscriptions: [] };
  require(path.join(extension, "extension.js")).activate(context);
  if (trust === "untrusted") {
    await distrusted();
    return;
  }
  lookUp();
  say("commands", { names: Object.keys(registered.commands).sort() });
  say("adapter", registered.adapter.createDebugAdapterDescriptor());
  const { resolveDebugConfiguration } = registered.configurations;
  say("play", resolveDebugConfiguration(folder, {}));
  say("named", resolveDebugConfiguration(folder, { type: "engine", request: "attach", name: "A" }));
  const tasks = registered.tasks.provideTasks();
  say("tasks", { tasks: tasks.map((it) => [it.name, it.execution.parameters, it.matchers]) });
  await controller.resolveHandler();
  const suites = [...controller.items.values()];
  const labels = (suite) => [suite.label, [...suite.children.values()].map((it) => it.label)];
  say("tests", { suites: suites.map(labels) });
  const token = { onCancellationRequested: () => disposable, isCancellationRequested: false };
  await registered.profiles.Run({}, token);
  say("results", { results });
  results = [];
  const [first] = suites[0].children.values();
  await registered.profiles.Run({ include: [first] }, token);
  say("one", { results });
  opened = [];
  await registered.profiles.Debug({ include: [first] });
  say("debugged", { opened });
  say("run", { opened: await command("engine.run") });
  say("page", { opened: await command("engine.openPage") });
  say("flame", { opened: await command("engine.openFlameGraph") });
  say("none", { opened: await command("engine.startSampling") });
  const asked = [];
  const node = { graph: "units/door", node: 2, title: "Print", breaks: false };
  const answers = { engineSampling: { text: "the report" }, engineFlowNodes: { nodes: [node] } };
  session = {
    type: "engine",
    async customRequest(name, fields) {
      asked.push([name, fields]);
      return answers[name];
    },
  };
  await command("engine.startSampling");
  say("sampled", { opened: await command("engine.stopSampling"), asked: [...asked] });
  asked.length = 0;
  await command("engine.breakAtNode");
  say("nodes", { asked });
}

main().catch((reason) => {
  console.error(reason);
  process.exit(1);
});
