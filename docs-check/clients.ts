import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scopes } from '../src/accounts/account.ts';
import { startService } from '../test/support/service.ts';
import { judgeGenerators } from './generators.ts';
import { judgePlatforms } from './platforms.ts';
import { judgeByProxy, judgeGrowth } from './prism.ts';

/**
 * Checks the description of a running service with generated clients and a validating proxy, and the project's own
 * client on every platform. Prints each complaint. Returns true if there is none.
 */
export async function judgeClients(folder: string): Promise<boolean> {
  const endings: (() => unknown)[] = [];
  const after = (end: () => unknown) => void endings.push(end);
  try {
    const { app, createKey } = await startService({ after });
    const key = await createKey('enterprise', undefined, { scopes });
    const file = join(folder, 'openapi.json');
    await writeFile(file, await (await fetch(`${app.url}/openapi.json`)).text());
    const complaints = [
      ...(await judgeByProxy(file, app.url, key)),
      ...(await judgeGrowth({ after }, file, app.url, key)),
      ...(await judgeGenerators(app.url, key)),
    ];
    const runsEverywhere = await judgePlatforms(`${app.url}/v1`, () => createKey());
    return complaints.length === 0 && runsEverywhere;
  } finally {
    for (const end of endings.reverse()) await end();
  }
}
