import type { Readable, Writable } from 'node:stream';

type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** True if the terminal supports colours and NO_COLOR is not set. Only terminals have this method. */
  hasColors?(): boolean;
};

export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}
