import { tracingChannel } from 'node:diagnostics_channel';

let longWays = 0;
tracingChannel('fastify.request.handler').start.subscribe(() => {
  longWays += 1;
});

/** How many requests came to a route of the framework's in the meantime, and so did not take the fast lane. */
export async function countLongWays(act: () => Promise<unknown>): Promise<number> {
  const before = longWays;
  await act();
  return longWays - before;
}
