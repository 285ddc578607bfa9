import type { ServiceProcess } from '../test/support/processes.ts';
import type { EmbeddedStore } from './embedded-store.ts';

/**
 * Holds a start that must not succeed to its promise: exit code 1, and on standard error one line behind that of the log
 * which tells that it was begun. Gives the line. A start that does succeed never ends, so it is for a store of which
 * that is known.
 */
export async function requireRefusal(store: EmbeddedStore): Promise<string> {
  const { code, stdout, stderr } = await store.run('serve', '--json');
  const [begun = '', line = '', ...more] = stderr.trimEnd().split('\n');
  const isBegun = begun.endsWith('"msg":"starting"}');
  if (!isBegun || code !== 1 || stdout !== '' || more.length > 0 || !line.startsWith('error: '))
    throw new Error(`a start that had to be refused ended with ${code} and said ${stdout}${stderr}`);
  return line.slice('error: '.length);
}

/** Starts a service where that can be done; else gives the one line that it was refused with. */
export async function tryToStart(
  store: EmbeddedStore,
): Promise<{ readonly service: ServiceProcess } | { readonly refusal: string }> {
  try {
    return { service: await store.start() };
  } catch {
    return { refusal: await requireRefusal(store) };
  }
}
