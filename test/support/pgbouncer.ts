import { chmod, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { makeProgramFolder, untilPrinted, whyNoProgram } from './programs.ts';
import { findFreePort } from './redis-server.ts';
import type { Ending } from './service.ts';

/** Returns the reason why this machine cannot start PgBouncer, or false. */
export const whyNoPgBouncer = () => whyNoProgram('pgbouncer');

/** Starts PgBouncer in front of a server and returns the address of PgBouncer. Stops it after the test. */
export async function startPgBouncer(
  test: Ending,
  url: string,
  settings: Readonly<Record<string, string>>,
): Promise<string> {
  const { folder, start } = await makeProgramFolder(test);
  await chmod(folder, 0o755);
  const port = await findFreePort();
  const target = new URL(url);
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    ignore_startup_parameters: 'statement_timeout,lock_timeout,idle_in_transaction_session_timeout',
    ...settings,
  };
  const file = join(folder, 'pgbouncer.ini');
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}\n`);
  const place = `host=${target.hostname} port=${target.port} user=${target.username}`;
  await writeFile(file, `[databases]\n* = ${place}\n\n[pgbouncer]\n${lines.join('')}`);
  const asUser = userInfo().uid === 0 ? ['-u', 'postgres'] : [];
  const { stderr } = start('pgbouncer', [...asUser, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  await untilPrinted(stderr, 'process up');
  target.host = `127.0.0.1:${port}`;
  return target.href;
}
