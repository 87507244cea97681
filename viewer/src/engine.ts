// The engine behind a request: a worker that is ended and begun anew where its answer is not wanted any more.

import EngineWorker from "./worker?worker&inline";

export interface Request {
  task: "run" | "verdict" | "map" | "start";
  name: string;
  scene: string;
  parameters?: Record<string, string>;
  keys?: Record<string, string>;
  gap?: number;
  frames?: number;
  row?: [string, number[]];
  column?: [string, number];
}

export interface Answer {
  text: string;
  table: Uint8Array;
  /** Milliseconds in the engine. */
  cost: number;
}

export class Engine {
  private worker: Worker | null = null;
  private busy: { resolve: (a: Answer | null) => void; since: number } | null = null;
  private next: { request: Request; resolve: (a: Answer | null) => void } | null = null;

  constructor(
    private readonly module: WebAssembly.Module,
    /** A run that lasts longer is given up for a newer request. */
    private readonly patience = 250,
  ) {}

  private start(): Worker {
    const worker = new EngineWorker();
    worker.postMessage({ module: this.module });
    worker.onmessage = (event: MessageEvent<Answer>) => {
      const done = this.busy;
      this.busy = null;
      done?.resolve(event.data);
      this.flush();
    };
    worker.onerror = (event) => {
      const done = this.busy;
      this.busy = null;
      this.stop();
      done?.resolve({ text: JSON.stringify({ error: `the engine failed: ${event.message}` }), table: new Uint8Array(), cost: 0 });
      this.flush();
    };
    return worker;
  }

  private stop() {
    this.worker?.terminate();
    this.worker = null;
  }

  /** Asks; the answer is null where a newer request took its place. */
  ask(request: Request): Promise<Answer | null> {
    return new Promise((resolve) => {
      this.next?.resolve(null);
      this.next = { request, resolve };
      if (this.busy && performance.now() - this.busy.since > this.patience) {
        this.busy.resolve(null);
        this.busy = null;
        this.stop();
      }
      this.flush();
    });
  }

  /** Gives up what is under way. */
  cancel() {
    this.next?.resolve(null);
    this.next = null;
    if (!this.busy) return;
    this.busy.resolve(null);
    this.busy = null;
    this.stop();
  }

  private flush() {
    if (this.busy || !this.next) return;
    this.worker ??= this.start();
    const { request, resolve } = this.next;
    this.next = null;
    this.busy = { resolve, since: performance.now() };
    this.worker.postMessage({ request });
  }
}
