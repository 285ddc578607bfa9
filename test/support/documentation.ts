/**
 * Waits until a service has rendered the pages of its documentation. On a busy machine, that takes longer than a request
 * waits for it.
 */
export async function untilRendered(url: string): Promise<void> {
  while ((await fetch(`${url}/docs`)).status === 503);
}
