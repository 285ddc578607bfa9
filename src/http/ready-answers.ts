import type { Clock } from '../clock.ts';
import type { Stamp } from '../pets/stamps.ts';
import { type Answer, describeBody, jsonHeaders } from './conditional.ts';
import { fromLines, type HeaderTexts, inOnePiece, toLines } from './head.ts';
import { type ReadyKey, toReadyKey } from './ready-key.ts';

/** How long an answer stays right. */
export interface Lifetime {
  /** What makes it wrong: that an animal is edited, or that one is added, too. */
  readonly until: 'edited' | 'added';
  /** Unix milliseconds from which on it is wrong in any case. */
  readonly endsAtMs?: number;
}

/**
 * An answer to a read as it is sent, and which operation it answers, as a target has many spellings. A hundred thousand
 * and more are kept, and V8 copies each object of a new one twice while requests wait: so it has few, and two texts.
 */
export interface ReadyAnswer {
  readonly operation: 'listPets' | 'getPet';
  /** Its headers (toLines). */
  readonly lines: string;
  readonly body: string;
}

/** Makes the ready answers of an operation. The headers that all of them have are checked and put into lines once. */
export function createReadyAnswerMaker(operation: ReadyAnswer['operation'], headers: HeaderTexts = {}) {
  const commonLines = toLines({ ...headers, ...jsonHeaders });

  /** Of a JSON text, with the lines (toLines) of headers of its own, none of which all answers have. */
  return function makeReadyAnswer(text: string, ownLines = ''): ReadyAnswer {
    const { body, lengthBytes, etag } = describeBody(text);
    const lines = `${commonLines}${ownLines}etag: ${etag}\r\ncontent-length: ${lengthBytes}\r\n`;
    return { operation, lines: inOnePiece(lines), body };
  };
}

/** The answer that a ready one was made of. */
export function readAnswer({ lines, body }: ReadyAnswer): Answer {
  return { headers: fromLines(lines), body };
}

/** Answers kept ready by the request's target, so that most reads cost neither a query nor a serialisation. */
export interface ReadyAnswers {
  /** The answer to a target as it would be made now, or null where it has to be made. */
  find(target: string): ReadyAnswer | null;
  /** Keeps an answer that was made of what the store held at `stamp`; null keeps nothing. */
  keep(target: string, answer: ReadyAnswer, lifetime: Lifetime, stamp: Stamp | null): void;
}

/** What the answers that are kept may hold together, in bytes. */
export const readyBytesMax = 128 * 2 ** 20;
/**
 * What an answer holds besides its texts, at most: the entry, its objects, the heads of its strings, and a stamp, which many
 * share where nothing is added (bench/ready-memory.ts).
 */
const entryBytes = 320;
/** What a key that is a text takes besides its characters, at most. */
const keyTextBytes = 32;

interface Kept {
  readonly answer: ReadyAnswer;
  readonly lifetime: Lifetime;
  readonly stamp: Stamp;
}

/**
 * A find costs a look into one or two maps. The answers are in two generations: what is found in the old one moves to
 * the young one, and when that has grown to half of the bound, the old one is dropped and the young one becomes old.
 */
export function createReadyAnswers(
  readStamp: () => Stamp | null,
  clock: Clock,
  bytesMax = readyBytesMax,
): ReadyAnswers {
  let young = new Map<ReadyKey, Kept>();
  let old = new Map<ReadyKey, Kept>();
  let youngBytes = 0;

  function put(target: string, kept: Kept): void {
    const key = toReadyKey(target);
    const former = young.get(key);
    if (former !== undefined) youngBytes -= countBytes(key, former.answer);
    young.set(key, kept);
    youngBytes += countBytes(key, kept.answer);
    if (youngBytes <= bytesMax / 2) return;
    old = young;
    young = new Map();
    youngBytes = 0;
  }

  function recall(target: string): Kept | undefined {
    const key = toReadyKey(target);
    const kept = young.get(key);
    if (kept !== undefined) return kept;
    const aged = old.get(key);
    if (aged !== undefined) put(target, aged);
    return aged;
  }

  /** A store that fails fails again where the answer has to be made: there it is told. */
  function tryToReadStamp(): Stamp | null {
    try {
      return readStamp();
    } catch {
      return null;
    }
  }

  function isRight({ lifetime, stamp }: Kept, now: Stamp): boolean {
    // Mostly it is the same object. To look into it would fetch what hardly is in the processor's caches.
    if (stamp !== now && isChanged(lifetime, stamp, now)) return false;
    return lifetime.endsAtMs === undefined || clock() < lifetime.endsAtMs;
  }

  return {
    find(target) {
      const kept = recall(target);
      if (kept === undefined) return null;
      const stamp = tryToReadStamp();
      return stamp !== null && isRight(kept, stamp) ? kept.answer : null;
    },

    keep(target, answer, lifetime, stamp) {
      if (stamp !== null) put(target, { answer, lifetime, stamp });
    },
  };
}

function isChanged({ until }: Lifetime, before: Stamp, now: Stamp): boolean {
  return before.edits !== now.edits || (until === 'added' && before.newestId !== now.newestId);
}

/** Text outside of Latin-1 takes two bytes a character. */
function countBytes(key: ReadyKey, { body, lines }: ReadyAnswer): number {
  const keyBytes = typeof key === 'string' ? keyTextBytes + key.length : 0;
  const isWide = Buffer.byteLength(body) > body.length;
  return entryBytes + keyBytes + (isWide ? 2 : 1) * body.length + lines.length;
}
