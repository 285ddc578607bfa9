import { Writable } from 'node:stream';
import { createLog } from '../../src/observability/log.ts';
import type { LogLine } from './service.ts';

/** Creates a log whose lines a test reads. */
export function recordLog() {
  let text = '';
  const output = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const log = createLog('info', output);
  return {
    log,
    /** Returns all lines so far, parsed. */
    readLines(): LogLine[] {
      log.flush();
      const lines = text.split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line));
    },
  };
}
