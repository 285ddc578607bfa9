import type { TestService } from './service.ts';

/** Headers with a preference that is not known here: it changes nothing, but is not plain. */
export const longWay = { prefer: 'respond-async' };

/** A key that the service remembers: its first request goes the long way. */
export async function createWarmKey(service: TestService, ...order: Parameters<TestService['createKey']>) {
  const key = await service.createKey(...order);
  await service.request(key, '/nothing');
  return key;
}

/** The headers that two answers to the same request have in common. */
export function listSteadyHeaders({ headers }: Response) {
  const changing = /^(?:date|x-request-id|x-ratelimit-remaining|ratelimit)$/;
  return [...headers].filter(([name]) => !changing.test(name));
}

/** What the log tells of a request. */
export function findLine(service: TestService, { headers }: Response): Record<string, unknown> {
  const lines = service.readLog().split('\n');
  const line = lines.find((one) => one.includes(headers.get('x-request-id') ?? 'none')) ?? '{}';
  return JSON.parse(line) as Record<string, unknown>;
}
