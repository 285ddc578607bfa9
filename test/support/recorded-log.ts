import { Writable } from 'node:stream';
import type { LogLevel } from '../../src/config.ts';
import { createLog } from '../../src/observability/log.ts';

export type LogLine = Readonly<Record<string, unknown>>;

export function recordLog(level: LogLevel = 'info') {
  let text = '';
  const output = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const log = createLog(level, output);

  function readLog(): string {
    log.flush();
    return text;
  }

  return {
    log,
    readLog,
    /** Returns the lines so far that contain all of `parts`, parsed. */
    findLines(...parts: string[]): LogLine[] {
      const lines = readLog().split('\n');
      return lines
        .filter((line) => line !== '' && parts.every((part) => line.includes(part)))
        .map((line) => JSON.parse(line));
    },
  };
}
