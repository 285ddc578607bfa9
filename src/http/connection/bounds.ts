export interface Timeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /**
   * Time after which a connection with a request is closed if it neither receives nor sends a byte. Longer than
   * `requestMs`, so that a client can read the 408, and than any wait for a response.
   */
  readonly untakenMs: number;
}

export const defaultTimeouts: Timeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 72_000,
  untakenMs: 40_000,
};

/** Maximum size of a request head in bytes: the target and all header names and values. */
export const headerBytesMax = 16 * 1024;

/** Maximum number of headers in a request. Node needs time for each, even one with an empty name and value. */
export const headersMax = 100;

/** Maximum number of open connections. An idle connection takes about 15 KB of memory. */
export const connectionsMax = 20_000;

/** Maximum number of open connections of the operator's port. */
export const operatorConnectionsMax = 1_000;

/** Maximum number of connections that wait to be accepted. net.core.somaxconn may be lower. */
export const backlogMax = 4_096;

/** Maximum number of bytes of a connection that are read and dropped after its request was refused or unreadable. */
export const lingerBytesMax = 2 ** 20;

/** A connection stays open for this time after its last response, because a reset could overtake the response. */
export const lingerMs = 1_000;
