/**
 * The clean check: a healthy breaker is decided by one plain read, without a call into native code.
 *
 * Native code shows a breaker's word through an external array buffer over memory that is never freed or
 * moved. One aligned 32-bit half of it says "closed, and a success would change nothing"; that half is the
 * token of a call, and while it is unchanged a success needs no settlement. Anything else goes native.
 *
 * The read is plain: other threads write that memory, and what is read may be a moment old. A stale "clean"
 * is a call that went out before the trip; no place of a trial is ever given out from here. Views never
 * leave this module and the breaker that they belong to.
 */

import { type Handle, native } from "./native.js";

const { offset, mask, value, slotBytes, chunkSlots, indexBits } = native.constants();

/** `(half & CLEAN_MASK) === CLEAN_VALUE` is "clean". */
export const CLEAN_MASK = mask | 0;
export const CLEAN_VALUE = value | 0;

const BYTES_PER_HALF = Int32Array.BYTES_PER_ELEMENT;

/** A word that is never clean: what is looked at where there is nothing to look at. */
const NOWHERE = new Int32Array(1);

/** Where a breaker's half is. */
export interface Place {
  readonly words: Int32Array;
  readonly index: number;
}

export const UNSEEN: Place = { words: NOWHERE, index: 0 };

const chunks = new Map<number, Int32Array | undefined>();

/**
 * Where the half of `breaker` is; nowhere when the check is turned off, by the option or by
 * `SEAWALL_CLEAN_CHECK=off`, or when the runtime allows no external buffers.
 */
export function placeOf(breaker: Handle, wanted: boolean): Place {
  if (!wanted) return UNSEEN;
  const slot = breaker % 2 ** indexBits;
  const chunk = Math.floor(slot / chunkSlots);
  if (!chunks.has(chunk)) {
    const allowed = process.env["SEAWALL_CLEAN_CHECK"] === "off" ? 0 : 1;
    const buffer = native.breakerWords(breaker, allowed);
    chunks.set(chunk, buffer && new Int32Array(buffer));
  }
  const words = chunks.get(chunk);
  if (words === undefined) return UNSEEN;
  return { words, index: ((slot % chunkSlots) * slotBytes + offset) / BYTES_PER_HALF };
}
