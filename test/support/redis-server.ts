import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { until } from './processes.ts';
import { endProgram, makeProgramFolder, untilPrinted, whyNoProgram } from './programs.ts';
import { connectRedis } from './redis.ts';
import type { Ending } from './service.ts';

export const whyNoRedisServer = () => whyNoProgram('redis-server');

/** A Redis server for one test, which may break the server. */
export type RedisServer = Awaited<ReturnType<typeof startRedisServer>>;

/** Starts a Redis server. Kills it after the test. */
export async function startRedisServer(test: Ending, ...settings: string[]) {
  const programs = await makeProgramFolder(test);
  const port = await findFreePort();
  const url = `redis://127.0.0.1:${port}`;
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', programs.folder, '--save', ''];

  async function start(...more: string[]): Promise<ChildProcess> {
    const started = programs.start('redis-server', [...place, ...settings, ...more], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await untilPrinted(started.stdout, 'Server initialized');
    return started;
  }
  let child = await start();

  return {
    url,
    port,
    command: (...parts: string[]) => askOnce(port, ...parts),
    /** Pauses the process. Its connections stay open. */
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    kill: () => endProgram(child),
    /** Starts the process again with its saved data. Resolves when it accepts connections. */
    async start(...more: string[]): Promise<void> {
      child = await start(...more);
    },
  };
}

const slotsOfNodes = [
  ['0', '5460'],
  ['5461', '10922'],
  ['10923', '16383'],
] as const;

/** Time in ms without an answer after which the Sentinels consider the master lost. */
const masterSilentMs = 1_000;

/**
 * Starts a master, a replica and three Sentinels that watch them under the name `counts`. Waits until they know each
 * other.
 */
export async function startSentinels(test: Ending) {
  const master = await startRedisServer(test);
  const replica = await startRedisServer(test, '--replicaof', '127.0.0.1', String(master.port));
  const config = (port: number) => `port ${port}
bind 127.0.0.1
sentinel monitor counts 127.0.0.1 ${master.port} 2
sentinel down-after-milliseconds counts ${masterSilentMs}
sentinel failover-timeout counts 3000
`;
  const ports: number[] = [];
  for (const _ of [1, 2, 3]) ports.push(await startSentinel(test, config));
  for (const port of ports)
    await eventually(async () => {
      // A Sentinel may close a connection while it writes its configuration.
      const [told] = (await askOnce(port, 'sentinel', 'masters').catch(() => [])) as string[][];
      const read = (name: string) => told?.[told.indexOf(name) + 1];
      return read('num-other-sentinels') === '2' && read('num-slaves') === '1';
    });
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join();
  return { url: `redis+sentinel://${hosts}/counts`, master, replica };
}

async function startSentinel(test: Ending, config: (port: number) => string): Promise<number> {
  const { folder, start } = await makeProgramFolder(test);
  const port = await findFreePort();
  const file = join(folder, 'sentinel.conf');
  await writeFile(file, `${config(port)}dir ${folder}\n`);
  start('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  await eventually(async () => (await askOnce(port, 'ping').catch(() => null)) === 'PONG');
  return port;
}

async function askOnce(port: number, ...parts: string[]): Promise<unknown> {
  const client = await connectRedis(`redis://127.0.0.1:${port}`);
  try {
    return await client.sendCommand(parts);
  } finally {
    client.destroy();
  }
}

/**
 * Time in ms after which nodes consider a node lost. It is long, because on a busy machine a node may be silent for
 * seconds. If a node is lost, the whole cluster refuses commands.
 */
const silentMsMax = '600000';

/** Starts a cluster of three nodes that share all slots, without replicas. */
export async function startRedisCluster(test: Ending): Promise<RedisServer[]> {
  const nodes: RedisServer[] = [];
  for (const [first, last] of slotsOfNodes) {
    const busPort = String(await findFreePort());
    const settings = `--cluster-enabled yes --cluster-port ${busPort} --cluster-node-timeout 1000`;
    const node = await startRedisServer(test, ...settings.split(' '));
    await node.command('cluster', 'addslotsrange', first, last);
    for (const { command } of nodes)
      await command('cluster', 'meet', '127.0.0.1', String(node.port), busPort);
    nodes.push(node);
  }
  for (const { command } of nodes)
    await eventually(async () => /cluster_state:ok/.test(String(await command('cluster', 'info'))));
  for (const { command } of nodes) await command('config', 'set', 'cluster-node-timeout', silentMsMax);
  return nodes;
}

/** Checks a condition until it is true. Rejects after about a minute. */
export const eventually = (isSo: () => Promise<boolean>) => until(isSo, Boolean, 60_000);

/** Returns a free port of 127.0.0.1. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
