import { randomBytes } from 'node:crypto';

/** Creates ids that are unique in a process. Their random start makes them unique across processes. */
export function createRequestIds(): () => string {
  const start = `req_${randomBytes(6).toString('hex')}_`;
  let count = 0;
  return () => {
    count += 1;
    return start + count.toString(36);
  };
}
