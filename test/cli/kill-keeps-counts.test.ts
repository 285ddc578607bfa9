import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { runProgram, serveInProcess, until } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

test('the count of the day window continues after kill -9 and a restart', async (t) => {
  const path = `${await makeFolder(t)}/store.db`;
  const settings = { DATABASE_URL: `sqlite:${path}`, ENVIRONMENT: 'staging' };
  await runProgram(['migrate'], { settings });
  const made = await runProgram(['keys', 'create', '--plan', 'free', '--json'], { settings });
  const { key } = JSON.parse(made.stdout) as { key: string };

  async function readDayLeft(url: string): Promise<number> {
    const response = await fetch(`${url}/pets`, { headers: { authorization: `Bearer ${key}` } });
    return Number(/"day";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
  }

  const first = await serveInProcess(t, { settings });
  for (let left = 999; left >= 975; left -= 1) assert.equal(await readDayLeft(first.url), left);
  const file = new DatabaseSync(path, { readOnly: true });
  const readUsed = async () =>
    Number(
      file.prepare("select sum(day_used) as used from usage_windows where subject like 'account:%'").get()?.[
        'used'
      ],
    );
  await until(readUsed, (used) => used === 25, 10_000);
  file.close();
  await first.end('SIGKILL');

  const second = await serveInProcess(t, { settings });
  assert.equal(await readDayLeft(second.url), 974);
});
