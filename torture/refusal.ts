import type { ServiceProcess } from '../test/support/processes.ts';
import type { Store } from './store.ts';

/** The log line of the first call that the store could not do. A start has it if it finds the damage late. */
const isOfStore = (line: string) => line.includes('"msg":"the store cannot be ');

/**
 * Requires that a start fails with exit code 1 and one error line on standard error after the log line of the start.
 * Returns the error line. Never resolves if the start succeeds, so use it only for a store that must be refused.
 */
export async function requireRefusal(store: Store): Promise<string> {
  const { code, stdout, stderr } = await store.run('serve', '--json');
  const lines = stderr.trimEnd().split('\n');
  const [begun = '', line = '', ...more] = lines.filter((one) => !isOfStore(one));
  const isBegun = begun.endsWith('"msg":"starting"}');
  if (!isBegun || code !== 1 || stdout !== '' || more.length > 0 || !line.startsWith('error: '))
    throw new Error(`a start that had to be refused ended with ${code} and said ${stdout}${stderr}`);
  return line.slice('error: '.length);
}

/** Starts a service. If the start is refused, returns the error line. */
export async function tryToStart(
  store: Store,
): Promise<{ readonly service: ServiceProcess } | { readonly refusal: string }> {
  try {
    return { service: await store.start() };
  } catch {
    return { refusal: await requireRefusal(store) };
  }
}
