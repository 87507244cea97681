// The engine in a worker: one request after the other.

import type { Request } from "./engine";

interface Exports {
  memory: WebAssembly.Memory;
  request(length: number): number;
  answer(): void;
  text(): number;
  text_length(): number;
  table(): number;
  table_length(): number;
}

let engine: Exports | null = null;

onmessage = (event: MessageEvent<{ module?: WebAssembly.Module; request?: Request }>) => {
  const { module, request } = event.data;
  if (module) {
    engine = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
    return;
  }
  if (!engine || !request) return;
  const began = performance.now();
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = engine.request(bytes.length);
  new Uint8Array(engine.memory.buffer).set(bytes, at);
  engine.answer();
  const text = new TextDecoder().decode(new Uint8Array(engine.memory.buffer, engine.text(), engine.text_length()));
  const table = new Uint8Array(engine.memory.buffer, engine.table(), engine.table_length()).slice();
  postMessage({ text, table, cost: performance.now() - began }, { transfer: [table.buffer] });
};
