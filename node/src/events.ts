import { channel } from "node:diagnostics_channel";

import { native } from "./native.js";
import type { Reason } from "./refusal.js";

/** Listeners of one kind of event. They are called after the operation, in the order of their coming. */
export class Listeners<Event> {
  #all: readonly ((event: Event) => void)[] = [];

  get any(): boolean {
    return this.#all.length > 0;
  }

  /** Returns a function that takes the listener away again. */
  add(listener: (event: Event) => void): () => void {
    if (typeof listener !== "function") throw new TypeError("a listener is a function");
    // An entry of its own, so that one function added twice is taken away once each.
    const entry = (event: Event): void => listener(event);
    this.#all = [...this.#all, entry];
    return () => {
      this.#all = this.#all.filter((other) => other !== entry);
    };
  }

  emit(event: Event): void {
    for (const listener of this.#all) {
      try {
        listener(event);
      } catch (error) {
        // As with an EventTarget, it is uncaught: the operation is done and must not fail, and the error must be seen.
        process.nextTick(() => {
          throw error;
        });
      }
    }
  }
}

/** @internal Tells who listens. They may use any object; the details of the answer that is being given are not lost. */
export function aside(tell: () => void): void {
  native.saveDetails();
  try {
    tell();
  } finally {
    native.restoreDetails();
  }
}

/** What `seawall:refused` publishes. */
export interface RefusedEvent {
  /** The name of what refused. */
  readonly policy: string | undefined;
  readonly reason: Reason;
}

/** @internal Published to while somebody subscribes; otherwise they cost one comparison. */
export const transitions = channel("seawall:transition");
/** @internal */
export const refusals = channel("seawall:refused");
