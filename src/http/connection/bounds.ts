/** How long a client may take, in milliseconds (docs/settings.md). */
export interface Timeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long a connection is kept open for a next request. */
  readonly keepAliveMs: number;
  /**
   * How long a client may read nothing of its answer before its connection is cut, whatever it sends in the meantime.
   * More than `requestMs`, whose end is answered.
   */
  readonly untakenMs: number;
}

export const defaultTimeouts: Timeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 72_000,
  untakenMs: 40_000,
};

/** The most that the target, the names and the values in the head of a request may hold together, in bytes. */
export const headerBytesMax = 16 * 1024;

/** How many headers a request may have: each takes time to parse, and with an empty name and value hardly a byte. */
export const headersMax = 100;

/** What the extensions of a chunked body may hold together, in bytes: Node's own bound, which cannot be set. */
export const chunkExtensionBytesMax = 16 * 1024;

/** How many connections may be open at once; one that waits takes about 15 KB. */
export const connectionsMax = 20_000;

/** How many connections may wait to be accepted; the system's own bound (net.core.somaxconn) may be lower. */
export const backlogMax = 4_096;

const checkMsMax = 1_000;

/** How often connections are checked for having run out of time, in milliseconds. */
export function countCheckMs({ headersMs }: Pick<Timeouts, 'headersMs'>): number {
  return Math.min(checkMsMax, headersMs / 10);
}
