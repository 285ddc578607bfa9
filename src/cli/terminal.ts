import type { Readable, Writable } from 'node:stream';

/** Where a command writes. */
export type Output = Writable & {
  /** True where a person looks on. */
  readonly isTTY?: boolean;
  /** Whether colours are shown there, and wanted: NO_COLOR says that they are not. Only a terminal has it. */
  hasColors?(): boolean;
};

/** Where a command reads and writes. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}
