import { Closed } from "./errors.js";
import { type Handle, native } from "./native.js";

/** Objects that are dropped without being closed give their places back when they are collected. */
const dropped = new FinalizationRegistry<Handle>((handle) => native.release(handle));

/** `owner` holds `handle` until it is closed or collected. */
export function hold(owner: object, handle: Handle): void {
  dropped.register(owner, handle, owner);
}

/** Gives the hold back. */
export function letGo(owner: object, handle: Handle): void {
  if (dropped.unregister(owner)) native.release(handle);
}

/** What a native function answered; `undefined` means that the handle is stale. */
export function alive<T>(answer: T | undefined, what: string): T {
  if (answer === undefined) throw new Closed(what);
  return answer;
}
