import { createClient, createCluster, RedisClient } from '@redis/client';

/** A connection to one server, or to the nodes of one cluster. It is never mended: once it fails, another is opened. */
export interface RedisConnection {
  /** Sends a command to where its key lies. Those of one turn of the event loop go out together. */
  send(key: string, command: string[]): Promise<unknown>;
  /** Further addresses that lead to the same cluster; none where it is a single server. */
  readonly otherUrls: readonly string[];
  /** Closes it; what is running fails. */
  destroy(): void;
}

interface Client {
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
}

/** How long any one step of connecting may take. */
const connectMsMax = 1_000;

/** RESP 2 is spoken by every server and proxy. The client's own time limit is no help: it ends when a command is sent. */
const settings = { RESP: 2, commandOptions: { timeout: 0 } } as const;
const socketSettings = { connectTimeout: connectMsMax, reconnectStrategy: false } as const;

/** Connects by the first of the addresses that answers; fails with the failure of the last. */
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

/** Connects and does what comes first; where either fails or takes too long, nothing is left open. */
async function connect<T>(client: Client, begin: () => Promise<T>): Promise<T> {
  // What an error ends is told by the calls that it fails.
  client.on('error', () => undefined);
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('Redis does not answer')), connectMsMax);
  const destroy = () => client.destroy();
  const connecting = client.connect();
  try {
    return await Promise.race([connecting.then(begin), tooLate]);
  } catch (error) {
    destroy();
    // A cluster that was still telling of its nodes is connected to them all the same.
    connecting.then(destroy, destroy);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A server that does not know the question is none of a cluster. */
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
