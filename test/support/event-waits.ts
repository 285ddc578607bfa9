import type { App } from '../../src/app.ts';

/** Resolves when exactly `count` requests to a service wait for an event. */
export async function untilWaiting(
  { app }: { readonly app: Pick<App, 'opsUrl'> },
  count: number,
): Promise<void> {
  const shown = new RegExp(`^animal_store_event_waits ${count}$`, 'm');
  while (!shown.test(await (await fetch(`${app.opsUrl}/metrics`)).text()));
}
