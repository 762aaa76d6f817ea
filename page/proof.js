// Checks that the server of this address knows the token (src/system/remote/proof.rs): it answers a
// random nonce with a hash that only somebody who has the token can compute.

// Constant of WebSocket handshakes (RFC 6455, 1.3), which the server's hash appends.
const SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

async function hash(text) {
  const bytes = new TextEncoder().encode(text + SUFFIX);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-1", bytes));
  return btoa(String.fromCharCode(...digest));
}

function randomNonce() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function knowsToken(token) {
  const nonce = randomNonce();
  try {
    const answer = await fetch(`/proof?nonce=${nonce}`, { redirect: "error" });
    const proof = (await answer.text()).trim();
    const inner = await hash(`${token}:${location.port}:${nonce}`);
    return answer.ok && proof === (await hash(`${token}:${inner}`));
  } catch {
    return false;
  }
}
