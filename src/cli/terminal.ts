import type { Readable, Writable } from 'node:stream';

/** Where a command reads and writes; `isTTY` is true where a person looks on. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}
