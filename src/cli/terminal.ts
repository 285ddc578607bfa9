import type { Readable, Writable } from 'node:stream';

export type Output = Writable & {
  readonly isTTY?: boolean;
  /** True if the terminal supports colours and NO_COLOR is not set. Only terminals have this method. */
  hasColors?(): boolean;
};

/** The standard streams of a command. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}
