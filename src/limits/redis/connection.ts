import { createClient, createCluster, RedisClient } from '@redis/client';

/**
 * A connection to one server, or to the nodes of one cluster. It does not reconnect: after a failure, open another.
 */
export interface RedisConnection {
  /** Sends a command to the node of its key. Commands of one turn of the event loop are sent together. */
  send(key: string, command: string[]): Promise<unknown>;
  /** Further addresses of the same cluster; empty for a single server. */
  readonly otherUrls: readonly string[];
  /** Closes it. Running commands fail. */
  destroy(): void;
}

interface Client {
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
}

/** How long each step of connecting may take. */
const connectMsMax = 1_000;

/**
 * Every server and proxy supports RESP 2. The client's own timeout is off: it covers only the time until a command is
 * sent.
 */
const settings = { RESP: 2, commandOptions: { timeout: 0 } } as const;
const socketSettings = { connectTimeout: connectMsMax, reconnectStrategy: false } as const;

/** Connects through the first address that answers. If none does, throws the error of the last. */
export async function openRedisConnection(urls: readonly string[]): Promise<RedisConnection> {
  let failure: unknown;
  for (const url of urls)
    try {
      return await openByUrl(url);
    } catch (error) {
      failure = error;
    }
  throw failure;
}

async function openByUrl(url: string): Promise<RedisConnection> {
  const client = createClient({ ...settings, url, socket: socketSettings });
  const inCluster = await connect(client, () => isInCluster(client));
  if (!inCluster)
    return {
      send: (_key, command) => client.sendCommand(command),
      otherUrls: [],
      destroy: () => client.destroy(),
    };
  client.destroy();
  return openCluster(url);
}

async function openCluster(url: string): Promise<RedisConnection> {
  const address = RedisClient.parseURL(url);
  const cluster = createCluster({
    ...settings,
    rootNodes: [{ url }],
    defaults: { ...address, socket: { ...address.socket, ...socketSettings } },
  });
  const otherUrls = await connect(cluster, async () => cluster.masters.map((node) => redirect(url, node)));
  return {
    send: (key, command) => cluster.sendCommand(key, false, command),
    otherUrls,
    destroy: () => cluster.destroy(),
  };
}

/** Connects and runs `begin`. If either fails or takes too long, leaves nothing open. */
async function connect<T>(client: Client, begin: () => Promise<T>): Promise<T> {
  // The calls that fail report the error.
  client.on('error', () => undefined);
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('Redis does not answer')), connectMsMax);
  const destroy = () => client.destroy();
  const connecting = client.connect();
  try {
    return await Promise.race([connecting.then(begin), tooLate]);
  } catch (error) {
    destroy();
    // A cluster that was still listing its nodes connects to them nevertheless.
    connecting.then(destroy, destroy);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A server that does not know HELLO is not a cluster. */
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
