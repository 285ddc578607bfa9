import { randomBytes } from 'node:crypto';

/** Ids that differ within a process and, by their random start, between processes. */
export function createRequestIds(): () => string {
  const start = `req_${randomBytes(6).toString('hex')}_`;
  let count = 0;
  return () => {
    count += 1;
    return start + count.toString(36);
  };
}
