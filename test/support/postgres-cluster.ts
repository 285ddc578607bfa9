import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chown, rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { executePostgres } from './postgres-databases.ts';
import { succeeds } from './processes.ts';
import { makeProgramFolder, refuseInCi } from './programs.ts';
import { eventually, findFreePort } from './redis-server.ts';
import type { Ending } from './service.ts';

const run = promisify(execFile);
const installations = '/usr/lib/postgresql';

/** Returns false if this machine can start a cluster, otherwise the reason. With CI=true, throws instead. */
export function whyNoPostgresCluster(): string | false {
  if (findPrograms() !== null) return false;
  return refuseInCi(
    'SKIPPED: there is no initdb to create PostgreSQL servers for the tests; install postgresql',
  );
}

/** Returns the folder with the programs of the newest version, as Debian installs it, or null. */
function findPrograms(): string | null {
  const versions = existsSync(installations) ? readdirSync(installations) : [];
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
  const folder = join(installations, newest ?? '', 'bin');
  return existsSync(join(folder, 'initdb')) ? folder : null;
}

/** Returns this user, or Debian's user `postgres` if this user is root, because PostgreSQL refuses to run as root. */
async function findOwner(): Promise<{ uid: number; gid: number }> {
  const { uid, gid } = userInfo();
  if (uid !== 0) return { uid, gid };
  const ids = ['-u', '-g'].map(async (option) => Number((await run('id', [option, 'postgres'])).stdout));
  const [postgresUid = 0, postgresGid = 0] = await Promise.all(ids);
  return { uid: postgresUid, gid: postgresGid };
}

/** A primary that confirms a commit only after its standby has written the commit to disk. */
export type PostgresCluster = Awaited<ReturnType<typeof startPostgresCluster>>;

/** One server of a cluster. `url` is the address of the database `postgres`. */
export type PostgresServer = PostgresCluster['primary'];

/** What a standby needs to know of its primary. */
interface Primary {
  readonly url: string;
  execute(sql: string): Promise<readonly Record<string, unknown>[]>;
  alterSystem(change: string): Promise<void>;
}

/** Starts a primary and a synchronous standby on free ports. Kills both after the test. */
export async function startPostgresCluster(ending: Ending) {
  const programs = findPrograms();
  if (programs === null) throw new Error('there is no initdb');
  const owner = await findOwner();
  const { folder, start: startProgram } = await makeProgramFolder(ending, killAll);
  await chown(folder, owner.uid, owner.gid);
  const user = userInfo().username;
  const call = (program: string, ...args: string[]) =>
    run(join(programs, program), args, { ...owner, cwd: folder });

  const copy = ({ url }: Primary, data: string) =>
    call('pg_basebackup', '-d', url, '-D', data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync');

  async function startServer(name: string) {
    const port = await findFreePort();
    const data = join(folder, name);
    const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off' };
    const options = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    const url = `postgres://${user}@127.0.0.1:${port}/postgres`;
    const execute = (sql: string) => executePostgres<Record<string, unknown>>(url, sql);
    const alterSystem = async (change: string) => {
      await execute(`alter system ${change}`);
      await execute('select pg_reload_conf()');
    };

    async function startProcess(): Promise<ChildProcess> {
      const server = startProgram(join(programs ?? '', 'postgres'), ['-D', data, ...options], {
        ...owner,
        cwd: folder,
        stdio: 'ignore',
      });
      await eventually(async () => {
        if (server.exitCode !== null) throw new Error('the server does not start');
        return succeeds(execute('select 1'));
      });
      return server;
    }

    let child = await startProcess();
    const start = async () => {
      child = await startProcess();
    };
    return {
      url,
      data,
      execute,
      alterSystem,
      /** Starts the killed server again, with its former port and role. */
      start,
      /** Kills all processes of the server at once, as a power loss does. */
      kill: () => killAll(child),
      promote: async () => {
        await call('pg_ctl', 'promote', '-D', data, '-w');
      },
      /** Starts the killed server as a synchronous standby of another one, with a copy of its data. */
      async follow(primary: Primary): Promise<void> {
        await rm(data, { recursive: true });
        await copy(primary, data);
        await start();
        await waitForStandby(primary);
      },
    };
  }

  await call('initdb', '-D', join(folder, 'primary'), '-U', user, '-A', 'trust', '-E', 'UTF8', '--no-sync');
  const primary = await startServer('primary');
  await copy(primary, join(folder, 'standby'));
  const standby = await startServer('standby');
  await waitForStandby(primary);
  return { primary, standby };
}

export type ClusterTest = PostgresCluster & Readonly<Record<'t' | 'outer', TestContext>>;

/** Declares a test on a cluster. What is started for `outer`, like the cluster, ends only after what is started for `t`. */
export function testOnCluster(title: string, body: (cluster: ClusterTest) => Promise<void>): void {
  test(title, { skip: whyNoPostgresCluster() }, async (outer) => {
    const cluster = await startPostgresCluster(outer);
    await outer.test('on a cluster', (t) => body({ t, outer, ...cluster }));
  });
}

/** Makes each commit of a primary wait for its standby. A promoted standby has a copy of the setting from before. */
async function waitForStandby(primary: Primary): Promise<void> {
  await primary.alterSystem(`set synchronous_standby_names = '*'`);
  await eventually(async () => {
    const [row] = await primary.execute('select sync_state from pg_stat_replication');
    return row?.['sync_state'] === 'sync';
  });
}

/** Returns the address of one database on several servers. */
export function addressOf(...servers: readonly PostgresServer[]): string {
  const url = new URL(servers[0]?.url ?? '');
  const hosts = servers.map((server) => new URL(server.url).host);
  return `postgres://${url.username}@${hosts.join(',')}${url.pathname}`;
}

/** Kills the first process before its children, because it would restart them. */
async function killAll(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  const others = listChildren(child.pid);
  child.kill('SIGKILL');
  for (const pid of others)
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // It may have ended already.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  await gone;
}

function listChildren(parent: number): number[] {
  const isChild = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/status`, 'utf8').includes(`\nPPid:\t${parent}\n`);
    } catch {
      // It may have ended already.
      return false;
    }
  };
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  return pids.filter(isChild).map(Number);
}
