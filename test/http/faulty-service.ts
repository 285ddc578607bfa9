import type { Pet } from '../../src/pets/pet.ts';
import type { Ending } from '../support/service.ts';
import { type BuiltServer, startBuiltServer } from './built-server.ts';

/** A fault of a service: its store is closed, or it cannot serialise the answer to an add. */
export type Fault = 'store gone' | 'answer unwritable';

export async function startFaultyService(test: Ending, fault: Fault = 'store gone'): Promise<BuiltServer> {
  if (fault === 'answer unwritable')
    return startBuiltServer(test, {}, (catalogue) => ({
      ...catalogue,
      async add(...wanted) {
        await catalogue.add(...wanted);
        const endless: Record<string, unknown> = {};
        endless['name'] = endless;
        return endless as unknown as Pet;
      },
    }));
  const faulty = await startBuiltServer(test);
  await faulty.store.close();
  return faulty;
}
