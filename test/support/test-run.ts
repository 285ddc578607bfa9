import { randomUUID } from 'node:crypto';
import { after } from 'node:test';

const given = process.env['TEST_RUN'];

/** The id of this run of the tests, in the names of databases and folders. `test/run.ts` gives all files the same. */
export const testRun = given ?? randomUUID().replaceAll('-', '');

/** Runs `end` after the tests of this process, unless other processes belong to the same run. */
export function afterTestRun(end: () => Promise<unknown>): void {
  if (given === undefined) after(end);
}
