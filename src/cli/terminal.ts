import type { Readable, Writable } from 'node:stream';

/** An output stream of a command. */
export type Output = Writable & {
  /** True for a terminal. */
  readonly isTTY?: boolean;
  /** Whether the terminal supports colours and NO_COLOR is not set. Only terminals have it. */
  hasColors?(): boolean;
};

/** The standard streams of a command. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}
