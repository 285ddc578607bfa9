import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackages } from '../test/support/install-packages.ts';
import { startService } from '../test/support/service.ts';
import { judgeClients } from './clients.ts';
import { type Audience, judges } from './judges.ts';

/** The values of PUBLIC_URL to check the description with: empty, as in development, and an address behind a proxy. */
const publicUrls = ['', 'https://pets.test/store/v1'];

/** The descriptions to check: of the interface for partners, and of the operator's API. */
const descriptions = { partners: '/openapi.json', operators: '/ops/openapi.json' } as const;

const folder = await mkdtemp(join(tmpdir(), 'animal-store-docs-'));
let isRight = true;
try {
  await installPackages(import.meta.dirname);
  for (const publicUrl of publicUrls)
    for (const audience of ['partners', 'operators'] as const)
      isRight = (await judgeDescription(audience, publicUrl)) && isRight;
  isRight = (await judgeClients(folder)) && isRight;
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.stdout.write(
  isRight ? 'all other tools accept the description and the clients\n' : 'a tool complains\n',
);
process.exitCode = isRight ? 0 : 1;

/** Lints the description of a running service and prints every complaint. Returns true if there is none. */
async function judgeDescription(audience: Audience, publicUrl: string): Promise<boolean> {
  const file = join(folder, 'openapi.json');
  await writeFile(file, await readDescription(audience, publicUrl));
  let count = 0;
  for (const { name, judge } of judges) {
    const complaints = await judge(file, audience);
    count += complaints.length;
    const verdict = complaints.length === 0 ? 'no complaint' : `\n  ${complaints.join('\n  ')}`;
    process.stdout.write(`${descriptions[audience]}, PUBLIC_URL "${publicUrl}": ${name}: ${verdict}\n`);
  }
  return count === 0;
}

async function readDescription(audience: Audience, publicUrl: string): Promise<string> {
  const endings: (() => unknown)[] = [];
  const after = (end: () => unknown) => void endings.push(end);
  try {
    const path = descriptions[audience];
    const { app } = await startService({ after }, { PUBLIC_URL: publicUrl });
    const answer = await fetch(`${audience === 'partners' ? app.url : app.opsUrl}${path}`);
    if (!answer.ok) throw new Error(`${path} answers ${answer.status}`);
    return await answer.text();
  } finally {
    for (const end of endings.reverse()) await end();
  }
}
