import { randomBytes } from 'node:crypto';

/**
 * Returns a function that creates request ids. A counter makes them unique in this process. A random prefix makes them
 * unique across processes.
 */
export function createRequestIds(): () => string {
  const start = `req_${randomBytes(6).toString('hex')}_`;
  let count = 0;
  return () => {
    count += 1;
    return start + count.toString(36);
  };
}
