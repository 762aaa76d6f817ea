// The connection to the game: requests with their answers, and messages of streams. After a game
// has ended, the page connects to its next run, which has the same address. Independent of the DOM.

import { knowsToken } from "./proof.js";

const token = new URLSearchParams(location.search).get("token") ?? "";
const RETRY_MILLISECONDS = 1000;

export class Connection {
  constructor() {
    this.waiting = new Map();
    this.listeners = new Map();
    this.last = 0;
    this.socket = null;
    this.open();
  }

  async open() {
    // While no game runs, another program may listen there. It must not get the token.
    if (!(await knowsToken(token))) {
      setTimeout(() => this.open(), RETRY_MILLISECONDS);
      return;
    }
    this.socket = new WebSocket(`ws://${location.host}/connection?token=${token}`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.emit("open", {});
    this.socket.onmessage = (event) => this.take(event.data);
    this.socket.onclose = (event) => {
      for (const { reject } of this.waiting.values()) reject(new Error("the game has ended"));
      this.waiting.clear();
      this.emit("closed", { reason: event.reason });
      setTimeout(() => this.open(), RETRY_MILLISECONDS);
    };
  }

  take(data) {
    if (typeof data !== "string") {
      const bytes = new Uint8Array(data);
      const end = bytes.indexOf(10);
      const message = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
      this.emit(message.type, { ...message, bytes: bytes.subarray(end + 1) });
      return;
    }
    const message = JSON.parse(data);
    const asked = this.waiting.get(message.id);
    if (!asked) {
      this.emit(message.type, message);
      return;
    }
    this.waiting.delete(message.id);
    if (message.type === "error") asked.reject(Object.assign(new Error(message.message), message));
    else asked.resolve(message);
  }

  // Sends a request to the game. Returns a promise of the answer, which is rejected if the answer
  // is an error.
  ask(type, fields = {}) {
    if (this.socket?.readyState !== WebSocket.OPEN) {
      return Promise.reject(new Error("the game does not answer"));
    }
    this.last += 1;
    const id = this.last;
    this.socket.send(JSON.stringify({ type, id, ...fields }));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  // Registers a listener for messages of a type: those of streams, `open` and `closed`.
  on(type, listener) {
    if (!this.listeners.has(type)) this.listeners.set(type, []);
    this.listeners.get(type).push(listener);
  }

  emit(type, message) {
    for (const listener of this.listeners.get(type) ?? []) {
      // A message of the game may have a type that has another meaning here.
      try {
        listener(message);
      } catch (error) {
        console.warn(type, error);
      }
    }
  }
}
