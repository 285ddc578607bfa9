/** The timeouts for clients, in milliseconds (docs/settings.md). */
export interface Timeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long an idle connection stays open. */
  readonly keepAliveMs: number;
  /**
   * How long a client may read none of its answer before its connection is cut, even if it sends more. It is longer
   * than `requestMs`, so that the answer to a request timeout can be read.
   */
  readonly untakenMs: number;
}

export const defaultTimeouts: Timeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 72_000,
  untakenMs: 40_000,
};

/** The most bytes in the head of a request: its target and all header names and values. */
export const headerBytesMax = 16 * 1024;

/** The most headers in a request. Each header takes time to parse, even one with an empty name and value. */
export const headersMax = 100;

/** The most bytes in the extensions of a chunked body. This is Node's own bound, which cannot be set. */
export const chunkExtensionBytesMax = 16 * 1024;

/** The most open connections. An idle one takes about 15 KB. */
export const connectionsMax = 20_000;

/** The most connections that wait to be accepted. The bound of the system (net.core.somaxconn) may be lower. */
export const backlogMax = 4_096;

const checkMsMax = 1_000;

/** How often connections are checked for timeouts, in milliseconds. */
export function countCheckMs({ headersMs }: Pick<Timeouts, 'headersMs'>): number {
  return Math.min(checkMsMax, headersMs / 10);
}
