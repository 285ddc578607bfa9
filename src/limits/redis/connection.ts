import { createClient, createCluster, RedisClient } from '@redis/client';
import { parseSentinelAddress, type SentinelAddress } from '../../setting-values.ts';
import { type ScriptName, scripts } from './scripts.ts';

/** A connection to a server, a cluster, or the master that Sentinel names. It does not reconnect after a failure. */
export interface RedisConnection {
  /** Sends a command to the node that has the key. Commands of one turn of the event loop are sent together. */
  send(key: string, command: string[]): Promise<unknown>;
  /** Runs a script on keys of one node. It takes one round trip, or two if the server does not know the script yet. */
  run(script: ScriptName, keys: readonly string[], parameters: readonly string[]): Promise<unknown>;
  /** Addresses of the nodes of the cluster; empty for a single server and for Sentinel. */
  readonly otherUrls: readonly string[];
  /** Closes the connection. Running commands fail. */
  destroy(): void;
}

interface Client {
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
}

/** For each step of connecting. */
const connectMsMax = 1_000;

/** Every server and proxy supports RESP 2. The client's own timeout is off, because it ends when a command is sent. */
const settings = { RESP: 2, scripts, commandOptions: { timeout: 0 } } as const;
const socket = { connectTimeout: connectMsMax, reconnectStrategy: false } as const;

function createSingleClient(address: { url: string } | { host: string; port: number }, credentials = {}) {
  const server = 'url' in address ? { url: address.url, socket } : { socket: { ...socket, ...address } };
  return createClient({ ...settings, ...credentials, ...server });
}

/** Connects to the first address that answers. If no address answers, throws the error of the last address. */
export function openRedisConnection(urls: readonly string[]): Promise<RedisConnection> {
  return tryInTurn(urls, (url) => {
    const sentinels = parseSentinelAddress(url);
    return sentinels === null ? openByUrl(url) : openBySentinels(sentinels);
  });
}

/** Returns the first success. If there is none, throws the error of the last place. */
async function tryInTurn<P, T>(places: readonly P[], open: (place: P) => Promise<T>): Promise<T> {
  let failure: unknown;
  for (const place of places)
    try {
      return await open(place);
    } catch (error) {
      failure = error;
    }
  throw failure;
}

async function openByUrl(url: string): Promise<RedisConnection> {
  const client = createSingleClient({ url });
  const inCluster = await connect(client, () => isInCluster(client));
  if (!inCluster) return toConnection(client);
  client.destroy();
  return openCluster(url);
}

async function openCluster(url: string): Promise<RedisConnection> {
  const address = RedisClient.parseURL(url);
  const cluster = createCluster({
    ...settings,
    rootNodes: [{ url }],
    defaults: { ...address, socket: { ...address.socket, ...socket } },
  });
  const otherUrls = await connect(cluster, async () => cluster.masters.map((node) => redirect(url, node)));
  return {
    send: (key, command) => cluster.sendCommand(key, false, command),
    run: (script, keys, parameters) => cluster[script](keys, parameters),
    otherUrls,
    destroy: () => cluster.destroy(),
  };
}

/**
 * Asks one Sentinel after the other for the master, and connects to it. A connection ends when its master is lost or
 * replaced, because Sentinel closes the connections of a former master. The next one asks again.
 */
function openBySentinels({ nodes, name, ...credentials }: SentinelAddress): Promise<RedisConnection> {
  return tryInTurn(nodes, async ({ host, port }) => {
    const sentinel = createSingleClient({ host, port });
    const ask = () => sentinel.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]);
    const place = await connect(sentinel, ask);
    sentinel.destroy();
    if (!Array.isArray(place)) throw new Error(`the Sentinel ${host}:${port} knows no master "${name}"`);
    const [masterHost = '', masterPort] = place.map(String);
    const client = createSingleClient({ host: masterHost, port: Number(masterPort) }, credentials);
    return connect(client, async () => toConnection(client));
  });
}

function toConnection(client: ReturnType<typeof createSingleClient>): RedisConnection {
  return {
    send: (_key, command) => client.sendCommand(command),
    run: (script, keys, parameters) => client[script](keys, parameters),
    otherUrls: [],
    destroy: () => client.destroy(),
  };
}

/** Connects and runs `begin`. If that fails or takes longer than `connectMsMax`, closes the client. */
async function connect<T>(client: Client, begin: () => Promise<T>): Promise<T> {
  // Without a listener, Node throws on an error event. The calls that fail report the error anyway.
  client.on('error', () => undefined);
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('Redis does not answer')), connectMsMax);
  const destroy = () => client.destroy();
  const connecting = client.connect();
  try {
    return await Promise.race([connecting.then(begin), tooLate]);
  } catch (error) {
    destroy();
    // A cluster client that is still listing its nodes connects to them after `destroy`, so it is destroyed again.
    connecting.then(destroy, destroy).catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A server that does not support HELLO is not a cluster. */
async function isInCluster(client: { sendCommand(command: string[]): Promise<unknown> }): Promise<boolean> {
  const hello = await client.sendCommand(['HELLO']).catch(() => null);
  return Array.isArray(hello) && hello[hello.indexOf('mode') + 1] === 'cluster';
}

function redirect(url: string, node: { host: string; port: number }): string {
  const address = new URL(url);
  address.hostname = node.host.includes(':') ? `[${node.host}]` : node.host;
  address.port = String(node.port);
  return address.href;
}
